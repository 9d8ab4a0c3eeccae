/* Values from rank to rank, to and from the host, and from the infeed.
 *
 * A queue is a channel between two ranks (by source_target_pairs), a channel alone where there are
 * no pairs, or a channel of the host, which hands what it gets back to whoever receives on that
 * channel. What is sent is kept until it is received; who receives first waits. Both in order. A
 * rank that no pair names as target receives zeros.
 *
 * What comes from outside (analysis/outside.h) is made by whoever runs the program, or never comes.
 *
 * The custom calls FusedSend and FusedRecv name a rank as their peer. All ranks run the same call,
 * so most receive from a peer that sends to somebody else: once nobody can go on, these receive
 * zeros. */
#include "analysis/custom_call.h"
#include "analysis/groups.h"
#include "analysis/outside.h"
#include "analysis/target_config.h"
#include "eval/eval_parts.h"
#include "eval/machine/machine_parts.h"
#include "eval/targets/targets.h"

typedef struct item {
  struct item *next;
  hilo_value value;   /* sent; or */
  hilo_inst inst;     /* received by, */
  hilo_buffer *waits; /* into */
  uint32_t peer;      /* of a FusedRecv, plus 1 */
} item;

typedef struct {
  item *first, **last; /* all sent, or all waiting */
} queue;

struct hilo_transfers {
  hilo_map number_of; /* channel → a small number */
  hilo_map queue_of;  /* ranks, channel and kind → queues, plus 1 */
  hilo_vec(queue *) queues;
  item *spare;
  uint32_t n_fed;
  bool *has_sent;   /* by rank: a FusedSend */
  hilo_map sent;    /* the channels that are sent on */
  hilo_map n_taken; /* rank and channel → values taken from outside */
};

enum { NO_RANK = (1 << 21) - 1 };

hilo_transfers *hilo_transfers_create(hilo_machine *k) {
  hilo_transfers *t = HILO_NEW_ZEROED(&k->tables.arena, hilo_transfers, 1);
  t->number_of = hilo_map_make(&k->tables.arena);
  t->queue_of = hilo_map_make(&k->tables.arena);
  t->has_sent = HILO_NEW_ZEROED(&k->tables.arena, bool, k->n_ranks + 1);
  if (k->o->feed) t->sent = hilo_sent_channels_of(k->m, &k->tables.arena);
  t->n_taken = hilo_map_make(&k->tables.arena);
  return t;
}

hilo_comp hilo_transfers_next_infeed(hilo_machine *k) {
  hilo_transfers *t = k->transfers;
  return t->n_fed < k->o->n_infeed ? k->o->infeed[t->n_fed++] : HILO_COMP_NONE;
}

/* ---- queues ---- */

static queue *find_queue(hilo_machine *k, uint32_t source, uint32_t target, int64_t channel,
                         bool host) {
  hilo_transfers *t = k->transfers;
  bool inserted;
  uint32_t *number = hilo_map_at(&t->number_of, (uint64_t)channel, &inserted);
  if (inserted) *number = t->number_of.n;
  const uint64_t key =
      (uint64_t)*number << 43 | (uint64_t)source << 22 | (uint64_t)target << 1 | host;
  uint32_t *at = hilo_map_at(&t->queue_of, key, &inserted);
  if (inserted) {
    queue *q = HILO_NEW_ZEROED(&k->tables.arena, queue, 1);
    q->last = &q->first;
    HILO_PUSH(&k->tables.arena, &t->queues, q);
    *at = t->queues.n;
  }
  return t->queues.v[*at - 1];
}

static item *append(hilo_machine *k, queue *q) {
  item *new = k->transfers->spare;
  if (new)
    k->transfers->spare = new->next;
  else
    new = HILO_NEW(&k->tables.arena, item);
  *new = (item){0};
  *q->last = new;
  q->last = &new->next;
  return new;
}

static item take_first(hilo_machine *k, queue *q) {
  item *first = q->first;
  const item taken = *first;
  q->first = first->next;
  if (!q->first) q->last = &q->first;
  first->next = k->transfers->spare;
  k->transfers->spare = first;
  return taken;
}

/* ---- values ---- */

