// SPDX-License-Identifier: Apache-2.0
// Draws what more copies would save: a curve, whose points stand in a table beside it.
import { css } from './draw.js';
import { make } from './dom.js';
import { percent, rate } from './format.js';

const WIDTH = 420, HEIGHT = 110, LEFT = 46, BOTTOM = 18;

/** @param {{entries: number, saved: number}[]} curve by entries @returns {HTMLElement[]} none: there is nothing to draw */
export function curve_nodes(curve) {
  const points = curve.filter((point) => point.entries > 0);
  const first = points[0], last = points[points.length - 1];
  if (!first || !last || first.entries === last.entries) return [];
  const ratio = devicePixelRatio || 1;
  const canvas = make('canvas', { class: 'curve', 'aria-hidden': 'true' });
  canvas.width = WIDTH * ratio;
  canvas.height = HEIGHT * ratio;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(ratio, ratio);
  // Numbers of copies go over many sizes.
  const x_of = (/** @type {number} */ entries) =>
    LEFT + (Math.log(entries / first.entries) / Math.log(last.entries / first.entries)) * (WIDTH - LEFT - 2);
  const top = Math.max(0.01, ...points.map((point) => point.saved));
  const y_of = (/** @type {number} */ saved) => 8 + (1 - saved / top) * (HEIGHT - BOTTOM - 8);
  context.strokeStyle = css('--line');
  context.beginPath();
  context.moveTo(LEFT, 8);
  context.lineTo(LEFT, HEIGHT - BOTTOM);
  context.lineTo(WIDTH, HEIGHT - BOTTOM);
  context.stroke();
  context.strokeStyle = context.fillStyle = css('--accent');
  context.beginPath();
  for (const point of points) context.lineTo(x_of(point.entries), y_of(point.saved));
  context.stroke();
  for (const point of points) context.fillRect(x_of(point.entries) - 2, y_of(point.saved) - 2, 4, 4);
  context.fillStyle = css('--dim');
  context.font = '11px system-ui, sans-serif';
  context.fillText(percent(top), 0, 12);
  context.fillText('0 %', 0, HEIGHT - BOTTOM);
  context.fillText(`${rate(first.entries)} copies`, LEFT, HEIGHT - 4);
  context.textAlign = 'right';
  context.fillText(`${rate(last.entries)} copies`, WIDTH, HEIGHT - 4);
  return [canvas];
}
