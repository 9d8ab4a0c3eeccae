/* Large allocations, in pages of their own: at a multiple of the size of a huge page, so that the
 * kernel can fill them by these, which are a 512th of the page faults and of the translations to
 * keep; growth moves page tables instead of bytes. Contents are whatever was there. Sanitizers
 * watch malloc: in their builds nothing is large.
 *
 * What is given back is kept for the next one of about its size, since the kernel clears every page
 * that it hands out, which costs as much as what most steps do to it. Kept and used pages together
 * are never more than were in use at once at some time, and where the system is short of memory it
 * takes those kept. From any thread. */
#ifndef HILO_BASE_PAGES_H
#define HILO_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Is an allocation of that size for pages, and not for malloc? */
bool hilo_pages_are_for(size_t bytes);
/* Of sizes that are for pages. NULL: there is no memory, and nothing has changed. */
void *hilo_pages_acquire(size_t bytes);
void *hilo_pages_resize(void *p, size_t old_bytes, size_t new_bytes);
void hilo_pages_release(void *p, size_t bytes);

typedef struct {
  size_t used, kept, peak; /* bytes now, and the most that were in use or kept at once */
} hilo_pages_bytes;
hilo_pages_bytes hilo_pages_get_bytes(void);

#endif
