// Choosing seats in Chromium, against a running platform: with the mouse, the keyboard alone,
// the list alone and a finger.
//
//   npm ci --prefix tests/browser
//   ONSALE_URL=http://127.0.0.1:8787 node --test tests/browser/seats.test.mjs

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { close, open, PATIENCE_MS, start } from './reader.mjs';
import {
  assertFits,
  atCheckout,
  atSeats,
  chosen,
  hearing,
  newHouse,
  pointAt,
  reserveButton,
  rows,
  stalls,
  theatre,
  told,
  waitForChosen,
  WIDE,
} from './seats.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };

before(start);
after(close);

test('the best seats are marked already, and one press reserves them', async (t) => {
  const show = await theatre();
  const { page, assertSound } = await atSeats(t, show, WIDE);
  await page.getByRole('heading', { name: 'The best seats now' }).waitFor();
  assert.deepEqual(await chosen(page), ['Stalls, row 1, seat 6', 'Stalls, row 1, seat 7']);
  await assertAccessible(page, 'choose');
  await page.getByRole('button', { name: 'Reserve 2 seats · €78.00' }).click();
  await atCheckout(page);
  assertSound();
});

test('how many is asked first, remembered, and at most what a person may buy', async (t) => {
  const show = await theatre({ max_tickets_per_buyer: 4 });
  const { page, origin } = await atSeats(t, show, WIDE);
  const radios = page.getByRole('group', { name: 'How many tickets?' }).getByRole('radio');
  assert.equal(await radios.count(), 4);
  await page.getByRole('radio', { name: '3' }).check();
  await page.getByRole('button', { name: 'Reserve 3 seats · €117.00' }).waitFor();
  await page.goto(`${origin}/shows/${show}/seats`);
  await page.getByRole('button', { name: 'Reserve 3 seats · €117.00' }).waitFor();
  await page.goto(`${origin}/shows/${show}/seats?n=1`);
  await page.getByRole('button', { name: 'Reserve 1 seat · €39.00' }).waitFor();
});

test('a click takes neighbours, avoids a single seat and says why', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, WIDE);
  await pointAt(page, 'Stalls, row 3, seats 4, 5');
  await page.mouse.down();
  await page.mouse.up();
  await page.getByRole('heading', { name: 'Your seats' }).waitFor();
  assert.deepEqual(await chosen(page), ['Stalls, row 3, seat 4', 'Stalls, row 3, seat 5']);
  // Seat 2 with its right neighbour would leave seat 1 alone.
  const cell = page.getByRole('gridcell', { name: 'Row 3, seat 2, free, €39.00' });
  await cell.evaluate((it) => it.click());
  await waitForChosen(page, 'Stalls, row 3, seat 1', 'Stalls, row 3, seat 2');
  await page.getByText('so that no single seat is left over').first().waitFor();
  // One of them is given back, and the next tap brings one more.
  await page.getByRole('button', { name: 'Remove Stalls, row 3, seat 1' }).click();
  await page.getByText('One more seat to choose.').waitFor();
  await page.getByRole('button', { name: 'Reserve 1 seat · €39.00' }).waitFor();
  await assertAccessible(page, 'chosen');
});

test('seats are picked one by one up to the limit', async (t) => {
  const { page } = await atSeats(t, await theatre({ max_tickets_per_buyer: 2 }), WIDE);
  await page.getByLabel('Pick seats one by one').check();
  for (const seat of [3, 8, 10]) {
    await page.getByRole('gridcell', { name: `Row 4, seat ${seat}, free, €39.00` }).evaluate((it) => it.click());
  }
  await page.getByText('At most 2 tickets for each person').first().waitFor();
  assert.deepEqual(await chosen(page), ['Stalls, row 4, seat 3', 'Stalls, row 4, seat 8']);
  await page.getByRole('gridcell', { name: 'Row 4, seat 3, chosen, €39.00' }).evaluate((it) => it.click());
  await waitForChosen(page, 'Stalls, row 4, seat 8');
});

