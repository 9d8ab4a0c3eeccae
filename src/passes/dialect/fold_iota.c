/* 16 fold-iota: powers of a constant with exponents in arithmetic progression are a constant.
 *
 *   power(broadcast(b), multiply(iota d, broadcast(s)))  →  constant
 *
 * For index i along d the exponent is e = i s and the value b ^ e, each rounded to the element
 * type; powers of floats are taken in double. Integers are exact modulo 2^bits, if s >= 0 and i s
 * is in range; else the power stays. A table of more than MAX_DENSE elements and several dimensions
 * is made in one dimension and broadcast. Feeders without other users go. O(instructions + elements
 * written). */
#include <math.h>

#include "base/vec.h"
#include "ir/etype_format.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

enum { MAX_DENSE = 4096, MAX_TABLE = 64 << 20 };

typedef struct {
  hilo_inst base, scale; /* the constants */
  hilo_inst exponents, iota;
  uint32_t dim;
} progression;

/* The constant of one value that `i` broadcasts. */
static hilo_inst broadcast_constant(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_BROADCAST)) return HILO_INST_NONE;
  const hilo_inst source = hilo_inst_operand(m, i, 0);
  if (!hilo_inst_is(m, source, HILO_OP_CONSTANT)) return HILO_INST_NONE;
  return hilo_literal_get(m, hilo_inst_literal(m, source))->kind == HILO_LITERAL_SPLAT
             ? source
             : HILO_INST_NONE;
}

static bool reject(const hilo_pass_ctx *ctx, const char *why) {
  HILO_LOG(ctx->log, DEBUG, "Fold iota: %s", why);
  return false;
}

static bool match(const hilo_module *m, hilo_inst power, const hilo_pass_ctx *ctx,
                  progression *out) {
  if (hilo_neuron_of_inst(m, power).no_opt.ix) return false;
  out->base = broadcast_constant(m, hilo_inst_operand(m, power, 0));
  if (!out->base.ix) return reject(ctx, "powOp arg0 is not a BroadcastInDimOp");
  out->exponents = hilo_inst_operand(m, power, 1);
  if (!hilo_inst_is(m, out->exponents, HILO_OP_MULTIPLY))
    return reject(ctx, "powOp arg1 is not a MulOp");
  for (uint32_t k = 0; k < 2; k++) {
    out->iota = hilo_inst_operand(m, out->exponents, k);
    out->scale = broadcast_constant(m, hilo_inst_operand(m, out->exponents, 1 - k));
    if (hilo_inst_is(m, out->iota, HILO_OP_IOTA) && out->scale.ix) {
      out->dim = hilo_inst_index(m, out->iota);
      return true;
    }
  }
  return reject(ctx, "mulOp arg0 is not a IotaOp");
}

/* ---- values ---- */

static uint64_t element_of(const hilo_module *m, hilo_inst constant, uint32_t bytes) {
  uint64_t bits = 0;
  memcpy(&bits, hilo_literal_element(m, hilo_inst_literal(m, constant), 0), bytes);
  return bits;
}

static void float_powers(const hilo_module *m, const progression *p, hilo_etype etype, uint64_t n,
                         char *out) {
  const hilo_float_format f = hilo_etype_float_format(etype);
  const uint32_t bytes = hilo_etype_bytes(etype);
  const double base = hilo_float_to_double(f, element_of(m, p->base, bytes));
  const double scale = hilo_float_to_double(f, element_of(m, p->scale, bytes));
  for (uint64_t i = 0; i < n; i++) {
    const double index = hilo_float_to_double(f, hilo_float_from_double(f, (double)i));
    const double e = hilo_float_to_double(f, hilo_float_from_double(f, index * scale));
    const uint64_t v = hilo_float_from_double(f, pow(base, e));
    memcpy(out + i * bytes, &v, bytes);
  }
}

static uint64_t power_of(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

/* False: an exponent is negative or out of range. */
static bool integer_powers(const hilo_module *m, const progression *p, hilo_etype etype, uint64_t n,
                           char *out) {
  const uint32_t bits = hilo_etype_table[etype].bits, bytes = hilo_etype_bytes(etype);
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  int64_t base, scale;
  if (bits < 8 || !hilo_inst_const_int(m, p->base, &base) ||
      !hilo_inst_const_int(m, p->scale, &scale) || (is_signed && scale < 0))
    return false;
  const uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
  uint64_t last;
  if (n - 1 > most || !hilo_mul_u64(n - 1, (uint64_t)scale, &last) || last > most) return false;
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t v = power_of((uint64_t)base, i * (uint64_t)scale);
    memcpy(out + i * bytes, &v, bytes);
  }
  return true;
}

