// SPDX-License-Identifier: Apache-2.0
// Makes elements. Text from outside only ever becomes a text node.

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | boolean | ((event: any) => void)>} attributes "on..." is a listener
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, value);
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * A name of any bytes, whose direction of writing must not change the text around it.
 * @param {string} name
 */
export function name_node(name) {
  return make('bdi', {}, name);
}

/** @param {string} id @returns {any} */
export function by_id(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

/**
 * Without a change of the document if nothing changed.
 * @param {Node} element
 * @param {string} text
 */
export function set_text(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
