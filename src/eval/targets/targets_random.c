/* Dropout as a custom call: whose distribution is defined, not its numbers. They are a function of
 * the evaluation's seed, the call's identity (draws.h), its seed operands and the place of the
 * element, so a module and what passes make of it drop the same elements. */
#include "eval/targets/targets.h"

#include "eval/lanes.h"

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double uniform(uint64_t key, uint64_t at) {
  return (double)(mix(key ^ mix(at)) >> 11) * 0x1p-53;
}

/* All integers among the operands go into the key. */
static uint64_t key_of(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t n) {
  uint64_t key = hilo_eval_draw_key(e, i);
  for (uint32_t k = 0; k < n; k++) {
    if (!hilo_etype_is_integer(hilo_value_etype(e, &args[k]))) continue;
    const uint64_t bytes =
        hilo_value_n_elements(e, &args[k]) * hilo_etype_bytes(hilo_value_etype(e, &args[k]));
    for (uint64_t b = 0; b < bytes; b++) key = mix(key ^ (uint8_t)args[k].data[b]);
  }
  return key;
}

static bool find_rate(const hilo_eval *e, const hilo_value *v, double *rate) {
  if (!hilo_etype_is_float(hilo_value_etype(e, v)) || hilo_value_n_elements(e, v) != 1)
    return false;
  hilo_eval_convert_elements(hilo_value_etype(e, v), HILO_F64, v->data, 1, (char *)rate);
  return true;
}

static void write_mask(const hilo_eval *e, uint64_t key, double rate, const hilo_value *mask) {
  const uint64_t total = hilo_value_n_elements(e, mask);
  const hilo_etype etype = hilo_value_etype(e, mask);
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    for (uint32_t k = 0; k < n; k++) {
      const bool kept = uniform(key, at + k) >= rate;
      if (hilo_etype_is_float(etype))
        x.f[k] = kept;
      else
        x.u[k] = kept;
    }
    hilo_lanes_store(etype, hilo_buffer_bytes(mask->owner), at, n, &x);
  }
}

/* x / (1 - rate) where kept, else 0. */
static void write_kept(const hilo_eval *e, uint64_t key, double rate, const hilo_value *in,
                       const hilo_value *out) {
  const uint64_t total = hilo_value_n_elements(e, out);
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(hilo_value_etype(e, in), in->data, at, n, &x);
    for (uint32_t k = 0; k < n; k++)
      x.f[k] = uniform(key, at + k) >= rate ? x.f[k] / (rate == 1 ? 1 : 1 - rate) : 0;
    hilo_lanes_store(hilo_value_etype(e, out), hilo_buffer_bytes(out->owner), at, n, &x);
  }
}

/* AwsNeuronDropoutMaskV1: the mask, 1 where kept; the rate is the operand of one float. */
static hilo_status give_mask(const hilo_eval *e, hilo_inst i, hilo_str target,
                             const hilo_value *args, hilo_value *out) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  double rate = 0;
  hilo_value *results;
  for (uint32_t k = 0; k < n; k++)
    if (find_rate(e, &args[k], &rate)) break;
  HILO_TRY(hilo_target_results(e, i, target, 1, out, &results));
  if (hilo_etype_is_complex(hilo_value_etype(e, &results[0])))
    return hilo_target_error(e, i, target, "gives a mask of complex numbers");
  write_mask(e, key_of(e, i, args, n), rate, &results[0]);
  return HILO_OK;
}

/* AwsNeuronDropout: of x and the rate; gives the rest of x and the mask, then its seeds. */
hilo_status hilo_target_dropout(const hilo_eval *e, hilo_inst i, hilo_str target,
                                const hilo_value *args, hilo_value *out) {
  if (hilo_str_ends(target, "MaskV1")) return give_mask(e, i, target, args, out);
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  const bool is_tuple = hilo_type_is_tuple(&e->m->types, out->type);
  const uint32_t n_results = is_tuple ? hilo_type_n_elements_of_tuple(&e->m->types, out->type) : 1;
  double rate;
  hilo_value *results;
  if (n < 2 || !find_rate(e, &args[1], &rate) || n_results < 1 || n_results > n ||
      !hilo_etype_is_float(hilo_value_etype(e, &args[0])))
    return hilo_target_error(e, i, target, "takes floats and a rate, and gives as many or fewer");
  HILO_TRY(hilo_target_results(e, i, target, n_results, out, &results));
  const uint64_t key = key_of(e, i, args, n);
  for (uint32_t k = 0; k < n_results; k++) {
    const hilo_value *same = k < 2 ? &args[0] : &args[k];
    if (hilo_value_n_elements(e, &results[k]) != hilo_value_n_elements(e, same) ||
        hilo_etype_is_complex(hilo_value_etype(e, &results[k])))
      return hilo_target_error(e, i, target, "has results that do not fit its operands");
  }
  if (!hilo_etype_is_float(hilo_value_etype(e, &results[0])))
    return hilo_target_error(e, i, target, "gives no floats");
  write_kept(e, key, rate, &args[0], &results[0]);
  if (n_results > 1) write_mask(e, key, rate, &results[1]);
  for (uint32_t k = 2; k < n_results; k++)
    hilo_eval_convert_elements(hilo_value_etype(e, &args[k]), hilo_value_etype(e, &results[k]),
                               args[k].data, hilo_value_n_elements(e, &results[k]),
                               hilo_buffer_bytes(results[k].owner));
  return HILO_OK;
}
