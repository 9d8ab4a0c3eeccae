#include "rewrite/fusion_cluster.h"

#include "rewrite/build.h"

hilo_clusters hilo_clusters_make(hilo_module *m, hilo_arena *scratch) {
  return (hilo_clusters){.m = m, .scratch = scratch, .epoch = 2};
}

/* ---- stamps: membership without clearing ---- */

static void begin_epoch(hilo_clusters *b) {
  b->epoch += 2;
  if (b->n_stamps >= b->m->n_inst_slots) return;
  const uint32_t n = b->m->n_inst_slots + b->m->n_inst_slots / 2;
  b->stamp = hilo_arena_resize_block(b->scratch, b->stamp, (size_t)n * sizeof(uint32_t));
  memset(b->stamp + b->n_stamps, 0, (size_t)(n - b->n_stamps) * sizeof(uint32_t));
  b->n_stamps = n;
}

static uint32_t stamp_of(const hilo_clusters *b, uint32_t ix) {
  return ix < b->n_stamps ? b->stamp[ix] : 0;
}
static bool is_member(const hilo_clusters *b, hilo_inst i) {
  return stamp_of(b, hilo_ix(b->m, i)) == b->epoch;
}
static bool is_behind(const hilo_clusters *b, hilo_inst i) {
  return stamp_of(b, hilo_ix(b->m, i)) == b->epoch + 1;
}

/* ---- convexity ---- */

typedef struct {
  bool member, behind;
} dependence;

static dependence dependence_of(const hilo_clusters *b, hilo_inst i) {
  const hilo_module *m = b->m;
  dependence d = {false, false};
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const hilo_inst operand = hilo_inst_operand(m, i, k);
    d.member |= is_member(b, operand);
    d.behind |= is_behind(b, operand);
  }
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) {
    const hilo_inst pred = hilo_inst_at(m, m->edge.v[e].pred);
    d.member |= is_member(b, pred);
    d.behind |= is_behind(b, pred);
  }
  return d;
}

/* Stamp and collect what stands among the members and depends on one; false if a member depends on
 * such a one. */
static bool is_convex(hilo_clusters *b, hilo_inst first, hilo_inst last) {
  for (hilo_inst i = first;; i = hilo_inst_next(b->m, i)) {
    const dependence d = dependence_of(b, i);
    if (is_member(b, i)) {
      if (d.behind) return false;
    } else if (d.member || d.behind) {
      b->stamp[hilo_ix(b->m, i)] = b->epoch + 1;
      HILO_PUSH(b->scratch, &b->behind, i);
    }
    if (hilo_inst_eq(i, last)) return true;
  }
}

/* ---- live-ins and live-outs ---- */

static bool is_live_out(const hilo_clusters *b, hilo_inst i) {
  if (hilo_inst_is_root(b->m, i)) return true;
  for (hilo_use u = hilo_first_use(b->m, i); u.slot; u = hilo_next_use(b->m, u))
    if (!is_member(b, hilo_use_user(b->m, u))) return true;
  return false;
}

static void find_live(hilo_clusters *b, const hilo_inst *members, uint32_t n, hilo_map *in_number) {
  b->ins.n = b->outs.n = 0;
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t o = 0; o < hilo_inst_n_operands(b->m, members[k]); o++) {
      const hilo_inst operand = hilo_inst_operand(b->m, members[k], o);
      if (is_member(b, operand)) continue;
      bool inserted;
      uint32_t *number = hilo_map_at(in_number, hilo_ix(b->m, operand), &inserted);
      if (!inserted) continue;
      *number = b->ins.n;
      HILO_PUSH(b->scratch, &b->ins, operand);
    }
    if (is_live_out(b, members[k])) HILO_PUSH(b->scratch, &b->outs, members[k]);
  }
}

/* ---- building ---- */

