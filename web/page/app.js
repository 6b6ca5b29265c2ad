// SPDX-License-Identifier: Apache-2.0
// The page: asks the proxy once a second, and shows what is hot, and what was.
import { get, NeedsToken, take_token_from_address, use_token } from './api.js';
import { by_id, make, set_text } from './dom.js';
import { clock, duration, percent, rate } from './format.js';
import { Axis, brightest_of, draw_chart, is_dark } from './draw.js';
import { Heat, id_of } from './model.js';
import { PLANES, history_of, is_known, left_of, mean_of, total_at, value_at } from './planes.js';
import { Marks, scaled, span_of } from './spans.js';
import { REST, make_lines } from './lines.js';
import { ORDERS, Table, has_column, keys_by_id, words_of } from './table.js';
import { show_key } from './detail.js';
import { access, dry_run, dry_run_nodes } from './orders.js';
import { Groups } from './groups.js';
import { is_place, show_place, words_of_place } from './places.js';
import { show_client } from './clients.js';
import { Folds, events_path } from './folds.js';
import { Instances, key_by_instance } from './instances.js';
import { Live } from './live.js';
import { save_csv, save_json, save_png } from './save.js';

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./planes.js').Plane} Plane */

const SPANS = [['10 min', 600], ['4 h', 14_400], ['24 h', 86_400], ['7 d', 604_800],
  ['30 d', 2_592_000], ['90 d', 7_776_000]];
// Longer ones need the file of history.file.
const SPAN_IN_MEMORY = 604_800;
// What rows may be of. Slots and nodes are of a cluster; a library, or an observed server, knows no
// clients.
/** @type {Record<string, string>} */
const KINDS = { key: 'keys', template: 'templates', rule: 'keys', client: 'clients', slot: 'slots', node: 'nodes' };

const view = {
  span: 600,
  /** @type {[number, number] | null} the time that is shown; null: live */
  range: null,
  /** @type {[number, number] | null} a part of it, which the numbers are of; null: all of it */
  part: null,
  /** @type {[number, number] | null} another part, which the numbers are compared with */
  other: null,
  /** @type {number | null} where a span begins that is chosen by the keyboard */
  mark: null,
  /** @type {number | null} the time under the pointer */
  cursor: null,
  kind: 'key',
  /** @type {Plane} */
  plane: 'mean',
  order: 'rate',
  filter: '',
  selected: '',
  opened: '',
};
const heat = new Heat();
/** @type {any} */
let hotkeys = null;
/** @type {Map<string, any>} */
let advice = new Map();
/** @type {any} an answer of /api/slots, while slots or nodes are shown */
let slots = null;
/** @type {any[]} */
let events = [];
/** @type {Line[]} */
let lines = [];
/** @type {Axis | null} */
let axis = null;
let is_due = false;
let pictures_are_due = true;

const told_of_row = make('div', {});
const key_chart = { canvas: make_canvas('history', 40, ''), words: make('p', {}) };
const detail = make('tr', { class: 'detail' }, make('td', { colspan: '10' }, key_chart.canvas, key_chart.words, told_of_row));
const table = new Table(open_row, (order) => { view.order = order; changed(); });
const folds = new Folds();
const instances = new Instances(() => {
  view.opened = '';
  hotkeys = null;
  keys_are_due = true;
  write_address();
  go_live();
});
const groups = new Groups();
const marks = new Marks();
/** @type {[number, number] | null} what the pointer has chosen until now */
let dragged = null;
let keys_are_due = true;
let all_is_due = false;
let all_asked_at = 0;
const live = new Live(heat, (what, data) => {
  if (what === 'gap') reload = true;
  // At the same moment as all other pages, so that the proxy answers once for all of them.
  if (what === 'column' && data.number % 5 === 0) {
    all_is_due = true;
    wake();
  }
  if (what !== 'state') return;
  if (hotkeys) Object.assign(hotkeys.node, data.node);
  if (data.keys_changed) {
    keys_are_due = true;
    wake();
  }
  if (data.events.length) events = [...events, ...data.events].slice(-200);
  changed();
});

