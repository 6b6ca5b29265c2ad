// SPDX-License-Identifier: Apache-2.0
// What a program does with ioredis, against the port it is given.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import Redis from 'ioredis';

const port = Number(process.argv[2]);
const binary = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));

function open(more = {}) {
  const client = new Redis({ port, connectionName: 'ioredis', retryStrategy: () => 50, ...more });
  client.on('error', () => {}); // its commands tell
  return client;
}

const steps = {
  async values(r) {
    await r.set('value', binary);
    assert.deepEqual(await r.getBuffer('value'), binary);
    assert.equal(await r.get('nothing'), null);
    assert.equal(await r.set('value', 'other', 'NX'), null);
    assert.equal(await r.del('value'), 1);
  },

  async pipeline(r) {
    const pipe = r.pipeline();
    for (let i = 0; i < 1000; ++i) pipe.incr('pipelined');
    const counted = (await pipe.exec()).map(([, value]) => value);
    assert.deepEqual(counted, Array.from({ length: 1000 }, (_, i) => i + 1));
  },

  async transaction(r) {
    await r.watch('watched');
    const done = await r.multi().set('watched', 'mine').get('watched').exec();
    assert.deepEqual(done, [[null, 'OK'], [null, 'mine']]);
    const other = open();
    await r.watch('watched');
    await other.set('watched', 'theirs');
    assert.equal(await r.multi().set('watched', 'mine').exec(), null);
    assert.equal(await r.get('watched'), 'theirs');
    await other.quit();
  },

  async publishAndSubscribe(r) {
    const subscriber = open();
    const heard = [];
    subscriber.on('message', (_, message) => heard.push(message));
    subscriber.on('pmessage', (_pattern, _channel, message) => heard.push(message));
    await subscriber.subscribe('news');
    assert.equal(await subscriber.psubscribe('ne*'), 2);
    assert.equal(await r.publish('news', 'now'), 2);
    while (heard.length < 2) await subscriber.ping();
    assert.deepEqual(heard, ['now', 'now']);
    assert.equal(await subscriber.unsubscribe('news'), 1);
    assert.equal(await subscriber.punsubscribe(), 0);
    await subscriber.set('no longer', 'subscribed');
    await subscriber.quit();
  },

  async script(r) {
    await r.script('FLUSH');
    r.defineCommand('add', {
      numberOfKeys: 1,
      lua: "return redis.call('incrby', KEYS[1], ARGV[1])",
    });
    assert.equal(await r.add('scripted', 5), 5); // EVALSHA, NOSCRIPT, EVAL
    assert.equal(await r.add('scripted', 5), 10);
    assert.equal(await r.get('scripted'), '10');
  },

  async blocking(r) {
    const waiter = open();
    assert.equal(await waiter.blpop('queue', 0.1), null);
    const popped = waiter.blpop('queue', 5);
    await r.rpush('queue', 'job');
    assert.deepEqual(await popped, ['queue', 'job']);
    await waiter.quit();
  },

  async scan(r) {
    await r.mset(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`scan:${i}`, i])));
    const seen = new Set();
    for await (const keys of r.scanStream({ match: 'scan:*', count: 50 }))
      keys.forEach((key) => seen.add(key));
    assert.equal(seen.size, 500);
  },

  async streams(r) {
    const id = await r.xadd('stream', '*', 'n', '1');
    await r.xgroup('CREATE', 'stream', 'group', '0');
    const block = ['BLOCK', 1000, 'STREAMS', 'stream', '>'];
    const read = await r.xreadgroup('GROUP', 'group', 'one', ...block);
    assert.deepEqual(read, [['stream', [[id, ['n', '1']]]]]);
    assert.equal(await r.xack('stream', 'group', id), 1);
  },

  async databases(r) {
    await r.set('here', 'zero');
    const other = open({ db: 3 });
    assert.equal(await other.get('here'), null);
    await other.set('here', 'three');
    assert.equal(await r.get('here'), 'zero');
    await other.select(0);
    assert.equal(await other.get('here'), 'zero');
    await other.quit();
  },

  async hotKeyPool(r) {
    await r.set('hot', 'shared');
    const use = async (client, name) => {
      for (let i = 0; i < 300; ++i) {
        await client.set(`hot:${name}`, i);
        await client.get('hot');
        assert.equal(await client.get(`hot:${name}`), String(i), 'an own write was not read');
      }
    };
    const pool = Array.from({ length: 8 }, () => open());
    await Promise.all(pool.map(use));
    await Promise.all(pool.map((client) => client.quit()));
  },

  async bigValue(r) {
    const big = 'x'.repeat(5_000_000);
    await r.set('big', big);
    assert.equal(await r.get('big'), big);
  },

  async restart(r) {
    console.log('RESTART');
    await once(process.stdin, 'data');
    for (let i = 0; i < 100; ++i) {
      const done = await r.set('after', 'restart').catch(() => null);
      if (done === 'OK') break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(await r.get('after'), 'restart');
  },
};

const client = open();
assert.equal(await client.client('GETNAME'), 'ioredis');
for (const [name, step] of Object.entries(steps)) {
  await step(client);
  console.log('ok', name);
}
process.exit(0);