/* The values along the dimension; NULL: they cannot be told. */
static char *table_of(hilo_module *m, const progression *p, hilo_etype etype, uint64_t n,
                      hilo_arena *scratch) {
  uint64_t bytes;
  if (!n || !hilo_mul_u64(n, hilo_etype_bytes(etype), &bytes) || bytes > MAX_TABLE) return NULL;
  char *table = hilo_arena_alloc(scratch, bytes + 8, 8);
  if (hilo_etype_is_float(etype)) {
    float_powers(m, p, etype, n, table);
    return table;
  }
  return hilo_etype_is_integer(etype) && integer_powers(m, p, etype, n, table) ? table : NULL;
}

/* ---- the rewrite ---- */

static hilo_inst insert_constant(hilo_module *m, hilo_inst at, hilo_type type, const char *data,
                                 uint64_t bytes) {
  const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT,
                               .type = type,
                               .attr = hilo_literal_put(m, type, data, bytes, true).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

/* The table spread over all dimensions, as bytes. */
static hilo_inst insert_dense(hilo_module *m, hilo_inst at, hilo_type type, uint32_t dim,
                              const char *table, hilo_arena *scratch) {
  const hilo_dims dims = hilo_type_dims(&m->types, type);
  const uint32_t size = hilo_etype_bytes(hilo_type_etype(&m->types, type));
  const uint64_t n = hilo_type_row_of(&m->types, type)->n_elements;
  uint64_t inner = 1;
  for (uint32_t d = dim + 1; d < dims.n; d++) inner *= (uint64_t)dims.v[d];
  char *data = hilo_arena_alloc(scratch, n * size + 8, 8);
  for (uint64_t k = 0; k < n; k++)
    memcpy(data + k * size, table + k / inner % (uint64_t)dims.v[dim] * size, size);
  return insert_constant(m, at, type, data, n * size);
}

static hilo_inst build(hilo_module *m, hilo_inst power, const progression *p, const char *table,
                       hilo_arena *scratch) {
  const hilo_type type = hilo_inst_type(m, power);
  const hilo_dims dims = hilo_type_dims(&m->types, type);
  const hilo_etype etype = hilo_type_etype(&m->types, type);
  const bool is_large = hilo_type_row_of(&m->types, type)->n_elements > MAX_DENSE;
  if (!is_large || dims.n == 1) return insert_dense(m, power, type, p->dim, table, scratch);
  const hilo_dims line = {&dims.v[p->dim], 1};
  const hilo_inst values = insert_constant(m, power, hilo_type_array(&m->types, etype, line), table,
                                           (uint64_t)line.v[0] * hilo_etype_bytes(etype));
  m->inst.meta[hilo_ix(m, values)] = m->inst.meta[hilo_ix(m, power)];
  m->inst.ordinal[hilo_ix(m, values)] = m->inst.ordinal[hilo_ix(m, power)];
  const int64_t to = p->dim;
  return hilo_build_broadcast(m, power, values, type, (hilo_dims){&to, 1});
}

static void drop_dead(hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_DEAD) && !hilo_inst_has_uses(m, i) && !hilo_inst_is_root(m, i))
    hilo_erase(m, i);
}

static bool fold(hilo_module *m, hilo_inst power, hilo_pass_ctx *ctx) {
  progression p = {0};
  const hilo_type_row *row = hilo_type_row_of(&m->types, hilo_inst_type(m, power));
  if (row->flags & HILO_TYPE_DYNAMIC || !match(m, power, ctx, &p)) return false;
  ctx->n_matched++;
  const uint64_t n = (uint64_t)hilo_inst_dims(m, power).v[p.dim];
  const char *table =
      row->n_elements ? table_of(m, &p, (hilo_etype)row->etype, n, ctx->scratch) : NULL;
  if (!table) return reject(ctx, "an exponent is negative or out of range");
  HILO_LOG(ctx->log, INFO, "Fold iota: The Pattern is found");
  const hilo_inst base_broadcast = hilo_inst_operand(m, power, 0);
  const hilo_inst factors[2] = {hilo_inst_operand(m, p.exponents, 0),
                                hilo_inst_operand(m, p.exponents, 1)};
  hilo_replace_with_fresh(m, power, build(m, power, &p, table, ctx->scratch));
  const hilo_inst feeders[] = {base_broadcast, p.base,     p.exponents,
                               factors[0],     factors[1], p.scale};
  for (size_t k = 0; k < HILO_COUNT(feeders); k++) drop_dead(m, feeders[k]);
  ctx->n_rewritten++;
  return true;
}

HILO_DECLARE_PASS(fold_iota) {
  hilo_vec(hilo_inst) powers = {0};
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_comp_get(m, c)->flags & HILO_COMP_FUSION) continue;
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_POWER)) HILO_PUSH(ctx->scratch, &powers, i);
    }
  }
  for (uint32_t k = 0; k < powers.n; k++) *changed |= fold(m, powers.v[k], ctx);
  HILO_VEC_FREE(ctx->scratch, &powers);
  return HILO_OK;
}
