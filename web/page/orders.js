// SPDX-License-Identifier: Apache-2.0
// What an operator can order: each order is shown before it is given, and given by a second click.
import { bytes_of, get, post } from './api.js';
import { make, name_node } from './dom.js';
import { clock, percent, rate } from './format.js';
import { command_line, exactly, match_of, quoted, shell_word } from './rules.js';

/**
 * What an order would be.
 * @typedef {object} Plan
 * @property {string} line the same as a command
 * @property {string} says what will happen
 * @property {string} path
 * @property {any} body
 * @property {boolean} [can_check] the proxy says what would change, for {..., dry_run: true}
 * @property {string} [match] a pattern: which keys it would have had is shown
 */
/**
 * @typedef {object} Field
 * @property {string} id
 * @property {string} label
 * @property {string} value
 * @property {string[]} [choices]
 */
/**
 * @typedef {object} Order
 * @property {string} id
 * @property {string} title
 * @property {Field[]} fields
 * @property {(values: Record<string, string>) => Plan} plan throws an Error for a wrong value
 */

/** Who asks, and whether they may give orders. */
class Access {
  /** @type {any} null: this process takes no orders, or that is not known yet */
  told = null;
  redacted = false;  // names are hidden, so that no order can name a key

  async learn() {
    this.told = await get('/api/access');
  }

  get may() {
    return this.told?.role === 'operator';
  }

  /** Why there are no buttons; "": there are, or this process takes no orders. */
  get why_not() {
    if (!this.told || this.may) return '';
    return `The token of ${this.told.name} is a viewer's: it may look. ` +
      'To change something, open this page with an operator\'s token.';
  }
}
export const access = new Access();

/** @param {string} text "30m" @returns {number} seconds */
function seconds_of(text) {
  const found = /^(\d+(?:\.\d+)?)\s*(s|m|h)$/.exec(text.trim());
  const seconds = found ? Number(found[1]) * ({ s: 1, m: 60, h: 3600 }[found[2] ?? 's'] ?? 1) : 0;
  if (!(seconds >= 1 && seconds <= 604_800))
    throw new Error(`'${text}' is no time: write 1s to 168h, as in 30m`);
  return seconds;
}

/** @param {string} text "100/s", "1/10s" @returns {number} per second; NaN: not such a text */
function rate_in(text) {
  const found = /^(\d+(?:\.\d+)?)\/(\d*(?:\.\d+)?)(s|m|h)$/.exec(text.trim());
  if (!found) return Number.NaN;
  const unit = { s: 1, m: 60, h: 3600 }[found[3] ?? 's'] ?? 1;
  return Number(found[1]) / ((found[2] === '' ? 1 : Number(found[2])) * unit);
}

// Never hot, from now on, and without copies.
const IGNORED = 'level=off,hot-qps=1000000000,hot-share=0%,minimum-residence=0s';

const where = () => `--admin ${location.host}`;

// ---- the orders ------------------------------------------------------------------------------

/** @param {string} title @param {string} id @param {string} rule @returns {Order} */
export function rule_order(title, id, rule) {
  return {
    id, title,
    fields: [{ id: 'rule', label: 'rule', value: rule }],
    plan: ({ rule: text = '' }) => {
      if (match_of(text) === '')
        throw new Error('the rule has no match: write match=cart:*,level=off');
      return { line: command_line(`heatsink rule add ${where()}`, text), path: '/api/rules',
               body: { add: text }, can_check: true, match: match_of(text),
               says: 'The rule holds for each later request, and ends with a restart of the proxy.' };
    },
  };
}

/** @param {string} match @returns {Order} */
export function remove_rule_order(match) {
  return {
    id: 'remove', title: `Remove the rule ${match}`, fields: [],
    plan: () => ({ line: command_line(`heatsink rule remove ${where()}`, match), path: '/api/rules',
                   body: { remove: match }, can_check: true,
                   says: 'Its keys get what holds for all keys, or for their next rule.' }),
  };
}

