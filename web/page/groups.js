// SPDX-License-Identifier: Apache-2.0
// Rows that are sums of the rows of keys: one for each rule.
import { bytes_of } from './api.js';
import { CODES } from './model.js';
import { scale_of } from './planes.js';
import { RuleList } from './rules.js';

/** @typedef {import('./model.js').Heat} Heat */
/** @typedef {import('./model.js').Row} Row */

const NO_RULE = '(no rule)';

/** @param {string} match @param {Row[]} keys @param {number} columns @returns {Row} */
function sum_of(match, keys, columns) {
  const none = () => new Uint8Array(columns);
  /** @type {Row} */
  const row = { id: `rule 0 ${match}`, kind: 'rule', db: 0, name: match || NO_RULE, base64: '',
                truncated: false, mean: none(), max: none(), writes: none(), hits: none(),
                bytes: none() };
  for (const plane of CODES) {
    const scale = scale_of(plane);
    const sums = new Float64Array(columns);
    for (const key of keys) {
      const codes = key[plane];
      for (let i = 0; i < columns; ++i) {
        const code = codes[i] ?? 0;
        // The busiest second of a rule is at least that of one of its keys.
        if (code !== 0) sums[i] = plane === 'max' ? Math.max(sums[i] ?? 0, scale.figure_of(code)) : (sums[i] ?? 0) + scale.figure_of(code);
      }
    }
    for (let i = 0; i < columns; ++i) row[plane][i] = scale.code_of(sums[i] ?? 0);
  }
  return row;
}

export class Groups {
  constructor() {
    /** @type {RuleList | null} null: not known */
    this.rules = null;
    this.text = '';
    this.stamp = '';
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, string>} the rule of a key, by its id */
    this.of = new Map();
  }

  /** @param {any} config of /api/rules; null: this process has none */
  learn(config) {
    const rules = config?.rules ?? [];
    const text = JSON.stringify(rules);
    if (text === this.text && this.rules) return;
    this.text = text;
    this.rules = new RuleList(rules);
    this.of.clear();
    this.stamp = '';
  }

  /** @param {Row} key */
  #rule_of(key) {
    let rule = this.of.get(key.id);
    if (rule === undefined) {
      rule = this.rules?.of(Array.from(bytes_of(key.base64), (b) => String.fromCharCode(b)).join('')) ?? '';
      this.of.set(key.id, rule);
    }
    return rule;
  }

  /** @param {Heat} heat @returns {Row[]} one for each rule that has a named key */
  by_rule(heat) {
    if (!this.rules) return [];
    const stamp = [heat.source, heat.step, heat.numbers[0], heat.numbers[heat.length - 1], heat.rows.size].join(' ');
    if (stamp === this.stamp) return this.rows;
    this.stamp = stamp;
    /** @type {Map<string, Row[]>} */
    const keys = new Map();
    for (const row of heat.rows.values()) {
      if (row.kind !== 'key') continue;
      const rule = this.#rule_of(row);
      const list = keys.get(rule);
      if (list) list.push(row);
      else keys.set(rule, [row]);
    }
    this.rows = [...keys].map(([match, rows]) => sum_of(match, rows, heat.length));
    return this.rows;
  }
}
