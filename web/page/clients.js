// SPDX-License-Identifier: Apache-2.0
// A client, opened in place: what it asks of the keys that are warm or hot now.
import { make, name_node } from './dom.js';
import { percent, rate } from './format.js';

/** @param {any} hotkeys @param {import('./model.js').Row} row @param {HTMLElement} into */
export function show_client(hotkeys, row, into) {
  /** @type {{key: any, low: number, high: number}[]} */
  const asked = [];
  for (const key of hotkeys?.keys ?? []) {
    const tally = key.clients.find((/** @type {any} */ each) => each.name === row.name);
    if (!tally) continue;
    const seconds = key.counted_seconds || 1;
    asked.push({ key, low: tally.low / seconds, high: tally.high / seconds });
  }
  asked.sort((a, b) => b.low - a.low);
  const head = make('p', {}, make('strong', {}, 'client ', name_node(row.name)));
  if (asked.length === 0)
    return into.replaceChildren(head, make('p', {}, 'It is not among the first clients of any key that is warm or hot now.'));
  into.replaceChildren(head, make('p', {}, 'Its requests for keys that are warm or hot now:'),
    make('table', {},
      make('thead', {}, make('tr', {}, ...['key', 'requests/s, at least', 'at most', 'of all for the key']
        .map((text) => make('th', { scope: 'col' }, text)))),
      make('tbody', {}, ...asked.slice(0, 50).map(({ key, low, high }) => make('tr', {},
        make('td', {}, name_node(key.name)), make('td', {}, rate(low)), make('td', {}, rate(high)),
        make('td', {}, percent(key.rate ? Math.min(1, low / key.rate) : null)))))));
}
