// SPDX-License-Identifier: Apache-2.0
// Draws strips and charts. All share one axis of time, so a moment has the same place in each.
import { code_of } from './model.js';
import { code_at, scale_of } from './planes.js';

/** @typedef {import('./model.js').Heat} Heat */
/** @typedef {import('./model.js').Row} Row */
/** @typedef {import('./planes.js').Plane} Plane */

const STRIP_HEIGHT = 17;
const DOUBLINGS = 10;  // from the darkest to the brightest: a factor of 1000

// One hue, and a lightness that only rises (dark ground) or only falls (light ground): it reads the
// same in grey and for the colour-blind.
const DARK = [[20, 22, 26], [92, 42, 12], [214, 110, 20], [255, 244, 224]];
const LIGHT = [[255, 255, 255], [255, 205, 150], [214, 96, 10], [66, 20, 0]];

/** @param {number[][]} stops @returns {Uint32Array} of ImageData, by brightness 0 .. 255 */
function colours(stops) {
  const out = new Uint32Array(256);
  const bytes = new Uint8ClampedArray(out.buffer);
  for (let i = 0; i < 256; ++i) {
    const at = (i / 255) * (stops.length - 1);
    const from = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; ++c) {
      const a = stops[from]?.[c] ?? 0, b = stops[from + 1]?.[c] ?? 0;
      bytes[4 * i + c] = a + (b - a) * (at - from);
    }
    bytes[4 * i + 3] = 255;
  }
  return out;
}

export const is_dark = matchMedia('(prefers-color-scheme: dark)');
let palette = colours(is_dark.matches ? DARK : LIGHT);
is_dark.addEventListener('change', () => { palette = colours(is_dark.matches ? DARK : LIGHT); });

/** @param {string} name @returns {string} */
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Axis {
  /** @param {Heat} heat @param {number} from @param {number} to @param {number} width in pixels */
  constructor(heat, from, to, width) {
    this.from = from;
    this.to = to;
    this.width = Math.max(1, Math.round(width));
    // The columns [first[x], end[x]) of each pixel. A column is as wide as its step, and twice that
    // if the next one is one step late; where nothing was counted, both are equal.
    this.first = new Int32Array(this.width);
    this.end = new Int32Array(this.width);
    const per_pixel = (to - from) / this.width;
    let first = 0, end = 0;
    /** @param {number} column */
    const end_of = (column) => {
      const begin = heat.times[column] ?? 0;
      const next = heat.times[column + 1];
      return next !== undefined && next - begin <= 2 * heat.step ? next : begin + heat.step;
    };
    for (let x = 0; x < this.width; ++x) {
      const begin = from + x * per_pixel;
      while (first < heat.length && end_of(first) <= begin) ++first;
      end = Math.max(end, first);
      while (end < heat.length && (heat.times[end] ?? 0) < begin + per_pixel) ++end;
      this.first[x] = first;
      this.end[x] = end;
    }
  }

  /** @param {number} x in pixels */
  time_at(x) {
    return this.from + (Math.min(Math.max(x, 0), this.width) / this.width) * (this.to - this.from);
  }

  /** @param {number} time */
  x_of(time) {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }
}

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
function sized(canvas, width, height) {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Axis} axis
 * @param {(column: number) => number} code_at 0: not named
 * @param {(column: number) => number} bound_at what it had at most where it is not named; a code
 * @param {number} brightest the code that is drawn brightest
 * @param {number} per_doubling of the scale of codes
 */
export function draw_strip(canvas, axis, code_at, bound_at, brightest, per_doubling) {
  const context = sized(canvas, axis.width, STRIP_HEIGHT);
  const image = context.createImageData(axis.width, STRIP_HEIGHT);
  const pixels = new Uint32Array(image.data.buffer);
  const darkest = brightest - per_doubling * DOUBLINGS;
  /** @param {number} code */
  const brightness = (code) =>
    code === 0 ? 0 : Math.round(Math.min(1, Math.max(0.05, (code - darkest) / (brightest - darkest))) * 255);
  for (let x = 0; x < axis.width; ++x) {
    let code = 0, bound = 0;
    const end = axis.end[x] ?? 0;
    for (let i = axis.first[x] ?? 0; i < end; ++i) {
      code = Math.max(code, code_at(i));
      bound = Math.max(bound, bound_at(i));
    }
    if (end === axis.first[x]) continue;  // nothing was counted: the ground shows
    const colour = palette[brightness(code)] ?? 0;
    const hatch = palette[Math.round(brightness(bound) / 2)] ?? 0;
    const ground = palette[0] ?? 0;
    for (let y = 0; y < STRIP_HEIGHT; ++y) {
      pixels[y * axis.width + x] =
        code !== 0 ? colour : (x + y) % 5 === 0 && bound !== 0 ? hatch : ground;
    }
  }
  context.putImageData(image, 0, 0);
}

