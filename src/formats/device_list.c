#include "formats/device_list.h"

#include "base/vec.h"

int64_t hilo_devices_product(hilo_dims sizes) {
  int64_t n = 1;
  for (uint32_t i = 0; i < sizes.n; i++) {
    if (sizes.v[i] <= 0 || sizes.v[i] > HILO_MAX_LISTED_DEVICES) return -1;
    n *= sizes.v[i];
    if (n > HILO_MAX_LISTED_DEVICES) return -1;
  }
  return n;
}

const char *hilo_iota_fault(const hilo_iota *iota) {
  const uint32_t n = iota->reshape.n;
  if (n > 64) return "more than 64 dimensions are not supported";
  if (hilo_devices_product(iota->reshape) < 0)
    return "its sizes must be positive, and their product at most 2^20";
  if (iota->perm.n && iota->perm.n != n)
    return "its permutation must have as many entries as there are sizes";
  uint64_t seen = 0;
  for (uint32_t i = 0; i < iota->perm.n; i++) {
    const int64_t d = iota->perm.v[i];
    if (d < 0 || d >= n || seen >> d & 1) return "its permutation must name each dimension once";
    seen |= 1ull << d;
  }
  return NULL;
}

hilo_iota hilo_iota_canonical(const hilo_iota *iota, hilo_arena *arena) {
  const uint32_t n = iota->reshape.n;
  int64_t *v = HILO_NEW_ARRAY(arena, int64_t, 4 * (size_t)n + 4);
  int64_t *order = v, *run_of = v + n, *reshape = v + 2 * n + 1, *perm = v + 3 * n + 2;
  uint32_t n_order = 0, n_runs = 0;
  for (uint32_t i = 0; i < n; i++) {
    const int64_t d = iota->perm.n ? iota->perm.v[i] : i;
    if (iota->reshape.v[d] != 1) order[n_order++] = d;
  }
  /* Runs of dimensions that follow each other before and after the transpose become one. */
  for (uint32_t i = 0; i < n_order; i++) {
    bool follows = i > 0;
    for (int64_t d = i ? order[i - 1] + 1 : 0; follows && d < order[i]; d++)
      follows = iota->reshape.v[d] == 1;
    follows = follows && order[i] > order[i - 1];
    if (!follows) n_runs++;
    run_of[order[i]] = n_runs - 1;
  }
  /* The runs in order of their dimensions. */
  uint32_t n_out = 0;
  int64_t last = -1;
  for (int64_t d = 0; d < n; d++) {
    if (iota->reshape.v[d] == 1) continue;
    if (run_of[d] == last) {
      reshape[n_out - 1] *= iota->reshape.v[d];
      continue;
    }
    last = run_of[d];
    perm[last] = n_out;
    reshape[n_out++] = iota->reshape.v[d];
  }
  if (n_out == 0) reshape[n_out++] = 1;
  if (n_runs <= 1) return (hilo_iota){{reshape, n_out}, HILO_DIMS_NONE};
  return (hilo_iota){{reshape, n_out}, {perm, n_runs}};
}

hilo_dims hilo_iota_expand(const hilo_iota *iota, hilo_arena *arena) {
  const uint32_t n_dims = iota->reshape.n;
  const uint32_t n = (uint32_t)hilo_devices_product(iota->reshape);
  int64_t *v = HILO_NEW_ARRAY(arena, int64_t, (size_t)n + 1), at[64] = {0}, strides[64], stride = 1;
  for (uint32_t d = n_dims; d-- > 0; stride *= iota->reshape.v[d]) strides[d] = stride;
  int64_t value = 0;
  for (uint32_t i = 0; i < n; i++) {
    v[i] = value;
    for (uint32_t k = n_dims; k-- > 0;) { /* the next index of the transposed array */
      const int64_t d = iota->perm.n ? iota->perm.v[k] : k;
      value += strides[d];
      if (++at[d] < iota->reshape.v[d]) break;
      value -= strides[d] * iota->reshape.v[d];
      at[d] = 0;
    }
  }
  return (hilo_dims){v, n};
}

/* ---- meshes ---- */

/* A factor of an axis: its size, the step between its values in the list of devices, and its place
 * in `axes` plus 1, 0 if it tells groups apart. */
typedef struct {
  int64_t size, stride;
  uint32_t place;
} factor;

enum { MAX_FACTORS = 64 };

