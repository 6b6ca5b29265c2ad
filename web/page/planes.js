// SPDX-License-Identifier: Apache-2.0
// What the brightness of a strip may show: one figure of a row in each column of time.
import { bytes, percent, rate } from './format.js';
import { BYTES_SCALE, RATE_SCALE, heat_total, rate_of } from './model.js';

/** @typedef {import('./model.js').Heat} Heat */
/** @typedef {import('./model.js').Row} Row */
/** @typedef {'mean' | 'max' | 'writes' | 'hits' | 'misses' | 'bytes' | 'cpu'} Plane */

/** @type {Plane[]} */
export const PLANES = ['mean', 'max', 'writes', 'hits', 'misses', 'bytes', 'cpu'];

// What a code of 1 stands for.
/** @type {Record<Plane, number>} */
const UNITS = { mean: 1, max: 1, writes: 1, hits: 1, misses: 1, bytes: 1, cpu: 1e-6 };

/** @param {Plane} plane the scale of its codes */
export const scale_of = (plane) => (plane === 'bytes' ? BYTES_SCALE : RATE_SCALE);

/** @param {Plane} plane @param {number} value */
const code_for = (plane, value) => scale_of(plane).code_of(value / UNITS[plane]);

/** @param {number} cores @returns {string} of one core */
const cpu = (cores) => percent(cores) + ' of a core';

/** @param {Plane} plane @param {number | null} value */
export function value_text(plane, value) {
  if (value === null || !Number.isFinite(value)) return '–';
  return plane === 'cpu' ? percent(value) : plane === 'bytes' ? bytes(value) : rate(value);
}

/** @param {Plane} plane @param {number} code @returns {string} with its unit */
export function code_text(plane, code) {
  const value = scale_of(plane).figure_of(code) * UNITS[plane];
  return plane === 'cpu' ? cpu(value) : `${plane === 'bytes' ? bytes(value) : rate(value)} per second`;
}

/**
 * What all rows of a kind have together in a column; null: it is not known.
 * @param {Heat} heat @param {Plane} plane @param {string} kind @param {number} i
 * @returns {number | null}
 */
export function total_at(heat, plane, kind, i) {
  const total = (/** @type {string} */ name) => heat.totals[name]?.[i] ?? null;
  const has_writes = kind === 'key' || kind === 'template';
  if (plane === 'mean' || plane === 'max') return total(heat_total(kind));
  if (!has_writes) return null;
  if (plane === 'cpu') return total('server_cpu_spared_cores');
  if (plane !== 'misses') return total(plane);
  const reads = total('reads'), hits = total('hits');
  return reads === null || hits === null ? null : Math.max(0, reads - hits);
}

/**
 * What all others have beside the named rows. Rounding may make it less than nothing; only the CPU
 * time that is saved may be so truly.
 * @param {Plane} plane @param {number} all @param {number} named
 */
export function left_of(plane, all, named) {
  return plane === 'cpu' ? all - named : Math.max(0, all - named);
}

/**
 * The figure of a row in a column; null: it is not known there.
 * @param {Heat} heat @param {Row} row @param {Plane} plane @param {number} i
 * @returns {number | null}
 */
export function value_at(heat, row, plane, i) {
  const of = (/** @type {'mean' | 'max' | 'writes' | 'hits'} */ each) => heat.rate(row, each, i);
  if (plane === 'bytes') return (heat.totals['bytes']?.[i] ?? null) === null ? null : BYTES_SCALE.figure_of(row.bytes[i] ?? 0);
  if (plane === 'cpu') {
    // Every hit spares the servers the same.
    const spared = heat.totals['server_cpu_spared_cores']?.[i] ?? null;
    const hits = heat.totals['hits']?.[i] ?? 0;
    return spared === null ? null : hits > 0 ? (of('hits') / hits) * spared : 0;
  }
  if (plane !== 'misses') return of(plane);
  const misses = of('mean') - of('writes') - of('hits');
  // Each of the three is rounded by up to 3 %.
  return misses > 0.06 * of('mean') ? misses : 0;
}

/**
 * The code that decides the brightness of a row in a column.
 * @param {Heat} heat @param {Row} row @param {Plane} plane @param {number} i
 */
export function code_at(heat, row, plane, i) {
  if (plane !== 'misses' && plane !== 'cpu') return row[plane][i] ?? 0;
  return code_for(plane, value_at(heat, row, plane, i) ?? 0);
}

/**
 * What all rows of a kind that have no line had together, as codes by column.
 * @param {Heat} heat @param {string} kind @param {Plane} plane
 * @returns {(column: number) => number}
 */
export function rest_codes(heat, kind, plane) {
  const rest = new Uint8Array(heat.length);
  const rows = [...heat.rows.values()].filter((row) => row.kind === kind);
  const of = plane === 'max' ? 'mean' : plane;
  for (let i = 0; i < heat.length; ++i) {
    let named = 0;
    for (const row of rows) named += value_at(heat, row, of, i) ?? 0;
    const left = (total_at(heat, of, kind, i) ?? 0) - named;
    // The rounding of the rates alone may leave some percent.
    rest[i] = left > (plane === 'bytes' ? 0.045 : 0.03) * Math.abs(named) ? code_for(plane, left) : 0;
  }
  return (i) => rest[i] ?? 0;
}

/**
 * The mean of a figure over columns; null: it is not known in any of them.
 * @param {[number, number]} columns @param {(column: number) => number | null} at
 */
export function mean_of(columns, at) {
  let sum = 0, known = 0;
  for (let i = columns[0]; i < columns[1]; ++i) {
    const value = at(i);
    if (value === null) continue;
    sum += value;
    ++known;
  }
  return known ? sum / known : null;
}

/**
 * What is known of a row in each column, per second; null: nothing, or not named there.
 * @param {Heat} heat @param {Row} row
 */
export function history_of(heat, row) {
  const codes = Array.from(row.mean);
  /** @param {Uint8Array} plane @returns {(number | null)[]} */
  const of = (plane) => codes.map((code, i) => (code ? rate_of(plane[i] ?? 0) : null));
  const unnamed = heat.unnamed[row.kind];
  return { rate: of(row.mean), writes: of(row.writes), hits: of(row.hits),
           at_most: codes.map((code, i) => (code ? null : unnamed?.[i] ?? null)) };
}

/**
 * Whether rows of a kind have the figure anywhere.
 * @param {Heat} heat @param {Plane} plane @param {string} kind
 */
export function is_known(heat, plane, kind) {
  for (let i = 0; i < heat.length; ++i) if (total_at(heat, plane, kind, i) !== null) return true;
  return heat.length === 0;
}
