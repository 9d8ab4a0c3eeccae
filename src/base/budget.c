#include "base/budget.h"

static void raise_peak(hilo_budget *b, uint64_t used) {
  uint64_t peak = atomic_load_explicit(&b->peak_bytes, memory_order_relaxed);
  while (used > peak &&
         !atomic_compare_exchange_weak_explicit(&b->peak_bytes, &peak, used, memory_order_relaxed,
                                                memory_order_relaxed))
    continue;
}

static void give_back(hilo_budget *b, size_t bytes) {
  atomic_fetch_sub_explicit(&b->used_bytes, bytes, memory_order_relaxed);
}

/* Counts first, so that threads cannot pass the bound together. */
static bool reserve(hilo_budget *b, size_t bytes) {
  const uint64_t before = atomic_fetch_add_explicit(&b->used_bytes, bytes, memory_order_relaxed);
  if (b->limit_bytes && (bytes > b->limit_bytes || before > b->limit_bytes - bytes)) {
    give_back(b, bytes);
    atomic_store_explicit(&b->was_refused, true, memory_order_relaxed);
    return false;
  }
  raise_peak(b, before + bytes);
  return true;
}

/* ---- within another: one thread's ---- */

static void lay_down(hilo_budget *b, size_t bytes) {
  b->own_bytes -= bytes;
  const uint64_t keep = b->own_bytes ? b->own_bytes + HILO_BUDGET_STEP : 0;
  if (b->own_bytes && b->held_bytes < keep + 3 * HILO_BUDGET_STEP) return;
  give_back(b->outer, b->held_bytes - keep);
  b->held_bytes = keep;
}

static bool pick_up(hilo_budget *b, size_t bytes) {
  const uint64_t free_bytes = b->held_bytes - b->own_bytes;
  if (bytes > free_bytes) {
    if (bytes > SIZE_MAX / 2) return false;
    const size_t more = bytes - free_bytes + HILO_BUDGET_STEP;
    if (!reserve(b->outer, more)) return false;
    b->held_bytes += more;
  }
  b->own_bytes += bytes;
  return true;
}

/* ---- the allocator ---- */

static bool take(hilo_budget *b, size_t bytes) {
  return b->outer ? pick_up(b, bytes) : reserve(b, bytes);
}

static void put(hilo_budget *b, size_t bytes) {
  if (b->outer)
    lay_down(b, bytes);
  else
    give_back(b, bytes);
}

static void *acquire(void *ctx, size_t bytes) {
  hilo_budget *b = ctx;
  if (!take(b, bytes)) return NULL;
  void *p = b->source->acquire(b->source->ctx, bytes);
  if (!p) put(b, bytes);
  return p;
}

static void *resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  hilo_budget *b = ctx;
  const size_t more = new_bytes > old_bytes ? new_bytes - old_bytes : 0;
  if (more && !take(b, more)) return NULL;
  void *to = b->source->resize(b->source->ctx, p, old_bytes, new_bytes);
  if (!to && more) put(b, more);
  if (to && old_bytes > new_bytes) put(b, old_bytes - new_bytes);
  return to;
}

static void release(void *ctx, void *p, size_t bytes) {
  hilo_budget *b = ctx;
  b->source->release(b->source->ctx, p, bytes);
  put(b, bytes);
}

void hilo_budget_init(hilo_budget *budget, const hilo_allocator *source) {
  hilo_budget *outer = source && source->acquire == acquire ? source->ctx : NULL;
  if (outer) source = outer->source;
  *budget = (hilo_budget){.allocator = {acquire, resize, release, budget},
                          .source = source ? source : hilo_allocator_default(),
                          .outer = outer};
}

void hilo_budget_begin(hilo_budget *budget, uint64_t limit_bytes) {
  budget->limit_bytes = limit_bytes;
  atomic_store_explicit(&budget->was_refused, false, memory_order_relaxed);
  (void)hilo_budget_take_peak(budget);
}

uint64_t hilo_budget_take_peak(hilo_budget *budget) {
  return atomic_exchange_explicit(&budget->peak_bytes,
                                  atomic_load_explicit(&budget->used_bytes, memory_order_relaxed),
                                  memory_order_relaxed);
}