/* What recv `i` gives for the data: with a context and a token, or with a token alone. */
static hilo_status received(hilo_machine *k, hilo_inst i, hilo_value data, hilo_value *out) {
  const hilo_store *types = &k->m->types;
  *out = (hilo_value){.type = hilo_inst_type(k->m, i)};
  const bool is_tuple = hilo_type_is_tuple(types, out->type);
  if (!is_tuple && !hilo_type_is_array(types, out->type)) return HILO_OK; /* a token: no data */
  const uint32_t n = is_tuple ? hilo_type_n_elements_of_tuple(types, out->type) : 1;
  const hilo_type expected = is_tuple && n ? hilo_type_element(types, out->type, 0) : out->type;
  if (!hilo_type_compatible(types, data.type, expected)) {
    if (!k->o->diags) return HILO_INPUT_ERROR;
    return hilo_inst_error(k->m, k->o->diags, HILO_DIAG_EMOD915, i,
                           "what arrives on channel %lld has another type than it receives",
                           (long long)hilo_inst_extra(k->m, i).channel_id);
  }
  if (!is_tuple) {
    *out = data;
    return HILO_OK;
  }
  hilo_value *elements = hilo_eval_new_tuple(&k->e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  elements[0] = data;
  for (uint32_t j = 1; j < n; j++)
    HILO_TRY(hilo_zero_value(&k->e, i, hilo_type_element(types, out->type, j), &elements[j]));
  return HILO_OK;
}

/* Into the queue, or to the one who waits at its head. Takes `value`. */
static hilo_status put(hilo_machine *k, queue *q, hilo_value value) {
  if (!q->first || !q->first->waits) {
    append(k, q)->value = value;
    return HILO_OK;
  }
  const item waiting = take_first(k, q);
  hilo_value there, holder = {.owner = waiting.waits};
  HILO_TRY(received(k, waiting.inst, value, &there));
  hilo_pending_fill(k, waiting.waits, there);
  hilo_value_release(&k->e, &holder);
  return HILO_OK;
}

/* ---- from outside ---- */

/* Which array is it? The n-th that a rank takes from a channel (infeed: 0) is the n-th of all. */
static uint64_t next_key(hilo_machine *k, uint32_t rank, int64_t channel) {
  bool inserted;
  const uint64_t key = hilo_hash_combine((uint64_t)channel, rank);
  return hilo_hash_combine((uint64_t)channel,
                           (*hilo_map_at(&k->transfers->n_taken, key, &inserted))++);
}

static hilo_status feed(hilo_machine *k, const hilo_eval *e, hilo_inst i, hilo_type type,
                        int64_t channel, hilo_value *out) {
  const hilo_store *types = &k->m->types;
  *out = (hilo_value){.type = type};
  if (hilo_type_is_tuple(types, type)) {
    const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
    hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
    if (!elements) return HILO_LIMIT_ERROR;
    for (uint32_t j = 0; j < n; j++)
      HILO_TRY(feed(k, e, i, hilo_type_element(types, type, j), channel, &elements[j]));
    return HILO_OK;
  }
  if (!hilo_type_is_array(types, type)) return hilo_zero_value(e, i, type, out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  k->o->feed(k->o->seed, next_key(k, e->rank, channel), hilo_type_etype(types, type),
             hilo_value_n_elements(e, out), data);
  return HILO_OK;
}

/* All but the last element, which is the token or what stands for one. */
hilo_status hilo_transfers_feed(hilo_machine *k, const hilo_eval *e, hilo_inst i, hilo_value *out) {
  const hilo_store *types = &k->m->types;
  const hilo_type type = hilo_inst_type(k->m, i);
  if (!hilo_type_is_tuple(types, type)) return feed(k, e, i, type, 0, out);
  *out = (hilo_value){.type = type};
  const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t j = 0; j + 1 < n; j++)
    HILO_TRY(feed(k, e, i, hilo_type_element(types, type, j), 0, &elements[j]));
  return n ? hilo_zero_value(e, i, hilo_type_element(types, type, n - 1), &elements[n - 1])
           : HILO_OK;
}

static hilo_status receive_from_outside(hilo_machine *k, hilo_inst i, hilo_value *out) {
  const hilo_store *types = &k->m->types;
  const hilo_type type = hilo_inst_type(k->m, i);
  const bool is_tuple = hilo_type_is_tuple(types, type);
  hilo_value data;
  HILO_TRY(feed(k, &k->e, i,
                is_tuple && hilo_type_n_elements_of_tuple(types, type)
                    ? hilo_type_element(types, type, 0)
                    : type,
                hilo_inst_extra(k->m, i).channel_id, &data));
  return received(k, i, data, out);
}

/* ---- in order ---- */

static hilo_status get(hilo_machine *k, queue *q, hilo_inst i, hilo_value *out) {
  if (q->first && !q->first->waits) return received(k, i, take_first(k, q).value, out);
  if (k->o->feed && hilo_comes_from_outside(k->m, &k->transfers->sent, i))
    return receive_from_outside(k, i, out);
  HILO_TRY(hilo_pending_new(k, i, out));
  item *new = append(k, q);
  new->inst = i;
  new->waits = out->owner;
  hilo_buffer_retain(out->owner);
  return HILO_OK;
}

/* ---- pairs ---- */

/* `{{0,1},{1,2}}` of the frontend attributes. False: there are none. */
static bool find_pairs(const hilo_module *m, hilo_inst i, hilo_arena *arena, hilo_dims *out) {
  const hilo_extra_attrs extra = hilo_inst_extra(m, i);
  if (!extra.frontend.ix) return false;
  const hilo_dims kv = hilo_string_map_get(&m->records, extra.frontend).kv;
  hilo_vec(int64_t) ids = {0};
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    if (!hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]}),
                     "_xla_send_recv_source_target_pairs"))
      continue;
    const hilo_str text = hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k + 1]});
    for (size_t at = 0; at < text.n;) {
      if (text.p[at] < '0' || text.p[at] > '9') {
        at++;
        continue;
      }
      int64_t id = 0;
      for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9' && id < INT32_MAX; at++)
        id = id * 10 + (text.p[at] - '0');
      HILO_PUSH(arena, &ids, id);
    }
    *out = (hilo_dims){ids.v, ids.n & ~1u};
    return true;
  }
  return false;
}

