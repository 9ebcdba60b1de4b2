// The page's own SHA-256 and its search, against Node's crypto. Needs no server.
//
//   node --test tests/browser/work.test.mjs

import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import test from 'node:test';
import { search, solve } from '../../web/work.js';

const TRIES = 65_536;
const hex = (bytes) => randomBytes(bytes).toString('hex');

function deriveKey({ salt, nonce, cost }, counter) {
  let key = Buffer.from(salt + nonce + counter.toString(16).padStart(8, '0'), 'hex');
  for (let i = 0; i < cost; i++) key = createHash('sha256').update(key).digest();
  return key.toString('hex');
}

function challenge(cost, counter, digits = 32) {
  const parameters = { algorithm: 'SHA-256', salt: hex(16), nonce: hex(16), cost };
  return { ...parameters, keyPrefix: deriveKey(parameters, counter).slice(0, digits) };
}

function run(parameters) {
  const slices = solve(parameters);
  const tried = [];
  for (;;) {
    const { done, value } = slices.next();
    if (done) return { found: value, tried };
    tried.push(value);
  }
}

test('20,000 keys are those of node:crypto', () => {
  for (let i = 0; i < 20_000; i++) {
    const counter = randomInt(2 ** 32);
    const parameters = challenge(1 + (i % 32), counter);
    const derivedKey = deriveKey(parameters, counter);
    assert.deepEqual(search(parameters, counter, counter + 1), { counter, derivedKey });
  }
});

test('bytes at the ends of their range hash as in node:crypto', () => {
  for (const byte of ['00', '7f', '80', 'ff']) {
    const parameters = { algorithm: 'SHA-256', salt: byte.repeat(16), nonce: byte.repeat(16), cost: 3 };
    for (const counter of [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
      const derivedKey = deriveKey(parameters, counter);
      const keyPrefix = derivedKey.slice(0, 32);
      assert.deepEqual(search({ ...parameters, keyPrefix }, counter, counter + 1), { counter, derivedKey });
    }
  }
});

test('the first and the last counter are found, whatever a try costs', () => {
  for (const cost of [1, 2, 7, 19]) {
    for (const counter of [0, TRIES - 1]) {
      assert.equal(run(challenge(cost, counter)).found.counter, counter);
    }
  }
});

test('what was tried only grows and never passes the end', () => {
  const { tried } = run(challenge(3, TRIES - 1));
  assert.ok(tried.length > 10);
  assert.ok(tried.every((n, i) => n > (tried[i - 1] ?? 0) && n <= TRIES));
});

test('a prefix of any length is compared in full', () => {
  for (const digits of [4, 6, 8, 10, 31, 32]) {
    const parameters = challenge(1, 40_000, digits);
    const { counter, derivedKey } = run(parameters).found;
    assert.equal(derivedKey, deriveKey(parameters, counter));
    assert.ok(derivedKey.startsWith(parameters.keyPrefix));
    assert.ok(digits < 8 || counter === 40_000);
  }
});

test('a challenge without an answer ends', () => {
  const parameters = { ...challenge(1, 0), keyPrefix: 'ff'.repeat(16) };
  assert.throws(() => run(parameters), /no answer/);
});

test('a challenge of another kind is refused', () => {
  const good = challenge(1, 5);
  for (const change of [{ algorithm: 'SHA-512' }, { salt: 'ab' }, { nonce: `${good.nonce}00` }, { cost: 0 }]) {
    assert.throws(() => run({ ...good, ...change }), /does not know/);
  }
});
