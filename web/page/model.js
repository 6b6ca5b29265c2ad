// SPDX-License-Identifier: Apache-2.0
// Holds the part of the history that is shown: columns of time, and for each row one byte a column.
import { bytes_of } from './api.js';

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} kind "key", "template", "slot", "node" or "client"; "rule": a sum of keys
 * @property {number} db
 * @property {string} name as it is shown: control characters are escaped
 * @property {string} base64 the exact bytes
 * @property {boolean} truncated
 * @property {Uint8Array} mean 0: the column does not name it
 * @property {Uint8Array} max
 * @property {Uint8Array} writes
 * @property {Uint8Array} hits
 * @property {Uint8Array} bytes on the scale of bytes
 */
// One byte for each column; a column of an earlier version lacks the last one.
export const CODES = /** @type {const} */ (['mean', 'max', 'writes', 'hits', 'bytes']);

/** A scale of codes, as heatsink/heat/scale.h says: 0 is nothing, 1 is one or less. */
export class Scale {
  /** @param {number} per_doubling how many codes double the figure */
  constructor(per_doubling) {
    this.per_doubling = per_doubling;
    this.figures = Float64Array.from({ length: 256 }, (_, code) => (code ? 2 ** ((code - 1) / per_doubling) : 0));
  }

  /** @param {number} code */
  figure_of(code) {
    return this.figures[code] ?? 0;
  }

  /** @param {number} figure */
  code_of(figure) {
    if (!(figure > 0)) return 0;
    return figure <= 1 ? 1 : Math.min(255, 1 + Math.round(Math.log2(figure) * this.per_doubling));
  }
}
export const RATE_SCALE = new Scale(12);
export const BYTES_SCALE = new Scale(8);

/** @param {number} code */
export const rate_of = (code) => RATE_SCALE.figure_of(code);
/** @param {number} rate */
export const code_of = (rate) => RATE_SCALE.code_of(rate);

/** @param {string} kind @returns {string} the total that all rows of the kind add up to */
export function heat_total(kind) {
  if (kind === 'slot' || kind === 'node') return 'node_commands';
  return kind === 'client' ? 'client_commands' : 'requests';
}

const NUMBERS_MAX = 1024;

// Each is told by its difference to the one before; 255 is added to the next byte.
/** @param {Uint8Array} bytes @returns {number[]} */
export function numbers_in(bytes) {
  const out = [];
  let number = 0;
  for (const byte of bytes) {
    number = (number + byte) % NUMBERS_MAX;
    if (byte < 255) out.push(number);
  }
  return out;
}

// The history cuts names at 256 bytes, other answers at 1024: the first 252 bytes, a multiple of 3,
// are the same text in both.
/** @param {string} kind @param {number} db @param {string} base64 */
export function id_of(kind, db, base64) {
  return `${kind} ${db} ${base64.slice(0, 336)}`;
}

export class Heat {
  constructor() {
    this.version = 0;  // of the columns: what was drawn of an earlier one is old
    this.step = 1;
    this.window = 10;
    // "file": older than what the proxy has in memory. The numbers of columns are of this source.
    this.source = 'memory';
    this.has_file = false;
    /** @type {number[]} seconds since 1970, of the beginning of each column */
    this.times = [];
    /** @type {number[]} */
    this.numbers = [];
    /** @type {Record<string, (number | null)[]>} */
    this.totals = {};
    /** @type {Record<string, (number | null)[]>} */
    this.unnamed = {};
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {Map<string, Float64Array>} by kind, of `lowest_version` */
    this.lowest = new Map();
    this.lowest_version = 0;
  }

  get length() {
    return this.times.length;
  }

  /** @param {any} json an answer of /api/heatmap, which replaces all */
  replace(json) {
    this.times = [];
    this.numbers = [];
    this.totals = {};
    this.unnamed = {};
    this.rows = new Map();
    ++this.version;
    this.step = json.step_seconds;
    this.source = json.source;
    this.append(json, Number.POSITIVE_INFINITY);
  }