static hilo_status ranks_of_pairs(hilo_machine *k, const hilo_eval *e, hilo_inst i, bool *has,
                                  hilo_rank_pairs *out) {
  hilo_dims pairs;
  *has = !hilo_attrs(k->m, i, transfer).is_host_transfer && find_pairs(k->m, i, e->scratch, &pairs);
  *out = (hilo_rank_pairs){0};
  if (!*has) return HILO_OK;
  return hilo_rank_pairs_of(k->m, i, pairs, k->o->n_replicas, k->o->n_partitions, e->scratch,
                            k->o->diags, out);
}

static queue *queue_of_channel(hilo_machine *k, hilo_inst i) {
  return find_queue(k, NO_RANK, NO_RANK, hilo_inst_extra(k->m, i).channel_id,
                    hilo_attrs(k->m, i, transfer).is_host_transfer);
}

hilo_status hilo_transfers_send(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                const hilo_value *args, hilo_value *out) {
  bool has_pairs;
  hilo_rank_pairs pairs;
  const int64_t channel = hilo_inst_extra(k->m, i).channel_id;
  HILO_TRY(ranks_of_pairs(k, e, i, &has_pairs, &pairs));
  for (uint32_t j = 0; j < pairs.n; j++)
    if (pairs.v[j][0] == e->rank)
      HILO_TRY(put(k, find_queue(k, e->rank, pairs.v[j][1], channel, false),
                   hilo_value_share(&args[0])));
  if (!has_pairs) HILO_TRY(put(k, queue_of_channel(k, i), hilo_value_share(&args[0])));
  *out = (hilo_value){.type = hilo_inst_type(k->m, i)};
  if (!hilo_type_is_tuple(&k->m->types, out->type)) return HILO_OK;
  return received(k, i, hilo_value_share(&args[0]), out);
}

