// The worker in front of a running platform, until it is interrupted. `scripts/edge` and
// `scripts/cloud` start it; the bindings come as NAME=value lines, from the file that
// ONSALE_EDGE_BINDINGS names or on standard input.

import { readFileSync } from 'node:fs';
import { allAt, startWorker } from './worker.mjs';

const platform = process.env.ONSALE_URL ?? 'http://127.0.0.1:8787';
const lines = readFileSync(process.env.ONSALE_EDGE_BINDINGS ?? 0, 'utf8').split('\n').filter((line) => line.includes('='));
const given = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));

const worker = await startWorker({
  port: Number(process.env.ONSALE_EDGE_PORT ?? 8788),
  storage: process.env.ONSALE_EDGE_STORAGE,
  bindings: { FUNCTION_URLS: allAt(platform), ...given, RATE_LIMIT: process.env.RATE_LIMIT ?? 'on' },
  assets: true,
  log: true,
});
console.log(`edge: ${worker.url} in front of ${given.FUNCTION_URLS ?? platform}`);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => worker.stop().then(() => process.exit(0)));
}