/** @param {string} id @param {number} height in pixels @param {string} words for who cannot see it */
function make_canvas(id, height, words) {
  const canvas = make('canvas', { id, role: 'img', 'aria-label': words });
  canvas.style.height = `${height}px`;
  return canvas;
}
/** @param {string} id @param {string} label @param {string} more where there is room */
function make_chart(id, label, more) {
  const canvas = make_canvas(id, 28, label + more);
  const words = make('td', { class: 'name' }, label, make('span', { class: 'wide' }, more));
  const now = make('span', {}), wide = make('span', { class: 'wide' });
  by_id('charts').append(make('tr', {}, words, make('td', { class: 'strip' }, canvas),
                              make('td', { colspan: '8', class: 'name' }, now, wide)));
  return { canvas, now, wide, top: 0 };
}
const requests_chart = make_chart('requests', 'requests/s', ': hits below, all above');
const latency_chart = make_chart('latency', 'client latency', ': median, and 99 of 100');

// ---- what is shown -------------------------------------------------------------------------

function now_s() {
  return heat.length ? (heat.times[heat.length - 1] ?? 0) + heat.step : Date.now() / 1000;
}

/** @returns {[number, number]} */
function shown_time() {
  if (view.range) return view.range;
  // A process that began a moment ago has nothing to show for most of the time.
  const first = heat.times[0] ?? now_s();
  return [Math.max(now_s() - view.span, Math.min(first, now_s() - 60)), now_s()];
}

/**
 * The columns that the numbers of the table are of.
 * @returns {[number, number]}
 */
function table_columns() {
  if (view.cursor !== null) {
    const column = heat.column_at(view.cursor);
    return [Math.max(column, 0), Math.max(column, 0) + 1];
  }
  if (view.part ?? view.range) return heat.columns_in(.../** @type {[number, number]} */ (view.part ?? view.range));
  return [Math.max(heat.length - 1, 0), heat.length];
}

function when_text() {
  const span = shown_time()[1] - shown_time()[0];
  const against = view.other ? `, against ${clock(view.other[0])} to ${clock(view.other[1])}` : '';
  const numbers = view.part ?? view.range;
  if (view.cursor !== null) return `at ${clock(view.cursor, span)}${against}`;
  if (numbers) return `means of ${clock(numbers[0])} to ${clock(numbers[1])}${against}`;
  if (heat.step !== 1) return `the last ${duration(heat.step)}${against}`;
  // The proxy counts slots over windows of their own.
  return `now: the last ${is_place(view.kind) ? '10 to 20' : Number(heat.window.toFixed(1))} s${against}`;
}

/** @returns {Iterable<import('./model.js').Row>} */
function shown_rows() {
  return view.kind === 'rule' ? groups.by_rule(heat) : heat.rows.values();
}

// Kinds that not every process has rows of.
const may_lack = (/** @type {string} */ kind) => kind === 'client' || is_place(kind);

const has_plane = (/** @type {Plane} */ plane) => is_known(heat, plane, strip_kind());

// A rule's row is a sum of keys.
const strip_kind = () => (view.kind === 'rule' ? 'key' : view.kind);

/** @returns {Line[]} */
function lines_of_view() {
  const is_live = !view.range && view.cursor === null;
  const told = is_live && view.kind === 'key' ? keys_by_id(hotkeys) : new Map();
  /** @param {import('./model.js').Row} row */
  const words = (row) => {
    const key = told.get(row.id);
    const found = !is_live ? null : is_place(view.kind) ? words_of_place(slots, row)
      : key ? words_of(key, advice.get(row.id)) : null;
    return found && { state: found.state, helps: found.helps, why: [found.why, found.headline].join('. '),
                      hot: key?.verdict === 'hot' || key?.verdict === 'write-hot',
                      error: key ? (key.rate_high ?? Infinity) - key.rate_low : null };
  };
  return make_lines(heat, {
    rows: [...shown_rows()].filter((row) => row.kind === view.kind), kind: view.kind, strip_kind: strip_kind(),
    kind_text: KINDS[view.kind] ?? '', plane: view.plane, filter: view.filter, order: view.order,
    columns: table_columns(), other: view.other ? heat.columns_in(...view.other) : null, is_live, words });
}