/** @param {boolean} ends @returns {Order} */
export function pattern_order(ends) {
  return {
    id: ends ? 'end-pattern' : 'warm-pattern',
    title: ends ? 'End warming by a pattern' : 'Warm keys by a pattern',
    fields: [{ id: 'pattern', label: 'keys', value: 'product:*' }, { id: 'db', label: 'database', value: '0' },
             ...(ends ? [] : [{ id: 'for', label: 'for', value: '30m' }])],
    plan: ({ pattern = '', db = '', for: time = '' }) => {
      if (pattern === '') throw new Error('write a pattern, as in product:*');
      if (!/^\d{1,7}$/.test(db)) throw new Error(`'${db}' is no number of a database`);
      const line = `heatsink warm --pattern=${shell_word(pattern)} --db ${db} ${ends ? '--end' : `--for ${time.replace(/\s/g, '')}`}`;
      const body = { pattern, db: Number(db), ...(ends ? {} : { for_seconds: seconds_of(time) }) };
      return { line: `${line} ${where()}`, path: ends ? '/api/warm/end' : '/api/warm', body, match: pattern,
               says: ends ? 'All warmed keys that match stay only if they are hot by their rate.'
                 : 'The proxy looks for all keys that match on the server, and loads each of them. ' +
                   'They keep their copies for that time, whatever their rate.' };
    },
  };
}

/**
 * What can be done about one key.
 * @param {import('./model.js').Row} row
 * @param {boolean} is_warmed
 * @returns {Order[]}
 */
function orders_of_key(row, is_warmed) {
  const of = { name_base64: row.base64, db: row.db };
  const db = row.db ? ` --db ${row.db}` : '';
  const line_of = (/** @type {string} */ start) => command_line(`heatsink ${start}${db} ${where()}`, row.name);
  /** @type {Order[]} */
  const orders = [];
  if (is_warmed && !access.redacted) {
    orders.push({ id: 'end', title: 'End warming', fields: [], plan: () => ({
      line: line_of('warm --end'), path: '/api/warm/end', body: { keys: [of] },
      says: 'The key keeps its copy only if it is hot by its rate.' }) });
  } else if (!access.redacted) {
    orders.push({ id: 'warm', title: 'Warm', fields: [{ id: 'for', label: 'for', value: '30m' }], plan: ({ for: time = '' }) => ({
      line: line_of(`warm --for ${time.replace(/\s/g, '')}`), path: '/api/warm',
      body: { keys: [of], for_seconds: seconds_of(time) },
      says: `The proxy loads the key now, and keeps its copy until ${clock(Date.now() / 1000 + seconds_of(time))}, ` +
        'whatever its rate.' }) });
  }
  orders.push({ id: 'drop', title: 'Drop the copy', fields: [], plan: () => ({
    line: line_of('drop'), path: '/api/copies/drop', body: of,
    says: 'The next read of the key goes to the server. ' + (is_warmed
      ? 'The key is warmed, so the proxy loads a copy again at once: end its warming first to stop that.'
      : 'A copy comes back while the key is hot, or its reads pay for one. "Ignore" keeps copies away.') }) });
  const exact = rule_name(row);
  if (exact === null) return orders;
  orders.push(limit_order(exact));
  orders.push(rule_order('Ignore', 'ignore', `match=${quoted(exact)},${IGNORED}`));
  orders.push(rule_order('Another rule', 'rule', `match=${quoted(exact)},max-staleness=500ms`));
  return orders;
}

/** @param {string} match @returns {Order} */
function limit_order(match) {
  return {
    id: 'limit', title: 'Limit',
    fields: [{ id: 'rate', label: 'to', value: '100/s' },
             { id: 'over', label: 'above it', value: 'reject', choices: ['reject', 'delay', 'stale'] }],
    plan: ({ rate: limit = '', over = '' }) => {
      if (Number.isNaN(rate_in(limit))) throw new Error(`'${limit}' is no rate: write 100/s, 100/10s or 1/h`);
      const plan = rule_order('', '', '').plan({ rule: `match=${quoted(match)},limit.rate=${limit},limit.over=${over}` });
      const then = { reject: 'gets an error', delay: 'waits for its turn',
                     stale: 'gets the copy even if that may be old, or else an error' }[over] ?? '';
      return { ...plan, says: `A command above ${limit} that the server would have to answer ${then}. ` + plan.says };
    },
  };
}

/** @param {import('./model.js').Row} row @returns {string | null} null: no rule can name the key */
function rule_name(row) {
  if (row.truncated || access.redacted) return null;
  try {
    return exactly(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes_of(row.base64)));
  } catch {
    return null;
  }
}

