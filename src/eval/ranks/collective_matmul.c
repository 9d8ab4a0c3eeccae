/* The custom call AwsNeuronCollectiveMatmul: in each group of `tp_degree` ranks in a row, the dot
 * of the other operand with the weight (operand 0), gathered from the group.
 *
 * The call carries neither which dimension is gathered nor which one of the left side is
 * contracted, nor the side that the weight is on: they are what the shapes leave, and it is an
 * error if these leave a choice. */
#include "eval/products/dot_sides.h"
#include "eval/ranks/collective.h"
#include "eval/targets/targets.h"

hilo_status hilo_collective_matmul_degree(const hilo_eval *e, hilo_inst i, uint32_t n_ranks,
                                          uint32_t *degree) {
  uint64_t n;
  const hilo_str config = hilo_target_config(e, i);
  if (hilo_inst_n_operands(e->m, i) != 2 ||
      !hilo_type_is_array(&e->m->types, hilo_inst_type(e->m, i)))
    return hilo_target_error(e, i, hilo_str_of(HILO_TARGET_COLLECTIVE_MATMUL),
                             "takes two arrays and gives one");
  if (!hilo_target_number(config, "tp_degree", &n) || !n || n_ranks % n)
    return hilo_target_error(e, i, hilo_str_of(HILO_TARGET_COLLECTIVE_MATMUL),
                             "has no tp_degree that divides the number of ranks");
  *degree = (uint32_t)n;
  return HILO_OK;
}

typedef struct {
  uint32_t gathered, contracted[2]; /* of the weight; of each side */
  bool weight_is_right;
} form;

static bool gives(hilo_dims lhs, hilo_dims rhs, const uint32_t contracted[2], hilo_dims result) {
  uint32_t n = 0;
  if (lhs.n + rhs.n != result.n + 2) return false;
  for (uint32_t d = 0; d < lhs.n; d++)
    if (d != contracted[0] && lhs.v[d] != result.v[n++]) return false;
  for (uint32_t d = 0; d < rhs.n; d++)
    if (d != contracted[1] && rhs.v[d] != result.v[n++]) return false;
  return lhs.v[contracted[0]] == rhs.v[contracted[1]];
}

/* How many forms have the shape of the result; *out is the last of them. */
static uint32_t find_forms(hilo_dims weight, hilo_dims other, hilo_dims result, uint32_t degree,
                           uint64_t rhs_contracted, form *out) {
  uint32_t n = 0;
  int64_t whole[HILO_MAX_RANK];
  for (uint32_t g = 0; g < weight.n; g++) {
    memcpy(whole, weight.v, weight.n * sizeof(*whole));
    uint64_t size;
    if (!hilo_mul_u64((uint64_t)whole[g], degree, &size) || size > INT64_MAX) continue;
    whole[g] = (int64_t)size;
    for (uint32_t right = 0; right < 2; right++) {
      const hilo_dims all = {whole, weight.n};
      const hilo_dims lhs = right ? other : all, rhs = right ? all : other;
      for (uint32_t d = 0; d < lhs.n && rhs_contracted < rhs.n; d++) {
        const form f = {g, {d, (uint32_t)rhs_contracted}, right};
        if (!gives(lhs, rhs, f.contracted, result)) continue;
        *out = f;
        n++;
      }
    }
  }
  return n;
}

/* The weights of all, one behind the other along dimension `along`. */
static hilo_dot_operand gather(const hilo_eval *e, const hilo_participants *all, uint32_t along) {
  hilo_dot_operand whole = hilo_dot_operand_of(e, &all->args[0][0]);
  int64_t *dims = HILO_NEW_ARRAY(e->scratch, int64_t, whole.dims.n + 1);
  uint64_t outer = 1, bytes = hilo_etype_bytes(whole.etype);
  for (uint32_t d = 0; d < whole.dims.n; d++) {
    dims[d] = whole.dims.v[d];
    if (d < along)
      outer *= (uint64_t)dims[d];
    else
      bytes *= (uint64_t)dims[d];
  }
  dims[along] *= all->n;
  if (!bytes) outer = 0;
  char *data = hilo_arena_alloc(e->scratch, outer * bytes * all->n + 1, 64);
  for (uint64_t o = 0; o < outer; o++)
    for (uint32_t p = 0; p < all->n; p++)
      memcpy(data + (o * all->n + p) * bytes, all->args[p][0].data + o * bytes, bytes);
  whole.dims.v = dims;
  whole.data = data;
  return whole;
}

hilo_status hilo_collective_matmul(const hilo_eval *e, const hilo_participants *all,
                                   hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const hilo_store *types = &e->m->types;
  uint64_t rhs_contracted;
  form f;
  if (!hilo_target_number(hilo_target_config(e, i), "rhs_contracting_dim", &rhs_contracted))
    return hilo_target_error(e, i, hilo_str_of(HILO_TARGET_COLLECTIVE_MATMUL),
                             "has no rhs_contracting_dim");
  const uint32_t n_forms = find_forms(
      hilo_type_dims(types, all->args[0][0].type), hilo_type_dims(types, all->args[0][1].type),
      hilo_type_dims(types, hilo_inst_type(e->m, i)), all->n, rhs_contracted, &f);
  if (n_forms != 1)
    return hilo_target_error(e, i, hilo_str_of(HILO_TARGET_COLLECTIVE_MATMUL),
                             n_forms ? "leaves a choice of its dimensions"
                                     : "has operands whose product has another shape");
  const hilo_dot_operand weight = gather(e, all, f.gathered);
  int64_t contracted[2] = {f.contracted[0], f.contracted[1]};
  const hilo_dot_pairing pairing[2] = {{.contracting = {&contracted[0], 1}},
                                       {.contracting = {&contracted[1], 1}}};
  for (uint32_t p = 0; p < all->n; p++) {
    const hilo_dot_operand other = hilo_dot_operand_of(e, &all->args[p][1]);
    const hilo_dot_operand sides[2] = {f.weight_is_right ? other : weight,
                                       f.weight_is_right ? weight : other};
    results[p] = (hilo_value){.type = hilo_inst_type(e->m, all->insts[p])};
    HILO_TRY(hilo_dot_multiply(e, i, sides, pairing, &results[p]));
  }
  return HILO_OK;
}