/**
 * The mean of what a strip may show, of a line or of all others; null: not known.
 * @param {Line} line @param {Plane} plane @returns {number | null}
 */
function figures_of(line, plane) {
  const columns = table_columns();
  const of = (/** @type {import('./model.js').Row} */ row) =>
    mean_of(columns, (i) => value_at(heat, row, plane, i));
  const all = mean_of(columns, (i) => total_at(heat, plane, strip_kind(), i));
  if (line.row || all === null) return line.row && all !== null ? of(line.row) : null;
  let named = 0;
  for (const row of shown_rows()) if (row.kind === view.kind) named += of(row) ?? 0;
  return left_of(plane, all, named);
}

function show_answer() {
  if (!hotkeys) return;
  const hot = hotkeys.keys.filter((/** @type {any} */ key) =>
    key.verdict === 'hot' || key.verdict === 'write-hot');
  const node = hotkeys.node;
  const of_cpu = typeof node.cpu_offload === 'number'
    ? `, and about ${percent(node.cpu_offload)} of its CPU time` : '';
  const saved = node.offload > 0.005
    ? ` Copies take ${percent(node.offload)} of the commands off the server${of_cpu}.` : '';
  if (hot.length === 0) {
    set_text(by_id('answer'), hotkeys.headline + '.' + saved);
  } else {
    const first = hot[0];
    const others = hot.length === 1 ? '1 key is hot: ' : `${hot.length} keys are hot, first of all `;
    set_text(by_id('answer'), `${others}⁨${first.name}⁩, ${percent(first.share)} of the traffic, ` +
      `since ${clock(Date.parse(first.since) / 1000)}.${saved}`);
  }
  document.title = hot.length ? `${hot.length} hot · heatsink` : 'heatsink';
  const parts = [node.upstream + (node.upstream_up ? '' : ' (not reachable)'),
    `coherence ${node.coherence}`, node.clients === 1 ? '1 client' : `${node.clients} clients`,
    `${rate(node.requests_rate)} requests/s`, `hit ratio ${percent(node.hit_ratio)}`,
    `${node.cached_entries} copies`, `running ${duration(hotkeys.uptime_seconds)}`];
  if (node.cpu_unknown) parts.push(`CPU time taken off: unknown: ${node.cpu_unknown}`);
  if (node.stale_confirmed) parts.push(`${node.stale_confirmed} STALE COPIES SERVED`);
  set_text(by_id('node'), parts.join(' · ') + ` · every rate is of the last ${Number(hotkeys.window_seconds.toFixed(1))} s`);
}

/** @param {Axis} on */
function draw_pictures(on) {
  const rows = lines.flatMap((line) => (line.row ? [line.row] : []));
  table.draw(heat, on, lines, brightest_of(heat, rows, view.plane, on), view.plane, strip_kind(),
             (time) => clock(time, on.to - on.from));
  requests_chart.top = draw_chart(requests_chart.canvas, on, [
    { values: heat.totals['hits'] ?? [], colour: '--accent', fills: true },
    { values: heat.totals['requests'] ?? [], colour: '--text' },
  ]);
  latency_chart.top = draw_chart(latency_chart.canvas, on, [
    { values: heat.totals['latency_p99_seconds'] ?? [], colour: '--accent' },
    { values: heat.totals['latency_p50_seconds'] ?? [], colour: '--text' },
  ]);
}

