/* Steps: what comes from outside and goes there, what ranks send each other, random numbers. */
#include "grow.h"

#include <stdio.h>

/* The type of what arrives, with what `rest` stands behind it. */
static hilo_type arriving(grower *g, hilo_type data, bool has_context) {
  hilo_store *types = &g->m->types;
  const hilo_type token = hilo_type_scalar(types, HILO_TOKEN);
  const hilo_type parts[] = {data, has_context ? hilo_type_scalar(types, HILO_U32) : token, token};
  return hilo_type_tuple(types, parts, has_context ? 3 : 2);
}

static hilo_type random_array(grower *g) {
  return array_of(g, random_etype(g, OF_ARRAY), random_dims(g, 0, 3));
}

/* Of what the seeds give. */
static void keep_seeded(grower *g, scope *s, hilo_inst i, bool is_uniform) {
  const hilo_etype etype = etype_of(g, i);
  const double size = etype == HILO_U32 ? 0x1p32 : hilo_etype_is_integer(etype) ? 16 : 4;
  (void)keep(g, s, i, size, true, is_uniform);
}

static hilo_inst new_token(grower *g, scope *s) {
  return put_simple(g, s, HILO_OP_AFTER_ALL, HILO_TYPE_NONE, NULL, 0, 0);
}

/* Infeeds and outfeeds one behind the other: tokens say so, as nothing else does. */
void step_feed(grower *g, scope *s) {
  if (!g->fed.ix) g->fed = new_token(g, s);
  const uint32_t no_config = hilo_feed_put(&g->m->records, &(hilo_feed_attrs){0}).ix;
  const hilo_inst in =
      put_simple(g, s, HILO_OP_INFEED, arriving(g, random_array(g), false), &g->fed, 1, no_config);
  if (!in.ix) return;
  g->fed = element_of(g, s, in, 1);
  keep_seeded(g, s, element_of(g, s, in, 0), true);
  if (chance(g, 50)) return;
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const hilo_inst out = put_simple(
      g, s, HILO_OP_OUTFEED, HILO_TYPE_NONE, (const hilo_inst[]){x.i, g->fed}, 2,
      hilo_feed_put(&g->m->records, &(hilo_feed_attrs){.outfeed_shape = type_of(g, x.i)}).ix);
  if (out.ix) g->fed = out;
}

static hilo_inst put_transfer(grower *g, scope *s, hilo_op op, hilo_type type,
                              const hilo_inst *operands, uint32_t n, bool is_host,
                              hilo_record extra) {
  const hilo_transfer_attrs attrs = {.is_host_transfer = is_host};
  return put(g, s,
             &(hilo_inst_desc){.op = op,
                               .type = type,
                               .operands = operands,
                               .n_operands = n,
                               .attr = hilo_transfer_put(&g->m->records, &attrs).ix,
                               .extra = extra});
}

/* The value of a recv: (data, token) of its done half. */
static hilo_inst receive(grower *g, scope *s, hilo_type data, hilo_inst token, bool is_host,
                         hilo_record extra) {
  const hilo_inst start =
      put_transfer(g, s, HILO_OP_RECV, arriving(g, data, true), &token, 1, is_host, extra);
  if (!start.ix) return start;
  const hilo_inst done =
      put_transfer(g, s, HILO_OP_RECV_DONE, HILO_TYPE_NONE, &start, 1, is_host, extra);
  return done.ix ? element_of(g, s, done, 0) : done;
}

/* From the host: what nobody sends to another rank never comes. */
void step_receive(grower *g, scope *s) {
  const hilo_extra_attrs extra = {.channel_id = ++g->n_channels};
  const hilo_inst x =
      receive(g, s, random_array(g), new_token(g, s), true, hilo_extra_put(&g->m->records, &extra));
  if (x.ix) keep_seeded(g, s, x, true);
}

