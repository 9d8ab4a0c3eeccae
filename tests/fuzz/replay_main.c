/* Stands in for libFuzzer: runs the target once on each file named, and on each file of each folder
 * named, in the order of names. Without any file it fails, so that a lost corpus is noticed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info) != 0 || info.st_size < 0) {
    fprintf(stderr, "replay: %s cannot be read\n", path);
    if (file) fclose(file);
    return -1;
  }
  /* Exactly as large as the input: a read behind its end is caught by the sanitizer. */
  const size_t size = (size_t)info.st_size;
  uint8_t *data = malloc(size ? size : 1);
  const int ok = data && fread(data, 1, size, file) == size;
  fclose(file);
  if (ok) {
    fprintf(stderr, "replay: %s\n", path); /* the last one shown is the one that crashed */
    (void)LLVMFuzzerTestOneInput(data, size);
  }
  free(data);
  return ok ? 1 : -1;
}

static int not_hidden(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int run_folder(const char *path) {
  struct dirent **entries;
  const int n = scandir(path, &entries, not_hidden, alphasort);
  int n_run = n < 0 ? -1 : 0;
  for (int i = 0; i < n; i++) {
    char name[4096];
    snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
    if (n_run >= 0) n_run = run_file(name) < 0 ? -1 : n_run + 1;
    free(entries[i]);
  }
  if (n >= 0) free(entries);
  return n_run;
}

int main(int argc, char **argv) {
  int total = 0;
  for (int i = 1; i < argc; i++) {
    struct stat info;
    const int is_folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
    const int n = is_folder ? run_folder(argv[i]) : run_file(argv[i]);
    if (n < 0) return 1;
    total += n;
  }
  printf("replayed %d inputs\n", total);
  return total ? 0 : 1;
}
