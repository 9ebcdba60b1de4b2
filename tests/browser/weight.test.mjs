// What the seat page and the checkout weigh in every state, in the language with the longest
// words, and that nothing on them moves by itself. Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertStill, scriptsOf, watchShifts } from './browser.mjs';
import { url } from './organiser.mjs';
import { close, headline, hold, open, start } from './reader.mjs';
import { newHouse, rows } from './seats.mjs';

const SEATS_BYTES = 22_000;
const CHECKOUT_BYTES = 14_000;
const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 740 }, hasTouch: true, isMobile: true };

before(start);
after(close);

const standing = { name: 'Floor', capacity: 200 };
const HOUSES = {
  'with a plan': () =>
    newHouse(
      [
        { name: 'Stalls', rows: rows(10, 12), shape: { x: 0, y: 0 } },
        { ...standing, shape: { x: 0, y: 20, width: 10, height: 5 } },
      ],
      { Stalls: 3900, Floor: 2500 },
    ),
  'without a plan': () =>
    newHouse([{ name: 'Stalls', rows: rows(10, 12) }, { name: 'Circle', rows: rows(2, 14) }, standing], { Stalls: 3900, Circle: 4900, Floor: 2500 }),
  'with general admission': () => newHouse([standing], { Floor: 2500 }),
};

/** Does everything that loads something, short of reserving. */
async function useAll(page, isPhone) {
  await page.locator('.reserve', { hasText: '€' }).waitFor();
  const map = page.locator('.map canvas');
  if (!(await map.count())) return;
  await page.waitForFunction(() => document.querySelector('.twin [role=row]'));
  await page.locator('.twin [tabindex="0"]').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  const { x, y, width, height } = await map.boundingBox();
  if (isPhone) {
    await page.locator('.handle').waitFor();
    await page.touchscreen.tap(x + width / 2, y + height / 2);
  } else {
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.move(x + width / 2 + 5, y + height / 2 + 5);
    await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('pointing.js')));
  }
  // By a key: what moves after an input of the reader does not count as moving by itself.
  await page.locator('button[aria-expanded]', { hasText: 'Liste' }).press('Enter');
  await page.locator('.rows button').first().waitFor();
}

for (const [house, make] of Object.entries(HOUSES)) {
  for (const [device, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    test(`a house ${house} on a ${device}: at most 22,000 bytes of script, and nothing moves by itself`, async (t) => {
      const { page, context } = await open(t, '/healthz', { ...options, locale: 'de-DE' });
      await watchShifts(context);
      const scripts = scriptsOf(context);
      await page.goto(`${url}/shows/${await make()}/seats`);
      await page.locator('.reserve', { hasText: '€' }).waitFor();
      await page.waitForLoadState('networkidle');
      await assertStill(page, house);
      await useAll(page, device === 'phone');
      await page.waitForLoadState('networkidle');
      const bytes = await scripts.bytes();
      t.diagnostic(`${bytes} bytes`);
      assert.ok(scripts.names().includes('seats.de.js'), 'the words are counted');
      assert.ok(bytes > 10_000 && bytes <= SEATS_BYTES, `${bytes} bytes: ${scripts.names()}`);
    });
  }
}

test('the checkout loads at most 14,000 bytes of script from the first look to the order', async (t) => {
  const { token, path } = await hold(['Stalls-1-1']);
  const { page, context } = await open(t, '/healthz', { token, locale: 'de-DE' });
  const scripts = scriptsOf(context);
  await page.goto(url + path);
  await headline(page, 'Diese Plätze sind für Sie reserviert');
  await page.getByRole('radio').nth(1).check();
  await page.locator('button', { hasText: 'Zahlungspflichtig' }).click();
  await headline(page, /abgelehnt/);
  await page.getByRole('radio').nth(2).check();
  await page.locator('button', { hasText: 'Zahlungspflichtig' }).click();
  await headline(page, /Bank/);
  const bytes = await scripts.bytes();
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes > 5_000 && bytes <= CHECKOUT_BYTES, `${bytes} bytes: ${scripts.names()}`);
});