test('seats are chosen and reserved with the keyboard alone', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, WIDE);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '');
  const tabTo = async (isThere) => {
    for (let i = 0; i < 40; i++) {
      if (await page.evaluate(isThere)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`the focus ends at ${await focused()}`);
  };
  await tabTo(() => document.activeElement?.getAttribute('name') === 'many');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('button', { name: 'Reserve 3 seats · €117.00' }).waitFor();
  await page.getByRole('grid', { name: 'Stalls' }).waitFor({ state: 'attached' });
  await tabTo(() => document.activeElement?.getAttribute('role') === 'gridcell');
  assert.match(await focused(), /^Row 1, seat \d+, chosen, €39.00$/);
  await page.keyboard.press('Control+Home');
  assert.equal(await focused(), 'Row 1, seat 1, free, €39.00');
  for (const key of ['PageDown', 'ArrowUp', 'ArrowUp', 'End', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
  assert.equal(await focused(), 'Row 7, seat 10, free, €39.00');
  await assertAccessible(page, 'the grid');
  await page.keyboard.press('Space');
  await waitForChosen(page, ...[8, 9, 10].map((it) => `Stalls, row 7, seat ${it}`));
  assert.equal(await focused(), 'Row 7, seat 10, chosen, €39.00');
  await tabTo(() => document.activeElement?.textContent?.startsWith('Reserve'));
  await page.keyboard.press('Enter');
  await atCheckout(page);
});

test('a cell of the grid is pressed wherever the focus was, by key and by pointer', async (t) => {
  const { page } = await atSeats(t, await theatre(), WIDE);
  await page.getByRole('gridcell', { name: 'Row 5, seat 9, free, €39.00' }).press('Space');
  await waitForChosen(page, 'Stalls, row 5, seat 9', 'Stalls, row 5, seat 10');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Row 6, seat 9, free, €39.00');
  await page.getByRole('gridcell', { name: 'Row 8, seat 4, free, €39.00' }).click();
  await waitForChosen(page, 'Stalls, row 8, seat 4', 'Stalls, row 8, seat 5');
});

test('seats are chosen and reserved by the list alone', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, WIDE);
  await page.getByRole('button', { name: 'Choose from a list' }).press('Enter');
  const items = page.locator('.rows button');
  assert.equal(await items.first().getAttribute('aria-pressed'), 'true', 'the best are chosen already');
  await page.getByLabel('Section', { exact: true }).selectOption({ label: 'Circle · from €25 · 28 free' });
  assert.match(await items.first().textContent(), /^Circle, row 1, seats 7, 8/);
  await assertAccessible(page, 'the list');
  await items.nth(1).press('Enter');
  await waitForChosen(page, 'Circle, row 2, seat 7', 'Circle, row 2, seat 8');
  assert.equal(await items.nth(1).evaluate((it) => it === document.activeElement), true, 'the focus stays');
  await page.getByRole('button', { name: 'Reserve 2 seats · €50.00' }).press('Enter');
  await atCheckout(page);
});

test('everything fits on 320 pixels, and a finger zooms before it chooses', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, PHONE);
  await assertFits(page);
  await assertAccessible(page, 'a phone');
  const { x, y, width, height } = await page.locator('.map canvas').boundingBox();
  const before = await chosen(page);
  await page.touchscreen.tap(x + width / 2, y + height * 0.55);
  await page.waitForFunction(() => document.querySelector('#section').value !== '-1');
  assert.deepEqual(await chosen(page), before, 'seats are too small to be hit');
  const menu = page.getByLabel('Go to a section');
  assert.match(await menu.locator('option:checked').textContent(), /from €\d+ · \d+ free$/);
  const handle = page.getByRole('button', { name: 'Show more or less' });
  await handle.click();
  assert.equal(await handle.getAttribute('aria-expanded'), 'true');
  await page.getByRole('button', { name: 'Choose from a list' }).click();
  await assertFits(page);
  await page.locator('.rows button').nth(2).click();
  await handle.click();
  await reserveButton(page).click();
  await atCheckout(page);
});

test('prices filter what is offered, with what is left of each', async (t) => {
  const { page } = await atSeats(t, await theatre(), WIDE);
  const cheap = page.getByRole('button', { name: /^€25/ });
  assert.match(await cheap.textContent(), /28 free/);
  await cheap.click();
  assert.equal(await cheap.getAttribute('aria-pressed'), 'true');
  await page.getByRole('button', { name: 'Reserve 2 seats · €50.00' }).waitFor();
  await page.getByRole('button', { name: 'Choose from a list' }).click();
  assert.ok((await page.locator('.rows button').allTextContents()).every((it) => it.startsWith('Circle')));
});

test('an accessible place is offered to those who ask', async (t) => {
  const { page } = await atSeats(t, await theatre(), WIDE);
  await page.getByLabel('I need an accessible place').check();
  await waitForChosen(page, 'Stalls, row 10, seat 1', 'Stalls, row 10, seat 2');
  await page.getByRole('gridcell', { name: 'Row 10, seat 1, chosen, €39.00, accessible' }).waitFor({ state: 'attached' });
});

test('places without numbers are reserved by number', async (t) => {
  const show = await newHouse([{ name: 'Floor', capacity: 50 }, { name: 'Balcony', capacity: 1 }], { Floor: 2500, Balcony: 4000 });
  const { page } = await atSeats(t, show);
  assert.equal(await page.locator('canvas').count(), 0);
  await page.getByRole('button', { name: 'Reserve 2 tickets · €50.00' }).waitFor();
  await page.getByRole('button', { name: 'More tickets: Floor' }).click();
  await page.getByRole('button', { name: 'Reserve 3 tickets · €75.00' }).waitFor();
  await page.getByRole('button', { name: 'Fewer tickets: Floor' }).click();
  await assertAccessible(page, 'by number');
  await assertFits(page);
  await page.getByRole('button', { name: 'Reserve 2 tickets · €50.00' }).click();
  await atCheckout(page);
});

