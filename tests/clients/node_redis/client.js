// SPDX-License-Identifier: Apache-2.0
// What a program does with node-redis. Arguments: port, RESP version, and with TLS the authority.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESP_TYPES, WatchError, createClient, createClientPool } from 'redis';

const [port, RESP] = process.argv.slice(2, 4).map(Number);
const tls = process.argv[4] ? { tls: true, ca: readFileSync(process.argv[4]) } : {};
const options = {
  socket: { host: 'localhost', port, family: 4, reconnectStrategy: 50, ...tls },
  RESP,
  unstableResp3: true, // or it has no XREADGROUP
  password: 'secret',
};
const binary = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));
const asBuffers = { [RESP_TYPES.BLOB_STRING]: Buffer };

async function open(more = {}) {
  const client = createClient({ ...options, ...more });
  client.on('error', () => {}); // its commands tell
  return client.connect();
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
  async startup() {
    const named = await open({ name: 'node-redis' });
    assert.equal(await named.clientGetName(), 'node-redis');
    assert.match(await named.info('server'), /redis_version:/);
    assert.ok((await named.commandCount()) > 200);
    assert.equal(await named.echo('hello'), 'hello');
    await named.close();
  },

  async password() {
    const socket = { ...options.socket, reconnectStrategy: false };
    const wrong = createClient({ ...options, socket, password: 'wrong' });
    wrong.on('error', () => {});
    await assert.rejects(wrong.connect(), /WRONGPASS/);
  },

  async acl_user(r) {
    const app = await open({ username: 'app', password: 'app-secret' });
    assert.equal(await app.aclWhoAmI(), 'app');
    await app.set("app's", '1');
    assert.deepEqual([await app.get("app's"), await r.get("app's")], ['1', '1']);
    await app.close();
  },

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

  async publish_and_subscribe(r) {
    const subscriber = await open();
    const heard = [];
    await subscriber.subscribe('news', (message) => heard.push(message));
    await subscriber.pSubscribe('ne*', (message) => heard.push(message));
    assert.equal(await r.publish('news', 'now'), 2);
    while (heard.length < 2) await subscriber.ping();
    assert.deepEqual(heard, ['now', 'now']);
    await subscriber.unsubscribe('news');
    assert.equal(await r.publish('news', 'again'), 1);
    while (heard.length < 3) await subscriber.ping();
    await subscriber.pUnsubscribe();
    assert.equal(await r.publish('news', 'to nobody'), 0);
    assert.deepEqual(heard, ['now', 'now', 'again']);
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

  async function(r) {
    const add = `#!lua name=numbers
      redis.register_function('add', function(keys, arguments)
        return redis.call('incrby', keys[1], arguments[1])
      end)`;
    await r.functionLoad(add, { REPLACE: true });
    assert.equal(await r.fCall('add', { keys: ["function's"], arguments: ['5'] }), 5);
    assert.equal(await r.get("function's"), '5');
  },

  async blocking(r) {
    const waiter = await open();
    assert.equal(await waiter.blPop('queue', 0.1), null);
    const popped = waiter.blPop('queue', 30);
    const waits = async () => /blocked_clients:1\r/.test(await r.info('clients'));
    await until(waits, 'BLPOP waits');
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

  async pool() {
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

  async big_value(r) {
    for (const bytes of [1_000_000, 5_000_000]) {
      const big = 'x'.repeat(bytes);
      await r.set('big', big);
      assert.equal(await r.get('big'), big);
    }
  },

  async restart_server(r) {
    await ask('RESTART SERVER');
    await until(() => isBack(r), 'the server is back');
    assert.equal(await r.get('after'), 'restart');
  },

  // Neither an idle client nor one that connects sees it.
  async outage() {
    const idle = await open();
    await ask('LOSE SERVER');
    assert.equal(await idle.set('outage', 'idle'), 'OK');
    await ask('LOSE SERVER');
    const fresh = await open();
    assert.equal(await fresh.set('outage', 'fresh'), 'OK');
    idle.destroy();
    fresh.destroy();
  },

  async restart_proxy(r) {
    await ask('RESTART PROXY');
    await until(() => isBack(r), 'the proxy is back');
    assert.equal(await r.get('after'), 'restart');
  },
};

const isBack = (r) => r.set('after', 'restart').catch(() => false);

const client = await open();
for (const [name, step] of Object.entries(steps)) {
  await step(client);
  console.log('ok', name);
}
process.exit(0);
