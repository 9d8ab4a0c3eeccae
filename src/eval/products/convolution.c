/* convolution: a matrix product per group of features or of the batch (gemm.h says how sums are
 * formed). Rows are the places of the output, columns the output features, k goes through the
 * kernel: its places row-major, at each of them the input features. What the window finds in
 * padding, or between elements that base dilation moved apart, is 0, and is multiplied.
 *
 * Images are taken some at a time, brought into the order [image][places][features] and to terms;
 * the matrix of windows is never there as a whole: its tiles are copied from the terms while they
 * are packed. */
#include "eval/products/convolution.h"

#include "eval/products/gemm.h"
#include "eval/strided.h"

typedef struct {
  const hilo_eval *e;
  hilo_product product;
  uint32_t rank;             /* spatial dimensions */
  hilo_dims in, out, kernel; /* spatial sizes */
  uint64_t in_places, out_places, kernel_places;
  uint64_t features, group_features; /* of the input: all, and those that a kernel sees */
  char *terms;                       /* of the images in hand */
  /* Where the window's place k of output place o lies in the input along dimension d, in places:
   * from[d][o * kernel.v[d] + k], -1: nowhere. */
  int64_t *from[HILO_MAX_RANK];
  uint64_t first_feature; /* of the group */
} conv;

/* ---- the matrix of windows ---- */

static uint64_t count_of(hilo_dims dims) {
  uint64_t n = 1;
  for (uint32_t d = 0; d < dims.n; d++) n *= (uint64_t)dims.v[d];
  return n;
}

static void find_places(conv *c, const hilo_window_attrs *w) {
  const hilo_strides dense = hilo_strides_row_major(c->in);
  for (uint32_t d = 0; d < c->rank; d++) {
    const int64_t kernel = c->kernel.v[d], dilation = w->base_dilation.v[d];
    const int64_t limit = c->in.v[d] ? (c->in.v[d] - 1) * dilation : -1;
    uint64_t n;
    if (!hilo_mul_u64((uint64_t)c->out.v[d], (uint64_t)kernel, &n))
      hilo_arena_out_of_memory(c->e->scratch);
    int64_t *from = HILO_NEW_ARRAY(c->e->scratch, int64_t, n + 1);
    c->from[d] = from;
    for (int64_t o = 0; o < c->out.v[d]; o++)
      for (int64_t k = 0; k < kernel; k++) {
        const int64_t in_window = w->reversal.v[d] ? kernel - 1 - k : k;
        const int64_t at =
            o * w->stride.v[d] - w->pad_low.v[d] + in_window * w->window_dilation.v[d];
        const bool is_there = at >= 0 && at <= limit && at % dilation == 0;
        *from++ = is_there ? at / dilation * dense.step[d] : -1;
      }
  }
}

static void split_place(hilo_dims dims, uint64_t place, int64_t *index) {
  for (uint32_t d = dims.n; d-- > 0;) {
    index[d] = (int64_t)(place % (uint64_t)dims.v[d]);
    place /= (uint64_t)dims.v[d];
  }
}

/* Where the kernel's place `k` falls for the output place `o`; -1: outside. */
static int64_t place_in_input(const conv *c, const int64_t *o, const int64_t *k) {
  int64_t at = 0;
  for (uint32_t d = 0; d < c->rank; d++) {
    const int64_t part = c->from[d][o[d] * c->kernel.v[d] + k[d]];
    if (part < 0) return -1;
    at += part;
  }
  return at;
}

static void advance(hilo_dims dims, int64_t *index) {
  for (uint32_t d = dims.n; d-- > 0;) {
    if (++index[d] < dims.v[d]) return;
    index[d] = 0;
  }
}

/* One row: k … k + n - 1, n > 0, of the window at place `o` of an image. `at` is the kernel's place
 * of k. */