// ---- showing -----------------------------------------------------------------------------------

/** @param {any} run of /api/rules/dry-run @returns {Node[]} */
export function dry_run_nodes(run) {
  const share = run.requests_all > 0 ? ` (at least ${percent(run.requests_at_least / run.requests_all)})` : '';
  const count = (/** @type {number} */ n) => `${n} ${n === 1 ? 'key' : 'keys'}`;
  const remarks = [];
  if (run.kept_keys > 0) remarks.push(`${count(run.kept_keys)} that match keep a more specific rule.`);
  if (run.undecided_keys > 0) remarks.push(`${count(run.undecided_keys)} with long names may match, too.`);
  if (!run.whole) remarks.push('The pattern is slow to match, so only the busiest keys were looked at.');
  const nodes = [make('p', {}, `Would have matched at least ${count(run.keys_at_least)}, with ` +
    `${rate(run.requests_at_least)} to ${rate(run.requests_at_most)} of ${rate(run.requests_all)} requests${share}, ` +
    `from ${clock(Date.parse(run.from) / 1000)} to ${clock(Date.parse(run.to) / 1000)}. `, remarks.join(' '))];
  if (run.keys.length === 0) return nodes;
  const cells = (/** @type {any} */ key) => [name_node(key.name), rate(key.requests), rate(key.peak_rate),
    key.applies ? '' : key.rule];
  nodes.push(make('table', { class: 'dry-run' },
    make('thead', {}, make('tr', {}, ...['key', 'requests', 'busiest second', 'keeps its rule']
      .map((text) => make('th', { scope: 'col' }, text)))),
    make('tbody', {}, ...run.keys.slice(0, 12).map((/** @type {any} */ key) =>
      make('tr', {}, ...cells(key).map((cell) => make('td', {}, cell)))))));
  if (run.keys.length > 12) nodes.push(make('p', {}, 'and more'));
  return nodes;
}

/** @param {string} match @returns {Promise<any>} which keys it would have had in the last hour */
export function dry_run(match) {
  return get(`/api/rules/dry-run?match=${encodeURIComponent(match)}`);
}

/** @param {any} told what came of an order @returns {{ is_done: boolean, text: string }} */
export function outcome(told) {
  const texts = (/** @type {any[]} */ list) => list.map((each) => each.text ?? each);
  if (told.outcome === 'refused') return { is_done: false, text: texts(told.faults).join('\n') };
  if (told.outcome !== undefined) {
    const word = told.outcome === 'nothing' ? 'Nothing to change.' : told.outcome === 'checked' ? 'Would change:' : 'Done:';
    return { is_done: true, text: [word, ...texts(told.changes), told.note].filter((text) => text).join('\n') };
  }
  if (told.copies !== undefined)
    return { is_done: true, text: `${told.copies === 0 ? 'There was no copy to drop' : `Dropped ${told.copies} ${told.copies === 1 ? 'copy' : 'copies'}`}; ${told.next}.` };
  if (told.problem) return { is_done: false, text: told.problem };
  const lines = [...told.keys.map((/** @type {any} */ key) => `${key.name}: ${key.outcome}${key.note ? `, ${key.note}` : ''}`),
    ...told.searches.map((/** @type {any} */ search) => `${search.pattern}: ${search.state}, ${search.warmed} keys so far`)];
  const refused = told.keys.some((/** @type {any} */ key) => key.outcome === 'refused' || key.outcome === 'not-warmed');
  return { is_done: !refused, text: lines.slice(0, 10).join('\n') || 'Done.' };
}

/** @param {unknown} error */
function words_of(error) {
  return String(error instanceof Error ? error.message : error);
}

