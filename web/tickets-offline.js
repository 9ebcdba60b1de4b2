// The service worker of /tickets/ and /orders: shows the reader's tickets when there is no network.
//
// It keeps only what a page asks it to keep, in one cache for each account: the pages of the
// tickets, their data and codes, and the files that these pages are made of. The network comes
// first; what is kept is for when it does not answer, or when the session has ended: at the
// entrance is no place to log in.

/** @typedef {{ ticket: string, show: string }} Page */

const worker = /** @type {any} */ (self);

/** How long a page waits for a network that may be there, and for one that did not answer lately. */
const PATIENCE_MS = 4_000,
  SILENT_PATIENCE_MS = 300,
  SILENT_MS = 30_000;
let silentUntil = 0;
/** Answers that say that a ticket is not the reader's any more. */
const GONE = [403, 404, 410];

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('message', (/** @type {any} */ event) => {
  const { account, pages } = event.data;
  const done = () => event.ports[0]?.postMessage('kept');
  event.waitUntil(keep(account, pages).then(done, () => undefined));
});

/**
 * Keeps these tickets. Those that were kept before are read again: what they are made of may
 * have changed, and a ticket may have gone.
 * @param {string} account
 * @param {Page[]} pages
 */
async function keep(account, pages) {
  const cache = await caches.open(`tickets-${account}`);
  const before = (await paths(cache)).filter((it) => it.startsWith('/tickets/'));
  const tickets = new Set([...before, ...pages.map(({ ticket }) => `/tickets/${ticket}`)]);
  const data = [...tickets].flatMap((it) => [it, `/api/v1${it}/svg`]);
  const told = pages.map(({ show }) => `/api/v1/shows/${show}`);
  await Promise.all(
    [...new Set([...data, ...told, '/api/v1/me', '/api/v1/tickets?limit=100'])].map((it) => store(cache, it)),
  );
  const files = new Set();
  for (const ticket of tickets) await keepFiles(cache, ticket, files);
  const old = (await paths(cache)).filter((it) => it.startsWith('/assets/') && !files.has(it));
  await Promise.all(old.map((it) => cache.delete(it)));
}

/** @param {Cache} cache */
const paths = async (cache) => (await cache.keys()).map((it) => new URL(it.url).pathname);

/**
 * Keeps what is at this address. What is refused because the ticket has another owner is
 * removed. A session that has ended refuses nothing of that kind; a log-out removes everything
 * (own.js).
 * @param {Cache} cache
 * @param {string} path
 */
async function store(cache, path) {
  const headers = { Accept: path.startsWith('/tickets/') ? 'text/html' : '*/*' };
  const response = await fetch(path, { headers, credentials: 'same-origin', referrerPolicy: 'no-referrer' });
  if (response.ok) await cache.put(path, response);
  else if (GONE.includes(response.status)) await cache.delete(path);
}

/**
 * Keeps the files that a page names, and the modules that those import; adds them to `seen`.
 * @param {Cache} cache
 * @param {string} page
 * @param {Set<string>} seen
 */
async function keepFiles(cache, page, seen) {
  const html = await (await cache.match(page))?.text();
  let found = [...(html ?? '').matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  while (found.length) {
    const fresh = [...new Set(found)].filter((it) => !seen.has(it));
    for (const path of fresh) seen.add(path);
    found = (await Promise.all(fresh.map((path) => keepFile(cache, path)))).flat();
  }
}

/** Keeps a file, and tells what it names. @param {Cache} cache @param {string} path */
async function keepFile(cache, path) {
  if (!(await cache.match(path))) await store(cache, path);
  const text = await (await cache.match(path))?.text();
  if (path.endsWith('.js')) return imports(path, text);
  return path.endsWith('.css') ? parts(path, text) : [];
}

/** @param {string} base @param {string | undefined} text @param {RegExp} pattern */
const relative = (base, text, pattern) =>
  [...(text ?? '').matchAll(pattern)].map(([, path]) => new URL(path, self.origin + base).pathname);
/** @param {string} base @param {string} [text] */
const imports = (base, text) => relative(base, text, /(?:from|import)\s*\(?['"](\.[^'"]+)['"]/g);
/** @param {string} base @param {string} [text] */
const parts = (base, text) => relative(base, text, /(?:url\(|@import )["']?([^"')]+\.(?:svg|css))/g);

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.origin) return;
  // What the pages of orders ask for is none of its business.
  if (request.mode !== 'navigate' && worker.registration.scope.endsWith('/orders')) return;
  const path = request.mode === 'navigate' ? pathname : pathname + search;
  event.respondWith(answer(request, path));
});

/** @param {Request} request @param {string} path */
async function answer(request, path) {
  const kept = await caches.match(path, { ignoreVary: true });
  if (!kept) return fetch(request).catch((error) => toTicket(request, error));
  const patience = Date.now() < silentUntil ? SILENT_PATIENCE_MS : PATIENCE_MS;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const inTime = new Promise((_, reject) => {
    timer = setTimeout(() => {
      silentUntil = Date.now() + SILENT_MS;
      reject();
    }, patience);
  });
  const answered = fetch(request).then((it) => {
    silentUntil = 0;
    if (it.status === 401) return marked(kept);
    return it.status < 500 && it.status !== 429 ? it : kept;
  });
  return Promise.race([answered, inTime])
    .catch(() => kept)
    .finally(() => clearTimeout(timer));
}

/** Instead of a page that there is not without a network, the first ticket that is kept. @param {Request} request @param {Error} error */
async function toTicket(request, error) {
  if (request.mode !== 'navigate') throw error;
  for (const name of await caches.keys()) {
    const ticket = (await paths(await caches.open(name))).find((it) => it.startsWith('/tickets/'));
    if (name.startsWith('tickets-') && ticket) return Response.redirect(ticket);
  }
  throw error;
}

/** What is kept, for a page that says so because the session has ended. @param {Response} kept */
function marked(kept) {
  const headers = new Headers(kept.headers);
  headers.set('Onsale-Kept', '1');
  return new Response(kept.body, { status: kept.status, headers });
}
