// The waiting room in workerd: real objects, alarms and storage, and a cloud that only
// says what the test wants.
//
//   scripts/edge-build && npm ci --prefix tests/edge && npm test --prefix tests/edge

import assert from 'node:assert/strict';
import { verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCloud } from './cloud.mjs';
import { Visitor } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const secrets = freshSecrets();
let cloud;
let worker;
let bindings;

before(async () => {
  cloud = await startCloud(secrets.bindings);
  bindings = { ...secrets.bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off', COUNT_OBJECT_CALLS: 'on' };
  worker = await startWorker({ bindings });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

/** The claims of a pass whose signature is good. */
function claims(pass, key = secrets.passKey) {
  const [header, payload, signature] = pass.split('.');
  assert.ok(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')));
  return JSON.parse(Buffer.from(payload, 'base64url'));
}

test('a visitor joins, waits, enters with a good pass, and leaves', async () => {
  const show = cloud.newShow();
  const visitor = new Visitor(worker.url, show.id);
  assert.equal((await visitor.ask('status')).body.state, 'join');
  const joined = await visitor.join();
  assert.equal(joined.status, 201, JSON.stringify(joined.body));
  const { states, entered } = await visitor.waitAndEnter();
  assert.equal(states.at(-1), 'admitted');
  assert.equal(entered.status, 200, JSON.stringify(entered.body));
  const pass = claims(entered.body.pass);
  assert.equal(pass.aud, show.id);
  assert.equal(pass.exp - pass.iat, show.passSeconds);
  const again = await visitor.enter();
  assert.equal(claims(again.body.pass).jti, pass.jti, 'the same pass, renewed');
  assert.equal((await visitor.leave()).status, 204);
  assert.deepEqual(cloud.closed.map((closed) => closed.pass).filter((closed) => closed === pass.jti), [pass.jti]);
  const spent = await visitor.ask('enter', { method: 'POST', headers: { 'onsale-ticket': joined.body.ticket } });
  assert.equal(spent.status, 409, 'the ticket is spent');
  const rejoined = await visitor.join();
  assert.equal(rejoined.status, 201);
  assert.notEqual(rejoined.body.ticket, joined.body.ticket, 'whoever left joins anew');
});

test('while the holds of those inside fail nobody is let in, and counting that asks no object on the way', async () => {
  const show = cloud.newShow();
  const inside = new Visitor(worker.url, show.id);
  await inside.join();
  const { entered } = await inside.waitAndEnter();
  const hold = () => fetch(`${worker.url}/api/v1/shows/${show.id}/holds`, {
    method: 'POST',
    headers: { 'onsale-pass': entered.body.pass },
    body: '{}',
  });
  show.isBroken = true;
  for (let i = 0; i < 25; i++) {
    const failed = await hold();
    assert.equal(failed.status, 503);
    assert.equal(failed.headers.get('onsale-object-calls'), '0');
  }
  // Those inside go on trying, until the line stands: a place is known in it, and no wait.
  const joined = async () => {
    const visitor = new Visitor(worker.url, show.id);
    assert.equal((await visitor.join()).status, 201);
    return visitor;
  };
  let next = await joined();
  for (let stands = false; !stands;) {
    await Promise.all([hold(), sleep(500)]);
    const { body } = await next.ask('status');
    stands = body.state === 'waiting' && body.position !== undefined && body.wait_seconds === undefined;
    // They came before the news did.
    if (body.state !== 'waiting') next = await joined();
  }
  for (let i = 0; i < 3; i++) {
    await Promise.all([hold(), sleep(1_000)]);
    assert.equal((await next.ask('status')).body.state, 'waiting', 'nobody is let in');
  }
  show.isBroken = false;
  for (let i = 0; i < 30; i++) assert.equal((await hold()).status, 200);
  const { entered: admitted } = await next.waitAndEnter();
  assert.equal(admitted.status, 200);
});

test('one challenge is one ticket, however often and however fast it is sent', async () => {
  const show = cloud.newShow();
  const visitor = new Visitor(worker.url, show.id);
  const altcha = await visitor.solved();
  const joins = Array.from({ length: 50 }, () => visitor.ask('join', { method: 'POST', body: { altcha } }));
  const answers = await Promise.all(joins);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(answers.map(({ body }) => body.ticket)).size, 1);
});

test('live passes stay at the capacity until one is given back', async () => {
  // Nobody's pass lapses while this test runs, however slow the machine is.
  const show = cloud.newShow({ capacity: 4, passSeconds: 900 });
  const outside = new Set();
  const inside = new Set();
  for (let i = 0; i < 12; i++) {
    const visitor = new Visitor(worker.url, show.id);
    assert.equal((await visitor.join()).status, 201);
    outside.add(visitor);
  }
  const enter = async (visitor) => {
    if ((await visitor.enter()).status !== 200) return;
    inside.add(visitor);
    outside.delete(visitor);
  };
  /** Everybody knocks at once, for a while or until so many are inside. */
  const knock = async (wanted, patienceMs) => {
    for (const end = Date.now() + patienceMs; inside.size < wanted && Date.now() < end;) {
      await Promise.all([...outside].map(enter));
      await sleep(200);
    }
    return inside.size;
  };
  assert.equal(await knock(4, 30_000), 4);
  assert.equal(await knock(5, 5_000), 4);
  const [first] = inside;
  assert.equal((await first.leave()).status, 204);
  inside.delete(first);
  assert.equal(await knock(4, 30_000), 4, 'somebody else takes the slot');
  assert.equal(await knock(5, 3_000), 4);
});

test('a gate remembers its passes when the worker is started again', async (t) => {
  const storage = await mkdtemp(join(tmpdir(), 'onsale-edge-'));
  t.after(() => rm(storage, { recursive: true }));
  const show = cloud.newShow();
  const first = await startWorker({ bindings, storage });
  const visitor = new Visitor(first.url, show.id);
  await visitor.join();
  const { entered } = await visitor.waitAndEnter();
  await first.stop();
  const second = await startWorker({ bindings, storage });
  t.after(() => second.stop());
  visitor.room = `${second.url}/room/${show.id}`;
  const { entered: again } = await visitor.waitAndEnter();
  assert.equal(claims(again.body.pass).jti, claims(entered.body.pass).jti);
});

test('a poll of somebody whom the line has not reached asks no object', async (t) => {
  // Everything is held, so the line stands.
  const show = cloud.newShow({ freeSeats: 0 });
  const visitor = new Visitor(worker.url, show.id);
  await visitor.join();
  const asked = [];
  for (let i = 0; i < 40; i++) {
    const { status, headers } = await visitor.ask('status');
    assert.equal(status, 200);
    asked.push(Number(headers.get('onsale-object-calls')));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.diagnostic(`objects asked before each of ${asked.length} answers, over 4 s: ${asked.join('')}`);
  assert.deepEqual(asked, asked.map(() => 0));
  show.freeSeats = 5_000;
  const entering = await visitor.waitAndEnter();
  assert.equal(entering.entered.headers.get('onsale-object-calls'), '1', 'entering asks the gate');
});

test('joining asks no object on the way to its answer', async () => {
  const show = cloud.newShow();
  const visitors = Array.from({ length: 8 }, () => new Visitor(worker.url, show.id));
  const solutions = await Promise.all(visitors.map((visitor) => visitor.solved()));
  // Somebody looked at the room a moment ago.
  await visitors[0].ask('status');
  const joins = visitors.map((visitor, i) => visitor.ask('join', { method: 'POST', body: { altcha: solutions[i] } }));
  for (const { status, headers } of await Promise.all(joins)) {
    assert.equal(status, 201);
    assert.equal(headers.get('onsale-object-calls'), '0');
  }
});

test('first come, first served: nobody is admitted before somebody who came earlier', async () => {
  // Everything is held at first, so that a line forms.
  const show = cloud.newShow({ rate: 1, freeSeats: 0 });
  const line = [];
  for (let i = 0; i < 5; i++) {
    const visitor = new Visitor(worker.url, show.id);
    assert.equal((await visitor.join()).status, 201);
    line.push(visitor);
    // Places are by the second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  }
  const states = async () => (await Promise.all(line.map((visitor) => visitor.ask('status')))).map(({ body }) => body);
  let waiting = await states();
  while (waiting.some(({ position }) => position === undefined)) {
    await sleep(200);
    waiting = await states();
  }
  assert.deepEqual(waiting.map(({ state }) => state), line.map(() => 'waiting'));
  // A position is an estimate, and never one that overtakes.
  const positions = waiting.map(({ position }) => position);
  assert.equal(positions[0], 1);
  assert.deepEqual(positions, positions.toSorted((a, b) => a - b));
  show.freeSeats = 5_000;
  const entered = [];
  let between = 0;
  for (const reached = { waiting: 0, door: 1, admitted: 1, inside: 1 }; entered.length < line.length;) {
    // Asked from the last to the first: the line may move on meanwhile, and never back.
    const told = [];
    for (const visitor of line.toReversed()) told.unshift(reached[(await visitor.ask('status')).body.state]);
    assert.deepEqual(told, told.toSorted().reverse(), 'nobody is reached before those ahead of them');
    for (const [i, visitor] of line.entries()) {
      const { body } = await visitor.ask('status');
      if (body.state !== 'admitted' || entered.includes(i)) continue;
      assert.equal((await visitor.enter()).status, 200);
      entered.push(i);
    }
    between += entered.length > 0 && entered.length < line.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // One enters in a second, and nobody at the door is overtaken for longer than three.
  for (const [i] of line.entries()) assert.ok(entered.indexOf(i) - i <= 3, `${entered}`);
  assert.ok(between > 0, 'they were admitted one after the other');
});

test('a cookie in another alphabet costs a visitor no other cookie', async () => {
  const show = cloud.newShow();
  const { body: { ticket } } = await new Visitor(worker.url, show.id).join();
  for (const name of ['Zo\u00eb', Buffer.from('Zo\u00eb').toString('latin1')]) {
    const headers = { cookie: `name=${name}; onsale_ticket=${ticket}` };
    const answer = await fetch(`${worker.url}/room/${show.id}/status`, { headers });
    assert.match((await answer.json()).state, /waiting|door|admitted/);
  }
});

test('a show that does not exist has no room', async () => {
  for (const show of [`shw_${'0'.repeat(32)}`, 'shw_nonsense']) {
    const { status, body } = await new Visitor(worker.url, show).ask('status');
    assert.equal(status, 404);
    assert.equal(body.type, 'urn:onsale:not_found');
  }
});

test('what nobody signed is not believed: without the cloud there are no passes', async (t) => {
  const stranger = await startWorker({ bindings: { ...bindings, INTERNAL_KEYS: freshSecrets().bindings.INTERNAL_KEYS } });
  t.after(() => stranger.stop());
  const show = cloud.newShow();
  const { status, headers } = await new Visitor(stranger.url, show.id).ask('status');
  assert.equal(status, 503);
  assert.ok(Number(headers.get('retry-after')) > 0);
  assert.ok(cloud.refused.some((url) => url.includes(show.id)));
  const known = await new Visitor(worker.url, show.id).ask('status');
  assert.equal(known.status, 200, 'the same show, asked for with the right key');
});

test('a forged ticket is refused', async () => {
  const show = cloud.newShow();
  const visitor = new Visitor(worker.url, show.id);
  const { body } = await visitor.join();
  const forged = `${body.ticket.slice(0, -2)}${body.ticket.endsWith('AA') ? 'BB' : 'AA'}`;
  const stranger = new Visitor(worker.url, show.id);
  const refused = await stranger.ask('status', { headers: { 'onsale-ticket': forged } });
  assert.equal(refused.status, 401);
  const accepted = await stranger.ask('status', { headers: { 'onsale-ticket': body.ticket } });
  assert.equal(accepted.status, 200);
});
