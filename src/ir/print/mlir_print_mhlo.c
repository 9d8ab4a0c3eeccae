/* Properties of the operations that have a pretty form in StableHLO and none in MHLO. */
#include "ir/print/mlir_print_impl.h"

/* PrecisionConfig.Algorithm as StableHLO spells it: types of the operands and the accumulator, how
 * many components, how many primitive operations. */
static const struct {
  const char *lhs, *rhs, *accumulation;
  uint8_t components, operations;
  bool imprecise;
} algorithms[] = {
    [1] = {"f8E5M2", "f8E5M2", "f32", 1, 1, false}, [2] = {"f8E5M2", "f8E5M2", "f32", 1, 1, true},
    [3] = {"f16", "f16", "f16", 1, 1, false},       [4] = {"f16", "f16", "f32", 1, 1, false},
    [5] = {"bf16", "bf16", "bf16", 1, 1, false},    [6] = {"bf16", "bf16", "f32", 1, 1, false},
    [7] = {"bf16", "bf16", "f32", 1, 3, false},     [8] = {"bf16", "bf16", "f32", 1, 6, false},
    [9] = {"tf32", "tf32", "f32", 1, 1, false},     [10] = {"tf32", "tf32", "f32", 1, 3, false},
    [11] = {"f32", "f32", "f32", 1, 1, false},      [12] = {"f64", "f64", "f64", 1, 1, false},
    [13] = {"bf16", "bf16", "f32", 1, 9, false},
};

void mlir_print_algorithm(mlir_printer *p, hilo_inst i, int64_t number) {
  if (number < 0 || (size_t)number >= HILO_COUNT(algorithms)) {
    mlir_refuse(p, i, "an algorithm of a dot that has no StableHLO form");
    return;
  }
  const int at = (int)number;
  hilo_sb_printf(p->out,
                 "<lhs_precision_type = %s, rhs_precision_type = %s, "
                 "accumulation_type = %s, lhs_component_count = %d, rhs_component_count = %d, "
                 "num_primitive_operations = %d, allow_imprecise_accumulation = %s>",
                 algorithms[at].lhs, algorithms[at].rhs, algorithms[at].accumulation,
                 algorithms[at].components, algorithms[at].components, algorithms[at].operations,
                 algorithms[at].imprecise ? "true" : "false");
}

static void props_dot(mlir_printer *p, hilo_inst i) {
  const hilo_dot_attrs a = hilo_attrs(p->m, i, dot);
  const hilo_dims both = HILO_DIMS_OF(0, 0);
  if (a.algorithm) {
    mlir_prop(p, "algorithm");
    PRINT(p->out, "#mhlo.dot_algorithm");
    mlir_print_algorithm(p, i, a.algorithm);
  }
  if (!a.plain) {
    const struct {
      const char *name;
      hilo_dims list;
    } members[] = {{"lhs_batching_dimensions = [", a.lhs_batch},
                   {"rhs_batching_dimensions = [", a.rhs_batch},
                   {"lhs_contracting_dimensions = [", a.lhs_contracting},
                   {"rhs_contracting_dimensions = [", a.rhs_contracting}};
    bool any = false;
    mlir_prop(p, "dot_dimension_numbers");
    PRINT(p->out, "#mhlo.dot<");
    for (size_t k = 0; k < HILO_COUNT(members); k++) {
      if (!members[k].list.n) continue;
      if (any) PRINT(p->out, ", ");
      any = true;
      mlir_print_ints(p->out, members[k].name, members[k].list, "]");
    }
    hilo_sb_char(p->out, '>');
  }
  if (!a.precision.n && !a.algorithm) return;
  mlir_prop(p, "precision_config");
  mlir_precision_config(p, a.precision.n ? a.precision : both, p->out);
}

static void props_slice(mlir_printer *p, hilo_inst i) {
  const hilo_slice_attrs a = hilo_attrs(p->m, i, slice);
  mlir_prop_array(p, "limit_indices", a.limits);
  mlir_prop_array(p, "start_indices", a.starts);
  mlir_prop_array(p, "strides", a.strides);
}

