// Chromium for these tests, and what axe says of a page in it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const inPath = (name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name)).find(existsSync);

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? inPath('chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });

export async function assertAccessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`);
  assert.deepEqual(told, [], name);
}

/** No text is wider than its box, and a number that counts stands on one line. */
export async function assertFits(page, name) {
  const told = await page.evaluate(() => {
    const complaints = [];
    const excess = document.documentElement.scrollWidth - window.innerWidth;
    if (excess > 0) complaints.push(`the page is ${excess} px too wide`);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (texts.nextNode()) {
      const text = texts.currentNode;
      const parent = text.parentElement;
      if (!text.data.trim() || !parent.checkVisibility() || parent.closest('.unseen, .skip, .chips, select, noscript')) continue;
      let box = parent;
      while (getComputedStyle(box).display.startsWith('inline')) box = box.parentElement;
      const { left, right } = box.getBoundingClientRect();
      range.selectNodeContents(text);
      const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
      if (lines.some((line) => line.left < left - 1 || line.right > right + 1)) complaints.push(`too wide: ${text.data.trim()}`);
      if (parent.matches('.stub strong') && new Set(lines.map(({ top }) => Math.round(top))).size > 1) complaints.push(`broken: ${text.data.trim()}`);
    }
    return complaints;
  });
  assert.deepEqual(told, [], name);
}

/** Whatever can be pressed is large enough for a finger. */
export async function assertLarge(page, name) {
  const fields = 'input:not([type=checkbox]):not([type=radio]):visible';
  for (const target of await page.locator(`button:visible, a:visible, summary:visible, select:visible, ${fields}`).all()) {
    const { height } = await target.boundingBox();
    assert.ok(height >= 44, `${name}: ${await target.textContent()} is ${height} px high`);
  }
}

/** From now on the pages of a context keep how far things on them are shifted, and when. */
export const watchShifts = (context) =>
  context.addInitScript(() => {
    window.shifted = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources, startTime: at } of list.getEntries()) {
        if (!hadRecentInput) window.shifted.push({ at, value, what: sources.map(({ node }) => node?.outerHTML?.slice(0, 80)) });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });

/**
 * The largest cumulative layout shift, as the Web Vitals count it: over at most five seconds without
 * a second of rest in between.
 */
function largestShift(shifted) {
  let largest = 0;
  let run = { began: -Infinity, last: -Infinity, sum: 0 };
  for (const { at, value } of shifted) {
    const goesOn = at - run.last < 1_000 && at - run.began < 5_000;
    run = { began: goesOn ? run.began : at, last: at, sum: value + (goesOn ? run.sum : 0) };
    largest = Math.max(largest, run.sum);
  }
  return largest;
}

/** Nothing has moved on this page by itself, as far as somebody sees it. */
export async function assertStill(page, name) {
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const shifted = await page.evaluate(() => window.shifted);
  const sum = largestShift(shifted);
  assert.ok(sum < 0.02, `${name} shifts by ${sum}: ${JSON.stringify(shifted)}`);
}

/** The scripts that pages of a context load from now on, workers among them, and their size when compressed. */
export function scriptsOf(context) {
  const loaded = new Map();
  context.on('response', (response) => {
    if (/\.js$/.test(new URL(response.url()).pathname)) loaded.set(response.url(), response.body().catch(() => Buffer.alloc(0)));
  });
  return {
    names: () => [...loaded.keys()].map((it) => it.split('/').at(-1)),
    async bytes() {
      const bodies = await Promise.all(loaded.values());
      return bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
    },
  };
}