static hilo_type result_type(hilo_clusters *b) {
  hilo_module *m = b->m;
  if (b->outs.n == 1) return hilo_inst_type(m, b->outs.v[0]);
  hilo_type *types = HILO_NEW_ARRAY(b->scratch, hilo_type, b->outs.n);
  for (uint32_t k = 0; k < b->outs.n; k++) types[k] = hilo_inst_type(m, b->outs.v[k]);
  return hilo_type_tuple(&m->types, types, b->outs.n);
}

/* The location of a fusion is that of its first member that has one. */
static void take_location(hilo_module *m, hilo_inst fusion, const hilo_inst *members, uint32_t n) {
  hilo_inst source = members[0];
  for (uint32_t k = 0; k < n; k++) {
    if (!hilo_inst_meta(m, members[k]).op_name.ix) continue;
    source = members[k];
    break;
  }
  hilo_inst_set_meta(m, fusion, hilo_inst_meta_record(m, source));
  m->inst.ordinal[hilo_ix(m, fusion)] = m->inst.ordinal[hilo_ix(m, source)];
}

/* Every use outside the cluster reads the fusion. */
static void redirect_uses(hilo_clusters *b, hilo_inst out, hilo_inst value) {
  hilo_module *m = b->m;
  for (hilo_use u = hilo_first_use(m, out), next; u.slot; u = next) {
    next = hilo_next_use(m, u);
    const hilo_inst user = hilo_use_user(m, u);
    if (!is_member(b, user)) hilo_inst_set_operand(m, user, hilo_use_operand_index(m, u), value);
  }
  if (hilo_inst_is_root(m, out)) hilo_comp_set_root(m, hilo_inst_comp(m, out), value);
}

/* Edges to and from the outside go to the fusion. */
static void pass_edges(hilo_clusters *b, hilo_inst member, hilo_inst fusion) {
  hilo_module *m = b->m;
  if (!hilo_control_has(m, member)) return;
  hilo_vec(hilo_inst) inner_preds = {0}, inner_succs = {0};
  for (uint32_t e = hilo_control_first_pred(m, member); e; e = m->edge.v[e].next_of_succ) {
    const hilo_inst pred = hilo_inst_at(m, m->edge.v[e].pred);
    if (is_member(b, pred))
      HILO_PUSH(b->scratch, &inner_preds, pred);
    else
      hilo_control_add(m, pred, fusion);
  }
  for (uint32_t e = hilo_control_first_succ(m, member); e; e = m->edge.v[e].next_of_pred) {
    const hilo_inst succ = hilo_inst_at(m, m->edge.v[e].succ);
    if (is_member(b, succ))
      HILO_PUSH(b->scratch, &inner_succs, succ);
    else
      hilo_control_add(m, fusion, succ);
  }
  hilo_control_remove_all(m, member);
  for (uint32_t k = 0; k < inner_preds.n; k++) hilo_control_add(m, inner_preds.v[k], member);
  for (uint32_t k = 0; k < inner_succs.n; k++) hilo_control_add(m, member, inner_succs.v[k]);
  HILO_VEC_FREE(b->scratch, &inner_preds);
  HILO_VEC_FREE(b->scratch, &inner_succs);
}

static hilo_inst add_fusion(hilo_clusters *b, hilo_comp body, hilo_inst last, hilo_str kind) {
  hilo_module *m = b->m;
  const hilo_fusion_attrs attrs = {.kind = hilo_module_string(m, kind)};
  const hilo_inst_desc desc = {.op = HILO_OP_FUSION,
                               .type = result_type(b),
                               .operands = b->ins.v,
                               .n_operands = b->ins.n,
                               .attr = hilo_fusion_put(&m->records, &attrs).ix,
                               .called = &body,
                               .n_called = 1};
  return hilo_inst_insert_after(m, last, &desc);
}

