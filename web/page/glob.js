// SPDX-License-Identifier: Apache-2.0
// Matches text against a pattern with "*". It takes at most pattern x text steps, whatever the
// pattern: a regular expression of many stars can take text ^ stars, and stops the page.

/** Matches any run of characters, also none. */
export const RUN = Symbol('any run');

/**
 * One character, by itself or by a test; or any run of characters.
 * @typedef {string | ((character: string) => boolean) | typeof RUN} Part
 */

/** @param {Part | undefined} part @param {string} character */
function takes(part, character) {
  return typeof part === 'function' ? part(character) : part === character;
}

/**
 * Whether the parts match the whole text. A run is as short as the parts after it allow, and only
 * the last one grows: what an earlier one could take more, the last one can, too.
 * @param {Part[]} parts
 * @param {string} text each UTF-16 unit is a character
 */
export function matches(parts, text) {
  let part = 0, at = 0;
  let after_run = -1, run_end = 0;  // of the last run
  while (at < text.length) {
    if (parts[part] === RUN) {
      after_run = ++part;
      run_end = at;
    } else if (takes(parts[part], text[at] ?? '')) {
      ++part;
      ++at;
    } else if (after_run >= 0) {
      part = after_run;
      at = ++run_end;
    } else {
      return false;
    }
  }
  while (parts[part] === RUN) ++part;
  return part === parts.length;
}

/** @param {string} text @returns {Part[]} where only "*" is special */
export function with_stars(text) {
  return text.split('').map((character) => (character === '*' ? RUN : character));
}