/* Each partition sends to the one that stands for it in a random order. */
void step_exchange(grower *g, scope *s) {
  const uint32_t n = g->n_partitions;
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  hilo_sb pairs = hilo_sb_make(g->arena);
  const int64_t *target = random_order(g, n);
  for (uint32_t k = 0; k < n; k++)
    hilo_sb_printf(&pairs, "%s{%u,%lld}", k ? "," : "{", k, (long long)target[k]);
  hilo_sb_char(&pairs, '}');
  const int64_t kv[] = {hilo_module_string(g->m, HILO_STR("_xla_send_recv_source_target_pairs")).ix,
                        hilo_module_string(g->m, hilo_sb_view(&pairs)).ix};
  const hilo_extra_attrs extra = {
      .channel_id = ++g->n_channels,
      .frontend = hilo_string_map_put(&g->m->records, &(hilo_string_map_attrs){.kv = {kv, 2}})};
  const hilo_record record = hilo_extra_put(&g->m->records, &extra);
  const hilo_inst both[] = {x.i, new_token(g, s)};
  const hilo_inst start = put_transfer(g, s, HILO_OP_SEND, HILO_TYPE_NONE, both, 2, false, record);
  if (!start.ix) return;
  const hilo_inst got = receive(g, s, type_of(g, x.i), new_token(g, s), false, record);
  (void)put_transfer(g, s, HILO_OP_SEND_DONE, HILO_TYPE_NONE, &start, 1, false, record);
  if (got.ix) (void)keep(g, s, got, x.size, x.is_exact, x.is_uniform);
}

/* ---- copies, sizes ---- */

void step_copy_pair(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  const hilo_inst start = put_simple(g, s, HILO_OP_COPY_START, HILO_TYPE_NONE, &x.i, 1, 0);
  if (!start.ix) return;
  grow(g, s, below(g, 2));
  const hilo_inst done = put_simple(g, s, HILO_OP_COPY_DONE, HILO_TYPE_NONE, &start, 1, 0);
  (void)keep_from(g, s, done, x.size, &x, 1);
}

void step_dimension_size(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 1, MAX_RANK, false);
  const hilo_inst i = put_simple(g, s, HILO_OP_GET_DIMENSION_SIZE, HILO_TYPE_NONE, &x.i, 1,
                                 below(g, dims_of(g, x.i).n));
  (void)keep(g, s, i, 8, true, true);
}

/* ---- random numbers ---- */

void step_rng(grower *g, scope *s) {
  const hilo_etype etype = chance(g, 80) ? HILO_F32 : HILO_S32;
  const bool is_normal = etype == HILO_F32 && chance(g, 40);
  const hilo_rng_attrs attrs = {.distribution = is_normal ? 2 : 1};
  const hilo_inst bounds[] = {splat(g, s, etype, HILO_DIMS_NONE, 0),
                              splat(g, s, etype, HILO_DIMS_NONE, (double)between(g, 1, 4))};
  const hilo_inst i = put_simple(g, s, HILO_OP_RNG, array_of(g, etype, random_dims(g, 0, 3)),
                                 bounds, 2, hilo_rng_put(&g->m->records, &attrs).ix);
  (void)keep(g, s, i, is_normal ? 40 : 4, true, true);
}

void step_stochastic_convert(grower *g, scope *s) {
  const grown x = take_like(g, s, HILO_F32, random_dims(g, 0, 3), true);
  if (g->is_tame && !x.is_exact) return;
  const grown random = take_like(g, s, HILO_U32, dims_of(g, x.i), false);
  const hilo_etype to = chance(g, 50) ? HILO_S8 : HILO_S32;
  const hilo_inst operands[] = {x.i, random.i};
  const hilo_inst i = put_simple(g, s, HILO_OP_STOCHASTIC_CONVERT,
                                 hilo_type_scalar(&g->m->types, to), operands, 2, 0);
  (void)keep(g, s, i, x.size + 1, true, x.is_uniform && random.is_uniform);
}