  /** @param {any} json later columns of the same step @param {number} keep_s from the last one */
  append(json, keep_s) {
    this.window = json.window_seconds;
    this.has_file = json.has_file;
    const added = json.times.length;
    const newest = added ? json.times[added - 1] : this.times[this.length - 1] ?? 0;
    let dropped = 0;
    while (dropped < this.length && (this.times[dropped] ?? 0) < newest - keep_s) ++dropped;
    if (added === 0 && dropped === 0) return;
    ++this.version;
    const kept = this.length - dropped;
    /** @param {any[]} before @param {any[]} after */
    const joined = (before, after) => before.slice(dropped).concat(after);
    this.times = joined(this.times, json.times);
    this.numbers = joined(this.numbers, json.numbers);
    const empty = new Array(kept + dropped).fill(null);
    for (const name of Object.keys(json.totals))
      this.totals[name] = joined(this.totals[name] ?? empty, json.totals[name]);
    for (const kind of Object.keys(json.unnamed_max))
      this.unnamed[kind] = joined(this.unnamed[kind] ?? empty, json.unnamed_max[kind]);
    this.#move_rows(dropped, kept, added);
    for (const row of json.rows) this.#add_row(row, kept, added);
    for (const [id, row] of this.rows) if (!row.mean.some((code) => code)) this.rows.delete(id);
  }

  /** @param {any} json as append(), but some of its columns may be known @param {number} keep_s */
  append_new(json, keep_s) {
    const last = this.numbers[this.length - 1] ?? Number.NEGATIVE_INFINITY;
    const skip = json.numbers.findIndex((/** @type {number} */ number) => number > last);
    if (skip < 0) return;
    /** @param {any} of */
    const cut = (of) => Object.fromEntries(Object.entries(of).map(([name, list]) =>
      [name, /** @type {any[]} */ (list).slice(skip)]));
    /** @param {string} plane */
    const rest = (plane) => btoa(String.fromCharCode(...bytes_of(plane).subarray(skip)));
    const rows = json.rows.map((/** @type {any} */ row) => ({ ...row, mean: rest(row.mean),
      max: rest(row.max), writes: rest(row.writes), hits: rest(row.hits), bytes: rest(row.bytes ?? '') }));
    this.append({ ...json, times: json.times.slice(skip), numbers: json.numbers.slice(skip),
                  totals: cut(json.totals), unnamed_max: cut(json.unnamed_max), rows }, keep_s);
  }

  /**
   * One column of the stream.
   * @param {any} column
   * @param {Map<number, any>} names by their numbers
   * @param {number} keep_s
   */
  append_column(column, names, keep_s) {
    const ids = numbers_in(bytes_of(column.ids));
    /** @type {Record<string, Uint8Array>} */
    const planes = {};
    for (const plane of ['mean', 'writes', 'hits', 'bytes']) planes[plane] = bytes_of(column[plane] ?? '');
    const one = (/** @type {string} */ plane, /** @type {number} */ i) =>
      btoa(String.fromCharCode(planes[plane]?.[i] ?? 0));
    const rows = [];
    for (let i = 0; i < ids.length; ++i) {
      const name = names.get(ids[i] ?? 0);
      if (!name) continue;
      rows.push({ ...name, mean: one('mean', i), max: one('mean', i), writes: one('writes', i),
                  hits: one('hits', i), bytes: one('bytes', i) });
    }
    /** @param {any} of */
    const lists = (of) => Object.fromEntries(Object.entries(of).map(([name, value]) => [name, [value]]));
    this.append_new({ window_seconds: column.window_seconds, times: [column.time],
                      numbers: [column.number], totals: lists(column.totals),
                      unnamed_max: lists(column.unnamed_max), rows }, keep_s);
  }

