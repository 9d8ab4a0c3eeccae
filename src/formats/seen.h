/* What a reader of text saw instead of what it expected, for its message. */
#ifndef HILO_FORMATS_SEEN_H
#define HILO_FORMATS_SEEN_H

#include "base/str.h"

enum { HILO_MAX_SEEN = 40 }; /* bytes of the text in a message */

/* In `arena`: the word at p (empty: there is none) in backticks, cut if it is long; else what
 * stands there, which is the end of the text at `end`. */
hilo_str hilo_seen_at(hilo_arena *arena, const char *p, const char *end, hilo_str word);

#endif
