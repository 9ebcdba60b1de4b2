// The worker in front of the real platform: signed calls, real passes, real holds, the
// real map. The binary is the one that `cargo build --release` makes.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { Visitor } from './visitor.mjs';
import { allAt, startWorker } from './worker.mjs';

const onsale = process.env.ONSALE_BINARY ?? fileURLToPath(new URL('../../target/release/onsale', import.meta.url));
const data = mkdtempSync(join(tmpdir(), 'onsale-edge-'));
let platform;
let worker;

before(async () => {
  platform = spawn(onsale, ['serve', '--port', '0', '--empty', '--rate-limit', 'off', '--data', data], { stdio: ['ignore', 'pipe', 'ignore'] });
  const url = await new Promise((resolve, reject) => {
    platform.stdout.on('data', (text) => {
      const ready = String(text).match(/Onsale is ready at (\S+)/);
      if (ready) resolve(ready[1]);
    });
    platform.once('exit', (code) => reject(new Error(`the platform ended with ${code}`)));
  });
  const lines = execFileSync(onsale, ['edge-bindings', '--data', data], { encoding: 'utf8' }).trim().split('\n');
  const secrets = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  worker = await startWorker({ bindings: { ...secrets, FUNCTION_URLS: allAt(url), RATE_LIMIT: 'off' }, assets: true });
});
after(async () => {
  await worker?.stop();
  platform?.kill();
  rmSync(data, { recursive: true, force: true });
});

async function call(path, { method = 'POST', body, token, headers = {} } = {}) {
  const answer = await fetch(`${worker.url}${path}`, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: `Bearer ${token}` }), ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text && JSON.parse(text) };
}

const done = (status) => (answer) => {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body;
};

let people = 0;
async function account(role) {
  const email = `person-${++people}@example.org`;
  const password = 'correct horse';
  await call('/api/v1/accounts', { body: { email, password, name: role, role } }).then(done(201));
  return (await call('/api/v1/sessions', { body: { email, password } }).then(done(201))).token;
}

async function show(room, more = {}) {
  const token = await account('organiser');
  const venue = { name: 'Hall', city: 'Bern', timezone: 'Europe/Zurich', sections: [{ name: 'A', rows: [{ label: '1', seats: 10 }] }] };
  const { venue_id } = await call('/api/v1/venues', { token, body: venue }).then(done(201));
  const { event_id } = await call('/api/v1/events', { token, body: { title: 'Evening', category: 'music', venue_id } }).then(done(201));
  const starts_at = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const body = { starts_at, currency: 'EUR', prices: { A: 100 }, room, ...more };
  const { show_id } = await call(`/api/v1/events/${event_id}/shows`, { token, body }).then(done(201));
  return { token, id: show_id };
}

const hold = (id, token, pass, seat, key = seat) => call(`/api/v1/shows/${id}/holds`, {
  token,
  body: { seats: [seat] },
  headers: { 'idempotency-key': key, ...(pass && { 'onsale-pass': pass }) },
});

const change = (sale, room) => call(`/api/v1/shows/${sale.id}/room`, { method: 'PUT', token: sale.token, body: room }).then(done(200));

