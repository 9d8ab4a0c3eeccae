/* What is left of older dialects: einsum and unary_einsum, torch_index_select.
 *
 * An einsum names the dimensions of its operands by letters, `ab,bc->ac`: an element of the result
 * is the sum, over all indices that it does not have, of the products of the elements of those
 * indices. Summed in long double, or modulo 2^64, and rounded once. Cost: the product of all sizes;
 * nobody writes these operations any more. */
#include "eval/elementwise/wide.h"
#include "eval/movement/indices.h"
#include "eval/strided.h"
#include "eval/value_type.h"

#include "eval/lanes.h"

enum { MAX_EINSUM_OPERANDS = 2 };

/* Which dimension a letter names: numbers of letters, in the order of their first places. */
typedef struct {
  char letters[2 * HILO_MAX_RANK];
  int64_t sizes[2 * HILO_MAX_RANK];
  uint32_t n;
} letter_table;

typedef struct {
  letter_table table;
  hilo_str terms[MAX_EINSUM_OPERANDS + 1]; /* of the operands, then of the result */
  uint32_t n_operands;
} einsum;

static uint32_t find_letter(const letter_table *t, char letter) {
  uint32_t k = 0;
  while (k < t->n && t->letters[k] != letter) k++;
  return k;
}

/* `ab,bc->ac` without blanks into its terms. */
static bool split_config(hilo_arena *arena, hilo_str config, uint32_t n_operands, einsum *out) {
  char *text = hilo_arena_alloc(arena, config.n + 1, 1);
  size_t n = 0;
  for (size_t k = 0; k < config.n; k++)
    if (config.p[k] != ' ') text[n++] = config.p[k];
  text[n] = 0;
  char *arrow = strstr(text, "->"), *comma = strchr(text, ',');
  if (!arrow || (comma != NULL) != (n_operands == 2) || (comma && comma > arrow)) return false;
  const char *end = comma ? comma : arrow;
  out->n_operands = n_operands;
  out->terms[0] = (hilo_str){text, (size_t)(end - text)};
  if (comma) out->terms[1] = (hilo_str){comma + 1, (size_t)(arrow - comma - 1)};
  out->terms[n_operands] = (hilo_str){arrow + 2, n - (size_t)(arrow + 2 - text)};
  return true;
}

/* Letters of the operands have one size each; those of the result are known, and there once. */
static bool bind_letters(const hilo_eval *e, const hilo_value *args, einsum *s) {
  letter_table *t = &s->table;
  for (uint32_t a = 0; a < s->n_operands; a++) {
    const hilo_dims dims = hilo_type_dims(&e->m->types, args[a].type);
    if (dims.n != s->terms[a].n) return false;
    for (uint32_t d = 0; d < dims.n; d++) {
      const char letter = s->terms[a].p[d];
      const uint32_t k = find_letter(t, letter);
      const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      if (!is_letter || (k < t->n && t->sizes[k] != dims.v[d])) return false;
      if (k == t->n) t->letters[k] = letter, t->sizes[k] = dims.v[d], t->n++;
    }
  }
  const hilo_str result = s->terms[s->n_operands];
  for (size_t d = 0; d < result.n; d++)
    if (find_letter(t, result.p[d]) == t->n || memchr(result.p, result.p[d], d)) return false;
  return result.n <= HILO_MAX_RANK;
}

/* A step for each letter of `box`: where a letter stands twice, the diagonal. */
static hilo_strides strides_of(hilo_str term, hilo_dims dims, hilo_str box) {
  const hilo_strides dense = hilo_strides_row_major(dims);
  hilo_strides out = {0};
  for (size_t k = 0; k < box.n; k++)
    for (uint32_t d = 0; d < dims.n; d++)
      if (term.p[d] == box.p[k]) out.step[k] += dense.step[d];
  return out;
}

/* A sum of products at one index of the result. */
static hilo_wide sum_wide(hilo_walk w, const hilo_value *args, uint32_t n_args,
                          const int64_t start[MAX_EINSUM_OPERANDS], hilo_etype etype) {
  hilo_wide sum = {0, 0};
  for (bool more = hilo_walk_begin(&w); more; more = hilo_walk_next(&w)) {
    hilo_wide product = {1, 0};
    for (uint32_t a = 0; a < n_args; a++)
      product = hilo_wide_multiply(
          product, hilo_wide_load(etype, args[a].data, (uint64_t)(start[a] + w.at[a])));
    sum = hilo_wide_add(sum, product);
  }
  return sum;
}

static uint64_t sum_integers(hilo_walk w, const hilo_value *args, uint32_t n_args,
                             const int64_t start[MAX_EINSUM_OPERANDS], hilo_etype etype) {
  uint64_t sum = 0;
  for (bool more = hilo_walk_begin(&w); more; more = hilo_walk_next(&w)) {
    uint64_t product = 1;
    for (uint32_t a = 0; a < n_args; a++) {
      hilo_lanes x;
      hilo_lanes_load(etype, args[a].data, (uint64_t)(start[a] + w.at[a]), 1, &x);
      product *= x.u[0];
    }
    sum += product;
  }
  return sum;
}

