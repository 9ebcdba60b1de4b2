// A panic in the worker: no pass is given, what can be read is read, and the next instance
// goes on from what was stored. It is provoked by what really would cause one: a runtime
// without random bytes.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCloud } from './cloud.mjs';
import { Visitor } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const AROUND = `
import worker from './worker.mjs';
export * from './worker.mjs';

const fill = crypto.getRandomValues.bind(crypto);
let has = true;
crypto.getRandomValues = (bytes) => {
  if (!has) throw new Error('there are no random bytes');
  return fill(bytes);
};

export default {
  fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/randomness/')) return worker.fetch(request, env, context);
    has = pathname.endsWith('/on');
    return new Response(null, { status: 204 });
  },
};`;

const { bindings } = freshSecrets();
let cloud;
let worker;

before(async () => {
  cloud = await startCloud(bindings);
  worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' }, around: AROUND });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

const randomness = async (how) => assert.equal((await fetch(`${worker.url}/randomness/${how}`)).status, 204);
const idOf = (pass) => JSON.parse(Buffer.from(pass.split('.')[1], 'base64url')).jti;

function assertBroken({ status, headers, body }, what) {
  assert.equal(status, 503, what);
  assert.ok(Number(headers.get('retry-after')) > 0, what);
  assert.equal(body.type, 'urn:onsale:unavailable', what);
  assert.equal(body.pass, undefined, what);
}

test('a panic gives no pass, ends no reading, and forgets nothing', { timeout: 90_000 }, async () => {
  const show = cloud.newShow({ capacity: 2 });
  const [inside, next] = [new Visitor(worker.url, show.id), new Visitor(worker.url, show.id)];
  assert.equal((await inside.join()).status, 201);
  assert.equal((await next.join()).status, 201);
  const { entered } = await inside.waitAndEnter();
  assert.equal(entered.status, 200);
  await next.wait();

  await randomness('off');
  for (let panics = 0; panics < 3; panics++) {
    assertBroken(await next.enter(), 'a gate cannot make a pass');
    assertBroken(await new Visitor(worker.url, show.id).ask('challenge'), 'nobody can join');
    const read = await next.ask('status');
    assert.equal(read.status, 200, 'where somebody stands is told all the same');
    assert.equal(read.body.state, 'admitted');
  }

  await randomness('on');
  const again = await inside.enter();
  assert.equal(again.status, 200, JSON.stringify(again.body));
  assert.equal(idOf(again.body.pass), idOf(entered.body.pass), 'the pass from before is renewed');
  const { entered: after } = await next.waitAndEnter();
  assert.equal(after.status, 200, JSON.stringify(after.body));
  assert.notEqual(idOf(after.body.pass), idOf(entered.body.pass));
  const third = new Visitor(worker.url, show.id);
  assert.equal((await third.join()).status, 201);
  await assert.rejects(third.wait(4_000), /never their turn/, 'the capacity is kept');
});

test('whoever is being answered when an instance ends is told to come back', { timeout: 60_000 }, async () => {
  const show = cloud.newShow();
  const visitor = new Visitor(worker.url, show.id);
  await visitor.ask('status');
  // A call to a function waits for its answer while somebody else's request panics.
  const slow = fetch(`${worker.url}/api/v1/events?slow=10000`);
  while (!cloud.heard.some(({ url }) => url.includes('slow='))) await new Promise((resolve) => setTimeout(resolve, 20));
  await randomness('off');
  assertBroken(await new Visitor(worker.url, show.id).ask('challenge'), 'the one that panics');
  await randomness('on');
  const answer = await slow;
  assert.equal(answer.status, 503);
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
});
