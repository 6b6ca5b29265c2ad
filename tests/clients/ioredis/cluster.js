// SPDX-License-Identifier: Apache-2.0
// What a program does with ioredis's Cluster. Arguments: port, RESP version (2).
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis from 'ioredis';

const port = Number(process.argv[2]);
const keys = Array.from({ length: 100 }, (_, i) => `key:${i}`);

function open(more = {}) {
  const client = new Redis.Cluster([{ host: '127.0.0.1', port }], {
    redisOptions: { password: 'secret' },
    clusterRetryStrategy: () => 50,
    ...more,
  });
  client.on('error', () => {}); // its commands tell
  return client;
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
    const reader = open({ scaleReads: 'slave' }); // READONLY
    assert.equal(await reader.get(keys[0]), keys[0]);
    await reader.quit();
  },

  async same_slot(r) {
    await r.mset('{tag}a', 1, '{tag}b', 2);
    assert.deepEqual(await r.mget('{tag}a', '{tag}b', '{tag}c'), ['1', '2', null]);
  },

  async pipeline(r) {
    const pipe = r.pipeline();
    for (let i = 0; i < 500; ++i) pipe.incr('{p}counted');
    const counted = (await pipe.exec()).map(([, value]) => value);
    assert.deepEqual(counted, Array.from({ length: 500 }, (_, i) => i + 1));
  },

  async transaction(r) {
    const done = await r.multi().set('{t}n', 1).incr('{t}n').exec();
    assert.deepEqual(done, [[null, 'OK'], [null, 2]]);
  },

  async publish_and_subscribe(r) {
    const subscriber = open();
    const heard = new Promise((resolve) => subscriber.on('message', (_, what) => resolve(what)));
    await subscriber.subscribe('news');
    await r.publish('news', 'now');
    assert.equal(await heard, 'now');
    await subscriber.quit();
  },

  async script(r) {
    r.defineCommand('add', {
      numberOfKeys: 1,
      lua: "return redis.call('incrby', KEYS[1], ARGV[1])",
    });
    assert.equal(await r.add('scripted', 5), 5);
    assert.equal(await r.add('scripted', 5), 10);
  },

  async blocking(r) {
    assert.equal(await r.blpop('queue', 0.1), null);
    const waiting = open();
    const popped = waiting.blpop('queue', 30);
    await r.rpush('queue', 'job');
    assert.deepEqual(await popped, ['queue', 'job']);
    await waiting.quit();
  },

  async scan(r) {
    for (const node of r.nodes('master')) {
      const seen = new Set();
      for await (const some of node.scanStream({ match: 'key:*', count: 50 }))
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
      await r.set('hot', i);
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

const client = open();
for (const [name, step] of Object.entries(steps)) {
  await step(client);
  console.log(`ok ${name}`);
}
process.exit(0);
