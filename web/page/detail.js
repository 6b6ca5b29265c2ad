// SPDX-License-Identifier: Apache-2.0
// What is known of one key, opened in place: facts, advice with lines to paste, and its events.
import { get, percent_encoded } from './api.js';
import { make, name_node } from './dom.js';
import { bytes, clock, duration, percent, rate } from './format.js';
import { key_orders } from './orders.js';

/** @param {string} term @param {Node | string | null} fact @returns {Node[]} */
function fact(term, fact) {
  return fact === null || fact === '' ? [] : [make('dt', {}, term), make('dd', {}, fact)];
}

/** @param {any[]} tallies */
function shares(tallies) {
  return tallies.map((tally) => `${tally.name} ${percent(tally.share)}`).join(', ');
}

/** @param {any} remedy */
function remedy_node(remedy) {
  const word = remedy.done ? 'done' : remedy.helps ? 'helps' : 'no use';
  const lines = remedy.lines.join('\n');
  return make('div', {},
    make('p', {}, make('strong', {}, `${word}: ${remedy.relief}`), ' ', remedy.text),
    lines && make('pre', {}, lines),
    lines && remedy.helps && make('button', {
      type: 'button',
      onclick: () => navigator.clipboard?.writeText(lines),
    }, 'copy these lines'));
}

/** @param {any} row of /api/explain */
function facts_of(row) {
  return make('dl', {},
    ...fact('verdict', `${row.verdict}: ${row.reason}`),
    ...fact('for', duration(row.age_seconds)),
    ...fact('rate', `${rate(row.rate_low)} to ${rate(row.rate_high)} ${row.dimension} per second, ` +
      `${percent(row.share)} of all`),
    ...fact('reads, writes', `${rate(row.reads_rate)} and ${rate(row.writes_rate)} per second`),
    ...fact('hits', row.hit_ratio === null ? null : percent(row.hit_ratio)),
    ...fact('taken off', row.offload === null ? null : `${percent(row.offload)} of its commands`),
    ...fact('copy', row.cached ? 'yes' : row.cache_note),
    ...fact('kept by', row.kept_by_clients ? `clients: ${row.kept_by_clients}, whose reads are not seen here` : null),
    ...fact('commands', shares(row.commands)),
    ...fact('clients', shares(row.clients)),
    ...fact('value', [row.type, row.encoding, row.value_bytes === null ? '' : bytes(row.value_bytes),
      row.memory_bytes === null ? '' : `${bytes(row.memory_bytes)} on the server`]
      .filter((text) => text).join(', ')),
    ...fact('expires', row.ttl_seconds === null ? null : `in ${duration(row.ttl_seconds)}`),
    ...fact('server', row.node + (row.slot === null ? '' : `, slot ${row.slot}`)),
    ...fact('rule', row.rule));
}

/** @param {any} event */
function event_text(event) {
  return `${clock(Date.parse(event.at) / 1000)}  ${event.reason || event.temperature || ''}`;
}

/**
 * @param {import('./model.js').Row} row @param {any[]} events @param {HTMLElement} into
 * @param {((row: import('./model.js').Row) => Promise<Node[]>) | null} by_instance of a sum: asks what it is made of
 */
export async function show_key(row, events, into, by_instance) {
  let told = null, problem = '';
  /** @type {Node[]} */
  let parts_of_sum = [];
  try {
    if (by_instance) parts_of_sum = await by_instance(row);
    else told = await get(`/api/explain?name=${percent_encoded(row.base64)}&db=${row.db}`);
    if (told === null && !by_instance) problem = 'this process tells no more about a single key';
  } catch (error) {
    problem = String(error instanceof Error ? error.message : error);
  }
  const found = told?.rows?.[0];
  const own = events.filter((event) => event.name_base64 === row.base64 && event.db === row.db);
  /** @type {Node[]} */
  const parts = [make('p', {}, make('strong', {}, name_node(row.name)), `  database ${row.db}`)];
  if (problem) parts.push(make('p', {}, problem));
  parts.push(...parts_of_sum);
  if (row.kind === 'key' && !by_instance) parts.push(await key_orders(row));
  if (found) {
    parts.push(make('p', {}, make('strong', {}, found.advice.headline)));
    parts.push(facts_of(found));
    const useful = found.advice.remedies.filter((/** @type {any} */ r) => r.done || r.helps);
    const others = found.advice.remedies.filter((/** @type {any} */ r) => !r.done && !r.helps);
    parts.push(...useful.map(remedy_node));
    if (others.length > 0)
      parts.push(make('details', {}, make('summary', {}, `${others.length} reliefs that are no use here`),
                      ...others.map(remedy_node)));
  }
  if (own.length > 0) {
    parts.push(make('p', {}, 'Events'));
    parts.push(make('pre', {}, own.slice(-20).reverse().map(event_text).join('\n')));
  }
  into.replaceChildren(...parts);
}
