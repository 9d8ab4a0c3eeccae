/* The page is static: two curves as SVG, the later over the earlier, and a table of what is alive
 * at each peak. No script, nothing from elsewhere; titles say more where the mouse rests. Curves of
 * long programs are cut to COLUMNS columns, each the most of what it stands for. */
#include "sched/schedule_report.h"

enum { COLUMNS = 1000, HEIGHT = 300, LEFT = 90, TOP = 20 };

/* ---- taking ---- */

static hilo_reported_value describe(const hilo_schedule_report *report,
                                    const hilo_schedule_profile *profile, uint32_t buffer) {
  const hilo_lifetimes *l = &profile->lifetimes;
  const hilo_inst i = l->insts[buffer];
  hilo_reported_value out = {.first = hilo_schedule_first(profile, buffer),
                             .last = profile->last[buffer]};
  const hilo_meta_attrs meta = hilo_inst_meta(l->m, i);
  out.bytes = l->bytes[buffer];
  out.name = hilo_inst_name_text(l->m, i, report->arena);
  out.op = hilo_str_of(hilo_op_name(hilo_inst_op(l->m, i)));
  out.op_name = hilo_str_copy(report->arena, hilo_label_of(l->m, meta.op_name));
  out.source = hilo_str_copy(report->arena, hilo_inst_source(l->m, i, &out.line));
  return out;
}

static void take_runs(hilo_schedule_report *report, hilo_schedule_snapshot *s,
                      const uint64_t *live) {
  s->run_end = HILO_NEW_ARRAY(report->arena, uint32_t, (size_t)s->n + 1);
  s->run_bytes = HILO_NEW_ARRAY(report->arena, uint64_t, (size_t)s->n + 1);
  for (uint32_t k = 0; k < s->n; k++) {
    if (k && live[k] == live[k - 1]) {
      s->run_end[s->n_runs - 1] = k + 1;
    } else {
      s->run_bytes[s->n_runs] = live[k];
      s->run_end[s->n_runs++] = k + 1;
    }
  }
}

void hilo_schedule_snapshot_take(hilo_schedule_report *report, hilo_schedule_snapshot *s,
                                 const hilo_module *m, hilo_arena *scratch) {
  hilo_scratch own;
  hilo_scratch_init(&own, scratch);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, &own.arena);
  const hilo_schedule_profile profile = hilo_schedule_profile_make(m, m->entry, peaks, &own.arena);
  *s = (hilo_schedule_snapshot){.taken = true,
                                .n = profile.lifetimes.n,
                                .peak = profile.peak,
                                .peak_at = profile.peak_at,
                                .static_bytes = profile.lifetimes.static_bytes,
                                .byte_ops = profile.byte_ops};
  s->overlap = hilo_overlap_report_make(m, &hilo_default_rates, &own.arena).all;
  uint32_t *buffers = NULL;
  if (s->n) {
    s->peak_name = hilo_inst_name_text(m, profile.lifetimes.insts[s->peak_at], report->arena);
    s->n_values =
        hilo_schedule_live_at(&profile, s->peak_at, HILO_REPORTED_VALUES, &buffers, &own.arena);
  }
  for (uint32_t k = 0; k < s->n_values; k++) s->values[k] = describe(report, &profile, buffers[k]);
  take_runs(report, s, profile.live);
  report->module_name = hilo_str_copy(report->arena, hilo_string_of(m, m->header.name));
  hilo_scratch_deinit(&own);
}

/* ---- HTML ---- */

static void put_text(hilo_sb *out, hilo_str s) {
  for (size_t k = 0; k < s.n; k++) {
    switch (s.p[k]) {
    case '&': hilo_sb_cat(out, "&amp;"); break;
    case '<': hilo_sb_cat(out, "&lt;"); break;
    case '>': hilo_sb_cat(out, "&gt;"); break;
    case '"': hilo_sb_cat(out, "&quot;"); break;
    default:
      if ((unsigned char)s.p[k] >= ' ') hilo_sb_char(out, s.p[k]);
    }
  }
}