/* The members move into the body, whose parameters stand for the live-ins. */
static void fill_body(hilo_clusters *b, hilo_comp body, const hilo_inst *members, uint32_t n,
                      const hilo_map *in_number) {
  hilo_module *m = b->m;
  for (uint32_t k = 0; k < b->ins.n; k++) {
    const hilo_inst_desc param = {
        .op = HILO_OP_PARAMETER, .type = hilo_inst_type(m, b->ins.v[k]), .attr = k};
    hilo_inst_add(m, body, &param);
  }
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t o = 0; o < hilo_inst_n_operands(m, members[k]); o++) {
      const hilo_inst operand = hilo_inst_operand(m, members[k], o);
      const uint32_t number = hilo_map_get(in_number, hilo_ix(m, operand), UINT32_MAX);
      if (number != UINT32_MAX)
        hilo_inst_set_operand(m, members[k], o, hilo_comp_param(m, body, number));
    }
    hilo_inst_move(m, members[k], members[k], body, HILO_INST_NONE);
  }
  hilo_inst root = b->outs.v[0];
  if (b->outs.n > 1) {
    const hilo_inst_desc tuple = {.op = HILO_OP_TUPLE,
                                  .type = result_type(b),
                                  .operands = b->outs.v,
                                  .n_operands = b->outs.n};
    root = hilo_inst_add(m, body, &tuple);
  }
  hilo_comp_set_root(m, body, root);
}

static void begin_cluster(hilo_clusters *b, const hilo_inst *members, uint32_t n) {
  begin_epoch(b);
  for (uint32_t k = 0; k < n; k++) b->stamp[hilo_ix(b->m, members[k])] = b->epoch;
  b->behind.n = 0;
}

/* What reads the live-outs reads the fusion, or an element of it; the last instruction made. */
static hilo_inst redirect(hilo_clusters *b, hilo_inst fusion) {
  hilo_module *m = b->m;
  hilo_inst last = fusion;
  for (uint32_t k = 0; k < b->outs.n; k++) {
    hilo_inst value = fusion;
    if (b->outs.n > 1) {
      const hilo_inst_desc element = {.op = HILO_OP_GET_TUPLE_ELEMENT,
                                      .type = hilo_inst_type(m, b->outs.v[k]),
                                      .operands = &fusion,
                                      .n_operands = 1,
                                      .attr = k};
      value = last = hilo_inst_insert_after(m, last, &element);
    }
    redirect_uses(b, b->outs.v[k], value);
  }
  return last;
}

/* The stamped members, between which nothing stands in the way, become one. */
static hilo_inst build(hilo_clusters *b, const hilo_inst *members, uint32_t n, hilo_str kind) {
  hilo_module *m = b->m;
  hilo_map in_number = hilo_map_make(b->scratch);
  find_live(b, members, n, &in_number);
  if (b->outs.n == 0) {
    hilo_map_free(&in_number);
    return HILO_INST_NONE;
  }
  const hilo_comp body =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("fused"))));
  m->comp.v[hilo_comp_ix(m, body)].flags |= HILO_COMP_FUSION;
  const hilo_inst fusion = add_fusion(b, body, members[n - 1], kind);
  take_location(m, fusion, members, n);
  const hilo_inst last = redirect(b, fusion);
  for (uint32_t k = 0; k < n; k++) pass_edges(b, members[k], fusion);
  fill_body(b, body, members, n, &in_number);
  const hilo_inst pos = hilo_inst_next(m, last);
  for (uint32_t k = 0; k < b->behind.n; k++)
    hilo_inst_move(m, b->behind.v[k], b->behind.v[k], hilo_inst_comp(m, fusion), pos);
  hilo_map_free(&in_number);
  return fusion;
}

hilo_inst hilo_clusters_fuse(hilo_clusters *b, const hilo_inst *members, uint32_t n,
                             hilo_str kind) {
  begin_cluster(b, members, n);
  if (!is_convex(b, members[0], members[n - 1])) return HILO_INST_NONE;
  return build(b, members, n, kind);
}

hilo_inst hilo_clusters_fuse_closed(hilo_clusters *b, const hilo_inst *members, uint32_t n,
                                    hilo_str kind) {
  begin_cluster(b, members, n);
  return build(b, members, n, kind);
}