hilo_status hilo_transfers_recv(hilo_machine *k, const hilo_eval *e, hilo_inst i, hilo_value *out) {
  bool has_pairs;
  hilo_rank_pairs pairs;
  HILO_TRY(ranks_of_pairs(k, e, i, &has_pairs, &pairs));
  if (!has_pairs) return get(k, queue_of_channel(k, i), i, out);
  for (uint32_t j = 0; j < pairs.n; j++)
    if (pairs.v[j][1] == e->rank)
      return get(k,
                 find_queue(k, pairs.v[j][0], e->rank, hilo_inst_extra(k->m, i).channel_id, false),
                 i, out);
  return hilo_zero_value(e, i, hilo_inst_type(k->m, i), out);
}

/* ---- peers ---- */

static hilo_status find_peer(hilo_machine *k, const hilo_eval *e, hilo_inst i, uint32_t *peer) {
  const hilo_str target = hilo_custom_call_target(k->m, i);
  int64_t number;
  if (!hilo_config_int(hilo_target_config(e, i), &number))
    return hilo_target_error(e, i, target, "has a backend_config that is no rank");
  if (number < 0 || number >= k->n_ranks)
    return hilo_target_error(e, i, target, "names a rank that there is not");
  *peer = (uint32_t)number;
  return HILO_OK;
}

static queue *queue_of_peers(hilo_machine *k, uint32_t source, uint32_t target) {
  return find_queue(k, source, target, -1, false);
}

hilo_status hilo_transfers_send_to_peer(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                        const hilo_value *args, hilo_value *out) {
  uint32_t peer = 0;
  HILO_TRY(find_peer(k, e, i, &peer));
  if (!hilo_inst_n_operands(k->m, i))
    return hilo_target_error(e, i, hilo_custom_call_target(k->m, i), "has no operand");
  k->transfers->has_sent[e->rank] = true;
  HILO_TRY(put(k, queue_of_peers(k, e->rank, peer), hilo_value_share(&args[0])));
  return hilo_zero_value(e, i, hilo_inst_type(k->m, i), out);
}

hilo_status hilo_transfers_recv_from_peer(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                          hilo_value *out) {
  uint32_t peer = 0;
  HILO_TRY(find_peer(k, e, i, &peer));
  queue *q = queue_of_peers(k, peer, e->rank);
  HILO_TRY(get(k, q, i, out));
  for (item *w = q->first; w && hilo_value_is_pending(out); w = w->next)
    if (w->waits == out->owner) w->peer = peer + 1;
  return HILO_OK;
}

hilo_status hilo_transfers_give_zeros(hilo_machine *k, bool *progress) {
  hilo_transfers *t = k->transfers;
  for (uint32_t j = 0; j < t->queues.n; j++) {
    queue *q = t->queues.v[j];
    while (q->first && q->first->peer && t->has_sent[q->first->peer - 1]) {
      const item waiting = take_first(k, q);
      hilo_value zeros, holder = {.owner = waiting.waits};
      HILO_TRY(hilo_zero_value(&k->e, waiting.inst, hilo_inst_type(k->m, waiting.inst), &zeros));
      hilo_pending_fill(k, waiting.waits, zeros);
      hilo_value_release(&k->e, &holder);
      *progress = true;
    }
  }
  return HILO_OK;
}

void hilo_transfers_say(const hilo_machine *k, const hilo_fiber *f, hilo_inst i, hilo_sb *out) {
  const hilo_op op = hilo_inst_op(k->m, i);
  if (op == HILO_OP_INFEED) hilo_sb_printf(out, " for an infeed that has no more values");
  if (op == HILO_OP_CUSTOM_CALL) hilo_sb_printf(out, " for its peer to send");
  if (op != HILO_OP_RECV) return;
  hilo_dims pairs;
  hilo_rank_pairs ranks;
  const bool host = hilo_attrs(k->m, i, transfer).is_host_transfer;
  if (!host && find_pairs(k->m, i, k->o->arena, &pairs) &&
      hilo_rank_pairs_of(k->m, i, pairs, k->o->n_replicas, k->o->n_partitions, k->o->arena, NULL,
                         &ranks) == HILO_OK)
    for (uint32_t j = 0; j < ranks.n; j++)
      if (ranks.v[j][1] == f->rank) {
        hilo_sb_printf(out, " for rank %u to send", ranks.v[j][0]);
        return;
      }
  hilo_sb_printf(out, host ? " for the host to send" : " for a rank to send");
}
