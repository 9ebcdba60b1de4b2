// What a join costs the worker: verifying a solution of the highest cost and signing the
// ticket, in WebAssembly, at most 100 µs. `scripts/bench edge` builds what is measured here.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { median } from '../poll-rate.mjs';

/** As many as the example makes in one call. */
const JOINS = 200;
const CALLS = 60;
const MAX_US = 100;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const example = `${process.env.CARGO_TARGET_DIR ?? `${root}/target`}/wasm32-unknown-unknown/edge/examples/join_cost.wasm`;

test(`a join takes at most ${MAX_US} µs`, async (t) => {
  const { instance } = await WebAssembly.instantiate(await readFile(example));
  // Processor time: what others do on this machine is no part of a join.
  const call = () => {
    const before = process.cpuUsage();
    assert.equal(instance.exports.main(0, 0), 0);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / JOINS;
  };
  // First everything is prepared, then the compiler notices what is worth compiling.
  for (let i = 0; i < CALLS / 4; i++) call();
  const times = Array.from({ length: CALLS }, call);
  const usual = median(times);
  t.diagnostic(`${usual.toFixed(1)} µs a join, the median of ${CALLS} rounds of ${JOINS}; the best ${Math.min(...times).toFixed(1)} µs`);
  assert.ok(usual > 0.1, 'nothing was done');
  assert.ok(usual <= MAX_US, `${usual} µs`);
});