// Of the row that is open, on the axis of its strip.
function draw_history(/** @type {Axis} */ on) {
  const row = lines.find((line) => line.id === view.opened)?.row;
  if (!row) return;
  const { canvas, words } = key_chart;
  const strip = requests_chart.canvas.getBoundingClientRect();
  const cell = /** @type {HTMLElement} */ (detail.firstElementChild);
  canvas.style.width = `${strip.width}px`;
  canvas.style.marginLeft = `${strip.left - cell.getBoundingClientRect().left - cell.clientLeft -
    parseFloat(getComputedStyle(cell).paddingLeft)}px`;
  const history = history_of(heat, row);
  const top = draw_chart(canvas, on, [
    { values: history.hits, colour: '--accent', fills: true },
    { values: history.at_most, colour: '--dim', is_dotted: true },
    { values: history.writes, colour: '--alert' },
    { values: history.rate, colour: '--text' },
  ]);
  const is_counted = row.kind === 'key' || row.kind === 'template' || row.kind === 'rule';
  set_text(words, `${row.kind === 'slot' || row.kind === 'node' || row.kind === 'client' ? 'commands' : 'requests'}/s` +
    `${is_counted ? ', of them hits (filled) and writes (red)' : ''}; dotted: at most so many; top ${rate(top)}/s`);
  canvas.setAttribute('aria-label', table.words_of_strip(row.id));
}

function show_totals() {
  const columns = table_columns();
  const requests = heat.mean_total('requests', columns);
  const hits = heat.mean_total('hits', columns);
  set_text(requests_chart.now, `${rate(requests)}/s, ${rate(hits)} hits/s`);
  set_text(requests_chart.wide, `; top ${rate(requests_chart.top)}/s; the server got ` +
    `${rate(heat.mean_total('server_commands', columns))} of ` +
    `${rate(heat.mean_total('commands', columns))} commands/s`);
  set_text(latency_chart.now, `median ${duration(heat.mean_total('latency_p50_seconds', columns))}, ` +
    `99 % in ${duration(heat.mean_total('latency_p99_seconds', columns))}`);
  set_text(latency_chart.wide, `; top ${duration(latency_chart.top)}`);
}

function draw_marks() {
  const chart = requests_chart.canvas.getBoundingClientRect();
  const box = { left: chart.left + scrollX, top: chart.top + scrollY,
                bottom: table.body.getBoundingClientRect().bottom + scrollY };
  marks.show('cursor', axis, view.cursor === null ? null : [view.cursor, view.cursor], box);
  marks.show('part', axis, view.other && view.part, box, 'this');
  marks.show('other', axis, view.other, box, 'against this');
  const chosen = dragged ?? (view.mark === null ? null : span_of(view.mark, view.cursor ?? view.mark, heat.step));
  marks.show('chosen', axis, chosen, box);
}

function draw() {
  is_due = false;
  show_answer();
  by_id('empty').hidden = heat.length > 0;
  set_text(by_id('empty'), 'Nothing has been counted yet: columns come while there is traffic.');
  if (pictures_are_due) axis = new Axis(heat, ...shown_time(), requests_chart.canvas.clientWidth);
  if (!axis) return;
  requests_chart.canvas.dataset['column'] = String(heat.numbers[heat.length - 1] ?? 0);
  requests_chart.canvas.dataset['live'] = String(live.is_open);
  // What is compared has left the strips of a live view.
  if (view.other && !view.range && view.other[1] < axis.from) end_comparison();
  lines = lines_of_view();
  if (view.opened) fill_detail();
  table.show_heads(view.order, clock(axis.from, axis.to - axis.from), when_text(), view.plane, view.other !== null);
  table.show(lines, view.selected, view.opened !== '' && view.opened === view.selected ? detail : null, view.plane);
  if (pictures_are_due) draw_pictures(axis);
  if (pictures_are_due && view.opened) draw_history(axis);
  pictures_are_due = false;
  show_totals();
  draw_marks();
  by_id('when').hidden = view.other === null;
  set_text(by_id('when'), `${when_text()}: each figure is the difference.`);
  for (const button of by_id('spans').children) {
    button.setAttribute('aria-pressed', String(!view.range && Number(button.dataset.span) === view.span));
    button.hidden = Number(button.dataset.span) > SPAN_IN_MEMORY && !heat.has_file;
  }
  by_id('live').setAttribute('aria-pressed', String(!view.range));
  for (const option of by_id('kind').options)
    option.hidden = option.disabled = may_lack(option.value) && !heat.has_rows(option.value) &&
      option.value !== view.kind;
  for (const option of by_id('plane').options)
    option.hidden = option.disabled = !has_plane(option.value) && option.value !== view.plane;
}

