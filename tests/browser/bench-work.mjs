// How many hashes a second the waiting page's worker calculates in Chromium, beside what the
// rules of the work expect of a slow phone. Ends with 1 where it is less. Needs no platform.
//
//   node tests/browser/bench-work.mjs

import { readFile } from 'node:fs/promises';
import { launch } from './browser.mjs';

const file = (path) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const rules = await file('crates/domain/src/work/cost.rs');
/** A number that the rules of the work name. */
const ofWork = (name) => Number(rules.match(new RegExp(`const ${name}: u32 = ([\\d_]+);`))[1].replaceAll('_', ''));

const demanded = ofWork('PHONE_HASHES_PER_SECOND');
const cost = Math.floor((ofWork('LONGEST_WORK_S') * demanded) / 65_536);
const browser = await launch();
const page = await browser.newPage();
await page.route('http://work.localhost/', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
const body = await file('web/work.js');
await page.route('http://work.localhost/work.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
await page.goto('http://work.localhost/');
const ms = await page.evaluate((cost) => new Promise((resolve) => {
  const worker = new Worker('/work.js', { type: 'module' });
  let began;
  worker.onmessage = () => { began ??= performance.now(); };
  worker.onerror = (failure) => {
    failure.preventDefault();
    resolve(performance.now() - began);
  };
  worker.postMessage({ algorithm: 'SHA-256', salt: '01'.repeat(16), nonce: '02'.repeat(16), cost, keyPrefix: 'ff'.repeat(16) });
}), cost);
await browser.close();
const rate = Math.round((65_536 * cost * 1_000) / ms);
console.log(`${rate.toLocaleString('en')} hashes/s in a Web Worker; a slow phone is expected to have ${demanded.toLocaleString('en')}`);
if (rate < demanded) process.exitCode = 1;