/* Split one axis into the factors that the grouped sub-axes make of it. */
static const char *split_axis(int64_t axis, int64_t size, const hilo_mesh_axis *axes,
                              uint32_t n_axes, factor *out, uint32_t *n) {
  int64_t done = 1; /* product of the factors so far */
  while (done < size || size == 1) {
    /* The sub-axis that starts here, or the next one behind. */
    uint32_t best = n_axes;
    int64_t best_pre = size;
    for (uint32_t i = 0; i < n_axes; i++) {
      const int64_t pre = axes[i].pre_size ? axes[i].pre_size : 1;
      if (axes[i].axis != axis || pre < done) continue;
      if (pre < best_pre || (size == 1 && best == n_axes)) best = i, best_pre = pre;
    }
    if (*n + 2 > MAX_FACTORS) return "it has too many axes";
    if (best == n_axes) {
      if (size > done) out[(*n)++] = (factor){size / done, 0, 0};
      return NULL;
    }
    if (best_pre > done) out[(*n)++] = (factor){best_pre / done, 0, 0};
    const int64_t part = axes[best].pre_size ? axes[best].size : size;
    out[(*n)++] = (factor){part, 0, best + 1};
    done = best_pre * part;
    if (size == 1) return NULL;
  }
  return NULL;
}

static const char *check_axes(hilo_dims sizes, const hilo_mesh_axis *axes, uint32_t n_axes) {
  for (uint32_t i = 0; i < n_axes; i++) {
    const hilo_mesh_axis *a = &axes[i];
    if (a->axis < 0 || a->axis >= sizes.n) return "an axis index is not one of the mesh's";
    const int64_t size = sizes.v[a->axis];
    if (a->pre_size && (a->pre_size < 1 || a->size < 2 || a->pre_size > size || a->size > size ||
                        size % (a->pre_size * a->size) != 0))
      return "a sub-axis does not divide its axis";
    for (uint32_t k = 0; k < i; k++) {
      if (axes[k].axis != a->axis) continue;
      const int64_t pre = a->pre_size ? a->pre_size : 1,
                    other = axes[k].pre_size ? axes[k].pre_size : 1;
      const int64_t part = a->pre_size ? a->size : size,
                    other_part = axes[k].pre_size ? axes[k].size : size;
      if (pre < other * other_part && other < pre * part) return "two of its axes overlap";
      if (pre == other) return "an axis is named twice";
    }
  }
  return NULL;
}

/* Visit all values of the factors, the last fastest, calling for each the device's place. */
static uint32_t enumerate(const factor *factors, uint32_t n, int64_t base, hilo_dims devices,
                          int64_t *out) {
  int64_t at[MAX_FACTORS] = {0}, place = base;
  uint32_t count = 0;
  for (;;) {
    out[count++] = devices.n ? devices.v[place] : place;
    uint32_t k = n;
    for (; k-- > 0;) {
      place += factors[k].stride;
      if (++at[k] < factors[k].size) break;
      place -= factors[k].stride * factors[k].size;
      at[k] = 0;
    }
    if (k == UINT32_MAX) return count;
  }
}

const char *hilo_mesh_groups(hilo_dims axis_sizes, hilo_dims devices, const hilo_mesh_axis *axes,
                             uint32_t n_axes, hilo_arena *arena, hilo_dims *sizes, hilo_dims *ids) {
  const int64_t n_devices = hilo_devices_product(axis_sizes);
  if (n_devices < 0)
    return "the sizes of its axes must be positive, and their product at most 2^20";
  if (devices.n && devices.n != n_devices)
    return "its list of devices is not as long as the product of its axes";
  if (n_axes > MAX_FACTORS || axis_sizes.n > MAX_FACTORS) return "it has too many axes";
  const char *fault = check_axes(axis_sizes, axes, n_axes);
  factor all[MAX_FACTORS], inner[MAX_FACTORS], outer[MAX_FACTORS];
  uint32_t n = 0, n_outer = 0;
  for (uint32_t a = 0; a < axis_sizes.n && !fault; a++)
    fault = split_axis(a, axis_sizes.v[a], axes, n_axes, all, &n);
  if (fault) return fault;
  int64_t stride = 1, group = 1;
  for (uint32_t i = n; i-- > 0; stride *= all[i].size) all[i].stride = stride;
  for (uint32_t i = 0; i < n_axes; i++) inner[i] = (factor){1, 0, 0};
  for (uint32_t i = 0; i < n; i++) {
    if (!all[i].place) {
      outer[n_outer++] = all[i];
      continue;
    }
    inner[all[i].place - 1] = all[i];
    group *= all[i].size;
  }
  int64_t *starts = HILO_NEW_ARRAY(arena, int64_t, (size_t)n_devices);
  int64_t *all_ids = HILO_NEW_ARRAY(arena, int64_t, (size_t)n_devices);
  const uint32_t n_groups = enumerate(outer, n_outer, 0, HILO_DIMS_NONE, starts);
  for (uint32_t g = 0; g < n_groups; g++) {
    enumerate(inner, n_axes, starts[g], devices, all_ids + (int64_t)g * group);
    starts[g] = group;
  }
  *sizes = (hilo_dims){starts, n_groups};
  *ids = (hilo_dims){all_ids, (uint32_t)n_devices};
  return NULL;
}
