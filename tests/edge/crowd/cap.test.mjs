// Two thousand people before a room for two hundred, in workerd. Everybody asks as often as
// they are told to; most leave when they have finished, some renew their pass before, and
// some just go and let it lapse.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { startCloud } from '../cloud.mjs';
import { plantedSolution } from '../visitor.mjs';
import { allAt, freshSecrets, startWorker } from '../worker.mjs';

const PEOPLE = 2_000;
const CAPACITY = 200;
const RATE = 200;
const PASS_SECONDS = 10;
/** How long clocks may disagree, and so how long the cloud takes an expired pass for good. */
const SKEW_MS = 5_000;
const STAY_MS = 1_500;
/** How many passes are alive when the room counts as full. */
const FULL = CAPACITY * 0.9;
/** On two quiet cores all of them are through in a minute. */
const PATIENCE_MS = 600_000;

const { bindings } = freshSecrets();
const agent = new http.Agent({ keepAlive: true, maxSockets: 48 });
let cloud;
let worker;
let show;

before(async () => {
  cloud = await startCloud(bindings);
  worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' } });
  show = cloud.newShow({ capacity: CAPACITY, rate: RATE, passSeconds: PASS_SECONDS });
});
after(async () => {
  agent.destroy();
  await worker?.stop();
  await cloud?.stop();
});

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks again where a kept connection was closed in the moment of its use, as clients do. */
function ask(method, action, { ticket, body } = {}) {
  const headers = { ...(ticket && { 'onsale-ticket': ticket }), ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const request = http.request(`${worker.url}/room/${show.id}/${action}`, { method, agent, headers }, async (answer) => {
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += chunk;
      resolve({ status: answer.statusCode, body: text && JSON.parse(text) });
    });
    request.on('error', (error) => {
      const wasClosed = request.reusedSocket && error.code === 'ECONNRESET';
      if (wasClosed) ask(method, action, { ticket, body }).then(resolve, reject);
      else reject(error);
    });
    request.end(body && JSON.stringify(body));
  });
}

const claims = (pass) => JSON.parse(Buffer.from(pass.split('.')[1], 'base64url'));

class Person {
  constructor(number) {
    this.lapses = number % 50 === 3;
    this.renews = number % 10 === 1;
  }

  async join() {
    const answer = await ask('POST', 'join', { body: { altcha: plantedSolution(bindings.WORK_KEYS, show.id) } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    this.ticket = answer.body.ticket;
  }

  /** Waits as told, and returns whether it was their turn before the time was up. */
  async waitAndEnter(end) {
    this.wait = 0;
    while (Date.now() < end) {
      await sleep(this.wait);
      const told = await ask('GET', 'status', this);
      assert.equal(told.status, 200, JSON.stringify(told.body));
      this.wait = told.body.refresh_after_ms;
      if (told.body.state !== 'admitted') continue;
      assert.ok(await this.enter(), 'admitted is a promise');
      return true;
    }
    return false;
  }

  async enter() {
    const { status, body } = await ask('POST', 'enter', this);
    const received = Date.now();
    if (status === 425) {
      this.wait = body.refresh_after_ms;
      return false;
    }
    assert.equal(status, 200, JSON.stringify(body));
    const { jti, exp } = claims(body.pass);
    this.pass ??= jti;
    assert.equal(jti, this.pass, 'a renewed pass is the same pass');
    this.start ??= received;
    this.expires = exp * 1_000;
    return true;
  }

  /** Nobody leaves before the room was full once, however slowly this machine fills it. */
  async shop(crowd) {
    await sleep(STAY_MS);
    while (!this.lapses && !crowd.wasFull) {
      await this.enter();
      await sleep(STAY_MS);
    }
    if (this.renews) {
      await this.enter();
      await sleep(STAY_MS);
    }
    if (this.lapses) return;
    assert.equal((await ask('POST', 'leave', this)).status, 204);
  }
}

/**
 * The most passes that were good at any instant. A pass counts from the answer that brings
 * it: the clock of a worker stands still between two calls, so a gate may date a pass to
 * before the moment at which its slot came free. It is good until the cloud has closed it
 * for the first time, for a lost answer is asked for again, or takes it for expired.
 */
function mostAtOnce(entered) {
  const closed = new Map(cloud.closed.toReversed().map(({ pass, at }) => [pass, at]));
  const moments = entered.flatMap(({ pass, start, expires }) => {
    const end = Math.min(expires + SKEW_MS, closed.get(pass) ?? Infinity);
    return [[start, 1], [end, -1]];
  });
  // Whoever goes at the same instant as somebody comes has made room for them.
  moments.sort(([a, change], [b, other]) => a - b || change - other);
  let [live, most] = [0, 0];
  for (const [, change] of moments) most = Math.max(most, live += change);
  return most;
}

test(`${PEOPLE} people, ${CAPACITY} passes: never more at once, and whoever stays gets in`, { timeout: 840_000 }, async (t) => {
  const crowd = Array.from({ length: PEOPLE }, (_, number) => new Person(number));
  const started = Date.now();
  await Promise.all(crowd.map((person) => person.join()));
  const joined = Date.now();
  const entered = new Set();
  const inside = { count: 0, wasFull: false };
  await Promise.all(crowd.map(async (person) => {
    if (!(await person.waitAndEnter(joined + PATIENCE_MS))) return;
    entered.add(person);
    if (!person.lapses) inside.count += 1;
    inside.wasFull ||= inside.count >= FULL;
    await person.shop(inside);
    if (!person.lapses) inside.count -= 1;
  }));
  const most = mostAtOnce([...entered]);
  const lapsed = [...entered].filter((person) => person.lapses).length;
  t.diagnostic(`joined in ${joined - started} ms, all over after ${Date.now() - joined} ms; ${entered.size} entered, ${lapsed} never left, at most ${most} passes at once`);
  assert.ok(most <= CAPACITY, `${most} passes at once`);
  assert.ok(most >= FULL, `the room was never full: ${most}`);
  assert.equal(entered.size, PEOPLE, 'those who stayed were forgotten');
  assert.equal(new Set([...entered].map((person) => person.pass)).size, entered.size, 'one pass each');
  assert.equal(new Set(cloud.closed.map(({ pass }) => pass)).size, entered.size - lapsed);
});
