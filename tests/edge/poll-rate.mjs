// How many polls a second the worker answers, beside a worker that does nothing. Both run
// on this machine, and so does whoever asks: the numbers mean something only beside each
// other. So short rounds of both alternate, and each is compared with its neighbours.

import http from 'node:http';
import { startCloud } from './cloud.mjs';
import { Visitor } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const CONNECTIONS = 32;
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

/** Rounds of both, in answers a second: the bare worker before, the poll, the bare worker after. */
export async function pollRates({ rounds, roundMs }) {
  const { bindings } = freshSecrets();
  const cloud = await startCloud(bindings);
  const bare = await startWorker({ bindings: {}, script: BARE });
  const worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' } });
  try {
    const visitor = new Visitor(worker.url, cloud.newShow().id);
    const { body } = await visitor.join();
    const askBare = () => round(`${bare.url}/`, {}, roundMs);
    const askStatus = () => round(`${visitor.room}/status`, { 'onsale-ticket': body.ticket }, roundMs);
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
    return measured;
  } finally {
    await Promise.all([bare.stop(), worker.stop(), cloud.stop()]);
  }
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
