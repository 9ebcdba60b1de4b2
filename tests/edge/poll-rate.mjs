// How many polls a second the worker answers, beside a worker that does nothing. Both run
// on this machine, and so does whoever asks: the numbers mean something only beside each
// other. So short rounds of both alternate, and each is compared with its neighbours.

import http from 'node:http';
import { startCloud } from './cloud.mjs';
import { Visitor, plantedSolution } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const CONNECTIONS = 32;
/** As many people stand before the one who polls, and none of them comes to the door. */
const AHEAD = 300;
const BARE = `export default { fetch: () => new Response('{"state":"waiting"}') };`;

const get = (url, agent, headers) =>
  new Promise((resolve, reject) => {
    http.get(url, { agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    }).on('error', reject);
  });

/** Answers a second. */
async function round(url, headers, ms) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let answers = 0;
  const start = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < start + ms) {
      const status = await get(url, agent, headers);
      if (status !== 200) throw new Error(`${url} was answered ${status}`);
      answers += 1;
    }
  }));
  const seconds = (performance.now() - start) / 1_000;
  agent.destroy();
  return answers / seconds;
}

/**
 * A ticket at the end of a line that does not move: the only slot is taken. The line has not
 * reached it, so its polls ask no gate, as those of nearly everybody in a crowd.
 */
async function lastInLine(worker, workKeys, show) {
  const inside = new Visitor(worker.url, show.id);
  await inside.join();
  await inside.waitAndEnter();
  let last;
  for (let i = 0; i < AHEAD; i++) {
    last = new Visitor(worker.url, show.id);
    const { status, body } = await last.ask('join', { method: 'POST', body: { altcha: plantedSolution(workKeys, show.id) } });
    if (status !== 201) throw new Error(`nobody can join: ${status} ${JSON.stringify(body)}`);
    last.ticket = body.ticket;
  }
  // Until its second is over, nobody has a place in it.
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    if ((await last.ask('status')).body.position) return last;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error('the last in line has no position');
}

/** Rounds of both, in answers a second: the bare worker before, the poll, the bare worker after. */
export async function pollRates({ rounds, roundMs }) {
  const { bindings } = freshSecrets();
  const cloud = await startCloud(bindings);
  const bare = await startWorker({ bindings: {}, script: BARE });
  const worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' } });
  try {
    const show = cloud.newShow({ capacity: 1, rate: 1, passSeconds: 900 });
    const visitor = await lastInLine(worker, bindings.WORK_KEYS, show);
    const askBare = () => round(`${bare.url}/`, {}, roundMs);
    const askStatus = () => round(`${visitor.room}/status`, { 'onsale-ticket': visitor.ticket }, roundMs);
    // The compilers of the runtime take a while to notice what is worth compiling.
    for (const warmUp of [askBare, askStatus, askBare, askStatus]) await warmUp();
    const measured = [];
    let before = await askBare();
    for (let i = 0; i < rounds; i++) {
      const status = await askStatus();
      const next = await askBare();
      measured.push({ bare: (before + next) / 2, status });
      before = next;
    }
    const { body } = await visitor.ask('status');
    if (body.state !== 'waiting') throw new Error(`the polls were of a ticket that is ${body.state}`);
    return measured;
  } finally {
    await Promise.all([bare.stop(), worker.stop(), cloud.stop()]);
  }
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
