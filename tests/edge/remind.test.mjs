// Reminders in workerd: kept in an object, told to the cloud by its alarm.
//
//   scripts/edge-build && npm ci --prefix tests/edge && npm test --prefix tests/edge

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startCloud } from './cloud.mjs';
import { Visitor } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

const secrets = freshSecrets();
let cloud;
let worker;

before(async () => {
  cloud = await startCloud(secrets.bindings);
  const bindings = { ...secrets.bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off', COUNT_OBJECT_CALLS: 'on' };
  worker = await startWorker({ bindings });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

const remind = (visitor, body) => visitor.ask('remind', { method: 'POST', body, headers: { 'accept-language': 'de' } });

test('whoever asked is told to the cloud once it is their turn, until the cloud has heard', async () => {
  // Everything is held, so the line stands.
  const show = cloud.newShow({ freeSeats: 0 });
  const waiting = new Visitor(worker.url, show.id);
  assert.equal((await remind(waiting, { email: 'bo@example.org' })).status, 401, 'without a ticket');
  await waiting.join();
  await pause(1_500);
  assert.equal((await remind(waiting, { email: 'bo' })).status, 400);
  for (const email of ['wrong@example.org', 'bo@example.org']) {
    // Whoever asks first in a second has the bulletin fetched, and that is a call as well.
    await waiting.ask('status');
    await pause(200);
    const asked = await remind(waiting, { email });
    assert.equal(asked.status, 202, JSON.stringify(asked.body));
    assert.equal(asked.headers.get('onsale-object-calls') ?? '1', '1', 'only the reminders are asked');
  }
  await pause(3_000);
  assert.deepEqual(cloud.turns, [], 'not yet');
  show.freeSeats = 5_000;
  for (const end = Date.now() + 30_000; cloud.turns.length < 2 && Date.now() < end;) await pause(250);
  await pause(4_000);
  const told = cloud.turns.map(({ show: of, email, language }) => [of, email, language]);
  const once = [show.id, 'bo@example.org', 'de'];
  assert.deepEqual(told, [once, once], 'again after the answer that was lost, and then never');
  assert.equal((await remind(waiting, { email: 'more@example.org' })).status, 409);
});
