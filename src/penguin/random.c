/* Random numbers, batch norms, and the number of the rank. */
#include "penguin/printer.h"

void hilo_emit_rng(hilo_printer *p, hilo_inst i) {
  const int64_t distribution = hilo_attrs(p->m, i, rng).distribution;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "rng");
  HILO_PUT(p->out, ", rng_distribution=");
  distribution == 2 ? HILO_PUT(p->out, "'NORMAL'") : HILO_PUT(p->out, "'UNIFORM'");
  hilo_put_shape(p, "shape", hilo_inst_type(p->m, i));
  hilo_put_dtype(p, "dtype", hilo_inst_etype(p->m, i));
  hilo_close(p);
}

void hilo_emit_rng_bit_generator(hilo_printer *p, hilo_inst i) {
  static const char *const names[] = {"'DEFAULT'", "'THREE_FRY'", "'PHILOX'"};
  const int64_t algorithm = hilo_attrs(p->m, i, rng).algorithm;
  const uint32_t n = hilo_n_leaves(p, i);
  const hilo_type bits = hilo_leaf_type(p, hilo_inst_type(p->m, i), n - 1);
  if (algorithm < 0 || algorithm >= (int64_t)HILO_COUNT(names) || n != 2) {
    HILO_REFUSE(
        p, OP, i,
        "`rng-bit-generator` with algorithm %lld and %u results has no Penguin form: expected "
        "default, three_fry or philox, and state and bits",
        (long long)algorithm, n);
    return;
  }
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "rng_bit_generator");
  hilo_put_key(p, "rng_algorithm");
  hilo_sb_cat(p->out, names[algorithm]);
  hilo_put_shape(p, "shape", bits);
  hilo_put_dtype(p, "dtype", hilo_type_etype(&p->m->types, bits));
  hilo_close(p);
}

void hilo_emit_batch_norm(hilo_printer *p, hilo_inst i) {
  const hilo_batch_norm_attrs attrs = hilo_attrs(p->m, i, batch_norm);
  uint32_t epsilon;
  memcpy(&epsilon, &attrs.epsilon, sizeof(epsilon));
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, hilo_op_mnemonic(hilo_inst_op(p->m, i)));
  hilo_put_key(p, "epsilon");
  hilo_py_scalar(p->out, HILO_F32, epsilon);
  hilo_put_int(p, "feature_index", attrs.feature_index);
  hilo_close(p);
}

/* partition-id, replica-id. */
void hilo_emit_rank_id(hilo_printer *p, hilo_inst i) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, hilo_op_mnemonic(hilo_inst_op(p->m, i)));
  hilo_close(p);
}