/** @param {Order} order @param {() => void} close @returns {HTMLElement} */
function form_of(order, close) {
  /** @type {Map<string, any>} */
  const inputs = new Map();
  const preview = make('div', { class: 'preview', 'aria-live': 'polite' });
  const fields = order.fields.map((field) => {
    const input = field.choices
      ? make('select', {}, ...field.choices.map((choice) => make('option', { value: choice }, choice)))
      : make('input', { type: 'text', spellcheck: 'false', autocomplete: 'off', size: field.id === 'rule' ? '60' : '14' });
    input.value = field.value;
    input.dataset['field'] = field.id;
    // What is shown must be what the second click does.
    input.addEventListener('input', () => preview.replaceChildren());
    inputs.set(field.id, input);
    return make('label', {}, `${field.label} `, input, ' ');
  });
  /** @param {string} text */
  const fail = (text) => preview.append(make('p', { class: 'fault', role: 'alert' }, text));
  /** @param {Plan} plan */
  const give = async (plan) => {
    preview.replaceChildren('asking …');
    try {
      const came = outcome(await post(plan.path, plan.body));
      preview.replaceChildren();
      if (!came.is_done) return fail(came.text);
      preview.append(make('pre', { class: 'outcome', role: 'status' }, came.text));
    } catch (error) {
      preview.replaceChildren();
      fail(words_of(error));
    }
  };
  const show = async () => {
    const asked = make('p', {}, 'asking …');
    preview.replaceChildren(asked);
    try {
      const plan = order.plan(Object.fromEntries([...inputs].map(([id, input]) => [id, input.value])));
      const check = plan.can_check ? outcome(await post(plan.path, { ...plan.body, dry_run: true })) : null;
      const run = plan.match === undefined ? null : await dry_run(plan.match).catch(words_of);
      if (asked.parentNode !== preview) return;  // the fields have changed meanwhile
      preview.replaceChildren(make('p', {}, plan.says), make('pre', { class: 'line' }, plan.line));
      if (check && !check.is_done) return fail(check.text);
      if (check) preview.append(make('pre', { class: 'check' }, check.text));
      if (run) preview.append(...(typeof run === 'string' ? [make('p', {}, run)] : dry_run_nodes(run)));
      preview.append(make('button', { type: 'button', class: 'confirm', onclick: () => give(plan) },
                          `${order.title}: do it`));
    } catch (error) {
      if (asked.parentNode !== preview) return;
      preview.replaceChildren();
      fail(words_of(error));
    }
  };
  return make('form', { class: 'order', 'data-order': order.id, 'aria-label': order.title,
    onsubmit: (event) => { event.preventDefault(); show(); } },
    make('p', {}, make('strong', {}, order.title), ' ', ...fields,
      make('button', { class: 'show' }, 'show what it does'), ' ',
      make('button', { type: 'button', onclick: close }, 'cancel')),
    preview);
}

/** Buttons for orders, and below them the form of one. Empty for a viewer, but for the reason. */
export class OrderBar {
  /** @param {string} label */
  constructor(label) {
    this.place = make('div', {});
    this.node = make('div', { class: 'orders', role: 'group', 'aria-label': label });
  }

  /** @param {Order[]} orders @param {string} [remark] */
  offer(orders, remark = '') {
    if (!access.told) return this.node.replaceChildren();
    if (!access.may) return this.node.replaceChildren(make('p', { class: 'why-not' }, access.why_not));
    this.node.replaceChildren(...orders.map((order) => make('button', {
      type: 'button', 'data-order': order.id, onclick: () => this.begin(order) }, `${order.title} …`)),
      remark === '' ? '' : make('span', { class: 'unit' }, ` ${remark}`), this.place);
  }

  /** @param {Order} order */
  begin(order) {
    const form = form_of(order, () => this.place.replaceChildren());
    this.place.replaceChildren(form);
    /** @type {HTMLElement | null} */ (form.querySelector('input, select, button'))?.focus();
    // Without anything to fill in, the first click has said enough.
    if (order.fields.length === 0) /** @type {HTMLFormElement} */ (form).requestSubmit();
  }
}

/** @param {import('./model.js').Row} row @returns {Promise<HTMLElement>} */
export async function key_orders(row) {
  const bar = new OrderBar('Actions');
  let is_warmed = false;
  if (access.may) {
    const warmed = await get('/api/warm').catch(() => null);
    is_warmed = warmed?.keys?.some((/** @type {any} */ key) => key.name_base64 === row.base64 && key.db === row.db) ?? false;
  }
  const remark = access.redacted ? 'Names are redacted here, so only a copy can be dropped.'
    : row.truncated ? 'The name is longer than what is kept of it, so no order can name the key.'
      : rule_name(row) === null ? 'The name is no text (UTF-8), so no rule can name it.' : '';
  bar.offer(row.truncated ? [] : orders_of_key(row, is_warmed), remark);
  return bar.node;
}