static void put_bytes(hilo_sb *out, uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double v = (double)bytes;
  size_t unit = 0;
  while (v >= 1024 && unit + 1 < HILO_COUNT(units)) v /= 1024, unit++;
  hilo_sb_printf(out, unit ? "%.2f %s" : "%.0f %s", v, units[unit]);
}

typedef struct {
  uint32_t n;   /* places of the longer curve */
  uint64_t top; /* bytes at the upper edge */
} scale;

static double x_of(const scale *s, double place) {
  return LEFT + COLUMNS * place / (s->n ? (double)s->n : 1);
}
static double y_of(const scale *s, uint64_t bytes) {
  return TOP + HEIGHT - HEIGHT * (double)bytes / (s->top ? (double)s->top : 1);
}

/* The outline from the lower left to the lower right, column by column. */
static void put_curve(hilo_sb *out, const scale *sc, const hilo_schedule_snapshot *s,
                      const char *class) {
  hilo_sb_printf(out, "<path class=\"%s\" d=\"M%d %d", class, LEFT, TOP + HEIGHT);
  const uint32_t columns = s->n < COLUMNS ? s->n : COLUMNS;
  for (uint32_t c = 0, run = 0; c < columns; c++) {
    const uint32_t from = (uint32_t)((uint64_t)s->n * c / columns);
    const uint32_t to = (uint32_t)((uint64_t)s->n * (c + 1) / columns);
    uint64_t most = 0;
    while (s->run_end[run] <= from) run++;
    for (uint32_t r = run; r < s->n_runs && (r == run || s->run_end[r - 1] < to); r++)
      if (s->run_bytes[r] > most) most = s->run_bytes[r];
    hilo_sb_printf(out, "L%.1f %.1fL%.1f %.1f", x_of(sc, from), y_of(sc, most), x_of(sc, to),
                   y_of(sc, most));
  }
  hilo_sb_printf(out, "L%.1f %dZ\"/>\n", x_of(sc, s->n), TOP + HEIGHT);
}

static void put_peak(hilo_sb *out, const scale *sc, const hilo_schedule_snapshot *s,
                     const char *class, const char *when) {
  hilo_sb_printf(out,
                 "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>peak %s: ", class,
                 x_of(sc, s->peak_at + 0.5), y_of(sc, s->peak), when);
  put_bytes(out, s->peak);
  hilo_sb_printf(out, " at instruction %u, ", s->peak_at);
  put_text(out, s->peak_name);
  hilo_sb_cat(out, "</title></circle>\n");
}

static void put_axes(hilo_sb *out, const scale *sc) {
  for (int k = 0; k <= 4; k++) {
    const double y = TOP + HEIGHT - HEIGHT * k / 4.0;
    hilo_sb_printf(out,
                   "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text "
                   "class=\"y\" x=\"%d\" y=\"%.1f\">",
                   LEFT, LEFT + COLUMNS, y, y, LEFT - 8, y + 4);
    put_bytes(out, (uint64_t)((double)sc->top * k / 4.0));
    hilo_sb_cat(out, "</text>\n");
    hilo_sb_printf(out, "<text class=\"x\" x=\"%.1f\" y=\"%d\">%llu</text>\n",
                   x_of(sc, sc->n * k / 4.0), TOP + HEIGHT + 18,
                   (unsigned long long)((uint64_t)sc->n * (uint64_t)k / 4));
  }
}

static void put_picture(hilo_sb *out, const hilo_schedule_report *report) {
  const hilo_schedule_snapshot *before = &report->before, *after = &report->after;
  scale sc = {after->n > before->n ? after->n : before->n,
              after->peak > before->peak ? after->peak : before->peak};
  hilo_sb_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"live bytes\">\n",
                 LEFT + COLUMNS + 20, TOP + HEIGHT + 30);
  put_axes(out, &sc);
  if (before->taken) put_curve(out, &sc, before, "before");
  put_curve(out, &sc, after, "after");
  if (before->taken) put_peak(out, &sc, before, "before", "before");
  put_peak(out, &sc, after, "after", before->taken ? "after" : "as it stands");
  hilo_sb_cat(out, "</svg>\n");
}

