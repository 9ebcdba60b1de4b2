// Prints how many polls a second the worker answers, beside a worker that does nothing.
//
//   node tests/edge/load.mjs [ROUNDS [MILLISECONDS]]

import { median, pollRates } from './poll-rate.mjs';

const [rounds = 10, roundMs = 1_000] = process.argv.slice(2).map(Number);
const rates = await pollRates({ rounds, roundMs });
for (const { bare, status } of rates) {
  console.log(`bare ${bare.toFixed()} requests/s, status ${status.toFixed()}, ${((100 * status) / bare).toFixed()} %`);
}
console.log(`median ${(100 * median(rates.map(({ bare, status }) => status / bare))).toFixed()} %`);
