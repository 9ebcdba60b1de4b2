// Small rooms in workerd: a visitor who is told `admitted` is in, and is told nothing else
// afterwards; no more are inside than may be, and those who are inside are told so. Every other
// visitor knocks at the door already and enters from there.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCloud } from './cloud.mjs';
import { Visitor, plantedSolution } from './visitor.mjs';
import { allAt, freshSecrets, startWorker } from './worker.mjs';

/** Capacity, rate and visitors. */
const ROOMS = [[1, 1, 3], [3, 5, 7], [10, 50, 30], [30, 20, 75]];
const PASS_SECONDS = 10;
/** Never back: from the line to the door, to a promise. */
const RANK = { prequeue: 0, waiting: 1, door: 2, admitted: 3 };

const { bindings } = freshSecrets();
let cloud;
let worker;

before(async () => {
  cloud = await startCloud(bindings);
  worker = await startWorker({ bindings: { ...bindings, FUNCTION_URLS: allAt(cloud.url), RATE_LIMIT: 'off' } });
});
after(async () => {
  await worker?.stop();
  await cloud?.stop();
});

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Enters from the door, if there is a slot. */
async function knock(visitor) {
  const { status, body } = await visitor.enter();
  if (status === 200) return body;
  assert.equal(status, 425, JSON.stringify(body));
}

async function visit(visitor, i, room) {
  const [leavesEarly, knocks] = [i % 2 === 0, i % 4 < 2];
  let pass;
  for (let rank = 0; rank < RANK.admitted && !pass;) {
    const { status, body } = await visitor.ask('status');
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(RANK[body.state] >= rank, `sent back to ${body.state}`);
    rank = RANK[body.state];
    if (rank < RANK.admitted) {
      assert.ok(Number.isInteger(body.total_waiting), JSON.stringify(body));
      if (knocks && rank === RANK.door) pass = await knock(visitor);
      if (!pass) await sleep(body.refresh_after_ms);
    }
  }
  if (!pass) {
    const { status, body } = await visitor.enter();
    assert.equal(status, 200, `admitted is a promise: ${JSON.stringify(body)}`);
    pass = body;
  }
  room.most = Math.max(room.most, ++room.live);
  const left = () => Date.parse(pass.expires_at) - Date.now();
  const told = (await visitor.ask('status')).body;
  if (left() > 0) assert.deepEqual([told.state, told.expires_at], ['inside', pass.expires_at]);
  // A pass counts until it expires, or until its holder asks to leave.
  await sleep(leavesEarly ? PASS_SECONDS * 500 : left());
  room.live -= 1;
  if (leavesEarly) assert.equal((await visitor.leave()).status, 204);
}

async function run([capacity, rate, visitors]) {
  const show = cloud.newShow({ capacity, rate, passSeconds: PASS_SECONDS });
  const room = { live: 0, most: 0 };
  const crowd = Array.from({ length: visitors }, () => new Visitor(worker.url, show.id));
  for (const visitor of crowd) {
    const joined = await visitor.ask('join', { method: 'POST', body: { altcha: plantedSolution(bindings.WORK_KEYS, show.id) } });
    assert.equal(joined.status, 201, JSON.stringify(joined.body));
  }
  await Promise.all(crowd.map((visitor, i) => visit(visitor, i, room)));
  assert.ok(room.most <= capacity, `${room.most} passes of ${capacity}`);
}

test('small rooms tell the truth', { timeout: 240_000 }, () => Promise.all(ROOMS.map(run)));
