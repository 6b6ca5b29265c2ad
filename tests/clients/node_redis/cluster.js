// SPDX-License-Identifier: Apache-2.0
// What a program does with node-redis's createCluster. Arguments: port, RESP version.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCluster } from 'redis';

const [port, RESP] = process.argv.slice(2, 4).map(Number);
const keys = Array.from({ length: 100 }, (_, i) => `key:${i}`);

async function open(more = {}) {
  const cluster = createCluster({
    rootNodes: [{ socket: { host: '127.0.0.1', port } }],
    defaults: { password: 'secret', socket: { reconnectStrategy: 50 } },
    RESP,
    ...more,
  });
  cluster.on('error', () => {}); // its commands tell
  return cluster.connect();
}

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function ask(runnerDoes) {
  console.log(runnerDoes);
  return (await answers.next()).value;
}

async function until(holds, what) {
  for (const end = Date.now() + 60_000; !(await holds()); await sleep(20))
    assert.ok(Date.now() < end, what);
}

const steps = {
  async values(r) {
    await Promise.all(keys.map((key) => r.set(key, key)));
    assert.deepEqual(await Promise.all(keys.map((key) => r.get(key))), keys);
    const reader = await open({ useReplicas: true }); // READONLY
    assert.equal(await reader.get(keys[0]), keys[0]);
    await reader.close();
  },

  async same_slot(r) {
    await r.mSet([['{tag}a', '1'], ['{tag}b', '2']]);
    assert.deepEqual(await r.mGet(['{tag}a', '{tag}b', '{tag}c']), ['1', '2', null]);
  },

  async pipeline(r) {
    const asked = Array.from({ length: 500 }, () => r.incr('counted'));
    assert.deepEqual(await Promise.all(asked), Array.from({ length: 500 }, (_, i) => i + 1));
  },

  async transaction(r) {
    assert.deepEqual(await r.multi().set('{t}n', '1').incr('{t}n').exec(), ['OK', 2]);
  },

  async publish_and_subscribe(r) {
    let hear;
    const heard = new Promise((resolve) => { hear = resolve; });
    await r.subscribe('news', hear);
    await r.publish('news', 'now');
    assert.equal(await heard, 'now');
    await r.unsubscribe('news');
  },

  async script(r) {
    const add = "return redis.call('incrby', KEYS[1], ARGV[1])";
    assert.equal(await r.eval(add, { keys: ['scripted'], arguments: ['5'] }), 5);
    assert.equal(await r.eval(add, { keys: ['scripted'], arguments: ['5'] }), 10);
  },

  async blocking(r) {
    assert.equal(await r.blPop('queue', 0.1), null);
    const waiting = await open();
    const popped = waiting.blPop('queue', 30);
    await r.rPush('queue', 'job');
    assert.deepEqual({ ...(await popped) }, { key: 'queue', element: 'job' });
    await waiting.close();
  },

  async scan(r) {
    for (const master of r.masters) {
      const node = await r.nodeClient(master);
      const seen = new Set();
      for await (const some of node.scanIterator({ MATCH: 'key:*', COUNT: 50 }))
        for (const key of some) seen.add(key);
      for (const key of keys) assert.ok(seen.has(key), key);
    }
  },

  async hot_reads(r) {
    await r.set('hot', 'shared');
    const before = Number(await ask('HITS'));
    await until(async () => {
      assert.equal(await r.get('hot'), 'shared');
      return Number(await ask('HITS')) > before;
    }, 'served locally');
    for (let i = 0; i < 200; ++i) {
      await r.set('hot', String(i));
      assert.equal(await r.get('hot'), String(i), 'an own write was not read');
    }
  },

  async restart_proxy(r) {
    await ask('RESTART PROXY');
    await until(async () => {
      try {
        await Promise.all(keys.map((key) => r.set(key, 'restart')));
        return true;
      } catch {
        return false;
      }
    }, 'the proxy is back');
  },
};

const client = await open();
for (const [name, step] of Object.entries(steps)) {
  await step(client);
  console.log(`ok ${name}`);
}
process.exit(0);