static void load_row(const conv *c, const char *image, const int64_t *o, const int64_t *first,
                     uint64_t k, uint64_t n, char *to) {
  int64_t at[HILO_MAX_RANK];
  memcpy(at, first, c->rank * sizeof(int64_t));
  uint64_t feature = k % c->group_features;
  while (n > 0) {
    const uint64_t run = c->group_features - feature < n ? c->group_features - feature : n;
    const int64_t place = place_in_input(c, o, at);
    const uint64_t bytes = run * c->product.term_bytes;
    if (place < 0)
      memset(to, 0, bytes);
    else
      memcpy(to, image + ((uint64_t)place * c->features + feature) * c->product.term_bytes, bytes);
    to += bytes;
    n -= run;
    feature = 0;
    advance(c->kernel, at);
  }
}

static void load_windows(const void *ctx, uint64_t row, uint64_t n_rows, uint64_t k, uint64_t n_k,
                         void *to) {
  const conv *c = ctx;
  int64_t first[HILO_MAX_RANK], o[HILO_MAX_RANK];
  const uint64_t image_bytes = c->in_places * c->features * c->product.term_bytes;
  split_place(c->kernel, k / c->group_features, first);
  split_place(c->out, row % c->out_places, o);
  for (uint64_t r = 0; r < n_rows; r++) {
    const uint64_t image = (row + r) / c->out_places;
    load_row(c, c->terms + image * image_bytes + c->first_feature * c->product.term_bytes, o, first,
             k, n_k, (char *)to + r * n_k * c->product.term_bytes);
    advance(c->out, o);
  }
}

/* ---- images in an order of their own ---- */

/* An array seen as [image][places][features]. */
typedef struct {
  hilo_dims box;
  hilo_strides strides;
  uint32_t bytes;  /* of an element */
  uint64_t stride; /* elements of an image */
  bool is_dense;   /* it lies so */
} images;

/* A named dimension order: two dimensions around the spatial ones. */
static hilo_dims order_of(int64_t first, hilo_dims spatial, int64_t last, int64_t *order) {
  order[0] = first;
  for (uint32_t d = 0; d < spatial.n; d++) order[1 + d] = spatial.v[d];
  order[1 + spatial.n] = last;
  return (hilo_dims){order, spatial.n + 2};
}

static hilo_dims sizes_of(const hilo_eval *e, hilo_dims dims, hilo_dims which) {
  int64_t *sizes = HILO_NEW_ARRAY(e->scratch, int64_t, which.n + 1);
  for (uint32_t d = 0; d < which.n; d++) sizes[d] = dims.v[which.v[d]];
  return (hilo_dims){sizes, which.n};
}

static images images_of(const hilo_eval *e, const hilo_value *v, hilo_dims order) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, v->type);
  const hilo_strides dense = hilo_strides_row_major(dims);
  images m = {.box = sizes_of(e, dims, order),
              .bytes = hilo_etype_bytes(hilo_value_etype(e, v)),
              .is_dense = hilo_is_dense_in_order(dims, order)};
  for (uint32_t d = 0; d < order.n; d++) m.strides.step[d] = dense.step[order.v[d]];
  m.stride = count_of((hilo_dims){m.box.v + 1, m.box.n - 1});
  return m;
}

/* The box and strides of n images from `first` on. */
static hilo_dims some_images(const images *m, uint64_t first, uint64_t n, int64_t *sizes,
                             hilo_strides *strides) {
  memcpy(sizes, m->box.v, m->box.n * sizeof(int64_t));
  sizes[0] = (int64_t)n;
  *strides = m->strides;
  strides->start = (int64_t)first * m->strides.step[0];
  return (hilo_dims){sizes, m->box.n};
}

/* ---- the operation ---- */

/* What is taken at a time: terms of the images in hand. */
enum { BLOCK_BYTES = 32 << 20 };

typedef struct {
  uint64_t batch_groups, feature_groups; /* one of them is 1 */
  uint64_t images, outputs;              /* images and output features of one group */
  uint64_t block;                        /* images at a time */
  images in, out;
  hilo_etype in_etype;
  const char *input;
  char *in_block, *out_block, *output; /* blocks: NULL where the array itself is in order */
} plan;

