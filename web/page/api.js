// SPDX-License-Identifier: Apache-2.0
// Asks the admin API. The token stays in memory: no cookie, so other pages cannot use it.

let token = '';
// Of many, the one that is looked at; '': the sum of them, or the only one.
let instance = '';

/**
 * The server wants a token, or another one. */
export class NeedsToken extends Error {}

/**
 * @param {string} given
 */
export function use_token(given) {
  token = given.trim();
}

// "#token=..." of an address that a person was given: it leaves the address bar at once.
export function take_token_from_address() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('token');
  if (given === null) return;
  use_token(given);
  fragment.delete('token');
  history.replaceState(null, '', '#' + fragment.toString());
}

/** @param {string} name */
export function look_at(name) {
  instance = name;
}

/** @param {string} path */
function address_of(path) {
  if (instance === '' || path.startsWith('/api/instances')) return path;
  return `${path}${path.includes('?') ? '&' : '?'}instance=${encodeURIComponent(instance)}`;
}

/**
 * @param {string} path
 * @returns {Promise<any>} the JSON; null: this process has no such page
 */
export async function get(path) {
  const headers = token === '' ? {} : { Authorization: 'Bearer ' + token };
  const answer = await fetch(address_of(path), {
    headers: /** @type {HeadersInit} */ (headers),
    credentials: 'omit',
    cache: 'no-store',
    signal: /** @type {any} */ (AbortSignal).timeout(5000),
  });
  if (answer.status === 401) throw new NeedsToken('the token is missing or wrong');
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer.json();
}

/**
 * An order: changes something in the proxy.
 * @param {string} path
 * @param {any} body
 * @returns {Promise<any>} the JSON of what came of it, also if the proxy refused it (422)
 */
export async function post(path, body) {
  /** @type {Record<string, string>} */
  const headers = { 'Content-Type': 'application/json' };
  if (token !== '') headers['Authorization'] = 'Bearer ' + token;
  const answer = await fetch(path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    credentials: 'omit',
    cache: 'no-store',
    signal: /** @type {any} */ (AbortSignal).timeout(20_000),
  });
  if (answer.status === 401) throw new NeedsToken('the token is missing or wrong');
  if (!answer.ok && answer.status !== 422)
    throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer.json();
}

/** @param {string} path @returns {Promise<string>} the answer as it is */
export async function get_text(path) {
  const headers = token === '' ? {} : { Authorization: 'Bearer ' + token };
  const answer = await fetch(address_of(path), { headers: /** @type {HeadersInit} */ (headers),
    credentials: 'omit', cache: 'no-store', signal: /** @type {any} */ (AbortSignal).timeout(5000) });
  if (answer.status === 401) throw new NeedsToken('the token is missing or wrong');
  if (!answer.ok) throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer.text();
}

/**
 * @param {string} path
 * @param {number | undefined} last the id of the last message that is known
 * @param {AbortSignal} signal
 * @returns {Promise<Response>} whose body goes on
 */
export async function open_stream(path, last, signal) {
  /** @type {Record<string, string>} */
  const headers = token === '' ? {} : { Authorization: 'Bearer ' + token };
  if (last !== undefined) headers['Last-Event-ID'] = String(last);
  const answer = await fetch(path, { headers, credentials: 'omit', cache: 'no-store', signal });
  if (answer.status === 401) throw new NeedsToken('the token is missing or wrong');
  if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`);
  return answer;
}

/** @param {string} base64 @returns {Uint8Array} */
export function bytes_of(base64) {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

/** @param {string} base64 @returns {string} its bytes as %XX, for an address */
export function percent_encoded(base64) {
  return Array.from(bytes_of(base64), (b) => '%' + b.toString(16).padStart(2, '0')).join('');
}