/**
 * @typedef {object} Line
 * @property {(number | null)[]} values by column
 * @property {string} colour a custom property of the style sheet
 * @property {boolean} [fills]
 * @property {boolean} [is_dotted]
 */
/**
 * @param {HTMLCanvasElement} canvas its style has a height
 * @param {Axis} axis
 * @param {Line[]} lines drawn in this order
 * @returns {number} the value at the top
 */
export function draw_chart(canvas, axis, lines) {
  const ratio = window.devicePixelRatio || 1;
  const height = parseFloat(canvas.style.height);  // its clientHeight would lay out the page anew
  const context = sized(canvas, Math.round(axis.width * ratio), Math.round(height * ratio));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, axis.width, height);
  /** @param {Line} line @param {number} x */
  const value_at = (line, x) => {
    let highest = null;
    for (let i = axis.first[x] ?? 0; i < (axis.end[x] ?? 0); ++i) {
      const value = line.values[i];
      if (value !== null && value !== undefined) highest = Math.max(highest ?? value, value);
    }
    return highest;
  };
  let top = 0;
  for (const line of lines)
    for (let x = 0; x < axis.width; ++x) top = Math.max(top, value_at(line, x) ?? 0);
  context.strokeStyle = css('--line');
  context.beginPath();
  context.moveTo(0, height - 0.5);
  context.lineTo(axis.width, height - 0.5);
  context.stroke();
  if (top === 0) return 0;
  for (const line of lines) {
    context.strokeStyle = context.fillStyle = css(line.colour);
    context.globalAlpha = line.fills ? 0.35 : 1;
    context.setLineDash(line.is_dotted ? [1, 3] : []);
    context.beginPath();
    let is_drawn = false;
    for (let x = 0; x < axis.width; ++x) {
      const value = value_at(line, x);
      if (value === null) {
        is_drawn = false;
        continue;
      }
      const y = height - 1 - (value / top) * (height - 4);
      if (line.fills) context.fillRect(x, y, 1, height - y);
      else if (is_drawn) context.lineTo(x, y);
      else context.moveTo(x, y);
      is_drawn = true;
    }
    if (!line.fills) context.stroke();
    context.globalAlpha = 1;
    context.setLineDash([]);
  }
  return top;
}

/**
 * The brightest code of the visible rows.
 * @param {Heat} heat @param {Row[]} rows @param {Plane} plane @param {Axis} axis
 */
export function brightest_of(heat, rows, plane, axis) {
  // Below 64/s, 64 KiB/s or 64 us of CPU a second nothing is bright.
  let highest = scale_of(plane).per_doubling * (plane === 'bytes' ? 16 : 6);
  const first = axis.first[0] ?? 0;
  const end = axis.end[axis.width - 1] ?? 0;
  for (const row of rows)
    for (let i = first; i < end; ++i) highest = Math.max(highest, code_at(heat, row, plane, i));
  return highest;
}

/** @param {number | null | undefined} rate */
export const bound_code = (rate) => code_of(rate ?? 0);

/**
 * What a strip shows, in words.
 * @param {Heat} heat @param {(column: number) => number} code_at @param {Axis} axis
 * @param {(code: number) => string} code_text @param {(time: number) => string} time_text
 */
export function in_words(heat, code_at, axis, code_text, time_text) {
  let highest = 0, at = -1, seen = -1;
  const end = axis.end[axis.width - 1] ?? 0;
  for (let i = axis.first[0] ?? 0; i < end; ++i) {
    const code = code_at(i);
    if (code > 0 && seen < 0) seen = i;
    if (code > highest) {
      highest = code;
      at = i;
    }
  }
  if (at < 0) return 'not among the busiest in this time';
  const last = code_at(end - 1);
  return `${last > 0 ? `${code_text(last)} at the end` : 'not among the busiest at the end'}, ` +
    `highest ${code_text(highest)} at ${time_text(heat.times[at] ?? 0)}, ` +
    `first seen at ${time_text(heat.times[seen] ?? 0)}`;
}
