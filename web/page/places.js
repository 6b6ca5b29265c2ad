// SPDX-License-Identifier: Apache-2.0
// Slots and nodes of a cluster: what the proxy says of them now, beside their strips.
import { make, name_node } from './dom.js';
import { percent, rate } from './format.js';

/** @typedef {import('./model.js').Row} Row */

/** @param {string} kind */
export const is_place = (kind) => kind === 'slot' || kind === 'node';

/** @param {any} slots an answer of /api/slots @param {Row} row */
function found(slots, row) {
  if (row.kind === 'node') return slots?.nodes.find((/** @type {any} */ node) => node.name === row.name);
  return slots?.slots.find((/** @type {any} */ slot) => String(slot.slot) === row.name);
}

/** @param {any} slots @param {Row} row @returns {any[]} the advice that names the slot, or the node */
function advice_on(slots, row) {
  return (slots?.advice ?? []).filter((/** @type {any} */ advice) => row.kind === 'node'
    ? advice.from === row.name || advice.to === row.name
    : advice.slots.map(String).includes(row.name));
}

/**
 * As words_of() of a key.
 * @param {any} slots an answer of /api/slots, or null
 * @param {Row} row
 */
export function words_of_place(slots, row) {
  const told = found(slots, row);
  const advice = advice_on(slots, row)[0];
  return {
    state: !told ? '' : row.kind === 'node' ? `${told.slots} slots` : told.node,
    why: told?.key ? `its busiest key: ${told.key}` : '',
    helps: advice?.kind ?? '',
    headline: advice?.text ?? '',
  };
}

/** @param {any} slots @param {Row} row @param {HTMLElement} into */
export function show_place(slots, row, into) {
  const told = found(slots, row);
  /** @type {Node[]} */
  const parts = [make('p', {}, make('strong', {}, row.kind === 'slot' ? 'slot ' : '', name_node(row.name)))];
  if (!told) parts.push(make('p', {}, 'It is not among the busiest now.'));
  if (told?.key) parts.push(make('p', {}, 'its busiest key: ', name_node(told.key),
                                 `, ${rate(told.key_rate)} commands/s`));
  if (typeof told?.cpu_cores === 'number')
    parts.push(make('p', {}, `CPU time of the server: ${percent(told.cpu_cores)} of a core`));
  parts.push(...advice_on(slots, row).map((advice) => make('p', {}, advice.text)));
  into.replaceChildren(...parts);
}
