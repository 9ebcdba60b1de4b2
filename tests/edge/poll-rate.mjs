// How many polls a second the worker answers, beside a worker that does nothing. Both run
// on this machine, and so does whoever asks: the numbers mean something only beside each
// other. So short rounds of both alternate, and each is compared with its neighbours.

import net from 'node:net';
import { startCloud } from './cloud.mjs';
import { Visitor } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const CONNECTIONS = 16;
const BARE = `export default { fetch: () => new Response('{"state":"waiting"}') };`;

/**
 * Asks the same over and over on one connection, as cheaply as can be: what the client
 * costs is taken from the same processors.
 */
class Poller {
  answers = 0;
  #unread = '';

  constructor(url, headers) {
    const { hostname, port, pathname } = new URL(url);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.request = `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join('')}\r\n`;
    this.socket = net.connect(Number(port), hostname);
    this.socket.setNoDelay(true);
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text) => this.#read(text));
  }

  run(until) {
    return new Promise((resolve, reject) => {
      Object.assign(this, { until, resolve });
      this.socket.once('error', reject);
      this.socket.once('close', () => reject(new Error('the connection was closed')));
      this.socket.write(this.request);
    });
  }

  #read(text) {
    this.#unread += text;
    const body = this.#unread.indexOf('\r\n\r\n') + 4;
    if (body < 4) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#unread)?.[1]);
    if (!this.#unread.startsWith('HTTP/1.1 200 ') || !length) return this.socket.destroy(new Error(this.#unread));
    if (this.#unread.length < body + length) return;
    this.#unread = '';
    this.answers += 1;
    if (performance.now() < this.until) this.socket.write(this.request);
    else this.resolve();
  }
}

/** Answers a second. */
async function round(url, headers, ms) {
  const pollers = Array.from({ length: CONNECTIONS }, () => new Poller(url, headers));
  const start = performance.now();
  await Promise.all(pollers.map((poller) => poller.run(start + ms)));
  const seconds = (performance.now() - start) / 1_000;
  for (const { socket } of pollers) socket.removeAllListeners('close').destroy();
  return pollers.reduce((sum, { answers }) => sum + answers, 0) / seconds;
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