static void props_pad(mlir_printer *p, hilo_inst i) {
  const hilo_pad_attrs a = hilo_attrs(p->m, i, pad);
  mlir_prop_array(p, "edge_padding_high", a.high);
  mlir_prop_array(p, "edge_padding_low", a.low);
  mlir_prop_array(p, "interior_padding", a.interior);
}

static void props_fft(mlir_printer *p, hilo_inst i) {
  const hilo_fft_attrs a = hilo_attrs(p->m, i, fft);
  mlir_prop_array(p, "fft_length", a.length);
  mlir_prop(p, "fft_type");
  hilo_sb_printf(p->out, "#mhlo<fft_type %.*s>",
                 HILO_FMT(hilo_hlo_word_of(&hilo_words_fft_type, a.type)));
}

static void props_rng(mlir_printer *p, hilo_inst i) {
  static const char *const words[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  const hilo_rng_attrs a = hilo_attrs(p->m, i, rng);
  if (hilo_inst_is(p->m, i, HILO_OP_RNG)) {
    mlir_prop(p, "rng_distribution");
    hilo_sb_printf(p->out, "#mhlo.rng_distribution<%s>",
                   a.distribution == 2 ? "NORMAL" : "UNIFORM");
    return;
  }
  mlir_prop(p, "rng_algorithm");
  hilo_sb_printf(p->out, "#mhlo.rng_algorithm<%s>",
                 words[a.algorithm >= 0 && a.algorithm < 3 ? a.algorithm : 0]);
}

static void props_lower(mlir_printer *p, hilo_inst i) {
  mlir_prop(p, "lower");
  hilo_sb_cat(p->out, hilo_attrs(p->m, i, linalg).lower ? "true" : "false");
}

bool mlir_has_mhlo_props(hilo_op op) {
  switch (op) {
  case HILO_OP_BROADCAST:
  case HILO_OP_CHOLESKY:
  case HILO_OP_CONCATENATE:
  case HILO_OP_DOT:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_FFT:
  case HILO_OP_GET_DIMENSION_SIZE:
  case HILO_OP_IOTA:
  case HILO_OP_PAD:
  case HILO_OP_REVERSE:
  case HILO_OP_RNG:
  case HILO_OP_RNG_BIT_GENERATOR:
  case HILO_OP_SET_DIMENSION_SIZE:
  case HILO_OP_SLICE:
  case HILO_OP_TRANSPOSE: return true;
  default: return false;
  }
}

void mlir_print_mhlo_props(mlir_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  switch (op) {
  case HILO_OP_BROADCAST:
    mlir_prop_array(p, "broadcast_dimensions", hilo_attrs(p->m, i, dims).dims);
    break;
  case HILO_OP_CHOLESKY: props_lower(p, i); break;
  case HILO_OP_CONCATENATE: {
    const hilo_dims dims = hilo_attrs(p->m, i, dims).dims;
    mlir_prop_number(p, "dimension", dims.n ? dims.v[0] : 0);
    break;
  }
  case HILO_OP_DOT: props_dot(p, i); break;
  case HILO_OP_DYNAMIC_SLICE:
    mlir_prop_array(p, "slice_sizes", hilo_attrs(p->m, i, dims).dims);
    break;
  case HILO_OP_FFT: props_fft(p, i); break;
  case HILO_OP_GET_DIMENSION_SIZE:
  case HILO_OP_SET_DIMENSION_SIZE:
    mlir_prop_number(p, "dimension", hilo_inst_index(p->m, i));
    break;
  case HILO_OP_IOTA: mlir_prop_number(p, "iota_dimension", hilo_inst_index(p->m, i)); break;
  case HILO_OP_PAD: props_pad(p, i); break;
  case HILO_OP_REVERSE: mlir_prop_array(p, "dimensions", hilo_attrs(p->m, i, dims).dims); break;
  case HILO_OP_RNG:
  case HILO_OP_RNG_BIT_GENERATOR: props_rng(p, i); break;
  case HILO_OP_SLICE: props_slice(p, i); break;
  case HILO_OP_TRANSPOSE: mlir_prop_array(p, "permutation", hilo_attrs(p->m, i, dims).dims); break;
  default: break;
  }
}
