// Chromium for these tests, and what axe says of a page in it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
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
