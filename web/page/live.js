// SPDX-License-Identifier: Apache-2.0
// Follows the proxy's stream of columns, so that a page that is open asks for little else.
import { open_stream } from './api.js';

/** @typedef {import('./model.js').Heat} Heat */

const TRY_AGAIN_MS = 15_000;
const SILENT_MS = 5_000;  // a stream that says nothing for so long is given up

/**
 * The messages of a stream, one by one.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 */
async function* messages_of(reader) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    /** @type {any} */
    let timer;
    const silence = new Promise((_, fail) => {
      timer = setTimeout(() => fail(new Error('the stream is silent')), SILENT_MS);
    });
    const { done, value } = /** @type {any} */ (await Promise.race([reader.read(), silence]));
    clearTimeout(timer);
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = /^event: (.*)$/m.exec(text.slice(0, end))?.[1] ?? '';
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1] ?? 'null';
      text = text.slice(end + 2);
      yield { event, data: JSON.parse(data) };
    }
  }
}

export class Live {
  /**
   * @param {Heat} heat gets the columns
   * @param {(what: string, data: any) => void} heard "column", "state" and "gap"
   */
  constructor(heat, heard) {
    this.heat = heat;
    this.heard = heard;
    this.is_open = false;
    this.not_before = 0;
    /** @type {AbortController | null} */
    this.ending = null;
  }

  /** @param {number} keep_s how many seconds of columns stay */
  begin(keep_s) {
    if (this.ending || Date.now() < this.not_before) return;
    this.ending = new AbortController();
    this.#follow(this.ending.signal, keep_s).catch(() => {}).finally(() => {
      this.is_open = false;
      this.ending = null;
    });
  }

  end() {
    this.not_before = 0;
    this.ending?.abort();
    this.is_open = false;
  }

  /** @param {AbortSignal} signal @param {number} keep_s */
  async #follow(signal, keep_s) {
    this.not_before = Date.now() + TRY_AGAIN_MS;
    const last = this.heat.numbers[this.heat.length - 1];
    const answer = await open_stream('/api/stream', last, signal);
    const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
    /** @type {Map<number, any>} */
    const names = new Map();
    try {
      for await (const { event, data } of messages_of(reader)) {
        if (signal.aborted) return;
        for (const name of data?.names ?? []) names.set(name.id, name);
        if (event === 'column') this.heat.append_column(data, names, keep_s);
        if (event === 'columns') this.heat.append_new(data, keep_s);
        this.is_open = event !== 'gap';
        if (event === 'gap') return this.heard(event, data);
        this.heard(event, data);
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }
}
