// SPDX-License-Identifier: Apache-2.0
// Saves what is shown: the table as CSV, the history as JSON, the map as a picture.
import { by_id, make } from './dom.js';
import { rate } from './format.js';

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// A spreadsheet takes a cell that begins with one of these for a formula.
/** @param {string | number} value */
function cell(value) {
  let text = Number.isNaN(value) ? '' : String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./planes.js').Plane} Plane */
/** @typedef {(line: Line, plane: Plane) => number | null} Figures the mean of a figure of a line */

/** @param {Line[]} lines @param {Figures} figures @param {string} when */
export function csv(lines, figures, when) {
  const head = ['time', 'key', 'db', 'rate_per_second', 'error_per_second', 'share',
                'reads_per_second', 'writes_per_second', 'hits_per_second', 'bytes_per_second',
                'server_cpu_saved_cores', 'state', 'what_helps'];
  const is_compared = lines.some((line) => line.before);
  if (is_compared) head.push('rate_before_per_second');
  const rows = lines.map((line) => [when, line.row?.name ?? line.id, line.row?.db ?? 0,
    line.rate, line.error, line.share, line.reads, line.writes, line.hits,
    figures(line, 'bytes') ?? NaN, figures(line, 'cpu') ?? NaN, line.state, line.helps, ...(is_compared ? [line.before?.rate ?? NaN] : [])]);
  return [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

/** @param {Line[]} lines @param {Figures} figures @param {string} when */
export function save_csv(lines, figures, when) {
  save(new Blob([csv(lines, figures, when)], { type: 'text/csv' }), 'heatsink.csv');
}

/** @param {any} json */
export function save_json(json) {
  save(new Blob([JSON.stringify(json)], { type: 'application/json' }), 'heatsink.json');
}

/** @param {Line[]} lines @param {Map<string, {canvas: HTMLCanvasElement}>} made @param {string} when */
export function save_png(lines, made, when) {
  const style = getComputedStyle(document.body);
  const names = 260, rates = 80, height = 20;
  const first = made.get(lines[0]?.id ?? '')?.canvas;
  if (!first) return;
  const canvas = make('canvas', {});
  canvas.width = names + first.width + rates;
  canvas.height = (lines.length + 2) * height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.color;
  context.font = '12px system-ui, sans-serif';
  context.fillText(by_id('answer').textContent ?? '', 4, 14);
  context.fillText(when, 4, 14 + height);
  lines.forEach((line, i) => {
    const y = (i + 2) * height;
    const strip = made.get(line.id)?.canvas;
    context.fillText((line.row?.name ?? line.id).slice(0, 40), 4, y + 14, names - 8);
    if (strip) context.drawImage(strip, names, y + 1);
    context.fillText(rate(line.rate), names + first.width + 6, y + 14);
  });
  canvas.toBlob((blob) => { if (blob) save(blob, 'heatsink.png'); });
}