function changed() {
  pictures_are_due = true;
  numbers_changed();
}

// The pointer has moved: the numbers are of another moment, and no strip changes.
function numbers_changed() {
  if (is_due) return;
  is_due = true;
  requestAnimationFrame(draw);
}

// ---- the address -----------------------------------------------------------------------------

function write_address() {
  const of = new URLSearchParams();
  if (view.range) of.set('time', view.range.map(Math.round).join('-'));
  if (view.part) of.set('of', view.part.map(Math.round).join('-'));
  if (view.other) of.set('against', view.other.map(Math.round).join('-'));
  if (!view.range && view.span !== 600) of.set('span', String(view.span));
  if (view.kind !== 'key') of.set('rows', view.kind);
  if (view.plane !== 'mean') of.set('brightness', view.plane);
  if (view.order !== 'rate') of.set('order', view.order);
  if (view.filter) of.set('filter', view.filter);
  if (view.opened) of.set('key', view.opened);
  if (instances.chosen) of.set('instance', instances.chosen);
  history.replaceState(null, '', '#' + of.toString());
}

/** @param {string | null} text @returns {[number, number] | null} */
function time_in(text) {
  const [from, to] = (text ?? '').split('-').map(Number);
  return from && to && to > from ? [from, to] : null;
}

function read_address() {
  const of = new URLSearchParams(location.hash.slice(1));
  view.range = time_in(of.get('time'));
  view.part = time_in(of.get('of'));
  view.other = time_in(of.get('against'));
  const span = Number(of.get('span'));
  view.span = SPANS.some(([, seconds]) => seconds === span) ? span : 600;
  view.kind = of.get('rows') ?? 'key';
  if (!(view.kind in KINDS)) view.kind = 'key';
  const plane = of.get('brightness') ?? 'mean';
  const order = of.get('order') ?? 'rate';
  view.order = ORDERS.includes(order) ? order : 'rate';
  choose_plane(/** @type {Plane} */ (PLANES.includes(/** @type {Plane} */ (plane)) ? plane : 'mean'));
  view.filter = of.get('filter') ?? '';
  view.selected = view.opened = of.get('key') ?? '';
  instances.look_at(of.get('instance') ?? '');
  by_id('kind').value = view.kind;
  by_id('filter').value = view.filter;
}

// ---- what a person does ------------------------------------------------------------------------

/** @param {string} id */
function open_row(id) {
  if (id === REST) return;
  view.selected = id;
  view.opened = view.opened === id ? '' : id;
  detail_of = '';
  write_address();
  changed();
}

let detail_of = '';  // the row that `detail` is about

// Of the row that is open; at once, or when the address has named it and it has come.
function fill_detail() {
  const row = [...shown_rows()].find((each) => each.id === view.opened);
  if (detail_of === view.opened || !row) return;
  detail_of = view.opened;
  const cell = told_of_row;
  cell.textContent = 'asking …';
  if (row.kind === 'rule') show_rule(row, cell);
  else if (is_place(row.kind)) show_place(slots, row, cell);
  else if (row.kind === 'client') show_client(hotkeys, row, cell);
  else show_key(row, events, cell, instances.is_sum ? key_by_instance : null);
}

/** @param {import('./model.js').Row} row @param {HTMLElement} into */
async function show_rule(row, into) {
  const match = row.id.slice('rule 0 '.length);
  if (match === '') return into.replaceChildren('No rule has these keys: what holds for all keys holds for them.');
  try {
    into.replaceChildren(...dry_run_nodes(await dry_run(match)));
  } catch (error) {
    into.textContent = String(error instanceof Error ? error.message : error);
  }
}

/** @param {Plane} plane */
function choose_plane(plane) {
  view.plane = by_id('plane').value = plane;
  if (view.order === 'figure' && !has_column(plane) && !view.other) view.order = 'rate';
}

