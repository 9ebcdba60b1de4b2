// The way through the worker to the functions: limits, headers, and what is said when
// somebody does not answer.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCloud } from './cloud.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const secrets = freshSecrets();
let cloud;
let worker;

before(async () => {
  cloud = await startCloud(secrets.bindings);
  worker = await startWorker({ bindings: { ...secrets.bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' }, assets: true });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

const post = (path, options) => fetch(`${worker.url}${path}`, { method: 'POST', ...options });

test('a function hears the request, and who the visitor thinks they talk to', async () => {
  const answer = await fetch(`${worker.url}/api/v1/events?limit=3`, {
    headers: { authorization: 'Bearer x', 'onsale-signature': 'forged', 'x-forwarded-host': 'evil.example' },
  });
  assert.equal(answer.status, 200);
  const { heard } = await answer.json();
  assert.equal(heard.authorization, 'Bearer x');
  assert.equal(heard['onsale-signature'], undefined);
  assert.equal(heard['x-forwarded-host'], new URL(worker.url).host);
  assert.equal(heard['x-forwarded-proto'], 'http');
  assert.equal(heard.host, new URL(cloud.url).host);
  assert.deepEqual(answer.headers.getSetCookie(), ['a=1; Path=/', 'b=2; Path=/']);
  assert.equal(cloud.heard.at(-1).url, '/api/v1/events?limit=3');
});

test('a body goes through whole', async () => {
  const body = JSON.stringify({ text: 'ü'.repeat(20_000) });
  const answer = await post('/api/v1/accounts', { body, headers: { 'content-type': 'application/json' } });
  assert.equal(answer.status, 200);
  assert.equal(cloud.heard.at(-1).body, Buffer.byteLength(body));
});

test('a body that is too large is refused, announced or not', async () => {
  const before = cloud.heard.length;
  const large = Buffer.alloc(80_000, 'x');
  const announced = await post('/api/v1/accounts', { body: large });
  assert.equal(announced.status, 413);
  assert.equal((await announced.json()).type, 'urn:onsale:payload_too_large');
  const stream = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 8; i++) controller.enqueue(large.subarray(0, 10_000));
      controller.close();
    },
  });
  const unannounced = await post('/api/v1/accounts', { body: stream, duplex: 'half' });
  assert.equal(unannounced.status, 413);
  const show = cloud.newShow();
  assert.equal((await post(`/room/${show.id}/join`, { body: Buffer.alloc(9_000, 'x') })).status, 413);
  assert.equal((await post('/api/v1/venues', { body: large })).status, 200, 'a venue may be large');
  assert.equal((await post('/api/v1/venues', { body: Buffer.alloc(4_200_000) })).status, 413);
  assert.equal(cloud.heard.length, before + 1);
});

test('an unknown address is a problem, and pages come from the worker', async () => {
  const unknown = await fetch(`${worker.url}/nothing/here`);
  assert.equal(unknown.status, 404);
  assert.equal(unknown.headers.get('content-type'), 'application/problem+json');
  const seen = await fetch(`${worker.url}/nothing/here`, { headers: { accept: 'text/html', 'accept-language': 'de' } });
  assert.equal(seen.status, 404);
  assert.equal(seen.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(await seen.text(), /lang="de"[^]*href="\/"/);
  const before = cloud.heard.length;
  const page = await fetch(`${worker.url}/reset/a-token`, { headers: { 'accept-language': 'de' } });
  assert.equal(page.status, 200);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(page.headers.get('cache-control'), 'no-store');
  const html = await page.text();
  const [, version] = html.match(/lang="de"[^]*src="\/assets\/([0-9a-f]{16})\/(?:old\/)?password\.js"/);
  assert.equal(cloud.heard.length, before, 'no function hears of a page');

  const asset = await fetch(`${worker.url}/assets/${version}/words.js`);
  assert.equal(asset.status, 200);
  assert.match(asset.headers.get('cache-control'), /immutable/);
  assert.match(asset.headers.get('content-type'), /^text\/javascript/);
  assert.equal(asset.headers.get('x-content-type-options'), 'nosniff');
  // A page that was open before goes on with what there is.
  const older = await fetch(`${worker.url}/assets/0123456789abcdef/words.js`);
  assert.equal(older.status, 200);
  assert.equal(older.headers.get('cache-control'), 'no-cache');
  assert.match(older.headers.get('content-type'), /^text\/javascript/);
  assert.equal(await older.text(), await asset.text());
  for (const path of ['words.js', '0123456789abcdef/nothing.js', `${version}/nothing.js`]) {
    assert.equal((await fetch(`${worker.url}/assets/${path}`)).status, 404, path);
  }
});

test('a function that cannot be reached, and a worker that is not set up, say when to come back', async (t) => {
  const gone = await startWorker({ bindings: { ...secrets.bindings, FUNCTION_URLS: allAt('http://127.0.0.1:9') } });
  t.after(() => gone.stop());
  const { ROOM_SECRET, ...incomplete } = secrets.bindings;
  const unset = await startWorker({ bindings: { ...incomplete, FUNCTION_URLS: allAt(cloud.url) } });
  t.after(() => unset.stop());
  const zero = await startWorker({ bindings: { ...secrets.bindings, FUNCTION_URLS: allAt(cloud.url), IP_REQUESTS_PER_10S: '0' } });
  t.after(() => zero.stop());
  const show = cloud.newShow();
  const urls = [`${gone.url}/api/v1/events`, `${gone.url}/room/${show.id}/status`, `${gone.url}/feed/${show.id}`, `${unset.url}/room/${show.id}`, `${zero.url}/room/${show.id}`];
  for (const url of urls) {
    const answer = await fetch(url, { headers: { accept: url.includes('/feed/') ? 'text/event-stream' : 'application/json' } });
    assert.equal(answer.status, 503, url);
    assert.ok(Number(answer.headers.get('retry-after')) > 0, url);
    const problem = await answer.json();
    assert.equal(problem.type, 'urn:onsale:unavailable');
    assert.ok(!JSON.stringify(problem).includes('ROOM_SECRET'));
  }
});

test('a function that does not answer is waited for fifteen seconds, and not until it does', async () => {
  const silentMs = 120_000;
  const began = Date.now();
  const answer = await fetch(`${worker.url}/api/v1/events?slow=${silentMs}`);
  assert.equal(answer.status, 503);
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  const ms = Date.now() - began;
  assert.ok(ms > 14_000 && ms < silentMs, `${ms} ms`);
});

test('an address that asks too often is told to wait', async (t) => {
  const strict = await startWorker({ bindings: { ...secrets.bindings, FUNCTION_URLS: allAt(cloud.url), IP_REQUESTS_PER_10S: '5' } });
  t.after(() => strict.stop());
  const answers = [];
  for (let i = 0; i < 8; i++) answers.push(await fetch(`${strict.url}/api/v1/events`));
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length >= 2, answers.map(({ status }) => status).join());
  assert.ok(Number(refused[0].headers.get('retry-after')) > 0);
});
