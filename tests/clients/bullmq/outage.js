// SPDX-License-Identifier: Apache-2.0
// A server that restarts within a second, twice, as BullMQ sees it: direct and through the proxy.
// Arguments: the proxy's port and the RESP version, which BullMQ does not choose.
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';

const PROXY = Number(process.argv[2]);
const WORKERS = 2;
const LOSSES = 2;
const PAUSE_MS = 10; // between two jobs
const AWAY_MS = 1000; // the server, at most
const CALM_MS = 2000; // before, between and behind the losses
const END_MS = 30000; // at most, to do what is left
// A job whose worker never got it stalls, and is given to another one after so long.
const STALLED = { lockDuration: 3000, stalledInterval: 2000 };

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function ask(runnerDoes) {
  console.log(runnerDoes);
  return (await answers.next()).value;
}

async function waitFor(reached) {
  const until = Date.now() + END_MS;
  while (!reached() && Date.now() < until) await sleep(50);
}

async function restartUnder(port) {
  const connection = { port, password: 'secret' };
  const seen = { sent: 0, failed: 0, errors: 0, lost: 0, ended: 0 };
  const done = new Set();
  const lastDone = Array(WORKERS).fill(0);
  const queue = new Queue(`jobs-${port}`, { connection });
  queue.on('error', () => {}); // of its connection, which comes back
  const workers = [];
  for (let i = 0; i < WORKERS; ++i) {
    const worker = new Worker(queue.name, async (job) => {
      done.add(job.data.number);
      lastDone[i] = Date.now();
    }, { connection: { ...connection, maxRetriesPerRequest: null }, concurrency: 2, ...STALLED });
    worker.on('error', () => (seen.errors += 1));
    workers.push(worker);
  }
  const sends = [];
  let ends = false;
  const sending = (async () => {
    for (let number = 1; !ends; ++number) {
      sends.push(queue.add('note', { number }).then(() => (seen.sent += 1), (error) => {
        seen.failed += 1;
        console.log(`job ${number}: ${error.message}`);
      }));
      await sleep(PAUSE_MS);
    }
  })();
  await sleep(CALM_MS);
  let lastBack = 0;
  for (let i = 0; i < LOSSES; ++i) {
    await ask('LOSE SERVER');
    lastBack = Date.now() + AWAY_MS;
    await sleep(CALM_MS);
  }
  ends = true;
  await sending;
  await Promise.all(sends);
  await waitFor(() => done.size >= seen.sent);
  seen.lost = Math.max(0, seen.sent - done.size);
  seen.ended = lastDone.filter((at) => at < lastBack).length;
  await Promise.all(workers.map((worker) => worker.close(true)));
  await queue.close();
  return seen;
}

const direct = await restartUnder(Number(await ask('SERVER PORT')));
console.log('BullMQ, direct:', JSON.stringify(direct));
const through = await restartUnder(PROXY);
console.log('BullMQ, through the proxy:', JSON.stringify(through));
for (const what of ['failed', 'lost', 'ended']) {
  if (through[what] > direct[what]) throw new Error(`${what}: more through the proxy`);
}
console.log('ok as_direct');
process.exit(0);