async function becomes(visitor, state) {
  for (let i = 0; i < 100; i++) {
    const { body } = await visitor.ask('status');
    if (body.state === state) return body;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail(`never ${state}`);
}

test('join, wait, enter, hold, leave', { timeout: 90_000 }, async () => {
  const sale = await show({ mode: 'queue_all', capacity: 10, rate_per_second: 10 });
  const [ana, ben] = [await account('buyer'), await account('buyer')];
  done(403)(await hold(sale.id, ana, undefined, 'A-1-1'));
  const visitor = new Visitor(worker.url, sale.id);
  const { ticket } = done(201)(await visitor.join());
  const { entered } = await visitor.waitAndEnter();
  const { pass } = done(200)(entered);
  done(201)(await hold(sale.id, ana, pass, 'A-1-1'));
  const other = done(403)(await hold(sale.id, ben, pass, 'A-1-2'));
  assert.equal(other.type, 'urn:onsale:pass_required');
  assert.equal((await visitor.leave()).status, 204);
  done(403)(await hold(sale.id, ana, pass, 'A-1-3'));
  done(409)(await visitor.ask('enter', { method: 'POST', headers: { 'onsale-ticket': ticket } }));
});

test('before opening there is a lottery, afterwards a line', { timeout: 90_000 }, async () => {
  const opens_at = new Date(Date.now() + 12_000).toISOString();
  const sale = await show({ mode: 'queue_all', capacity: 5, rate_per_second: 5, opens_at });
  const early = new Visitor(worker.url, sale.id);
  assert.equal(done(201)(await early.join()).state, 'prequeue');
  const told = done(200)(await early.ask('status'));
  assert.equal(told.position, undefined);
  assert.equal((await early.enter()).status, 425);
  await early.waitAndEnter();
  const late = new Visitor(worker.url, sale.id);
  done(201)(await late.join());
  const drawn = done(200)(await early.ask('status')).draw;
  assert.match(drawn, /^[0-9a-f]{16}$/);
  await late.waitAndEnter();
});

test('the room follows the organiser', { timeout: 90_000 }, async () => {
  const room = { mode: 'queue', capacity: 10, rate_per_second: 10 };
  const sale = await show(room);
  const visitor = new Visitor(worker.url, sale.id);
  await becomes(visitor, 'open');
  await change(sale, { ...room, mode: 'closed' });
  await becomes(visitor, 'closed');
  assert.equal((await visitor.ask('challenge')).status, 409);
  await change(sale, { ...room, mode: 'queue_all' });
  await becomes(visitor, 'join');
  await change(sale, { ...room, mode: 'off' });
  await becomes(visitor, 'open');
});

test('while places are held the line rests, and a sold-out show says so', { timeout: 90_000 }, async () => {
  const sale = await show({ mode: 'queue_all', capacity: 10, rate_per_second: 10 }, { max_tickets_per_buyer: 10 });
  const ana = await account('buyer');
  const buyer = new Visitor(worker.url, sale.id);
  done(201)(await buyer.join());
  const { pass } = done(200)((await buyer.waitAndEnter()).entered);
  const seats = Array.from({ length: 10 }, (_, n) => `A-1-${n + 1}`);
  const headers = { 'idempotency-key': 'all', 'onsale-pass': pass };
  const { hold_id } = await call(`/api/v1/shows/${sale.id}/holds`, { token: ana, body: { seats }, headers }).then(done(201));
  // Until the line stands: a place is known in it, and no wait.
  let late;
  for (let told = {}; told.position === undefined || told.wait_seconds;) {
    // The first may come before the news does, and are let in.
    if (told.state !== 'waiting') {
      late = new Visitor(worker.url, sale.id);
      done(201)(await late.join());
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    told = done(200)(await late.ask('status'));
    if (told.state !== 'waiting') told = {};
  }
  await call(`/api/v1/shows/${sale.id}/holds/${hold_id}/checkout`, { token: ana, body: { payment_method: 'pm_card_visa' }, headers: { 'idempotency-key': 'pay' } }).then(done(202));
  const { waitlist } = await becomes(late, 'sold_out');
  assert.equal(waitlist, `/api/v1/shows/${sale.id}/waitlist`);
  assert.equal((await late.ask('challenge')).status, 409);
});

test('live passes never exceed the cap', { timeout: 120_000 }, async () => {
  const sale = await show({ mode: 'queue_all', capacity: 3, rate_per_second: 20 });
  const crowd = Array.from({ length: 8 }, () => new Visitor(worker.url, sale.id));
  for (const visitor of crowd) done(201)(await visitor.join());
  let [inside, most] = [0, 0];
  await Promise.all(crowd.map(async (visitor) => {
    await visitor.waitAndEnter();
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    inside--;
    assert.equal((await visitor.leave()).status, 204);
  }));
  assert.ok(most > 1 && most <= 3, `${most} at once`);
});

test('a fan code goes before everybody else, and is one ticket however many use it', { timeout: 110_000 }, async () => {
  const opens_at = new Date(Date.now() + 20_000).toISOString();
  const sale = await show({ mode: 'queue_all', capacity: 1, rate_per_second: 5, opens_at });
  const made = await fetch(`${worker.url}/api/v1/shows/${sale.id}/fan-codes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${sale.token}` },
    body: JSON.stringify({ count: 2 }),
  });
  assert.equal(made.status, 200);
  const [heading, fan_code, other_code] = (await made.text()).trim().split(/\r?\n/);
  assert.equal(heading, 'code');
  assert.notEqual(fan_code, other_code);

  const crowd = Array.from({ length: 4 }, () => new Visitor(worker.url, sale.id));
  for (const visitor of crowd) done(201)(await visitor.join());
  const [fan, friend] = [new Visitor(worker.url, sale.id), new Visitor(worker.url, sale.id)];
  const forged = await fan.join({ fan_code: fan_code.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) });
  assert.equal(done(400)(forged).type, 'urn:onsale:invalid_request');
  done(201)(await fan.join({ fan_code }));
  done(201)(await friend.join({ fan_code }));

  const { entered } = await fan.waitAndEnter();
  const draw = async (visitor) => BigInt(`0x${done(200)(await visitor.ask('status')).draw}`);
  const of_fan = await draw(fan);
  for (const visitor of crowd) assert.ok((await draw(visitor)) > of_fan, 'nobody is drawn before a fan');
  assert.equal(await draw(friend), of_fan, 'the same code, the same place');
  const id = (answer) => JSON.parse(Buffer.from(done(200)(answer).pass.split('.')[1], 'base64url')).jti;
  assert.equal(id(await friend.enter()), id(entered), 'and the same pass');
  for (const visitor of crowd) done(425)(await visitor.enter());
});

