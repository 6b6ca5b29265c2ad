// SPDX-License-Identifier: Apache-2.0
// The table of keys: one row a key, with its strip, and a row for all others.
import { make, name_node, set_text, by_id } from './dom.js';
import { percent, rate } from './format.js';
import { bound_code, draw_strip, in_words } from './draw.js';
import { id_of } from './model.js';
import { code_at, code_text, rest_codes, value_text } from './planes.js';

/** @typedef {import('./model.js').Heat} Heat */
/** @typedef {import('./model.js').Row} Row */
/** @typedef {import('./planes.js').Plane} Plane */
/** @typedef {import('./draw.js').Axis} Axis */

export const COLUMNS = [
  { id: 'name', text: 'key' }, { id: 'strip', text: '' }, { id: 'rate', text: 'rate/s' },
  { id: 'share', text: 'share' }, { id: 'reads', text: 'reads/s' }, { id: 'writes', text: 'writes/s' },
  { id: 'hits', text: 'hits' }, { id: 'figure', text: '' }, { id: 'state', text: 'state' }, { id: 'helps', text: 'what helps' },
];
export const ORDERS = ['rate', 'share', 'reads', 'writes', 'hits', 'figure', 'name'];
// What the strips show, where no other column has it.
/** @type {Partial<Record<Plane, string>>} */
const FIGURES = { misses: 'misses/s', bytes: 'bytes/s', cpu: 'CPU saved' };

// Whether the figure of the plane has a column of its own, by which the table can be sorted.
export const has_column = (/** @type {Plane} */ plane) => plane in FIGURES;

/**
 * One line of the table: what the view knows of a row.
 * @typedef {object} Line
 * @property {string} id
 * @property {Row | null} row null: all other keys
 * @property {number} rate
 * @property {number} error the true rate is at most so much higher
 * @property {number} share
 * @property {number} reads
 * @property {number} writes
 * @property {number} hits rate
 * @property {number | null} figure what the strip shows, as a mean; null: not known
 * @property {number | null} before the rate of the other span; null: nothing is compared
 * @property {string} state
 * @property {string} why
 * @property {string} helps
 * @property {boolean} hot
 */

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
    state: key.cached ? `${key.verdict}, cached` : key.verdict,
    why: [key.reason, key.cached ? '' : key.cache_note].filter((text) => text).join('; '),
    helps,
    headline: advice?.headline ?? '',
  };
}

export class Table {
  /** @param {(id: string) => void} open @param {(order: string) => void} sort */
  constructor(open, sort) {
    this.body = /** @type {HTMLTableSectionElement} */ (by_id('rows'));
    this.heads = by_id('heads');
    /** @type {Map<string, {line: HTMLTableRowElement, cells: Record<string, HTMLElement>, canvas: HTMLCanvasElement}>} */
    this.lines = new Map();
    this.open = open;
    for (const column of COLUMNS) {
      const sorts = ORDERS.includes(column.id);
      this.heads.append(make('th', { class: column.id, scope: 'col', 'data-order': column.id },
        sorts ? make('button', { type: 'button', onclick: () => sort(column.id) }, column.text)
              : column.text));
    }
    this.heads.children[1].append(make('span', { class: 'begin' }), make('span', { class: 'end' }));
  }

  /**
   * @param {string} order
   * @param {string} begin of the strips
   * @param {string} when the time that the numbers are of
   * @param {Plane} plane
   */
  show_heads(order, begin, when, plane) {
    const figure = FIGURES[plane] ?? '';
    this.body.parentElement?.classList.toggle('has-figure', figure !== '');
    set_text(/** @type {Element} */ (this.heads.querySelector('.figure button')), figure);
    for (const head of this.heads.children) {
      if (head.dataset.order === order)
        head.setAttribute('aria-sort', order === 'name' ? 'ascending' : 'descending');
      else head.removeAttribute('aria-sort');
      if (head.dataset.order !== 'strip') continue;
      set_text(head.querySelector('.begin'), begin);
      set_text(head.querySelector('.end'), when);
    }
  }

  /** @param {Line} of */
  #make_line(of) {
    const canvas = make('canvas', { role: 'img' });
    /** @type {Record<string, HTMLElement>} */
    const cells = {};
    const line = make('tr', { 'data-id': of.id, tabindex: '-1' });
    for (const column of COLUMNS) {
      const cell = make('td', { class: column.id });
      if (column.id === 'strip') cell.append(canvas);
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
    const made = { line, cells, canvas };
    this.lines.set(of.id, made);
    return made;
  }

  /** @param {Line} of @param {Record<string, HTMLElement>} cells @param {Plane} plane */
  #fill(of, cells, plane) {
    /** @param {string} column @param {string} text */
    const put = (column, text) => { const cell = cells[column]; if (cell) set_text(cell, text); };
    if (!of.row) put('name', of.state);
    const error = of.error === Infinity ? ' +?' : of.error >= 0.005 ? ` +${rate(of.error)}` : '';
    put('rate', of.before === null ? rate(of.rate) + error : `${rate(of.before)} → ${rate(of.rate)}`);
    put('share', percent(of.share));
    put('reads', rate(of.reads));
    put('writes', rate(of.writes));
    put('hits', of.reads > 0 ? percent(Math.min(1, of.hits / of.reads)) : '–');
    put('figure', value_text(plane, of.figure));
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
      made.line.remove();
      this.lines.delete(id);
    }
    /** @type {Element | null} */
    let at = this.body.firstElementChild;
    for (const of of lines) {
      const made = this.lines.get(of.id) ?? this.#make_line(of);
      this.#fill(of, made.cells, plane);
      made.line.classList.toggle('hot', of.hot);
      made.line.classList.toggle('rest', of.row === null);
      made.line.setAttribute('aria-selected', String(of.id === selected));
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
  }

  /**
   * @param {Heat} heat @param {Axis} axis @param {Line[]} lines @param {number} brightest
   * @param {Plane} plane @param {string} kind
   * @param {(time: number) => string} time_text
   */
  draw(heat, axis, lines, brightest, plane, kind, time_text) {
    const none = () => 0;
    for (const of of lines) {
      const made = this.lines.get(of.id);
      if (!made) continue;
      const row = of.row;
      const code = row ? (/** @type {number} */ i) => code_at(heat, row, plane, i)
                       : rest_codes(heat, kind, plane);
      const bound_at = row && (plane === 'mean' || plane === 'max')
        ? (/** @type {number} */ i) => bound_code(heat.unnamed[row.kind]?.[i]) : none;
      draw_strip(made.canvas, axis, code, bound_at, brightest);
      made.canvas.setAttribute('aria-label',
        in_words(heat, code, axis, (/** @type {number} */ each) => code_text(plane, each), time_text));
    }
  }
}

/** @param {any} hotkeys @returns {Map<string, any>} by the id of their row */
export function keys_by_id(hotkeys) {
  return new Map((hotkeys?.keys ?? []).map((/** @type {any} */ key) =>
    [id_of('key', key.db, key.name_base64), key]));
}
