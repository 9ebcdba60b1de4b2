// What a poll costs the worker: it reaches at least 60 % of the requests a second of a
// worker that does nothing, measured in the same run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, pollRates } from '../poll-rate.mjs';

const LEAST_SHARE = 0.6;

test(`a poll reaches ${100 * LEAST_SHARE} % of a bare worker`, { timeout: 110_000 }, async (t) => {
  const rates = await pollRates({ rounds: 15, roundMs: 800 });
  const share = median(rates.map(({ bare, status }) => status / bare));
  const [bare, status] = ['bare', 'status'].map((which) => median(rates.map((rate) => rate[which])).toFixed());
  t.diagnostic(`bare ${bare} requests/s, status ${status}, in the median round ${(100 * share).toFixed()} %`);
  assert.ok(share >= LEAST_SHARE, `${(100 * share).toFixed()} %`);
});
