// SPDX-License-Identifier: Apache-2.0
// The patterns of rules, as the proxy reads them, and the text of a rule. Strings of bytes: one
// character a byte, so that names of any bytes compare as the proxy compares them.
import { RUN, matches } from './glob.js';

/** @param {string} text @returns {string} its UTF-8, one character a byte */
export function bytes_string(text) {
  return Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join('');
}

/**
 * @param {string} glob after its "["
 * @returns {{ takes: (byte: string) => boolean, used: number }}
 */
function read_class(glob) {
  let i = 0;
  /** @type {[string, string][]} */
  const ranges = [];
  const negated = glob[0] === '^';
  if (negated) ++i;
  while (i < glob.length && glob[i] !== ']') {
    let [first = '', last = ''] = [glob[i], glob[i]];
    if (first === '\\' && i + 1 < glob.length) {
      first = last = glob[i + 1] ?? '';
      i += 2;
    } else if (glob[i + 1] === '-' && i + 2 < glob.length) {
      [first = '', last = ''] = [first, glob[i + 2] ?? ''].sort();
      i += 3;
    } else {
      ++i;
    }
    ranges.push([first, last]);
  }
  const takes = (/** @type {string} */ byte) =>
    ranges.some(([first, last]) => first <= byte && byte <= last) !== negated;
  return { takes, used: i + (i < glob.length ? 1 : 0) };
}

/** A pattern of KEYS and SCAN, as heatsink/detect/key_pattern.h has it. */
export class KeyPattern {
  /** @param {string} glob a string of bytes */
  constructor(glob) {
    /** @type {import('./glob.js').Part[]} */
    this.parts = [];
    let literals = 0, stars = 0, ends_in_star = false, is_plain = true;
    for (let i = 0; i < glob.length; ++i) {
      const c = glob[i] ?? '';
      ends_in_star = false;
      if (c === '*') {
        this.parts.push(RUN);
        ++stars;
        ends_in_star = true;
      } else if (c === '?') {
        this.parts.push(() => true);
        is_plain = false;
      } else if (c === '[') {
        const read = read_class(glob.slice(i + 1));
        this.parts.push(read.takes);
        i += read.used;
        is_plain = false;
      } else {
        if (c === '\\' && i + 1 < glob.length) ++i;
        this.parts.push(glob[i] ?? '');
        ++literals;
      }
    }
    this.literals = literals;
    // In rising precedence: a glob, a prefix, an exact name.
    this.kind = is_plain && stars === 0 ? 2 : is_plain && stars === 1 && ends_in_star ? 1 : 0;
  }

  /** @param {string} name a string of bytes */
  matches(name) {
    return matches(this.parts, name);
  }
}

/** Which rule a key has: the one with most literal bytes; then exact, prefix, glob; then the later. */
export class RuleList {
  /** @param {any[]} rules of /api/rules */
  constructor(rules) {
    this.rules = rules.map((rule, i) => ({ match: String(rule.match), i,
      pattern: new KeyPattern(bytes_string(String(rule.match))) }));
    this.rules.sort((a, b) => b.pattern.literals - a.pattern.literals ||
      b.pattern.kind - a.pattern.kind || b.i - a.i);
  }

  /** @param {string} name a string of bytes @returns {string} its match; "": no rule has the key */
  of(name) {
    return this.rules.find((rule) => rule.pattern.matches(name))?.match ?? '';
  }
}

/** @param {string} text @returns {string} a pattern that matches this name only */
export function exactly(text) {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

/** @param {string} value @returns {string} as --rule wants it */
export function quoted(value) {
  return value.includes(',') || value.startsWith('"') ? `"${value.replaceAll('"', '""')}"` : value;
}

/**
 * A word for a shell. Control characters stand escaped in $'...' (bash, zsh, ksh): a terminal would
 * take them as they are pasted.
 * @param {string} text @returns {string}
 */
export function shell_word(text) {
  if (/^[\w.,:=/@%+-]+$/.test(text)) return text;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/['\\]/g, '\\$&').replace(/\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x80 ? `\\${code.toString(8).padStart(3, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}

/**
 * A command to copy into a shell. What is a name stands after "--": it may begin with "-".
 * @param {string} start the command and its options
 * @param {string} name
 */
export function command_line(start, name) {
  return `${start} -- ${shell_word(name)}`;
}

/** @param {string} rule in the form of --rule @returns {string} its match; "": it has none */
export function match_of(rule) {
  const found = /(?:^|,)match=(?:"((?:[^"]|"")*)"|([^,]*))/.exec(rule);
  return found?.[1]?.replaceAll('""', '"') ?? found?.[2] ?? '';
}
