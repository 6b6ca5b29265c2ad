// SPDX-License-Identifier: Apache-2.0
// The table of keys: one row a key, with its strip, and a row for all others.
import { make, name_node, set_text, by_id } from './dom.js';
import { percent, rate } from './format.js';
import { bound_code, draw_strip, in_words, is_dark } from './draw.js';
import { id_of } from './model.js';
import { code_at, code_text, rest_codes, scale_of, value_text } from './planes.js';

/** @typedef {import('./model.js').Heat} Heat */
/** @typedef {import('./model.js').Row} Row */
/** @typedef {import('./planes.js').Plane} Plane */
/** @typedef {import('./draw.js').Axis} Axis */
/** @typedef {import('./lines.js').Line} Line */

export const COLUMNS = [
  { id: 'name', text: 'key' }, { id: 'strip', text: '' }, { id: 'rate', text: 'rate/s' },
  { id: 'share', text: 'share' }, { id: 'reads', text: 'reads/s' }, { id: 'writes', text: 'writes/s' },
  { id: 'hits', text: 'hits' }, { id: 'figure', text: '' }, { id: 'state', text: 'state' }, { id: 'helps', text: 'what helps' },
];
// Of the rows out of sight: how many strips, and how many rows of figures, are made anew at once.
const UNSEEN_AT_ONCE = 8, FAR_AT_ONCE = 100;
export const ORDERS = ['rate', 'share', 'reads', 'writes', 'hits', 'figure', 'name'];
// What the strips show, where no other column has it.
/** @type {Partial<Record<Plane, string>>} */
const FIGURES = { misses: 'misses/s', bytes: 'bytes/s', cpu: 'CPU saved' };

// The difference between two times is of what the strips show, whatever that is.
/** @type {Record<Plane, string>} */
const DIFFERENCES = { mean: 'rate/s', max: 'highest/s', writes: 'writes/s', hits: 'hits/s', misses: 'misses/s',
  bytes: 'bytes/s', cpu: 'CPU saved' };

/**
 * "+1.2k": from one figure to another.
 * @param {number | null} before @param {number | null} now @param {(value: number) => string} text
 */
function difference(before, now, text) {
  if (before === null || now === null || Number.isNaN(before) || Number.isNaN(now)) return '–';
  const by = now - before;
  return by === 0 ? '0' : (by > 0 ? '+' : '−') + text(Math.abs(by));
}

/** @param {{reads: number, hits: number}} of @returns {number} NaN: it was not read */
const hit_ratio = (of) => (of.reads > 0 ? Math.min(1, of.hits / of.reads) : NaN);

// Whether the figure of the plane has a column of its own, by which the table can be sorted.
export const has_column = (/** @type {Plane} */ plane) => plane in FIGURES;

/**
 * What the proxy says of a key now, for its line.
 * @param {any} key a row of /api/hotkeys
 * @param {any} advice its row of /api/advice
 */
export function words_of(key, advice) {
  const best = advice?.best;
  let helps = advice ? 'nothing of these' : '';
  if (best) {
    helps = best.done ? `done: ${best.relief}` : best.relief;
    if (best.key_removed > 0) helps += ` −${percent(best.key_removed)}`;
  }
  return {
    state: key.verdict + (key.cached ? ', cached' : '') +
      (key.kept_by_clients ? `, kept by ${key.kept_by_clients}` : ''),
    why: [key.reason, key.cached ? '' : key.cache_note].filter((text) => text).join('; '),
    helps,
    headline: advice?.headline ?? '',
  };
}

/**
 * A line in the document.
 * @typedef {object} Made
 * @property {HTMLTableRowElement} line
 * @property {Record<string, HTMLElement>} cells
 * @property {HTMLCanvasElement} canvas
 * @property {Line} of what it shows
 * @property {boolean} is_near in sight, or almost
 * @property {number} version that its strip was drawn at
 */