test('a house with seats and standing room offers both', async (t) => {
  const show = await newHouse([{ name: 'Standing', capacity: 50 }, { name: 'Seats', rows: rows(3, 8) }], { Standing: 2000, Seats: 3000 });
  const { page } = await atSeats(t, show, WIDE);
  await page.getByRole('button', { name: 'Reserve 2 seats · €60.00' }).waitFor();
  await page.getByRole('button', { name: 'More tickets: Standing' }).click();
  await page.getByRole('button', { name: 'Reserve 2 tickets · €40.00' }).waitFor();
  await page.getByRole('button', { name: 'Choose from a list' }).click();
  await page.getByRole('button', { name: /^Seats, row 1, seats 4, 5/ }).click();
  await page.getByRole('button', { name: 'Reserve 2 seats · €60.00' }).waitFor();
});

test('nothing jumps while the page fills', async (t) => {
  const show = await theatre();
  for (const options of [WIDE, PHONE]) {
    const before = (page) =>
      page.addInitScript(() => {
        window.shifted = 0;
        const add = (list) => { for (const { value, hadRecentInput } of list.getEntries()) window.shifted += hadRecentInput ? 0 : value; };
        new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
      });
    const { page } = await atSeats(t, show, { ...options, before });
    await page.waitForFunction(() => document.querySelector('.twin [role=row]'));
    const shifted = await page.evaluate(() => window.shifted);
    assert.ok(shifted < 0.02, `${options.viewport.width} px: ${shifted}`);
  }
});

test('the page speaks the language of its reader', async (t) => {
  const show = await theatre();
  const { page } = await open(t, `/shows/${show}/seats`, { locale: 'de-DE', ...WIDE });
  await page.getByRole('group', { name: 'Wie viele Tickets?' }).waitFor();
  await page.getByRole('button', { name: /^2 Plätze reservieren · 78,00/ }).waitFor();
  await page.getByRole('gridcell', { name: /^Reihe 2, Platz 3, frei, 39,00/ }).waitFor({ state: 'attached' });
});

test('50,000 places: the page has no element for each of them', async (t) => {
  const sections = Array.from({ length: 50 }, (_, i) => ({ name: `Block ${i + 1}`, rows: rows(50, 20) }));
  const show = await newHouse(sections, Object.fromEntries(sections.map(({ name }, i) => [name, 3000 + (i % 6) * 1500])));
  const { page } = await atSeats(t, show, WIDE);
  await reserveButton(page).filter({ hasText: '€' }).waitFor({ timeout: PATIENCE_MS });
  await page.waitForFunction(() => document.querySelector('.twin [role=row]'));
  assert.equal(await page.locator('.twin [role=row]').count(), 32);
  assert.ok((await page.locator('*').count()) < 1_200, 'no element for each seat');
});

test('rows of the list stay the same elements while others change, and the focus stays with its row', async (t) => {
  const { page, feed } = await hearing(t);
  await page.getByRole('button', { name: 'Choose from a list' }).click();
  const items = page.locator('.rows button');
  await items.nth(2).focus();
  const words = await items.nth(2).textContent();
  await page.evaluate(() => {
    window.kept = [...document.querySelectorAll('.rows button')];
  });
  await feed.take(page, stalls(9, 1));
  assert.equal(await page.evaluate(() => window.kept.every((it, i) => it === document.querySelectorAll('.rows button')[i])), true);
  // The row before it goes.
  await feed.take(page, ...Array.from({ length: 12 }, (_, i) => stalls(2, i + 1)));
  assert.equal(await items.nth(1).textContent(), words);
  assert.equal(await page.evaluate(() => document.activeElement === window.kept[2]), true);
});

test('the keyboard hears why a seat is not taken, and keeps the focus when the last one is removed', async (t) => {
  const { page, feed } = await hearing(t);
  assert.equal(await page.getByRole('grid', { name: 'Stalls' }).getAttribute('aria-multiselectable'), 'true');
  await feed.take(page, stalls(9, 1));
  await page.locator(`[data-place="${stalls(9, 1)}"]`).evaluate((it) => it.click());
  await told(page, 'Row 9, seat 1, reserved');
  await page.getByRole('button', { name: /^€25/ }).click();
  await page.getByLabel('Go to a section').selectOption('0');
  await page.locator(`[data-place="${stalls(9, 3)}"]`).evaluate((it) => it.click());
  await told(page, 'Your price filter leaves out €39.00.');
  await page.getByRole('button', { name: /^Remove Circle/ }).first().press('Enter');
  await page.getByRole('button', { name: /^Remove Circle/ }).press('Enter');
  await page.getByRole('heading', { name: 'Choose your seats', level: 2 }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Choose your seats');
});

test('a browser that keeps nothing has the page all the same, and reads a version of the layout', async (t) => {
  const asked = [];
  const before = async (page) => {
    page.on('request', (it) => asked.push(it.url()));
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          configurable: true,
          get() {
            throw new DOMException('no', 'SecurityError');
          },
        });
      }
    });
  };
  const { page, assertSound } = await hearing(t, { before, query: '?n=2.5' });
  assert.ok(asked.some((it) => it.endsWith('/layout?version=1')));
  assert.equal(await page.getByRole('radio', { name: '2', exact: true }).isChecked(), true);
  await page.getByText('3', { exact: true }).click();
  await page.getByRole('button', { name: 'Reserve 3 seats · €117.00' }).click();
  await atCheckout(page);
  assertSound();
});
