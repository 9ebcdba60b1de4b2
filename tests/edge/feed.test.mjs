// What is told as it happens: the live map of a show, and the status of an order.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import WebSocket from 'ws';
import { startCloud } from './cloud.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const secrets = freshSecrets();
let cloud;
let worker;

before(async () => {
  const { bindings } = secrets;
  cloud = await startCloud(bindings);
  worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' } });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

/** The events of a stream, one at a time; comments are left out. */
async function* events(answer) {
  const read = new TextDecoderStream();
  let text = '';
  for await (const chunk of answer.body.pipeThrough(read)) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const fields = Object.fromEntries(text.slice(0, end).split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
      if (fields.data) yield { ...fields, data: JSON.parse(fields.data) };
    }
  }
}

async function open(t, path, headers = {}) {
  const abort = new AbortController();
  t.after(() => abort.abort());
  const answer = await fetch(`${worker.url}${path}`, { headers: { accept: 'text/event-stream', ...headers }, signal: abort.signal });
  return { answer, events: answer.ok ? events(answer) : undefined };
}

/** Messages of a socket in the order they came. */
async function socket(t, path, url = worker.url) {
  const watcher = new WebSocket(`${url.replace('http', 'ws')}${path}`);
  t.after(() => watcher.terminate());
  const messages = [];
  let wake = () => {};
  watcher.on('message', (data) => { messages.push(String(data)); wake(); });
  await once(watcher, 'open');
  const next = async () => {
    while (!messages.length) await new Promise((resolve) => { wake = resolve; });
    return messages.shift();
  };
  return { watcher, next };
}

test('many who come at once are served by one reading of the map', async (t) => {
  const show = cloud.newShow();
  const path = `/api/v1/shows/${show.id}/availability.bin`;
  const readings = () => cloud.heard.filter(({ url }) => url.startsWith(path)).length;
  const began = Date.now();
  const watchers = await Promise.all(Array.from({ length: 50 }, () => socket(t, `/feed/${show.id}`)));
  for (const { next } of watchers) await next();
  // One for all of them, and one a second from then on.
  const most = 2 + Math.ceil((Date.now() - began) / 1_000);
  assert.ok(readings() <= most, `${readings()} readings, ${most} at most`);
});

test('a change of the map reaches sockets and streams', async (t) => {
  const show = cloud.newShow();
  const { watcher, next } = await socket(t, `/feed/${show.id}`);
  const stream = (await open(t, `/feed/${show.id}?since=1`)).events;
  assert.deepEqual(JSON.parse(await next()), { version: 1, reset: true });
  assert.deepEqual((await stream.next()).value.data, { version: 1, changes: [] });
  show.sell(5);
  const change = { version: 2, changes: [[5, 2]] };
  assert.deepEqual(JSON.parse(await next()), change);
  assert.deepEqual((await stream.next()).value, { id: '2', data: change });
  watcher.send('ping');
  assert.equal(await next(), 'pong');
});

test('whoever comes back hears what they missed', async (t) => {
  const show = cloud.newShow();
  const { next } = await socket(t, `/feed/${show.id}`);
  await next();
  show.sell(2);
  await next();
  show.sell(3);
  await next();
  const back = (await open(t, `/feed/${show.id}`, { 'last-event-id': '2' })).events;
  assert.deepEqual((await back.next()).value.data, { version: 3, changes: [[3, 2]] });
  const long = (await open(t, `/feed/${show.id}?since=0`)).events;
  assert.deepEqual((await long.next()).value.data, { version: 3, reset: true });
});

/** The change of a place: in the first message of a watcher, or in the next. */
async function heard({ next }, change) {
  for (;;) {
    const message = JSON.parse(await next());
    assert.equal(message.reset, undefined, JSON.stringify(message));
    if (message.changes.some((told) => String(told) === String(change))) return;
  }
}

test('the only watcher comes back and hears what they missed', async (t) => {
  const show = cloud.newShow();
  const { watcher, next } = await socket(t, `/feed/${show.id}`);
  assert.deepEqual(JSON.parse(await next()), { version: 1, reset: true });
  watcher.close();
  await once(watcher, 'close');
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  show.sell(5);
  await heard(await socket(t, `/feed/${show.id}?since=1`), [5, 2]);
});

const reads = (show) => cloud.heard.filter(({ url }) => url.includes(show.id)).length;

/** Waits until the map of a show was not read for three seconds; while watched it is once a second. */
async function quiet(show) {
  for (let before = -1; reads(show) > before;) {
    before = reads(show);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
}

test('so do watchers of a feed that has slept meanwhile', async (t) => {
  const storage = await mkdtemp(join(tmpdir(), 'onsale-feed-'));
  t.after(() => rm(storage, { recursive: true }));
  const { bindings } = secrets;
  const options = { bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' }, storage };
  const show = cloud.newShow();
  const first = await startWorker(options);
  const { watcher, next } = await socket(t, `/feed/${show.id}`, first.url);
  await next();
  watcher.close();
  await once(watcher, 'close');
  // The next alarm finds nobody and keeps what there is.
  await quiet(show);
  await first.stop();
  show.sell(6);
  const second = await startWorker(options);
  t.after(() => second.stop());
  await heard(await socket(t, `/feed/${show.id}?since=1`, second.url), [6, 2]);
});

test('nobody reads the map when nobody watches', async (t) => {
  const show = cloud.newShow();
  const { watcher, next } = await socket(t, `/feed/${show.id}`);
  await next();
  const watched = reads(show);
  while (reads(show) < watched + 2) await new Promise((resolve) => setTimeout(resolve, 50));
  watcher.close();
  await once(watcher, 'close');
  await quiet(show);
});

test('a feed of no show, and one that is not asked for as one, are refused', async (t) => {
  assert.equal((await open(t, `/feed/shw_${'0'.repeat(32)}`)).answer.status, 404);
  assert.equal((await fetch(`${worker.url}/feed/${cloud.newShow().id}`)).status, 400);
});

test('an order is followed until it is confirmed', async (t) => {
  const order = `ord_${randomBytes(16).toString('hex')}`;
  cloud.orders.set(order, 'pending');
  const stranger = await open(t, `/feed/orders/${order}`, { authorization: 'Bearer other' });
  assert.equal(stranger.answer.status, 404);
  const { events: told } = await open(t, `/feed/orders/${order}`, { authorization: 'Bearer buyer' });
  assert.deepEqual((await told.next()).value, { event: 'status', data: { order_id: order, status: 'pending' } });
  cloud.orders.set(order, 'confirmed');
  assert.equal((await told.next()).value.data.status, 'confirmed');
  assert.equal((await told.next()).done, true);
});
