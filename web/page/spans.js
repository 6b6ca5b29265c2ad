// SPDX-License-Identifier: Apache-2.0
// Marks moments and spans of time over the charts and strips: what the pointer chooses, and what is
// compared.
import { make } from './dom.js';

/** @typedef {import('./draw.js').Axis} Axis */

export class Marks {
  constructor() {
    /** @type {Map<string, HTMLElement>} */
    this.all = new Map();
  }

  /**
   * @param {string} id
   * @param {Axis | null} axis
   * @param {[number, number] | null} span null: not shown
   * @param {{left: number, top: number, bottom: number}} box of the axis in the document, in pixels
   * @param {string} text
   */
  show(id, axis, span, box, text = '') {
    let mark = this.all.get(id);
    if (!mark) {
      mark = make('div', { id, class: 'mark', hidden: true, 'aria-hidden': 'true' });
      document.body.append(mark);
      this.all.set(id, mark);
    }
    const is_shown = axis && span && span[1] >= axis.from && span[0] <= axis.to;
    mark.hidden = !is_shown;
    if (!is_shown) return;
    const from = Math.max(0, axis.x_of(span[0]));
    const to = Math.min(axis.width, axis.x_of(span[1]));
    mark.style.left = `${box.left + from}px`;
    mark.style.width = `${Math.max(1, to - from)}px`;
    mark.style.top = `${box.top}px`;
    mark.style.height = `${box.bottom - box.top}px`;
    if (mark.textContent !== text) mark.textContent = text;
  }
}

/**
 * What a drag from one time to another chooses: whole seconds, as the address has them.
 * @param {number} a @param {number} b @param {number} step of a column: the least that is chosen
 * @returns {[number, number]}
 */
export function span_of(a, b, step) {
  const from = Math.round(Math.min(a, b)), to = Math.round(Math.max(a, b));
  return [from, Math.max(to, from + step)];
}

/**
 * A span of another length around a time, which stays where it is in it.
 * @param {[number, number]} span @param {number} around @param {number} factor
 * @param {number} shortest @param {number} last no later than this
 * @returns {[number, number]}
 */
export function scaled(span, around, factor, shortest, last) {
  const length = Math.max(shortest, (span[1] - span[0]) * factor);
  const part = (around - span[0]) / (span[1] - span[0]);
  const from = around - part * length;
  const late = Math.max(0, from + length - last);
  return [Math.round(from - late), Math.round(from + length - late)];
}

