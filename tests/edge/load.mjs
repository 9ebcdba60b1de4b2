// How many polls a second the worker answers, beside a worker that does nothing. Both run
// on this machine, and so does whoever asks: compare the numbers with each other only.
//
//   node tests/edge/load.mjs [SECONDS]

import http from 'node:http';
import { startCloud } from './cloud.mjs';
import { Visitor } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const SECONDS = Number(process.argv[2] ?? 10);
const CONNECTIONS = 32;
const BARE = `export default { fetch: () => new Response('{"state":"waiting"}') };`;

const get = (url, agent, headers) =>
  new Promise((resolve, reject) => {
    http.get(url, { agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    }).on('error', reject);
  });

async function measure(name, url, headers = {}) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times = [];
  const start = performance.now();
  const end = start + SECONDS * 1_000;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < end) {
      const before = performance.now();
      const status = await get(url, agent, headers);
      if (status !== 200) throw new Error(`${name}: ${status}`);
      times.push(performance.now() - before);
    }
  }));
  const seconds = (performance.now() - start) / 1_000;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)].toFixed(1);
  console.log(`${name}: ${Math.round(times.length / seconds)} requests/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

const cloud = await startCloud();
const bare = await startWorker({ bindings: {}, script: BARE });
const bindings = { ...freshSecrets().bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' };
const worker = await startWorker({ bindings });
const visitor = new Visitor(worker.url, cloud.newShow().id);
const { body } = await visitor.join();
for (const round of [1, 2]) {
  await measure(`bare worker, round ${round}`, `${bare.url}/`);
  await measure(`status poll, round ${round}`, `${visitor.room}/status`, { 'onsale-ticket': body.ticket });
}
await Promise.all([bare.stop(), worker.stop(), cloud.stop()]);