/** @param {string} kind */
function choose_kind(kind) {
  view.kind = by_id('kind').value = kind;
  if (!has_plane(view.plane)) choose_plane('mean');
  rules_are_due = slots_are_due = true;
  if (kind === 'rule' || is_place(kind)) wake();
}

function close_or_live() {
  if (view.opened) view.opened = '';
  else if (view.mark !== null) view.mark = null;
  else if (view.other) end_comparison();
  else if (view.range) go_live();
  write_address();
  changed();
}

function end_comparison() {
  view.part = view.other = null;
  choose_plane(view.plane);  // which may have no order of its own now
}

function go_live() {
  view.range = view.mark = null;
  end_comparison();
  load_soon();
}

/** @param {[number, number]} span shows only this time */
function zoom_to(span) {
  view.range = span;
  end_comparison();
  load_soon();
}

/**
 * The first span is what the numbers are compared with, the second one what they are of, and a third
 * one begins again.
 * @param {[number, number]} span
 */
function compare_with(span) {
  if (view.other && !view.part) {
    view.part = span;
    const [from, to] = shown_time();
    view.range ??= [Math.round(from), Math.round(to)];
  } else {
    view.part = null;
    view.other = span;
    view.order = 'figure';
  }
}

/** @param {number} by columns */
function step_time(by) {
  const [from, to] = shown_time();
  const last = heat.columns_in(from, to)[1] - 1;
  if (last < 0) return;
  const at = view.cursor === null ? last + 1 : heat.column_at(view.cursor);
  const first = heat.columns_in(from, to)[0];
  view.cursor = heat.times[Math.min(Math.max(at + by, first), last)] ?? null;
}

/** @param {number} factor of the time that is shown */
function zoom_by(factor) {
  const shown = shown_time();
  zoom_to(scaled(shown, view.cursor ?? shown[1], factor, 10 * heat.step, Date.now() / 1000));
}

/** @param {(span: [number, number]) => void} then what is done with the span that the keyboard chose */
function with_marked(then) {
  if (view.mark === null || view.cursor === null) return;
  const span = span_of(view.mark, view.cursor, heat.step);
  view.mark = view.cursor = null;
  then(span);
}

