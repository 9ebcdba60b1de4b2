// A cloud of one HTTP server that knows what the tests tell it: rooms, maps and orders.
// It only stands in where a journey needs no real functions. Calls under /internal it
// believes as the real ones do: with a good signature of this very call, about now.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

/** As `onsale_domain::internal_call` has it. */
const TOLERANCE_MS = 60_000;

/** Whether one of the keys, as `INTERNAL_KEYS` has them, has signed this call. */
function isSigned(keys, { method, url, headers }, body) {
  const secret = new Map(keys.split(',').map((entry) => entry.trim().split(/:(.*)/s).slice(0, 2))).get(headers['onsale-key']);
  const time = headers['onsale-time'] ?? '';
  if (!secret || !/^\d+$/.test(time) || Math.abs(Date.now() - Number(time)) > TOLERANCE_MS) return false;
  const message = ['onsale internal', time, method, url, createHash('sha256').update(body).digest('hex')].join('\n');
  const expected = createHmac('sha256', secret).update(message).digest();
  const given = Buffer.from(headers['onsale-signature'] ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const later = (ms) => new Date(Date.now() + ms).toISOString();

/** What the function `room` says about a show, as `onsale_domain::room::briefing` has it. */
const briefing = ({ title, capacity, rate, passSeconds, freeSeats, ended }) => ({
  title,
  settings: {
    mode: 'queue_all',
    capacity,
    rate_per_second: rate,
    pass_seconds: passSeconds,
    opening: { opens: null, order: 'fifo', since: later(-3_600_000) },
    beacon: 'unused',
    ends: later(86_400_000),
  },
  news: { cursor: Date.now(), free_seats: freeSeats, healthy: true, ended },
});

/** Starts a cloud that shares these bindings with the worker. */
export async function startCloud({ INTERNAL_KEYS }) {
  const shows = new Map();
  const orders = new Map();
  /** Passes that were closed, and when. */
  const closed = [];
  /** Those who are to be told that it is their turn, each time it is said. */
  const turns = [];
  const heard = [];
  /** Calls that nobody signed. */
  const refused = [];

  const answer = (request, sent) => {
    const path = request.url.split('?')[0];
    if (path.startsWith('/internal/') && !isSigned(INTERNAL_KEYS, request, sent)) {
      refused.push(request.url);
      return { status: 401 };
    }
    const [, show] = path.match(/^\/internal\/shows\/(\w+)\/room$/) ?? [];
    if (show) return shows.has(show) ? { body: briefing(shows.get(show)) } : { status: 404 };
    const [, pass] = path.match(/^\/internal\/passes\/(\w+)\/close$/) ?? [];
    if (pass) {
      closed.push({ pass, at: Date.now() });
      return { status: 204 };
    }
    const [, told] = path.match(/^\/internal\/shows\/(\w+)\/turns$/) ?? [];
    if (told) {
      turns.push(...JSON.parse(sent).turns.map((turn) => ({ show: told, ...turn })));
      // The first answer is lost, as any may be.
      return { status: turns.length === 1 ? 503 : 204 };
    }
    const [, watched] = path.match(/^\/api\/v1\/shows\/(\w+)\/availability\.bin$/) ?? [];
    if (watched) {
      const known = shows.get(watched);
      return known ? { bytes: known.map, headers: { 'onsale-version': String(known.version) } } : { status: 404 };
    }
    const [, sold] = path.match(/^\/api\/v1\/shows\/(\w+)\/holds$/) ?? [];
    if (shows.get(sold)?.isBroken) return { status: 503, body: { type: 'urn:onsale:unavailable' } };
    const [, order] = path.match(/^\/api\/v1\/orders\/(\w+)$/) ?? [];
    if (order) {
      const allowed = request.headers.authorization === 'Bearer buyer' && orders.has(order);
      return allowed ? { body: { order_id: order, status: orders.get(order) } } : { status: 404, body: { type: 'urn:onsale:not_found' } };
    }
    return { body: { heard: request.headers }, headers: { 'set-cookie': ['a=1; Path=/', 'b=2; Path=/'] } };
  };

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = Buffer.concat(chunks);
    heard.push({ method: request.method, url: request.url, headers: request.headers, body: sent.length });
    const [, slowMs] = request.url.match(/[?&]slow=(\d+)/) ?? [];
    // Nobody waits for it once the tests are over.
    if (slowMs) await new Promise((resolve) => setTimeout(resolve, Number(slowMs)).unref());
    const { status = 200, headers = {}, body: json, bytes } = answer(request, sent);
    response.writeHead(status, { ...(json && { 'content-type': 'application/json' }), ...headers });
    response.end(bytes ?? (json && JSON.stringify(json)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A test that fails before it stops the cloud ends all the same.
  server.unref();

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    closed,
    turns,
    heard,
    refused,
    orders,
    /** Another show. `show.sell(place)` changes its map. */
    newShow(settings = {}) {
      const id = `shw_${randomBytes(16).toString('hex')}`;
      const show = { id, title: 'Nacht', capacity: 100, rate: 50, passSeconds: 120, freeSeats: 5_000, ended: [], version: 1, map: Buffer.alloc(8), ...settings };
      show.sell = (place) => {
        show.map = Buffer.from(show.map);
        show.map[place >> 2] |= 2 << (2 * (place & 3));
        show.version += 1;
      };
      shows.set(id, show);
      return show;
    },
    stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}
