#include "formats/seen.h"

hilo_str hilo_seen_at(hilo_arena *arena, const char *p, const char *end, hilo_str word) {
  hilo_sb sb = hilo_sb_make(arena);
  if (p >= end)
    hilo_sb_cat(&sb, "the end of the text");
  else if (word.n)
    hilo_sb_printf(&sb, "`%.*s%s`", (int)(word.n > HILO_MAX_SEEN ? HILO_MAX_SEEN : word.n), word.p,
                   word.n > HILO_MAX_SEEN ? "..." : "");
  else if (*p == '"' || *p == '\'')
    hilo_sb_cat(&sb, "a string");
  else if (*p == '\n' || *p == '\r')
    hilo_sb_cat(&sb, "the end of the line");
  else if ((uint8_t)*p <= ' ' || (uint8_t)*p >= 0x7f)
    hilo_sb_printf(&sb, "the byte 0x%02x", (uint8_t)*p);
  else
    hilo_sb_printf(&sb, "`%c`", *p);
  return hilo_sb_view(&sb);
}