static void sum_products(const hilo_eval *e, const einsum *s, const hilo_value *args,
                         const hilo_value *out, char *data) {
  char rest[2 * HILO_MAX_RANK];
  int64_t rest_sizes[2 * HILO_MAX_RANK];
  const hilo_str kept = s->terms[s->n_operands];
  hilo_str summed = {rest, 0};
  for (uint32_t k = 0; k < s->table.n; k++) {
    if (memchr(kept.p, s->table.letters[k], kept.n)) continue;
    rest[summed.n] = s->table.letters[k];
    rest_sizes[summed.n++] = s->table.sizes[k];
  }
  hilo_walk outer = hilo_walk_of(hilo_type_dims(&e->m->types, out->type));
  hilo_walk inner = hilo_walk_of((hilo_dims){rest_sizes, (uint32_t)summed.n});
  const hilo_etype etype = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  for (uint32_t a = 0; a < s->n_operands; a++) {
    const hilo_dims dims = hilo_type_dims(&e->m->types, args[a].type);
    const hilo_strides of_kept = strides_of(s->terms[a], dims, kept);
    const hilo_strides of_summed = strides_of(s->terms[a], dims, summed);
    hilo_walk_follow(&outer, &of_kept);
    hilo_walk_follow(&inner, &of_summed);
  }
  uint64_t k = 0;
  for (bool more = hilo_walk_begin(&outer); more; more = hilo_walk_next(&outer), k++) {
    if (hilo_etype_is_integer(etype)) {
      hilo_lanes x;
      x.u[0] = sum_integers(inner, args, s->n_operands, outer.at, etype);
      hilo_lanes_store(to, data, k, 1, &x);
    } else {
      hilo_wide_store(to, data, k, sum_wide(inner, args, s->n_operands, outer.at, etype));
    }
  }
}

static hilo_status eval_einsum(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t n,
                               hilo_value *out) {
  einsum *s = HILO_NEW_ZEROED(e->scratch, einsum, 1);
  const hilo_str config = hilo_string_of(e->m, hilo_attrs(e->m, i, einsum).config);
  if (!split_config(e->scratch, config, n, s) || !bind_letters(e, args, s) ||
      s->table.n > HILO_MAX_RANK)
    return hilo_eval_refuse(e, i, "its letters do not name the dimensions of its operands");
  int64_t sizes[HILO_MAX_RANK];
  const hilo_str result = s->terms[n];
  for (size_t d = 0; d < result.n; d++)
    sizes[d] = s->table.sizes[find_letter(&s->table, result.p[d])];
  HILO_TRY(hilo_eval_set_type(e, i, (hilo_dims){sizes, (uint32_t)result.n}, out));
  const hilo_etype etype = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  const bool is_real = hilo_etype_is_integer(etype) || hilo_etype_is_float(etype);
  if ((!is_real && !hilo_etype_is_complex(etype)) || hilo_value_etype(e, &args[n - 1]) != etype ||
      hilo_etype_is_integer(etype) != hilo_etype_is_integer(to) ||
      hilo_etype_is_complex(etype) != hilo_etype_is_complex(to))
    return hilo_eval_refuse(e, i, "its element types are not those of one sum of products");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  sum_products(e, s, args, out, data);
  return HILO_OK;
}

hilo_status hilo_eval_op_einsum(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                hilo_value *out) {
  return eval_einsum(e, i, args, 2, out);
}

hilo_status hilo_eval_op_unary_einsum(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                      hilo_value *out) {
  return eval_einsum(e, i, args, 1, out);
}

/* ---- torch_index_select ---- */

static uint64_t product_of(hilo_dims dims, uint32_t from, uint32_t to) {
  uint64_t n = 1;
  for (uint32_t d = from; d < to; d++) n *= (uint64_t)dims.v[d];
  return n;
}

/* Slices of dimension `dim` at the indices, which have the leading batch dimensions in common with
 * the operand. Indices are clamped, as those of gather are. */
hilo_status hilo_eval_op_torch_index_select(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  const hilo_torch_index_attrs a = hilo_attrs(e->m, i, torch_index);
  const hilo_dims in = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims at = hilo_type_dims(&e->m->types, args[1].type);
  const uint32_t dim = (uint32_t)a.dim, n_batch = (uint32_t)a.batch_dims;
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  if (hilo_value_n_elements(e, out) == 0) return HILO_OK;
  const int64_t size = in.v[dim];
  const uint64_t batch = product_of(in, 0, n_batch), before = product_of(in, n_batch, dim);
  const uint64_t n_indices = product_of(at, n_batch, at.n);
  if (size == 0 || product_of(at, 0, n_batch) != batch)
    return hilo_eval_refuse(e, i, "its indices do not fit its operand");
  const uint64_t bytes = product_of(in, dim + 1, in.n) * hilo_etype_bytes(hilo_value_etype(e, out));
  int64_t *indices = HILO_NEW_ARRAY(e->scratch, int64_t, batch * n_indices);
  hilo_indices_load(hilo_value_etype(e, &args[1]), args[1].data, 0, batch * n_indices, indices);
  for (uint64_t b = 0; b < batch; b++)
    for (uint64_t k = 0; k < before; k++)
      for (uint64_t j = 0; j < n_indices; j++, data += bytes) {
        const uint64_t index = (uint64_t)hilo_index_clamp(indices[b * n_indices + j], size - 1);
        memcpy(data, args[0].data + ((b * before + k) * (uint64_t)size + index) * bytes, bytes);
      }
  return HILO_OK;
}
