// SPDX-License-Identifier: Apache-2.0
// One view of many (heatsink watch): which instances there are, and what each of them counts.
import { get, look_at, percent_encoded } from './api.js';
import { by_id, make, name_node, set_text } from './dom.js';
import { clock, percent, rate } from './format.js';

const ALL = '';

/** @param {any} each of /api/instances @returns {string} */
function state_of(each) {
  const since = clock(Date.parse(each.since) / 1000);
  if (!each.answers) return `does not answer since ${since}: ${each.problem}`;
  if (!each.upstream_up) return 'its server is not reachable';
  return each.coherence === 'up' ? `answers since ${since}` : each.coherence;
}

export class Instances {
  /** @param {() => void} changed another one, or all of them, are looked at */
  constructor(changed) {
    this.changed = changed;
    this.chosen = ALL;
    this.is_known = false;
    this.choice = make('select', { id: 'instance' });
    this.choice.addEventListener('change', () => this.choose(this.choice.value));
    this.label = make('label', { hidden: true }, 'of ', this.choice);
    by_id('tools').prepend(this.label);
    this.trouble = make('p', { id: 'silent', role: 'alert', hidden: true });
    by_id('trouble').after(this.trouble);
    this.body = make('tbody');
    this.section = make('section', { id: 'instances', hidden: true }, make('table', {},
      make('thead', {}, make('tr', {}, ...['instance', 'state', 'requests/s', 'share', 'hits/s', 'taken off',
        'hot keys', 'clients', 'server'].map((text) => make('th', { scope: 'col' }, text)))), this.body));
    by_id('map').before(this.section);
  }

  /** The page is of the sum of several. */
  get is_sum() {
    return this.is_known && this.chosen === ALL;
  }

  /** @param {string} name */
  choose(name) {
    this.look_at(name);
    this.changed();
  }

  /** @param {string} name as in the address */
  look_at(name) {
    this.chosen = name;
    look_at(name);
  }

  /** @param {any} hotkeys the last answer */
  async refresh(hotkeys) {
    let list = hotkeys?.instances;
    if (!list && this.chosen !== ALL) list = (await get('/api/instances'))?.instances;
    if (!list) return;
    this.is_known = true;
    this.label.hidden = this.section.hidden = false;
    const names = list.map((/** @type {any} */ each) => each.name);
    if (this.choice.options.length !== names.length + 1)
      this.choice.replaceChildren(make('option', { value: ALL }, `all ${names.length}`),
        ...names.map((/** @type {string} */ name) => make('option', { value: name }, name)));
    this.choice.value = this.chosen;
    const silent = list.filter((/** @type {any} */ each) => !each.answers);
    this.trouble.hidden = silent.length === 0;
    set_text(this.trouble, `${silent.length} of ${list.length} do not answer, so the true rates may be higher: ` +
      silent.slice(0, 3).map((/** @type {any} */ each) => `${each.name} ${state_of(each)}`).join('; '));
    this.body.replaceChildren(...list.map((/** @type {any} */ each) => this.#line(each)));
  }

  /** @param {any} each */
  #line(each) {
    const cells = [
      make('button', { type: 'button', onclick: () => this.choose(each.name) }, name_node(each.name)), state_of(each),
      rate(each.requests_rate), percent(each.share), rate(each.hits_rate), percent(each.offload),
      each.answers ? String(each.hot_keys) : '–', each.answers ? String(each.clients) : '–', each.upstream ?? '–'];
    const line = make('tr', {}, ...cells.map((cell) => make('td', {}, cell)));
    line.classList.toggle('silent', !each.answers);
    return line;
  }
}

/**
 * What each instance counts of one key.
 * @param {import('./model.js').Row} row
 * @returns {Promise<Node[]>}
 */
export async function key_by_instance(row) {
  const told = await get(`/api/instances?name=${percent_encoded(row.base64)}&db=${row.db}`);
  const lines = (told?.instances ?? []).map((/** @type {any} */ each) => {
    const figures = !each.answers ? ['not known', '–', '–', state_of(each)] : [
      each.is_named ? `${rate(each.rate_low)} to ${rate(each.rate_high)}` : `at most ${rate(each.rate_high)}`,
      rate(each.writes_rate), rate(each.hits_rate),
      [each.verdict, each.cached ? 'cached' : '', each.reason].filter((text) => text).join(', ')];
    return make('tr', {}, ...[each.name, ...figures].map((text) => make('td', {}, text)));
  });
  return [make('table', {},
    make('thead', {}, make('tr', {}, ...['instance', 'requests/s', 'writes/s', 'hits/s', 'verdict'].map((text) =>
      make('th', { scope: 'col' }, text)))),
    make('tbody', {}, ...lines))];
}