static void put_value(hilo_sb *out, const hilo_schedule_snapshot *s, const hilo_reported_value *v) {
  hilo_sb_cat(out, "<tr><td class=\"n\">");
  put_bytes(out, v->bytes);
  hilo_sb_printf(out, "</td><td class=\"n\">%.1f %%</td><td>",
                 s->peak ? 100.0 * (double)v->bytes / (double)s->peak : 0.0);
  put_text(out, v->name);
  hilo_sb_cat(out, "</td><td>");
  put_text(out, v->op);
  hilo_sb_printf(out, "</td><td class=\"n\">%u</td><td class=\"n\">%u</td><td>", v->first, v->last);
  put_text(out, v->op_name);
  hilo_sb_cat(out, "</td><td>");
  put_text(out, v->source);
  if (v->line) hilo_sb_printf(out, ":%lld", (long long)v->line);
  hilo_sb_cat(out, "</td></tr>\n");
}

static void put_collectives(hilo_sb *out, const hilo_overlap *o) {
  if (!o->n_collectives) return;
  hilo_sb_printf(out, " Collectives: %llu, sending ", (unsigned long long)o->n_collectives);
  put_bytes(out, o->sent_bytes);
  hilo_sb_printf(out,
                 "; of %.1f us on the link compute waits for %.1f us, by a simple model of latency "
                 "and bandwidth.",
                 (double)o->link_ps / 1e6, (double)o->exposed_ps / 1e6);
}

static void put_table(hilo_sb *out, const hilo_schedule_snapshot *s, const char *title) {
  hilo_sb_printf(out, "<h2>%s: ", title);
  put_bytes(out, s->peak);
  hilo_sb_printf(out, " at instruction %u of %u, <code>", s->peak_at, s->n);
  put_text(out, s->peak_name);
  hilo_sb_cat(out, "</code></h2>\n<p>Parameters and constants: ");
  put_bytes(out, s->static_bytes);
  hilo_sb_cat(out, ", not counted.");
  put_collectives(out, &s->overlap);
  hilo_sb_cat(out, "</p>\n<table><thead><tr><th>bytes</th><th>of the peak</th><th>"
                   "value</th><th>operation</th><th>made at</th><th>last used at</th><th>in the "
                   "program</th><th>source</th></tr></thead><tbody>\n");
  for (uint32_t k = 0; k < s->n_values; k++) put_value(out, s, &s->values[k]);
  hilo_sb_cat(out, "</tbody></table>\n");
}

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Memory of ";
static const char page_style[] =
    "</title>\n<style>\n"
    "body{font:14px/1.4 system-ui,sans-serif;margin:24px auto;max-width:1160px;padding:0 16px;"
    "color:#1d2433;background:#fff}\n"
    "h1{font-size:20px}h2{font-size:16px;margin-top:28px}svg{width:100%;height:auto}\n"
    "path.before{fill:#c9ced8;stroke:none}path.after{fill:#2f6fdb;fill-opacity:.55;stroke:#1f55b0;"
    "stroke-width:.6}\n"
    "circle.before{fill:#6b7280}circle.after{fill:#1f3f80}line.grid{stroke:#e3e6ec}\n"
    "text{font-size:12px;fill:#4b5563}text.y{text-anchor:end}text.x{text-anchor:middle}\n"
    "table{border-collapse:collapse;width:100%;font-size:13px}th{text-align:left;border-bottom:2px "
    "solid #c9ced8}\n"
    "td,th{padding:3px 8px;vertical-align:top;overflow-wrap:anywhere}td.n{text-align:right;"
    "white-space:nowrap;font-variant-numeric:tabular-nums}td:nth-child(4){white-space:nowrap}"
    "td:last-child{overflow-wrap:normal}\n"
    "tr:nth-child(even) td{background:#f6f7f9}.key span{display:inline-block;width:12px;height:"
    "12px;margin:0 6px 0 18px;vertical-align:-1px}\n"
    "</style></head><body>\n<h1>Live bytes of <code>";

