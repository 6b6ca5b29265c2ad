// SPDX-License-Identifier: Apache-2.0
// What a program does with node-redis, against the port and the RESP version it is given.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { RESP_TYPES, WatchError, createClient, createClientPool } from 'redis';

const [port, RESP] = process.argv.slice(2).map(Number);
const options = {
  socket: { port, reconnectStrategy: 50 },
  RESP,
  unstableResp3: true, // or it has no XREADGROUP
  name: 'node-redis',
};
const binary = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));
const asBuffers = { [RESP_TYPES.BLOB_STRING]: Buffer };

async function open(more = {}) {
  const client = createClient({ ...options, ...more });
  client.on('error', () => {}); // its commands tell
  return client.connect();
}

const steps = {
  async values(r) {
    await r.set('value', binary);
    assert.deepEqual(await r.withTypeMapping(asBuffers).get('value'), binary);
    assert.equal(await r.get('nothing'), null);
    assert.equal(await r.set('value', 'other', { NX: true }), null);
    assert.equal(await r.del('value'), 1);
  },

  async pipeline(r) {
    const asked = Array.from({ length: 1000 }, () => r.incr('pipelined'));
    assert.deepEqual(await Promise.all(asked), Array.from({ length: 1000 }, (_, i) => i + 1));
  },

  async transaction(r) {
    await r.watch('watched');
    assert.deepEqual(await r.multi().set('watched', 'mine').get('watched').exec(), ['OK', 'mine']);
    const other = await open();
    await r.watch('watched');
    await other.set('watched', 'theirs');
    await assert.rejects(r.multi().set('watched', 'mine').exec(), WatchError);
    assert.equal(await r.get('watched'), 'theirs');
    await other.close();
  },

  async publishAndSubscribe(r) {
    const subscriber = await open();
    const heard = [];
    await subscriber.subscribe('news', (message) => heard.push(message));
    await subscriber.pSubscribe('ne*', (message) => heard.push(message));
    assert.equal(await r.publish('news', 'now'), 2);
    while (heard.length < 2) await subscriber.ping();
    assert.deepEqual(heard, ['now', 'now']);
    await subscriber.unsubscribe('news');
    assert.equal(await r.publish('news', 'again'), 1);
    await subscriber.pUnsubscribe();
    await subscriber.close();
  },

  async script(r) {
    await r.scriptFlush();
    const text = "return redis.call('incrby', KEYS[1], ARGV[1])";
    const call = { keys: ['scripted'], arguments: ['5'] };
    await assert.rejects(r.evalSha('0'.repeat(40), call), /NOSCRIPT/);
    const sha = await r.scriptLoad(text);
    assert.equal(await r.evalSha(sha, call), 5);
    assert.equal(await r.eval(text, call), 10);
    assert.equal(await r.get('scripted'), '10');
  },

  async blocking(r) {
    const waiter = await open();
    assert.equal(await waiter.blPop('queue', 0.1), null);
    const popped = waiter.blPop('queue', 5);
    await r.rPush('queue', 'job');
    assert.equal((await popped).element, 'job');
    await waiter.close();
  },

  async scan(r) {
    await r.mSet(Array.from({ length: 500 }, (_, i) => [`scan:${i}`, String(i)]));
    const seen = new Set();
    for await (const keys of r.scanIterator({ MATCH: 'scan:*', COUNT: 50 }))
      keys.forEach((key) => seen.add(key));
    assert.equal(seen.size, 500);
  },

  async streams(r) {
    const id = await r.xAdd('stream', '*', { n: '1' });
    await r.xGroupCreate('stream', 'group', '0');
    const read = await r.xReadGroup('group', 'one', { key: 'stream', id: '>' }, { BLOCK: 1000 });
    assert.ok(JSON.stringify(read).includes(id));
    assert.equal(await r.xAck('stream', 'group', id), 1);
  },

  async databases(r) {
    await r.set('here', 'zero');
    const other = await open({ database: 3 });
    assert.equal(await other.get('here'), null);
    await other.set('here', 'three');
    assert.equal(await r.get('here'), 'zero');
    await other.select(0);
    assert.equal(await other.get('here'), 'zero');
    await other.close();
  },

  async hotKeyPool() {
    const pool = createClientPool(options, { minimum: 4, maximum: 8 });
    pool.on('error', () => {});
    await pool.connect();
    await pool.set('hot', 'shared');
    const use = async (name) => {
      for (let i = 0; i < 300; ++i) {
        await pool.execute(async (r) => {
          await r.set(`hot:${name}`, i);
          await r.get('hot');
          assert.equal(await r.get(`hot:${name}`), String(i), 'an own write was not read');
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => use(name)));
    await pool.close();
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

const client = await open();
assert.equal(await client.clientGetName(), 'node-redis');
for (const [name, step] of Object.entries(steps)) {
  await step(client);
  console.log('ok', name);
}
process.exit(0);
