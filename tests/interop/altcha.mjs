// ALTCHA's own library and our proof of work solve and verify each other's challenges.
//
//   cargo build --release -p onsale-domain --example work
//   npm ci --prefix tests/interop
//   node tests/interop/altcha.mjs target/release/examples/work

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import test from 'node:test';
import { createChallenge, solveChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/sha';
import { deriveKey as deriveKeyInBrowser } from 'altcha-lib/algorithms/web/sha';

const binary = process.argv[2];
if (!binary) {
  console.error('usage: node tests/interop/altcha.mjs PATH_TO_EXAMPLE_BINARY');
  process.exit(2);
}

const secret = randomBytes(32).toString('base64url');
const otherSecret = randomBytes(32).toString('base64url');
const show = `shw_${randomBytes(16).toString('hex')}`;
const visitor = `vis_${randomBytes(16).toString('hex')}`;
const now = Date.now();
const expires = now + 300_000;
const costs = [1, 2, 7, 19];

const run = (args, input = '') => spawnSync(binary, args.map(String), { input, encoding: 'utf8' });
const answer = (args, input) => {
  const { status, stdout, stderr } = run(args, input);
  assert.equal(status, 0, stderr);
  return stdout.trim();
};

const entropy = (counter = randomInt(65_536)) =>
  randomBytes(32).toString('hex') + counter.toString(16).padStart(4, '0');
const ourChallenge = (cost, bytes = entropy()) =>
  JSON.parse(answer(['challenge', secret, show, visitor, cost, expires, bytes]));
const payload = (challenge, solution) => btoa(JSON.stringify({ challenge, solution }));
const weVerify = (text, at = now) => run(['verify', secret, show, visitor, at], text);
const weAccept = (text) => answer(['verify', secret, show, visitor, now], text);
const theyVerify = (parts, hmacSignatureSecret = secret) =>
  verifySolution({ ...parts, deriveKey, hmacSignatureSecret });

const theirChallenge = (options) =>
  createChallenge({
    algorithm: 'SHA-256',
    cost: 3,
    deriveKey,
    expiresAt: Math.floor(expires / 1000),
    hmacSignatureSecret: secret,
    // Out of order, because ALTCHA sorts before it signs.
    data: { visitor, show, key: answer(['key-id', secret]) },
    ...options,
  });

for (const cost of costs) {
  test(`altcha-lib solves our challenge of cost ${cost} and we accept`, async () => {
    const challenge = ourChallenge(cost);
    const solution = await solveChallenge({ challenge, deriveKey });
    assert.equal(weAccept(payload(challenge, solution)), JSON.stringify(challenge.parameters));
  });

  test(`altcha-lib verifies our challenge and solution of cost ${cost}`, async () => {
    const text = answer(['solve'], JSON.stringify(ourChallenge(cost)));
    const result = await theyVerify(JSON.parse(atob(text)));
    assert.equal(result.verified, true, JSON.stringify(result));
  });
}

test('the first and the last counter are found', async () => {
  for (const counter of [0, 65_535]) {
    const challenge = ourChallenge(1, entropy(counter));
    const solution = await solveChallenge({ challenge, deriveKey });
    assert.equal(solution.counter, counter);
    weAccept(payload(challenge, solution));
  }
});

test("the browser's way to hash finds the same solution", async () => {
  const challenge = ourChallenge(2, entropy(700));
  const solution = await solveChallenge({ challenge, deriveKey: deriveKeyInBrowser });
  assert.equal(solution.counter, 700);
  weAccept(payload(challenge, solution));
});

test('a challenge that altcha-lib planted and signed is good here', async () => {
  const challenge = await theirChallenge({ counter: randomInt(20_000) });
  const solved = answer(['solve'], JSON.stringify(challenge));
  assert.equal(weAccept(solved), JSON.stringify(challenge.parameters));
  const solution = await solveChallenge({ challenge, deriveKey });
  assert.equal(weAccept(payload(challenge, solution)), JSON.stringify(challenge.parameters));
});

test('what altcha-lib signs with the shared key is refused without our data', async () => {
  const key = answer(['key-id', secret]);
  const cases = {
    'no data': [undefined, /Malformed/],
    'no visitor': [{ key, show }, /Malformed/],
    'no show': [{ key, visitor }, /Malformed/],
    'no key': [{ show, visitor }, /Malformed/],
    'more data': [{ key, show, visitor, seat: 1 }, /Malformed/],
    'another show': [{ key, visitor, show: `shw_${'0'.repeat(32)}` }, /WrongShow/],
    'another visitor': [{ key, show, visitor: `vis_${'0'.repeat(32)}` }, /WrongVisitor/],
  };
  for (const [name, [data, reason]] of Object.entries(cases)) {
    const challenge = await theirChallenge({ cost: 1, counter: 5, data });
    const solution = await solveChallenge({ challenge, deriveKey });
    assert.equal((await theyVerify({ challenge, solution })).verified, true, name);
    const { status, stderr } = weVerify(payload(challenge, solution));
    assert.equal(status, 1, name);
    assert.match(stderr, reason, name);
  }
});

test('several solutions of one challenge are one ticket', async () => {
  const challenge = await theirChallenge({ cost: 1, keyPrefix: '0000' });
  const signed = new Set();
  let counterStart = 0;
  for (let i = 0; i < 3; i++) {
    const solution = await solveChallenge({ challenge, deriveKey, counterStart });
    counterStart = solution.counter + 1;
    signed.add(weAccept(payload(challenge, solution)));
  }
  assert.equal(signed.size, 1);
});

test('both refuse what the other refuses', async () => {
  const challenge = ourChallenge(1);
  const solution = await solveChallenge({ challenge, deriveKey });
  const { parameters } = challenge;
  const changed = (change) => ({ ...challenge, parameters: { ...parameters, ...change } });
  const cases = {
    'a longer life': { challenge: changed({ expiresAt: parameters.expiresAt + 1 }), solution },
    'another visitor': { challenge: changed({ data: { ...parameters.data, visitor: `vis_${'0'.repeat(32)}` } }), solution },
    'a shorter prefix': { challenge: changed({ keyPrefix: parameters.keyPrefix.slice(0, 4) }), solution },
    'another counter': { challenge, solution: { ...solution, counter: solution.counter + 1 } },
    'a key made up': { challenge, solution: { ...solution, derivedKey: parameters.keyPrefix.repeat(2) } },
    'no solution': { challenge, solution: null },
  };
  for (const [name, parts] of Object.entries(cases)) {
    assert.equal((await theyVerify(parts)).verified, false, name);
    assert.equal(weVerify(payload(parts.challenge, parts.solution)).status, 1, name);
  }
  assert.equal((await theyVerify({ challenge, solution }, otherSecret)).invalidSignature, true);
  const forged = await theirChallenge({ counter: 5, hmacSignatureSecret: otherSecret });
  const forgedSolution = await solveChallenge({ challenge: forged, deriveKey });
  assert.match(weVerify(payload(forged, forgedSolution)).stderr, /BadSignature/);
  assert.match(weVerify(payload(challenge, solution), expires + 1000).stderr, /Expired/);
});