static void load_images(const conv *c, const plan *p, uint64_t first, uint64_t n) {
  const char *from = p->input + first * p->in.stride * p->in.bytes;
  if (!p->in.is_dense) {
    int64_t sizes[HILO_MAX_RANK];
    hilo_strides strides;
    const hilo_dims box = some_images(&p->in, first, n, sizes, &strides);
    const hilo_strides dense = hilo_strides_row_major(box);
    hilo_strided_copy(box, p->in.bytes, p->in_block, &dense, p->input, &strides);
    from = p->in_block;
  }
  hilo_terms_load(&c->product, p->in_etype, from, 0, n * p->in.stride, c->terms);
}

static void store_images(const plan *p, uint64_t first, uint64_t n) {
  int64_t sizes[HILO_MAX_RANK];
  hilo_strides strides;
  const hilo_dims box = some_images(&p->out, first, n, sizes, &strides);
  const hilo_strides dense = hilo_strides_row_major(box);
  hilo_strided_copy(box, p->out.bytes, p->output, &strides, p->out_block, &dense);
}

/* n output images from `first` on. A group of the batch has input images and columns of its own. */
static void multiply_images(conv *c, const plan *p, hilo_dense_factor *kernel,
                            const hilo_gemm_room *room, uint64_t first, uint64_t n) {
  const uint64_t n_groups = p->batch_groups * p->feature_groups;
  const uint64_t step = n_groups * p->outputs, row = p->out.is_dense ? first * c->out_places : 0;
  for (uint64_t at = 0; at < n_groups; at++) {
    if (at == 0 || p->batch_groups > 1)
      load_images(c, p, (p->batch_groups > 1 ? at * p->images : 0) + first, n);
    c->first_feature = p->batch_groups > 1 ? 0 : at * c->group_features;
    kernel->start = at * p->outputs * kernel->step;
    const hilo_gemm_job job = {.product = &c->product,
                               .m = n * c->out_places,
                               .n = p->outputs,
                               .k = kernel->step,
                               .a = {.load = load_windows, .ctx = c, .by_outer = true},
                               .b = hilo_factor_of(kernel, true),
                               .data = p->out.is_dense ? p->output : p->out_block,
                               .start = row * step + at * p->outputs,
                               .step = step};
    hilo_gemm(&job, room);
  }
  if (!p->out.is_dense) store_images(p, first, n);
}

static void multiply_all(conv *c, const plan *p, hilo_dense_factor *kernel) {
  const hilo_gemm_room room = hilo_gemm_room_of(c->e->scratch, &c->product,
                                                p->block * c->out_places, p->outputs, kernel->step);
  for (uint64_t first = 0; first < p->images; first += p->block) {
    const uint64_t left = p->images - first;
    multiply_images(c, p, kernel, &room, first, left < p->block ? left : p->block);
  }
}

static hilo_status check(const hilo_eval *e, hilo_inst i, const hilo_conv_attrs *a,
                         const hilo_value *args, hilo_etype result) {
  if (a->sparsity.n ||
      hilo_inst_n_operands(e->m, i) != (hilo_inst_op(e->m, i) == HILO_OP_DYNAMIC_CONV ? 3 : 2))
    return hilo_eval_refuse(e, i, "its operands are sparse");
  for (uint32_t k = 0; k < 2; k++)
    if (!hilo_sum_takes(hilo_value_etype(e, &args[k]), result))
      return hilo_eval_refuse(e, i, "products of complex numbers do not give a real result");
  return HILO_OK;
}

static conv *open_conv(const hilo_eval *e, const hilo_value *args, const hilo_value *out,
                       const hilo_conv_dims_attrs *d, const hilo_window_attrs *w) {
  const hilo_dims in = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims kernel = hilo_type_dims(&e->m->types, args[1].type);
  conv *c = HILO_NEW_ZEROED(e->scratch, conv, 1);
  c->e = e;
  c->product = hilo_product_of(hilo_value_etype(e, out), hilo_value_etype(e, &args[0]),
                               hilo_value_etype(e, &args[1]));
  c->rank = d->input_spatial.n;
  c->in = sizes_of(e, in, d->input_spatial);
  c->out = sizes_of(e, hilo_type_dims(&e->m->types, out->type), d->output_spatial);
  c->kernel = sizes_of(e, kernel, d->kernel_spatial);
  c->out_places = count_of(c->out);
  c->in_places = count_of(c->in);
  c->kernel_places = count_of(c->kernel);
  c->features = (uint64_t)in.v[d->input_feature];
  c->group_features = (uint64_t)kernel.v[d->kernel_input_feature];
  find_places(c, w);
  return c;
}

