// A cloud of one HTTP server that knows what the tests tell it: rooms, maps and orders.
// It only stands in where a journey needs no real functions.

import { createServer } from 'node:http';
import { randomBytes } from 'node:crypto';

const later = (ms) => new Date(Date.now() + ms).toISOString();

/** What the function `room` says about a show, as `onsale_domain::room::briefing` has it. */
const briefing = ({ title, capacity, rate, passSeconds, ended }) => ({
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
  news: { cursor: Date.now(), free_seats: 5_000, healthy: true, ended },
});

export async function startCloud() {
  const shows = new Map();
  const orders = new Map();
  const closed = [];
  const heard = [];

  const answer = (request) => {
    const path = request.url.split('?')[0];
    const [, show] = path.match(/^\/internal\/shows\/(\w+)\/room$/) ?? [];
    const signed = ['onsale-time', 'onsale-key', 'onsale-signature'].every((name) => request.headers[name]);
    if (path.startsWith('/internal/') && !signed) return { status: 401 };
    if (show) return shows.has(show) ? { body: briefing(shows.get(show)) } : { status: 404 };
    const [, pass] = path.match(/^\/internal\/passes\/(\w+)\/close$/) ?? [];
    if (pass) {
      closed.push(pass);
      return { status: 204 };
    }
    const [, watched] = path.match(/^\/api\/v1\/shows\/(\w+)\/availability\.bin$/) ?? [];
    if (watched) {
      const known = shows.get(watched);
      return known ? { bytes: known.map, headers: { 'onsale-version': String(known.version) } } : { status: 404 };
    }
    const [, order] = path.match(/^\/api\/v1\/orders\/(\w+)$/) ?? [];
    if (order) {
      const allowed = request.headers.authorization === 'Bearer buyer' && orders.has(order);
      return allowed ? { body: { order_id: order, status: orders.get(order) } } : { status: 404, body: { type: 'urn:onsale:not_found' } };
    }
    return { body: { heard: request.headers }, headers: { 'set-cookie': ['a=1; Path=/', 'b=2; Path=/'] } };
  };

  const server = createServer(async (request, response) => {
    let body = 0;
    for await (const chunk of request) body += chunk.length;
    heard.push({ method: request.method, url: request.url, headers: request.headers, body });
    const { status = 200, headers = {}, body: json, bytes } = answer(request);
    response.writeHead(status, { ...(json && { 'content-type': 'application/json' }), ...headers });
    response.end(bytes ?? (json && JSON.stringify(json)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A test that fails before it stops the cloud ends all the same.
  server.unref();

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    closed,
    heard,
    orders,
    /** Another show. `show.sell(place)` changes its map. */
    newShow(settings = {}) {
      const id = `shw_${randomBytes(16).toString('hex')}`;
      const show = { id, title: 'Nacht', capacity: 100, rate: 50, passSeconds: 120, ended: [], version: 1, map: Buffer.alloc(8), ...settings };
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
