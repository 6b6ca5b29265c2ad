// SPDX-License-Identifier: Apache-2.0
// What folds out under the table: copies, what clients keep, nodes and slots, clients, rules,
// warmed keys, audits, health, events. A closed one asks nothing.
import { get, get_text } from './api.js';
import { curve_nodes } from './curve.js';
import { by_id, make, name_node } from './dom.js';
import { clock, percent, rate, bytes } from './format.js';
import { OrderBar, access, dry_run, dry_run_nodes, pattern_order, remove_rule_order, rule_order } from './orders.js';

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
    ...curve_nodes(told.curve),
    table(['copies', 'would save'], told.curve.map((/** @type {any} */ point) =>
      [rate(point.entries), percent(point.saved)])),
    table(['key', 'hits/s', 'fills/s', 'saved/s', 'bytes'], told.top.slice(0, 20).map((/** @type {any} */ copy) =>
      [name_node(copy.name), rate(copy.hits_rate), rate(copy.fills_rate), rate(copy.saved_rate), bytes(copy.bytes)])),
  ];
}

/** @param {any} hotkeys */
function kept(hotkeys) {
  const told = hotkeys?.near_caches;
  if (!told) return [make('p', {}, 'No client keeps values by the invalidations of this process. A sum of several processes does not show it.')];
  return [
    make('p', {}, `${told.keeping_clients} of ${told.clients} clients with caches of their own keep ${told.kept} values. ` +
      'What they read there is in no rate: a key can be hot in the applications, and cold above.'),
    table(['key', 'clients that keep it, at least'], told.list.map((/** @type {any} */ key) =>
      [name_node(key.name), String(key.clients)])),
  ];
}

/** @param {any} hotkeys */
async function nodes(hotkeys) {
  const slots = hotkeys?.cluster_load ? await get('/api/slots') : null;
  if (!slots) return [make('p', {}, 'There is one server, so there is nothing to balance.')];
  return [
    make('p', {}, `The busiest node, ${slots.busiest}, has ${rate(slots.imbalance)} times the mean load.`),
    ...slots.advice.map((/** @type {any} */ advice) => make('p', {}, advice.text)),
    table(['node', 'slots', 'commands/s', 'CPU cores'], slots.nodes.map((/** @type {any} */ node) =>
      [node.name, String(node.slots), rate(node.rate), rate(node.cpu_cores)])),
    table(['slot', 'node', 'commands/s', 'its busiest key', 'of them for it'], slots.slots.map((/** @type {any} */ slot) =>
      [slot.slot === null ? 'all others' : String(slot.slot), slot.node ?? '', rate(slot.rate), name_node(slot.key ?? ''),
        rate(slot.key_rate)])),
  ];
}

/** @param {any} hotkeys */
function clients(hotkeys) {
  /** @type {Map<string, {low: number, high: number, most: number, key: string}>} */
  const all = new Map();
  for (const key of hotkeys?.keys ?? []) {
    for (const tally of key.clients) {
      const seconds = key.counted_seconds || 1;
      const sum = all.get(tally.name) ?? { low: 0, high: 0, most: 0, key: '' };
      sum.low += tally.low / seconds;
      sum.high += tally.high / seconds;
      if (tally.low / seconds >= sum.most) Object.assign(sum, { most: tally.low / seconds, key: key.name });
      all.set(tally.name, sum);
    }
  }
  if (all.size === 0) return [make('p', {}, 'No key is warm or hot, so no client is counted.')];
  const rows = [...all].sort(([, a], [, b]) => b.low - a.low).slice(0, 50);
  return [
    make('p', {}, 'Requests for the keys that are warm or hot now, by the address of the client.'),
    table(['client', 'requests/s, at least', 'at most', 'most of them for'], rows.map(([name, sum]) =>
      [name_node(name), rate(sum.low), rate(sum.high), name_node(sum.key)])),
  ];
}

/** @param {any} config @param {any} fold */
function rules(config, fold) {
  if (!config) return [make('p', {}, 'This process has no rules.')];
  const list = config.rules ?? [];
  const bar = fold.bar;
  /** @param {any} rule */
  const row = (rule) => make('tr', {}, make('td', {}, make('code', {}, name_node(rule.rule))),
    make('td', {}, rule.origin),
    make('td', {}, make('button', { type: 'button', class: 'try', onclick: () => fold.try_match(rule.match) }, 'try'),
      ' ', access.may ? make('button', {
        type: 'button', class: 'remove', onclick: () => bar.begin(remove_rule_order(rule.match)) }, 'remove …') : ''));
  if (list.length === 0) return [make('p', {}, 'There is no rule: every key is treated alike.')];
  return [make('table', {}, make('thead', {}, make('tr', {}, ...['rule', 'from', '']
    .map((text) => make('th', { scope: 'col' }, text)))), make('tbody', {}, ...list.map(row)))];
}

