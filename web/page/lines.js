// SPDX-License-Identifier: Apache-2.0
// Makes the lines of the table: the figures of each row in a time, and what all others had.
import { matches, with_stars } from './glob.js';
import { heat_total } from './model.js';
import { is_place } from './places.js';
import { left_of, mean_of, total_at, value_at } from './planes.js';
import { rate } from './format.js';

/** @typedef {import('./model.js').Heat} Heat */
/** @typedef {import('./model.js').Row} Row */
/** @typedef {import('./planes.js').Plane} Plane */

export const REST = 'all other keys';

/**
 * Per second, but for `share`; NaN: rows of the kind have no such figure.
 * @typedef {object} Figures
 * @property {number} rate
 * @property {number} share
 * @property {number} reads
 * @property {number} writes
 * @property {number} hits
 * @property {number | null} figure what the strip shows, as a mean; null: not known
 */
/**
 * One line of the table: what the view knows of a row.
 * @typedef {object} LineOfRow
 * @property {string} id
 * @property {Row | null} row null: all others
 * @property {number} error the true rate is at most so much higher
 * @property {Figures | null} before of the other time; null: nothing is compared
 * @property {string} state
 * @property {string} why
 * @property {string} helps
 * @property {boolean} hot
 * @typedef {Figures & LineOfRow} Line
 */
/**
 * @typedef {object} Words what is known of a row beside its figures
 * @property {string} state
 * @property {string} why
 * @property {string} helps
 * @property {boolean} hot
 * @property {number | null} error null: as the history says
 */
/**
 * What is asked of the lines.
 * @typedef {object} Wanted
 * @property {Row[]} rows of the kind; with the others they have the total
 * @property {string} kind
 * @property {string} strip_kind whose totals the rows add up to
 * @property {string} kind_text "keys"
 * @property {Plane} plane
 * @property {string} filter
 * @property {string} order
 * @property {[number, number]} columns that the numbers are of
 * @property {[number, number] | null} other that they are compared with
 * @property {boolean} is_live the numbers are of now
 * @property {(row: Row) => Words | null} words null: nothing
 */

/** @param {string} name @param {string} filter a part of it, or a pattern with "*" */
function passes(name, filter) {
  const wanted = filter.trim();
  if (wanted === '') return true;
  if (!wanted.includes('*')) return name.toLowerCase().includes(wanted.toLowerCase());
  return matches(with_stars(wanted), name);
}

/** @param {Line} line @returns {number} what "by figure" goes by: a difference by its size */
function figure_of(line) {
  return line.before ? Math.abs((line.figure ?? 0) - (line.before.figure ?? 0)) : line.figure ?? 0;
}

/** @param {string} order @returns {(a: Line, b: Line) => number} */
function by(order) {
  if (order === 'name') return (a, b) => (a.row?.name ?? '').localeCompare(b.row?.name ?? '');
  const of = (/** @type {Line} */ line) => order === 'reads' ? line.reads : order === 'writes' ? line.writes
    : order === 'hits' ? line.hits : order === 'figure' ? figure_of(line) : line.rate;
  return (a, b) => of(b) - of(a) || (a.id < b.id ? -1 : 1);
}

/** The figures of one time. */
class Time {
  /** @param {Heat} heat @param {Wanted} wanted @param {[number, number]} columns */
  constructor(heat, wanted, columns) {
    this.heat = heat;
    this.wanted = wanted;
    this.columns = columns;
    this.total = heat.mean_total(heat_total(wanted.strip_kind), columns) ?? 0;
    // Of the others, reads, writes and hits are not counted.
    this.is_counted = wanted.kind !== 'client' && !is_place(wanted.kind);
    this.sum = { rate: 0, writes: 0, hits: 0, figure: 0 };
  }

  /** @param {Row} row @returns {Figures & {named: number, at_most: number}} */
  of(row) {
    const mean = this.heat.means(row, this.columns);
    const figure = mean_of(this.columns, (i) => value_at(this.heat, row, this.wanted.plane, i));
    this.sum.rate += mean.rate;
    this.sum.writes += mean.writes;
    this.sum.hits += mean.hits;
    this.sum.figure += figure ?? 0;
    return { ...this.#made(mean.rate, mean.writes, mean.hits, figure), named: mean.named, at_most: mean.at_most };
  }

  /** @param {number} rate @param {number} writes @param {number} hits @param {number | null} figure @returns {Figures} */
  #made(rate, writes, hits, figure) {
    return { rate, share: this.total ? Math.min(1, rate / this.total) : 0,
             reads: this.is_counted ? Math.max(0, rate - writes) : NaN,
             writes: this.is_counted ? writes : NaN, hits, figure };
  }

  /** What all others had, once each row was asked for. */
  rest() {
    const left = (/** @type {string} */ name) => this.heat.mean_total(name, this.columns) ?? 0;
    const figure = mean_of(this.columns, (i) =>
      total_at(this.heat, this.wanted.plane, this.wanted.strip_kind, i));
    return this.#made(Math.max(0, this.total - this.sum.rate), Math.max(0, left('writes') - this.sum.writes),
                      Math.max(0, left('hits') - this.sum.hits),
                      figure === null ? null : left_of(this.wanted.plane, figure, this.sum.figure));
  }
}

/** @param {Heat} heat @param {Wanted} wanted @returns {Line[]} in their order; the last one is of all others */
export function make_lines(heat, wanted) {
  const now = new Time(heat, wanted, wanted.columns);
  const then = wanted.other ? new Time(heat, wanted, wanted.other) : null;
  /** @type {Line[]} */
  const out = [];
  for (const row of wanted.rows) {
    const { named, at_most, ...figures } = now.of(row);
    const before = then ? then.of(row) : null;
    if (!passes(row.name, wanted.filter)) continue;
    const words = wanted.words(row);
    out.push({ ...figures, id: row.id, row, before, error: words?.error ?? at_most, hot: words?.hot ?? false,
               state: words?.state ?? (named || !wanted.is_live ? '' : 'not now'), why: words?.why ?? '', helps: words?.helps ?? '' });
  }
  out.sort(by(wanted.order));
  // A rule's row has what its keys had: what others had is known of one key. Not known in one
  // column: not known.
  const one = heat.unnamed[wanted.strip_kind]?.slice(...wanted.columns).reduce((a, b) =>
    a === null || b === null ? null : Math.max(a, b), 0);
  out.push({ ...now.rest(), id: REST, row: null, before: then ? then.rest() : null, error: 0, hot: false,
             state: `all other ${wanted.kind_text} (one of them: at most ${rate(one)}/s)`, why: '', helps: '' });
  return out;
}
