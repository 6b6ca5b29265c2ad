// SPDX-License-Identifier: Apache-2.0
// node-redis with its own cache, at the server itself and through the proxy, as client.js is run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BasicClientSideCache, BasicPooledClientSideCache, createClient, createClientPool,
} from 'redis';

const PORT = Number(process.argv[2]);
const STALE_MAX_MS = 2000; // cache.max-staleness, and what the machine adds
const tls = process.argv[4] ? { tls: true, ca: readFileSync(process.argv[4]) } : {};

const options = (port) => ({
  socket: { host: 'localhost', port, family: 4, reconnectStrategy: 50, ...(port === PORT && tls) },
  RESP: 3,
  password: 'secret',
});

async function open(port, more = {}) {
  const client = createClient({ ...options(port), ...more });
  client.on('error', () => {}); // its commands tell
  return client.connect();
}

async function openNear(port) {
  const cache = new BasicClientSideCache();
  return [await open(port, { clientSideCache: cache }), cache];
}

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function ask(runnerDoes) {
  console.log(runnerDoes);
  return (await answers.next()).value;
}

async function until(holds, what, withinMs = 60_000) {
  for (const end = Date.now() + withinMs; !(await holds()); await sleep(5))
    assert.ok(Date.now() < end, what);
}

// Its only key is still there when all that was said of it has been read.
async function keeps(near, cache) {
  await near.get('near');
  await near.ping();
  return cache.size() > 0;
}

// What is kept is not asked for: the server sees no read of it.
async function hits(port) {
  const [near, cache] = await openNear(port);
  await near.set('near', 'kept');
  await until(() => keeps(near, cache), 'it is kept');
  const before = Number(await ask('HITS'));
  const server = await open(Number(await ask('SERVER PORT')));
  const calls = async () =>
    Number(/cmdstat_get:calls=(\d+)/.exec(await server.info('commandstats'))?.[1] ?? 0);
  const callsBefore = await calls();
  for (let i = 0; i < 1000; ++i) assert.equal(await near.get('near'), 'kept');
  assert.ok((await calls()) - callsBefore < 100, 'reads went to the server');
  assert.ok(Number(await ask('HITS')) - before < 100, 'reads went to the proxy');
  await server.close();
  await near.close();
}

// Own writes at once, others' as soon as they are heard of.
async function changes(port) {
  const [near, cache] = await openNear(port);
  const other = await open(port);
  for (let i = 0; i < 200; ++i) {
    await near.set('near', i);
    assert.equal(await near.get('near'), String(i), 'an own write was not read');
    if (i % 4 === 0) await until(() => keeps(near, cache), 'it is kept');
    await other.set('near', `other ${i}`);
    const seen = async () => (await near.get('near')) === `other ${i}`;
    await until(seen, 'the change', STALE_MAX_MS);
  }
  await until(() => keeps(near, cache), 'it is kept');
  await other.flushAll();
  await until(async () => (await near.get('near')) === null, 'the flush', STALE_MAX_MS);
  await other.close();
  await near.close();
}

// Connections that share a cache: no value is older than the bound.
async function pool(port) {
  const near = createClientPool(
    options(port), { minimum: 3, maximum: 3, clientSideCache: new BasicPooledClientSideCache() });
  near.on('error', () => {});
  await near.connect();
  const other = await open(port);
  const writes = [[0, 0]]; // when it was acknowledged, the value
  const end = Date.now() + 3000;
  const write = async () => {
    for (let value = 1; Date.now() < end; ++value, await sleep(10)) {
      await other.set('counter', value);
      writes.push([Date.now(), value]);
    }
  };
  const read = async () => {
    for (; Date.now() < end; await sleep(0)) {
      const asked = Date.now();
      const oldest = writes.findLast(([at]) => at < asked - STALE_MAX_MS)[1];
      assert.ok(Number((await near.get('counter')) ?? 0) >= oldest, 'older than the bound');
    }
  };
  await Promise.all([write(), read(), read(), read(), read()]);
  await other.close();
  await near.close();
}

async function at_server() {
  const port = Number(await ask('SERVER PORT'));
  for (const step of [hits, changes, pool]) await step(port);
}

// It comes back empty.
async function lost_server(port) {
  const [near, cache] = await openNear(port);
  await near.set('near', 'lost');
  await until(() => keeps(near, cache), 'it is kept');
  await ask('LOSE SERVER');
  const get = () => near.get('near').catch(() => 'away');
  await until(async () => (await get()) === null, 'the value is forgotten');
  await near.set('near', 'new');
  assert.equal(await near.get('near'), 'new');
  near.destroy();
}

async function restart_proxy(port) {
  const [near, cache] = await openNear(port);
  await near.set('near', 'before');
  await until(() => keeps(near, cache), 'it is kept');
  await ask('RESTART PROXY');
  const server = await open(Number(await ask('SERVER PORT')));
  await server.set('near', 'after');
  const get = () => near.get('near').catch(() => 'away');
  await until(async () => (await get()) === 'after', 'it is connected again');
  await server.close();
  near.destroy();
}

for (const step of [at_server, hits, changes, pool, lost_server, restart_proxy]) {
  await step(PORT);
  console.log('ok', step.name);
}
process.exit(0);
