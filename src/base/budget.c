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

static void *acquire(void *ctx, size_t bytes) {
  hilo_budget *b = ctx;
  if (!reserve(b, bytes)) return NULL;
  void *p = b->source->acquire(b->source->ctx, bytes);
  if (!p) give_back(b, bytes);
  return p;
}

static void *resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  hilo_budget *b = ctx;
  const size_t more = new_bytes > old_bytes ? new_bytes - old_bytes : 0;
  if (more && !reserve(b, more)) return NULL;
  void *to = b->source->resize(b->source->ctx, p, old_bytes, new_bytes);
  if (!to && more) give_back(b, more);
  if (to && old_bytes > new_bytes) give_back(b, old_bytes - new_bytes);
  return to;
}

static void release(void *ctx, void *p, size_t bytes) {
  hilo_budget *b = ctx;
  b->source->release(b->source->ctx, p, bytes);
  give_back(b, bytes);
}

void hilo_budget_init(hilo_budget *budget, const hilo_allocator *source) {
  *budget = (hilo_budget){.allocator = {acquire, resize, release, budget},
                          .source = source ? source : hilo_allocator_default()};
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