  /** @param {number} dropped @param {number} kept @param {number} added */
  #move_rows(dropped, kept, added) {
    for (const row of this.rows.values()) {
      for (const plane of CODES) {
        const moved = new Uint8Array(kept + added);
        moved.set(row[plane].subarray(dropped));
        row[plane] = moved;
      }
    }
  }

  /** @param {any} json @param {number} kept @param {number} added */
  #add_row(json, kept, added) {
    const id = id_of(json.kind, json.db, json.name_base64);
    let row = this.rows.get(id);
    if (!row) {
      const none = () => new Uint8Array(kept + added);
      row = { id, kind: json.kind, db: json.db, name: json.name, base64: json.name_base64,
              truncated: json.name_truncated, mean: none(), max: none(), writes: none(),
              hits: none(), bytes: none() };
      this.rows.set(id, row);
    }
    for (const plane of CODES) row[plane].set(bytes_of(json[plane] ?? ''), kept);
  }

  /** @param {number} time @returns {number} the last column that began then or before; -1: none */
  column_at(time) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * The columns [first, end) that begin in a time.
   * @param {number} from @param {number} to seconds since 1970
   * @returns {[number, number]}
   */
  columns_in(from, to) {
    return [this.column_at(from - 0.001) + 1, this.column_at(to - 0.001) + 1];
  }

  /**
   * Means over the columns in which its kind was counted. One that does not name the row counts as
   * 0, and `at_most` says what it may have had there.
   * @param {Row} row @param {[number, number]} columns
   */
  means(row, columns) {
    const [first, end] = columns;
    const totals = this.totals[heat_total(row.kind)];
    let mean = 0, writes = 0, hits = 0, known = 0, named = 0, at_most = 0;
    for (let i = first; i < end; ++i) {
      if ((totals?.[i] ?? null) === null) continue;
      ++known;
      const code = row.mean[i] ?? 0;
      if (code === 0) {
        at_most = Math.max(at_most, this.unnamed[row.kind]?.[i] ?? 0);
        continue;
      }
      ++named;
      mean += this.rate(row, 'mean', i);
      writes += this.rate(row, 'writes', i);
      hits += this.rate(row, 'hits', i);
    }
    const n = Math.max(known, 1);
    return { rate: mean / n, writes: writes / n, hits: hits / n, named, at_most };
  }

  /**
   * What code 1, "one or less", stands for in each column: all rows of a kind have no more than the
   * total.
   * @param {string} kind
   */
  lowest_of(kind) {
    if (this.lowest_version !== this.version) this.lowest.clear();
    this.lowest_version = this.version;
    const known = this.lowest.get(kind);
    if (known) return known;
    const made = new Float64Array(this.length).fill(1);
    const more = new Float64Array(this.length), count = new Uint16Array(this.length);
    for (const row of this.rows.values()) {
      if (row.kind !== kind) continue;
      for (let i = 0; i < this.length; ++i) {
        const code = row.mean[i] ?? 0;
        if (code === 1) count[i] = (count[i] ?? 0) + 1;
        else more[i] = (more[i] ?? 0) + rate_of(code);
      }
    }
    const totals = this.totals[heat_total(kind)] ?? [];
    for (let i = 0; i < this.length; ++i) {
      const named = more[i] ?? 0, left = (totals[i] ?? NaN) - named;
      // Less than what the rounding of the other rates makes says nothing.
      if (left > 0.03 * named) made[i] = Math.min(1, left / (count[i] ?? 1));
    }
    this.lowest.set(kind, made);
    return made;
  }

  /**
   * The rate of a row in a column; 0: not named, or nothing.
   * @param {Row} row @param {'mean' | 'max' | 'writes' | 'hits'} plane @param {number} i
   */
  rate(row, plane, i) {
    const code = row[plane][i] ?? 0;
    if (code !== 1) return rate_of(code);
    const lowest = this.lowest_of(row.kind)[i] ?? 1;
    return plane === 'mean' || row.mean[i] === 1 ? lowest : 1;
  }

  /** @param {string} kind */
  has_rows(kind) {
    return [...this.rows.values()].some((row) => row.kind === kind);
  }

  /** @param {string} name @param {[number, number]} columns @returns {number | null} */
  mean_total(name, columns) {
    const [first, end] = columns;
    let sum = 0, known = 0;
    for (let i = first; i < end; ++i) {
      const value = this.totals[name]?.[i];
      if (value === null || value === undefined) continue;
      sum += value;
      ++known;
    }
    return known ? sum / known : null;
  }
}