/** @param {number} by */
function step_row(by) {
  const ids = lines.filter((line) => line.row).map((line) => line.id);
  if (ids.length === 0) return;
  const at = ids.indexOf(view.selected);
  const next = ids[Math.min(Math.max(at + by, 0), ids.length - 1)] ?? '';
  view.selected = next;
  view.opened = '';
  changed();
  const line = table.lines.get(next)?.line;
  line?.scrollIntoView({ block: 'nearest' });
  line?.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
function on_key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  if (event.key === 'Enter' && (target instanceof HTMLButtonElement || target.closest('summary'))) return;
  /** @type {Record<string, () => void>} */
  const actions = {
    '/': () => by_id('filter').focus(),
    j: () => step_row(1), k: () => step_row(-1),
    ArrowDown: () => step_row(1), ArrowUp: () => step_row(-1),
    ArrowLeft: () => step_time(event.shiftKey ? -10 : -1), ArrowRight: () => step_time(event.shiftKey ? 10 : 1),
    '+': () => zoom_by(0.5), '=': () => zoom_by(0.5), '-': () => zoom_by(2),
    m: () => { view.mark = view.cursor; },
    z: () => with_marked(zoom_to), c: () => with_marked(compare_with),
    Enter: () => { if (view.selected) open_row(view.selected); },
    Escape: close_or_live,
    s: () => {
      const shown = ORDERS.filter((order) => order !== 'figure' || has_column(view.plane) || view.other);
      view.order = shown[(shown.indexOf(view.order) + 1) % shown.length] ?? 'rate';
    },
    t: () => {
      const shown = Object.keys(KINDS).filter((kind) => !may_lack(kind) || heat.has_rows(kind));
      choose_kind(shown[(shown.indexOf(view.kind) + 1) % shown.length] ?? 'key');
    },
    b: () => {
      const known = PLANES.filter(has_plane);
      choose_plane(known[(known.indexOf(view.plane) + 1) % known.length] ?? 'mean');
    },
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
  write_address();
  changed();
}

/**
 * A drag over a chart or a strip chooses a time.
 * @param {PointerEvent} down
 */
function begin_drag(down) {
  const canvas = down.target;
  if (!(canvas instanceof HTMLCanvasElement) || !axis || down.button !== 0) return;
  const box = canvas.getBoundingClientRect();
  const begun = axis;
  const from = begun.time_at(down.clientX - box.left);
  const compares = down.shiftKey;
  const choose = (/** @type {PointerEvent} */ move) => {
    dragged = Math.abs(move.clientX - down.clientX) < 4 ? null
      : span_of(from, begun.time_at(move.clientX - box.left), heat.step);
    numbers_changed();
  };
  const end = (/** @type {PointerEvent} */ up) => {
    removeEventListener('pointerup', end);
    removeEventListener('pointercancel', end);
    removeEventListener('pointermove', choose);
    dragged = null;
    const to = begun.time_at(up.clientX - box.left);
    if (up.type === 'pointercancel') return;
    if (Math.abs(up.clientX - down.clientX) < 4) {
      const line = canvas.closest('tr');
      if (line?.dataset['id']) open_row(line.dataset['id']);
      return;
    }
    (compares ? compare_with : zoom_to)(span_of(from, to, heat.step));
    write_address();
    changed();
  };
  down.preventDefault();  // of text that would be selected
  addEventListener('pointermove', choose);
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
}

/** @param {PointerEvent} event */
function follow_pointer(event) {
  const over = event.target instanceof HTMLCanvasElement && event.target.closest('#map') ? event.target : null;
  const before = view.cursor;
  view.cursor = over && axis ? axis.time_at(event.clientX - over.getBoundingClientRect().left) : null;
  if (before !== view.cursor) numbers_changed();
}

function prepare() {
  for (const [text, seconds] of SPANS) {
    by_id('spans').append(make('button', {
      type: 'button', 'data-span': String(seconds),
      onclick: () => { view.span = Number(seconds); go_live(); write_address(); },
    }, String(text)));
  }
  by_id('live').addEventListener('click', () => { go_live(); write_address(); });
  by_id('kind').addEventListener('change', () => { choose_kind(by_id('kind').value); write_address(); changed(); });
  by_id('plane').addEventListener('change', () => { choose_plane(by_id('plane').value); write_address(); changed(); });
  by_id('filter').addEventListener('input', () => { view.filter = by_id('filter').value; write_address(); changed(); });
  by_id('csv').addEventListener('click', () => save_csv(lines, figures_of, when_text()));
  by_id('json').addEventListener('click', async () => save_json(await get(heat_path())));
  by_id('png').addEventListener('click', () => save_png(table.draw_all(lines), table.lines, when_text()));
  by_id('help').addEventListener('click', () => {
    const text = by_id('help-text');
    text.hidden = !text.hidden;
    by_id('help').setAttribute('aria-expanded', String(!text.hidden));
  });
  by_id('token-form').addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    use_token(by_id('token').value);
    by_id('token').value = '';
    load_soon();
  });
  by_id('map').addEventListener('pointerdown', begin_drag);
  by_id('rows').addEventListener('focusin', (/** @type {FocusEvent} */ event) => {
    const id = /** @type {HTMLElement} */ (event.target).dataset['id'] ?? REST;
    if (id === REST || id === view.selected) return;
    view.selected = id;
    view.opened = '';
    numbers_changed();
  });
  addEventListener('pointermove', follow_pointer);
  addEventListener('keydown', on_key);
  addEventListener('resize', changed);
  addEventListener('hashchange', () => { take_token_from_address(); read_address(); load_soon(); });
  is_dark.addEventListener('change', changed);
  document.addEventListener('visibilitychange', load_soon);
}

// ---- asking ------------------------------------------------------------------------------------

let reload = true;
let knows_access = false;
let rules_are_due = true;
let rest_is_due = true;  // advice, events and what folds out
/** @type {() => void} */
let wake = () => {};

