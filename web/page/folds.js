// SPDX-License-Identifier: Apache-2.0
// What folds out under the table: copies, nodes and slots, rules, health, events. A closed one asks
// nothing.
import { get } from './api.js';
import { by_id, make, name_node } from './dom.js';
import { clock, percent, rate, bytes } from './format.js';

const EVERY_S = 5;

/** @param {string[]} heads @param {(Node | string)[][]} rows */
function table(heads, rows) {
  return make('table', {},
    make('thead', {}, make('tr', {}, ...heads.map((text) => make('th', { scope: 'col' }, text)))),
    make('tbody', {}, ...rows.map((row) =>
      make('tr', {}, ...row.map((cell) => make('td', {}, cell))))));
}

/** @param {any} hotkeys */
function copies(hotkeys) {
  const told = hotkeys?.copies;
  if (!told) return [make('p', {}, 'Only hot keys get copies here.')];
  const choice = told.choice
    ? `A key gets a copy at its read number ${told.choice.reads}; that saves ${percent(told.saved)} of the reads.`
    : 'No choice of copies saves enough, so nothing but hot keys is copied.';
  return [
    make('p', {}, choice, ' ', told.advice),
    table(['copies', 'would save'], told.curve.map((/** @type {any} */ point) =>
      [rate(point.entries), percent(point.saved)])),
    table(['key', 'hits/s', 'fills/s', 'saved/s', 'bytes'], told.top.slice(0, 20).map((/** @type {any} */ copy) =>
      [name_node(copy.name), rate(copy.hits_rate), rate(copy.fills_rate), rate(copy.saved_rate), bytes(copy.bytes)])),
  ];
}

/** @param {any} hotkeys */
async function nodes(hotkeys) {
  const slots = hotkeys?.cluster_load ? await get('/api/slots') : null;
  if (!slots) return [make('p', {}, 'There is one server, so there is nothing to balance.')];
  return [
    make('p', {}, `The busiest node, ${slots.busiest}, has ${rate(slots.imbalance)} times the mean load.`),
    ...slots.advice.map((/** @type {any} */ advice) => make('p', {}, advice.text)),
    table(['node', 'slots', 'commands/s'], slots.nodes.map((/** @type {any} */ node) =>
      [node.name, String(node.slots), rate(node.load)])),
    table(['slot', 'node', 'commands/s', 'its busiest key'], slots.slots.map((/** @type {any} */ slot) =>
      [String(slot.slot), String(slots.nodes[slot.node]?.name ?? slot.node), rate(slot.load), name_node(slot.key ?? '')])),
  ];
}

/** @param {any} config */
function rules(config) {
  const list = config?.rules ?? [];
  if (list.length === 0) return [make('p', {}, 'There is no rule: every key is treated alike.')];
  return [make('pre', {}, list.map((/** @type {any} */ rule) => JSON.stringify(rule)).join('\n'))];
}

/** @param {any} health */
function checks(health) {
  if (!health) return [make('p', {}, 'The checks are off (doctor.enabled).')];
  const bad = health.findings.filter((/** @type {any} */ finding) => finding.level !== 'ok');
  return [
    make('p', {}, `${health.counts.ok} checks are well; ${bad.length} have something to say.`),
    ...bad.map((/** @type {any} */ finding) => make('div', {},
      make('p', {}, make('strong', {}, `${finding.level}: ${finding.what}`), ' ', finding.mend),
      finding.paste && make('pre', {}, finding.paste))),
  ];
}

/** @param {any} events */
function log(events) {
  const list = Array.isArray(events) ? events : events?.events ?? [];
  if (list.length === 0) return [make('p', {}, 'No key has become hot since the start.')];
  return [table(['time', 'key', 'what'], list.slice(-100).reverse().map((/** @type {any} */ event) =>
    [clock(Date.parse(event.at) / 1000), name_node(event.name ?? ''), event.reason ?? '']))];
}

const FOLDS = [
  { id: 'copies', text: 'Local copies, and what more of them would save', path: '/api/hotkeys', show: copies },
  { id: 'nodes', text: 'Nodes and slots', path: '/api/hotkeys', show: nodes },
  { id: 'rules', text: 'Rules', path: '/api/rules', show: rules },
  { id: 'health', text: 'Health', path: '/api/health', show: checks },
  { id: 'events', text: 'Events', path: '/api/events', show: log },
];

export class Folds {
  constructor() {
    this.open = FOLDS.map((fold) => {
      const body = make('div', { class: 'fold' });
      const node = make('details', { id: `fold-${fold.id}` }, make('summary', {}, fold.text), body);
      const shown = { ...fold, node, body, at: 0 };
      node.addEventListener('toggle', () => { shown.at = 0; if (node.open) this.refresh_one(shown); });
      by_id('folds').append(node);
      return shown;
    });
  }

  /** @param {any} fold */
  async refresh_one(fold) {
    fold.at = performance.now();
    try {
      fold.body.replaceChildren(...(await fold.show(await get(fold.path))));
    } catch (error) {
      fold.body.replaceChildren(make('p', {}, String(error instanceof Error ? error.message : error)));
    }
  }

  async refresh() {
    for (const fold of this.open)
      if (fold.node.open && performance.now() - fold.at > EVERY_S * 1000) await this.refresh_one(fold);
  }
}