test('a device with many accounts has to work more', { timeout: 110_000 }, async () => {
  const sale = await show({ mode: 'queue_all', capacity: 10, rate_per_second: 10 });
  const [visitor, neighbour] = [new Visitor(worker.url, sale.id), new Visitor(worker.url, sale.id)];
  const cost = async (of) => done(200)(await of.ask('challenge')).parameters.cost;
  assert.equal(await cost(visitor), 2);
  await cost(neighbour);
  const costs = [];
  for (let accounts = 1; accounts <= 9; accounts++) {
    const email = `device-${++people}@example.org`;
    const password = 'correct horse';
    const send = (path, body) => visitor.send(`${worker.url}${path}`, { method: 'POST', body });
    done(201)(await send('/api/v1/accounts', { email, password, name: 'buyer', role: 'buyer' }));
    const logged_in = await send('/api/v1/sessions', { email, password });
    done(201)(logged_in);
    assert.equal(logged_in.headers.get('onsale-suspicion'), null, 'the edge keeps that to itself');
    costs.push(await cost(visitor));
  }
  assert.deepEqual(costs, [2, 2, 2, 8, 8, 8, 8, 8, 19]);
  assert.equal(await cost(neighbour), 2, 'nobody else does');
});

test('a page for browsers, with its files, from the same address', async () => {
  const sale = await show({ mode: 'queue', capacity: 10, rate_per_second: 10 });
  const page = await fetch(`${worker.url}/room/${sale.id}`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy'), /default-src 'none'/);
  const html = await page.text();
  for (const [, file] of html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
    const asset = await fetch(`${worker.url}${file}`);
    assert.equal(asset.status, 200, file);
    assert.match(asset.headers.get('cache-control'), /immutable/);
  }
});

test('a hold shows on open maps', { timeout: 30_000 }, async () => {
  const sale = await show({ mode: 'off', capacity: 10, rate_per_second: 10 });
  const ana = await account('buyer');
  const socket = new WebSocket(`${worker.url.replace('http', 'ws')}/feed/${sale.id}`);
  const heard = new Promise((resolve) => {
    socket.on('message', (text) => {
      const message = JSON.parse(text);
      if (message.changes?.some(([place, state]) => place === 4 && state === 1)) resolve();
    });
  });
  await new Promise((resolve) => socket.once('open', resolve));
  done(201)(await hold(sale.id, ana, undefined, 'A-1-5'));
  await heard;
  socket.close();
});
