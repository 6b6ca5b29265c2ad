// SPDX-License-Identifier: Apache-2.0
// What a program does with ioredis. Arguments: port, RESP version (2), and with TLS the authority.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis from 'ioredis';

const port = Number(process.argv[2]);
const binary = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));

const options = {
  port,
  password: 'secret',
  retryStrategy: () => 50,
  ...(process.argv[4] && { tls: { ca: readFileSync(process.argv[4]), servername: 'localhost' } }),
};

function open(more = {}) {
  const client = new Redis({ ...options, ...more });
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
  async startup() {
    const named = open({ connectionName: 'ioredis' });
    assert.equal(await named.client('GETNAME'), 'ioredis');
    assert.match(await named.info('server'), /redis_version:/);
    assert.ok((await named.command('COUNT')) > 200);
    assert.equal(await named.echo('hello'), 'hello');
    await named.quit();
  },

  async password() {
    const wrong = open({ password: 'wrong', lazyConnect: true, retryStrategy: () => null });
    const refused = new Promise((resolve) => wrong.once('error', resolve));
    await wrong.connect().catch(() => {});
    assert.match(String(await refused), /WRONGPASS/);
    wrong.disconnect();
  },

  async acl_user(r) {
    const app = open({ username: 'app', password: 'app-secret' });
    assert.equal(await app.acl('WHOAMI'), 'app');
    await app.set("app's", '1');
    assert.deepEqual([await app.get("app's"), await r.get("app's")], ['1', '1']);
    await app.quit();
  },

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

  async publish_and_subscribe(r) {
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
    assert.equal(await r.publish('news', 'again'), 1);
    while (heard.length < 3) await subscriber.ping();
    assert.equal(await subscriber.punsubscribe(), 0);
    assert.equal(await r.publish('news', 'to nobody'), 0);
    assert.deepEqual(heard, ['now', 'now', 'again']);
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

  async function(r) {
    const add = `#!lua name=numbers
      redis.register_function('add', function(keys, arguments)
        return redis.call('incrby', keys[1], arguments[1])
      end)`;
    await r.function('LOAD', 'REPLACE', add);
    assert.equal(await r.fcall('add', 1, "function's", 5), 5);
    assert.equal(await r.get("function's"), '5');
  },

  async blocking(r) {
    const waiter = open();
    assert.equal(await waiter.blpop('queue', 0.1), null);
    const popped = waiter.blpop('queue', 30);
    const waits = async () => /blocked_clients:1\r/.test(await r.info('clients'));
    await until(waits, 'BLPOP waits');
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

  async pool(r) {
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

  // Neither an idle client nor one that connects sees it, even if it does not try again.
  async outage() {
    const once = { maxRetriesPerRequest: 0, retryStrategy: null };
    const idle = open(once);
    await idle.ping();
    await ask('LOSE SERVER');
    assert.equal(await idle.set('outage', 'idle'), 'OK');
    await ask('LOSE SERVER');
    const fresh = open(once);
    assert.equal(await fresh.set('outage', 'fresh'), 'OK');
    idle.disconnect();
    fresh.disconnect();
  },

  async restart_proxy(r) {
    await ask('RESTART PROXY');
    await until(() => isBack(r), 'the proxy is back');
    assert.equal(await r.get('after'), 'restart');
  },
};

const isBack = (r) => r.set('after', 'restart').catch(() => false);

const client = open();
for (const [name, step] of Object.entries(steps)) {
  await step(client);
  console.log('ok', name);
}
process.exit(0);
