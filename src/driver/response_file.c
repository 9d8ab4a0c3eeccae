/* Response files: a stack of word lists instead of recursion, with bounds on everything that a file
 * could make grow, since files may name each other. */
#include "driver/response_file.h"

#include "base/file.h"

enum {
  MAX_WORDS = 1 << 14, /* of the whole command line */
  MAX_READS = 1000,    /* files read */
  MAX_BYTES = 1 << 24  /* of one file */
};

static bool read_from_disk(hilo_arena *arena, const char *path, size_t max_bytes, hilo_str *out) {
  hilo_diags unread = hilo_diags_make(arena); /* a word that names no file is a word like others */
  return strcmp(path, "-") != 0 && hilo_file_read(arena, path, max_bytes, &unread, out) == HILO_OK;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void take_quoted(const char *p, size_t n, size_t *at, hilo_sb *word) {
  const char quote = p[(*at)++];
  for (; *at < n && p[*at] != quote; ++*at) {
    if (p[*at] == '\\' && *at + 1 < n) ++*at;
    hilo_sb_char(word, p[*at]);
  }
  if (*at < n) ++*at;
}

void hilo_response_split(hilo_str text, hilo_arena *arena, hilo_arg_list *out) {
  if (hilo_str_starts(text, "\xef\xbb\xbf")) text.p += 3, text.n -= 3;
  hilo_sb word = hilo_sb_make(arena);
  for (size_t at = 0; at <= text.n;) {
    if (at == text.n || is_blank(text.p[at])) {
      if (word.n) HILO_PUSH(arena, out, hilo_str_copy(arena, hilo_sb_view(&word)).p);
      hilo_sb_clear(&word);
      at++;
    } else if (text.p[at] == '"' || text.p[at] == '\'') {
      take_quoted(text.p, text.n, &at, &word);
    } else {
      if (text.p[at] == '\\' && at + 1 < text.n) at++;
      hilo_sb_char(&word, text.p[at++]);
    }
  }
  hilo_sb_free(&word);
}

/* A file being read, or (path NULL) argv itself. */
typedef struct {
  const char *path;
  hilo_arg_list words;
  uint32_t next;
} frame;

typedef hilo_vec(frame) frame_stack;

static bool is_open(const frame_stack *stack, const char *path) {
  for (uint32_t i = 0; i < stack->n; i++)
    if (stack->v[i].path && strcmp(stack->v[i].path, path) == 0) return true;
  return false;
}

bool hilo_response_expand(int argc, const char *const *argv, hilo_arena *arena,
                          hilo_read_file_fn *read_file, hilo_arg_list *out) {
  frame_stack stack = {0};
  frame first = {0};
  for (int i = 1; i < argc; i++) HILO_PUSH(arena, &first.words, argv[i]);
  HILO_PUSH(arena, &stack, first);
  uint32_t n_reads = 0;
  while (stack.n) {
    frame *top = &stack.v[stack.n - 1];
    if (top->next == top->words.n) {
      (void)HILO_POP(&stack);
      continue;
    }
    const char *word = top->words.v[top->next++];
    if (word[0] == '@' && word[1] && n_reads < MAX_READS && !is_open(&stack, word + 1)) {
      n_reads++;
      hilo_str text;
      if ((read_file ? read_file : read_from_disk)(arena, word + 1, MAX_BYTES, &text)) {
        frame inner = {.path = word + 1};
        hilo_response_split(text, arena, &inner.words);
        HILO_PUSH(arena, &stack, inner);
        continue;
      }
    }
    if (out->n == MAX_WORDS) return false;
    HILO_PUSH(arena, out, word);
  }
  return true;
}