function load_soon() {
  reload = rest_is_due = true;
  wake();
}

let slots_are_due = true;

function heat_path() {
  const [from, to] = view.range ?? [Date.now() / 1000 - view.span, Date.now() / 1000];
  // A margin on both sides, so that a strip has no gap at its ends.
  return `/api/heatmap?from=${Math.max(0, Math.floor(from - 2))}&to=${Math.ceil(to + 2)}&rows=256`;
}

async function ask_heat() {
  if (reload || heat.step !== 1 || view.range || instances.chosen) live.end();
  if (reload) {
    reload = false;
    heat.replace(await get(heat_path()));
  } else if (!view.range && !live.is_open) {
    const last = heat.numbers[heat.length - 1];
    const more = last === undefined ? '' : `&step=${heat.step}&after=${last}`;
    const json = await get(heat_path() + more);
    if (last === undefined) heat.replace(json);
    else if (json.source !== heat.source) reload = true;
    else heat.append(json, view.span);
  }
}

let has_advice = true;  // a library, or an observed server, has none

/** @param {number} round */
async function ask(round) {
  if (!knows_access) {
    await access.learn();
    knows_access = true;
  }
  await ask_heat();
  // The stream is of the sum.
  if (heat.step === 1 && !view.range && !instances.chosen) live.begin(view.span);
  // The stream says when keys have changed; their rates may be five seconds old meanwhile.
  // Without traffic there is no column.
  const is_late = performance.now() - all_asked_at > 10_000;
  const is_fifth = all_is_due || is_late || (!live.is_open && round % 5 === 0);
  all_is_due = false;
  if (is_fifth) all_asked_at = performance.now();
  if (!live.is_open || keys_are_due || is_fifth) {
    keys_are_due = false;
    hotkeys = await get('/api/hotkeys');
    access.redacted = hotkeys.node.redacted;
    await instances.refresh(hotkeys);
  }
  if (view.kind === 'rule' && (rules_are_due || is_fifth)) {
    rules_are_due = false;
    groups.learn(await get('/api/rules'));
  }
  if (is_place(view.kind) && (slots_are_due || is_fifth)) {
    slots_are_due = false;
    slots = await get('/api/slots');
  }
  if (rest_is_due || is_fifth) {
    rest_is_due = false;
    const told = instances.is_sum || !has_advice ? null : await get('/api/advice');
    if (!instances.is_sum && !instances.chosen) has_advice = told !== null;
    advice = new Map((told?.keys ?? []).map((/** @type {any} */ key) =>
      [id_of('key', key.db, key.name_base64), key]));
    folds.time = view.range || heat.source === 'file' ? shown_time() : null;
    const list = await get(events_path(folds.time));
    events = Array.isArray(list) ? list : list?.events ?? [];
    await folds.refresh();
  }
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    wake = () => { clearTimeout(timer); done(undefined); };
  });
}

async function run() {
  let failures = 0;
  let lost_at = 0;
  for (let round = 0; ; ++round) {
    if (document.hidden) {
      live.end();
      await pause(60_000);
      continue;
    }
    try {
      await ask(round);
      if (failures > 0) round = reload ? round : 0;
      failures = 0;
      by_id('trouble').hidden = by_id('token-form').hidden = true;
      by_id('main').hidden = by_id('tools').hidden = false;
      changed();
    } catch (error) {
      reload = true;
      if (failures++ === 0) lost_at = Date.now() / 1000;
      by_id('token-form').hidden = !(error instanceof NeedsToken);
      knows_access = false;  // another token, or another process
      const reason = error instanceof Error ? error.message : String(error);
      set_text(by_id('trouble'), error instanceof NeedsToken ? reason
        : `no answer since ${clock(lost_at)} (${reason}); what is shown is from before. Trying again.`);
      by_id('trouble').hidden = false;
      if (error instanceof NeedsToken) await pause(600_000);
    }
    await pause(failures ? Math.min(1000 * failures, 5000) : heat.step === 1 ? 1000 : 2000);
  }
}

take_token_from_address();
read_address();
prepare();
run();