void hilo_schedule_report_html(const hilo_schedule_report *report, hilo_sb *out) {
  hilo_sb_cat(out, page_head);
  put_text(out, report->module_name);
  hilo_sb_cat(out, page_style);
  put_text(out, report->module_name);
  hilo_sb_cat(out, "</code> along the schedule</h1>\n<p class=\"key\">Bytes alive while each "
                   "instruction of the entry runs; across: instructions in order.");
  if (report->before.taken)
    hilo_sb_cat(out, "<span style=\"background:#c9ced8\"></span>before scheduling");
  hilo_sb_printf(out, "<span style=\"background:#6f9ae6\"></span>%s</p>\n",
                 report->before.taken ? "after" : "as it stands");
  put_picture(out, report);
  put_table(out, &report->after, report->before.taken ? "Peak after scheduling" : "Peak");
  if (report->before.taken) put_table(out, &report->before, "Peak before");
  hilo_sb_cat(out, "</body></html>\n");
}

/* ---- JSON ---- */

static void put_snapshot(hilo_sb *out, const char *key, const hilo_schedule_snapshot *s) {
  hilo_sb_printf(out,
                 "\"%s\": {\"instructions\": %u, \"peak_bytes\": %llu, \"peak_at\": %u, "
                 "\"peak_name\": ",
                 key, s->n, (unsigned long long)s->peak, s->peak_at);
  hilo_sb_json(out, s->peak_name);
  hilo_sb_printf(out, ", \"static_bytes\": %llu, \"byte_ops\": %llu,\n  \"collectives\": ",
                 (unsigned long long)s->static_bytes, (unsigned long long)s->byte_ops);
  hilo_overlap_put_json(&s->overlap, out);
  hilo_sb_cat(out, ",\n  \"values\": [");
  for (uint32_t k = 0; k < s->n_values; k++) {
    const hilo_reported_value *v = &s->values[k];
    hilo_sb_cat(out, k ? ",\n    {\"name\": " : "\n    {\"name\": ");
    hilo_sb_json(out, v->name);
    hilo_sb_printf(out, ", \"op\": \"%.*s\", \"bytes\": %llu, \"first\": %u, \"last\": %u, ",
                   HILO_FMT(v->op), (unsigned long long)v->bytes, v->first, v->last);
    hilo_sb_cat(out, "\"op_name\": ");
    hilo_sb_json(out, v->op_name);
    hilo_sb_cat(out, ", \"source\": ");
    hilo_sb_json(out, v->source);
    hilo_sb_printf(out, ", \"line\": %lld}", (long long)v->line);
  }
  hilo_sb_cat(out, "],\n  \"profile\": [");
  for (uint32_t r = 0; r < s->n_runs; r++)
    hilo_sb_printf(out, "%s[%u, %llu]", r ? ", " : "", s->run_end[r] - (r ? s->run_end[r - 1] : 0),
                   (unsigned long long)s->run_bytes[r]);
  hilo_sb_cat(out, "]}");
}

void hilo_schedule_report_json(const hilo_schedule_report *report, hilo_sb *out) {
  hilo_sb_cat(out, "{\"module\": ");
  hilo_sb_json(out, report->module_name);
  hilo_sb_printf(out, ", \"device_bytes\": %llu,\n", (unsigned long long)HILO_DEVICE_BYTES);
  if (report->before.taken) {
    put_snapshot(out, "before", &report->before);
    hilo_sb_cat(out, ",\n");
  }
  put_snapshot(out, "after", &report->after);
  hilo_sb_cat(out, "}\n");
}