export class Table {
  /** @param {(id: string) => void} open @param {(order: string) => void} sort */
  constructor(open, sort) {
    this.body = /** @type {HTMLTableSectionElement} */ (by_id('rows'));
    this.heads = by_id('heads');
    /** @type {Map<string, Made>} */
    this.lines = new Map();
    this.open = open;
    /** @type {((made: Made) => void) | null} draws a strip as the last draw() says */
    this.paint = null;
    this.version = 0;
    /** @type {Plane} */
    this.plane = 'mean';
    this.stamp = '';
    /** @type {string[]} lines out of sight whose strips, and figures, are next */
    this.to_paint = [];
    /** @type {string[]} */
    this.to_fill = [];
    // A row that is out of sight has no canvas, since a browser looks at each of them in each frame.
    this.sight = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const made = this.lines.get(/** @type {HTMLElement} */ (entry.target).dataset['id'] ?? '');
        if (!made) continue;
        made.is_near = entry.isIntersecting;
        if (made.is_near) {
          this.#fill(made);
          this.#paint(made);
          made.cells['strip']?.append(made.canvas);
        } else {
          made.canvas.remove();
        }
      }
    }, { rootMargin: '400px' });
    for (const column of COLUMNS) {
      const sorts = ORDERS.includes(column.id);
      this.heads.append(make('th', { class: column.id, scope: 'col', 'data-order': column.id },
        sorts ? make('button', { type: 'button', onclick: () => sort(column.id) }, column.text)
              : column.text));
    }
    this.heads.children[1].append(make('div', { class: 'ends' }, make('span', { class: 'begin' }), make('span', { class: 'end' })));
  }

  /**
   * @param {string} order
   * @param {string} begin of the strips
   * @param {string} when the time that the numbers are of
   * @param {Plane} plane
   * @param {boolean} is_compared with another time
   */
  show_heads(order, begin, when, plane, is_compared) {
    const figure = is_compared ? `± ${DIFFERENCES[plane]}` : FIGURES[plane] ?? '';
    this.body.parentElement?.classList.toggle('compares', is_compared);
    this.body.parentElement?.classList.toggle('has-figure', figure !== '');
    set_text(/** @type {Element} */ (this.heads.querySelector('.figure button')), figure);
    for (const head of this.heads.children) {
      if (head.dataset.order === order)
        head.setAttribute('aria-sort', order === 'name' ? 'ascending' : 'descending');
      else head.removeAttribute('aria-sort');
      if (head.dataset.order !== 'strip') continue;
      set_text(head.querySelector('.begin'), begin);
      set_text(head.querySelector('.end'), when);
      head.title = when;
    }
  }

  /** @param {Line} of */
  #make_line(of) {
    const canvas = make('canvas', { 'aria-hidden': 'true' });
    /** @type {Record<string, HTMLElement>} */
    const cells = {};
    const line = make('tr', { 'data-id': of.id, tabindex: '-1' });
    for (const column of COLUMNS) {
      const cell = make('td', { class: column.id });
      cells[column.id] = cell;
      line.append(cell);
    }
    if (of.row) {
      cells['name']?.append(of.row.kind === 'slot' ? 'slot ' : '', name_node(of.row.name + (of.row.truncated ? '…' : '') +
                                      (of.row.db ? `  (db ${of.row.db})` : '')));
      cells['name']?.setAttribute('title', of.row.name);
      line.addEventListener('click', (event) => {
        if (!(event.target instanceof HTMLCanvasElement)) this.open(of.id);
      });
    }
    /** @type {Made} */
    const made = { line, cells, canvas, of, is_near: false, version: -1 };
    this.#fill(made);
    this.lines.set(of.id, made);
    this.sight.observe(line);
    return made;
  }

  /** @param {Made} made */
  #fill({ of, cells }) {
    const plane = this.plane;
    /** @param {string} column @param {string} text */
    const put = (column, text) => { const cell = cells[column]; if (cell) set_text(cell, text); };
    if (!of.row) put('name', of.state);
    const error = of.error === Infinity ? ' +?' : of.error >= 0.005 ? ` +${rate(of.error)}` : '';
    if (of.before) {
      const before = of.before;
      put('rate', `${rate(before.rate)} → ${rate(of.rate)}`);
      put('share', difference(before.share, of.share, percent));
      put('reads', difference(before.reads, of.reads, rate));
      put('writes', difference(before.writes, of.writes, rate));
      put('hits', difference(hit_ratio(before), hit_ratio(of), percent));
      put('figure', difference(before.figure, of.figure, (value) => value_text(plane, value)));
    } else {
      put('rate', rate(of.rate) + error);
      put('share', percent(of.share));
      put('reads', rate(of.reads));
      put('writes', rate(of.writes));
      put('hits', percent(hit_ratio(of)));
      put('figure', value_text(plane, of.figure));
    }
    if (!of.row) return;
    put('state', of.state);
    cells['state']?.setAttribute('title', of.why);
    put('helps', of.helps);
  }

  /**
   * @param {Line[]} lines in their order
   * @param {string} selected
   * @param {HTMLTableRowElement | null} detail stands behind the selected line
   * @param {Plane} plane
   */
  show(lines, selected, detail, plane) {
    const wanted = new Set(lines.map((line) => line.id));
    for (const [id, made] of this.lines) {
      if (wanted.has(id)) continue;
      this.sight.unobserve(made.line);
      made.line.remove();
      this.lines.delete(id);
    }
    this.plane = plane;
    const focused = document.activeElement;
    // Rows in sight have the figures of now, and the others in turn.
    if (this.to_fill.length === 0) this.to_fill = lines.map((line) => line.id);
    const due = new Set(this.to_fill.splice(0, FAR_AT_ONCE));
    // One row can be reached by the tabulator, and from there the others by keys.
    const stop = wanted.has(selected) ? selected : lines[0]?.id;
    /** @type {Element | null} */
    let at = this.body.firstElementChild;
    for (const of of lines) {
      const made = this.lines.get(of.id) ?? this.#make_line(of);
      made.of = of;
      if (made.is_near || due.has(of.id)) this.#fill(made);
      made.line.classList.toggle('hot', of.hot);
      made.line.classList.toggle('rest', of.row === null);
      const is_selected = of.id === selected;
      const attributes = { 'aria-selected': String(is_selected), tabindex: of.row && of.id === stop ? '0' : '-1',
                           'aria-expanded': String(is_selected && detail !== null) };
      for (const [name, value] of Object.entries(attributes))
        if (made.line.getAttribute(name) !== value) made.line.setAttribute(name, value);
      // One that has come down is in the way of all others.
      if (at && at !== detail && at.nextElementSibling === made.line) {
        at.remove();
        at = made.line;
      }
      if (made.line === at) at = at.nextElementSibling;
      else this.body.insertBefore(made.line, at);
      if (detail && of.id === selected) {
        if (detail === at) at = at.nextElementSibling;
        else this.body.insertBefore(detail, at);
      }
    }
    while (at) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    // A row that is moved loses the focus.
    if (focused !== document.activeElement && focused instanceof HTMLElement && this.body.contains(focused))
      focused.focus({ preventScroll: true });
  }

  /**
   * @param {Heat} heat @param {Axis} axis @param {Line[]} lines @param {number} brightest
   * @param {Plane} plane @param {string} kind
   * @param {(time: number) => string} time_text
   */
  draw(heat, axis, lines, brightest, plane, kind, time_text) {
    const none = () => 0;
    const per_doubling = scale_of(plane).per_doubling;
    this.paint = ({ of, canvas, cells }) => {
      const row = of.row;
      const code = row ? (/** @type {number} */ i) => code_at(heat, row, plane, i) : rest_codes(heat, kind, plane);
      const bound_at = row && (plane === 'mean' || plane === 'max')
        ? (/** @type {number} */ i) => bound_code(heat.unnamed[row.kind]?.[i]) : none;
      draw_strip(canvas, axis, code, bound_at, brightest, per_doubling);
      cells['strip']?.setAttribute('aria-label',
        in_words(heat, code, axis, (/** @type {number} */ each) => code_text(plane, each), time_text));
    };
    // What has not changed stays as it is drawn: a key of the keyboard mostly changes no strip.
    const stamp = [heat.version, axis.from, axis.to, axis.width, plane, kind, brightest, is_dark.matches].join(' ');
    if (stamp !== this.stamp) ++this.version;
    this.stamp = stamp;
    for (const made of this.lines.values()) if (made.is_near) this.#paint(made);
    // The words of the others are for who does not look; some at a time.
    if (this.to_paint.length === 0) this.to_paint = lines.map((line) => line.id);
    for (const id of this.to_paint.splice(0, UNSEEN_AT_ONCE)) this.#paint(this.lines.get(id));
  }

  /** @param {Made | undefined} made */
  #paint(made) {
    if (!made || !this.paint || made.version === this.version) return;
    made.version = this.version;
    this.paint(made);
  }

  /** @param {Line[]} lines @returns {Line[]} the same, each of which has its strip now */
  draw_all(lines) {
    for (const line of lines) this.#paint(this.lines.get(line.id));
    return lines;
  }

  /** @param {string} id @returns {string} what the strip of a row shows */
  words_of_strip(id) {
    return this.lines.get(id)?.cells['strip']?.getAttribute('aria-label') ?? '';
  }
}

/** @param {any} hotkeys @returns {Map<string, any>} by the id of their row */
export function keys_by_id(hotkeys) {
  return new Map((hotkeys?.keys ?? []).map((/** @type {any} */ key) =>
    [id_of('key', key.db, key.name_base64), key]));
}