// Below the list of rules: a pattern to try, which changes nothing, and the orders.
/** @param {any} fold */
function below_rules(fold) {
  const found = make('div', { class: 'preview', 'aria-live': 'polite' });
  const input = make('input', { type: 'text', id: 'try-match', size: '30', spellcheck: 'false', autocomplete: 'off',
                                placeholder: 'user:*' });
  fold.try_match = async (/** @type {string} */ match) => {
    input.value = match;
    found.replaceChildren('asking …');
    try {
      const run = await dry_run(match);
      found.replaceChildren(...(run ? dry_run_nodes(run) : ['This process keeps no history of keys.']));
    } catch (error) {
      found.replaceChildren(make('p', { class: 'fault', role: 'alert' }, String(error instanceof Error ? error.message : error)));
    }
  };
  fold.bar.offer([rule_order('Add a rule', 'rule', 'match=user:*,level=off')]);
  return [
    make('form', { onsubmit: (event) => { event.preventDefault(); fold.try_match(input.value); } },
      make('label', {}, 'Which keys would a rule have had in the last hour? match ', input), ' ',
      make('button', {}, 'try')),
    found, fold.bar.node,
  ];
}

/** @param {any} warm */
function warmed(warm) {
  if (!warm) return [make('p', {}, 'This process warms no keys.')];
  const searches = warm.searches.length === 0 ? [] : [
    table(['pattern', 'state', 'found', 'warmed', 'left out', 'until'], warm.searches.map((/** @type {any} */ search) =>
      [name_node(search.pattern), search.state, String(search.found), String(search.warmed),
        `${search.left_out} ${search.note}`, clock(Date.parse(search.warmed_until) / 1000)]))];
  if (warm.keys.length === 0) return [make('p', {}, 'No key is warmed.'), ...searches];
  return [table(['key', 'db', 'outcome', 'until'], warm.keys.slice(0, 100).map((/** @type {any} */ key) =>
    [name_node(key.name), String(key.db), [key.outcome, key.note].filter((text) => text).join(': '),
      key.warmed_until ? clock(Date.parse(key.warmed_until) / 1000) : ''])), ...searches];
}

/** @param {any} fold */
function below_warmed(fold) {
  fold.bar.offer([pattern_order(false), pattern_order(true)]);
  return [fold.bar.node];
}

// Of the metrics: what the audit has compared.
async function audits() {
  const text = await get_text('/metrics');
  /** @param {string} name */
  const value = (name) => Number(new RegExp(`^heatsink_audit_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const audited = value('audited_total');
  if (Number.isNaN(audited)) return [make('p', {}, 'This process does not audit its copies.')];
  const stale = value('stale_confirmed_total');
  return [
    make('p', {}, make('strong', {}, stale > 0 ? `${stale} stale copies were served: coherence is broken.`
      : 'No stale copy was found.'), ` The proxy compares ${percent(value('sample_ratio'))} of the hits ` +
      'with what the server answers.'),
    table(['hits since the start', 'number'], [['compared with the server', String(audited)],
      ['with another value by then: written since, or stale', String(value('suspected_total'))],
      ['stale for longer than max-staleness', String(stale)],
      ['that the server did not answer', String(value('failed_total'))]]),
  ];
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
  if (list.length === 0) return [make('p', {}, 'Nothing happened to a key in this time.')];
  return [table(['time', 'key', 'what'], list.slice(-100).reverse().map((/** @type {any} */ event) =>
    [clock(Date.parse(event.at) / 1000), name_node(event.name ?? ''), event.reason ?? '']))];
}

/** @param {[number, number] | null} time that is shown; null: the latest */
export function events_path(time) {
  return time ? `/api/events?from=${Math.floor(time[0])}&to=${Math.ceil(time[1])}` : '/api/events';
}

const FOLDS = [
  { id: 'copies', text: 'Local copies, and what more of them would save', path: '/api/hotkeys', show: copies },
  { id: 'kept', text: 'Kept by clients', path: '/api/hotkeys', show: kept },
  { id: 'nodes', text: 'Nodes and slots', path: '/api/hotkeys', show: nodes },
  { id: 'clients', text: 'Clients', path: '/api/hotkeys', show: clients },
  { id: 'rules', text: 'Rules', path: '/api/rules', show: rules, below: below_rules },
  { id: 'warm', text: 'Warmed keys', path: '/api/warm', show: warmed, below: below_warmed },
  { id: 'audit', text: 'Audit', path: '', show: audits },
  { id: 'health', text: 'Health', path: '/api/health', show: checks },
  { id: 'events', text: 'Events', path: events_path, show: log },
];

export class Folds {
  constructor() {
    /** @type {[number, number] | null} the time that is shown, if the memory may not have it */
    this.time = null;
    this.open = FOLDS.map((fold) => {
      const body = make('div', { class: 'fold' });
      // What a person fills in is not made anew every few seconds.
      const below = make('div', {});
      const node = make('details', { id: `fold-${fold.id}` }, make('summary', {}, fold.text), body, below);
      const shown = { ...fold, node, body, at: 0, bar: new OrderBar(fold.text) };
      node.addEventListener('toggle', () => {
        shown.at = 0;
        if (!node.open) return;
        below.replaceChildren(...(fold.below?.(shown) ?? []));
        this.refresh_one(shown);
      });
      by_id('folds').append(node);
      return shown;
    });
  }

  /** @param {any} fold */
  async refresh_one(fold) {
    fold.at = performance.now();
    try {
      const path = typeof fold.path === 'string' ? fold.path : fold.path(this.time);
      fold.body.replaceChildren(...(await fold.show(path === '' ? null : await get(path), fold)));
    } catch (error) {
      fold.body.replaceChildren(make('p', {}, String(error instanceof Error ? error.message : error)));
    }
  }

  async refresh() {
    for (const fold of this.open)
      if (fold.node.open && performance.now() - fold.at > EVERY_S * 1000) await this.refresh_one(fold);
  }
}
