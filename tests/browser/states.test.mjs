// Axe, size, shifts and scripts of every state of the fan's pages, on a small phone in the dark and on a
// desktop in the light. Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, assertStill, launch, watchShifts } from './browser.mjs';
import { url } from './organiser.mjs';
import { close, start } from './reader.mjs';
import { bringTo, everyState } from './states.mjs';

const LOOKS = [
  { viewport: { width: 320, height: 640 }, colorScheme: 'dark', hasTouch: true, isMobile: true },
  { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
];

let browser;
let states;

before(async () => {
  await start();
  browser = await launch();
  states = await everyState();
});
after(async () => {
  await close();
  await browser?.close();
});

/** Nothing of others is asked for, and no script stands in the page. */
async function assertOwn(page, asked, name) {
  assert.deepEqual([...asked], [new URL(url).origin], name);
  const inline = 'script:not([src]):not([type="application/ld+json"]), [onclick], [onload], [style]';
  const found = await page.evaluate(async (selector) => {
    const html = await (await fetch(location.href, { headers: { Accept: 'text/html' } })).text();
    return [...new DOMParser().parseFromString(html, 'text/html').querySelectorAll(selector)].map((it) => it.outerHTML);
  }, inline);
  assert.deepEqual(found, [], name);
}

for (const look of LOOKS) {
  test(`every state is accessible and fits, ${look.viewport.width} px wide and ${look.colorScheme}`, { concurrency: 4 }, async (t) => {
    const only = process.env.ONSALE_STATES?.split(',');
    const looks = states.filter(({ name }) => only?.includes(name) ?? true).map((state) =>
      t.test(state.name, async () => {
        const context = await browser.newContext({ locale: 'en-GB', ...look });
        await watchShifts(context);
        const asked = new Set();
        context.on('request', (request) => {
          if (!request.url().startsWith('data:')) asked.add(new URL(request.url()).origin);
        });
        const page = await bringTo(state, context);
        await assertStill(page, state.name);
        await assertAccessible(page, state.name);
        await assertFits(page, state.name);
        await assertOwn(page, asked, state.name);
        await context.close();
      }));
    await Promise.all(looks);
  });
}