/* Columns: [output features][places][input features]. */
static hilo_dense_factor open_kernel(const conv *c, const hilo_value *kernel,
                                     const hilo_conv_dims_attrs *d) {
  int64_t order[HILO_MAX_RANK];
  hilo_dense_factor dense = {.product = &c->product, .etype = hilo_value_etype(c->e, kernel)};
  dense.step = c->kernel_places * c->group_features;
  dense.data = hilo_dense_in_order(
      c->e->scratch, hilo_type_dims(&c->e->m->types, kernel->type), hilo_etype_bytes(dense.etype),
      kernel->data,
      order_of(d->kernel_output_feature, d->kernel_spatial, d->kernel_input_feature, order));
  return dense;
}

/* Groups, orders, and room for a block. */
static plan *open_plan(conv *c, const hilo_conv_attrs *a, const hilo_conv_dims_attrs *d,
                       const hilo_value *args, const hilo_value *out, char *data) {
  hilo_arena *arena = c->e->scratch;
  int64_t order[HILO_MAX_RANK];
  plan *p = HILO_NEW_ZEROED(arena, plan, 1);
  p->in = images_of(c->e, &args[0],
                    order_of(d->input_batch, d->input_spatial, d->input_feature, order));
  p->out =
      images_of(c->e, out, order_of(d->output_batch, d->output_spatial, d->output_feature, order));
  p->in_etype = hilo_value_etype(c->e, &args[0]);
  p->input = args[0].data;
  p->output = data;
  p->batch_groups = a->batch_group_count > 1 ? (uint64_t)a->batch_group_count : 1;
  p->feature_groups = a->feature_group_count > 1 ? (uint64_t)a->feature_group_count : 1;
  p->images = (uint64_t)p->in.box.v[0] / p->batch_groups;
  p->outputs = (uint64_t)p->out.box.v[p->out.box.n - 1] / (p->batch_groups * p->feature_groups);
  p->block = BLOCK_BYTES / (p->in.stride * c->product.term_bytes + 1);
  p->block = p->block < 1 ? 1 : p->block > p->images ? p->images : p->block;
  const uint64_t n = p->block * p->in.stride, n_out = p->block * p->out.stride;
  c->terms = hilo_arena_alloc_array(arena, n + 1, c->product.term_bytes, 64);
  if (!p->in.is_dense) p->in_block = hilo_arena_alloc_array(arena, n + 1, p->in.bytes, 64);
  if (!p->out.is_dense) p->out_block = hilo_arena_alloc_array(arena, n_out + 1, p->out.bytes, 64);
  return p;
}

hilo_status hilo_eval_convolve(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               const hilo_window_attrs *w, hilo_value *out) {
  const hilo_conv_attrs a = hilo_attrs(e->m, i, conv);
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&e->m->records, a.dim_numbers);
  HILO_TRY(check(e, i, &a, args, hilo_value_etype(e, out)));
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  if (hilo_value_n_elements(e, out) == 0) return HILO_OK;
  conv *c = open_conv(e, args, out, &d, w);
  hilo_dense_factor kernel = open_kernel(c, &args[1], &d);
  multiply_all(c, open_plan(c, &a, &d, args, out, data), &kernel);
  return HILO_OK;
}

hilo_status hilo_eval_op_convolution(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                     hilo_value *out) {
  const hilo_window_attrs w = hilo_window_get(&e->m->records, hilo_attrs(e->m, i, conv).window);
  return hilo_eval_convolve(e, i, args, &w, out);
}
