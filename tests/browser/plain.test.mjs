// From the front page to the ticket in Chromium without a script: links and plain forms alone.
// Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { newEmail, send, url } from './organiser.mjs';
import { assertFits, close, headline, open, organiser, press, start, until } from './reader.mjs';
import { rows } from './seats.mjs';

before(start);
after(close);

const WITHOUT = { javaScriptEnabled: false };

/** A show whose event has a title that no other event has. */
async function house(more) {
  const title = `Plain ${randomUUID().slice(0, 8)}`;
  const sections = [{ name: 'Stalls', rows: rows(8, 12) }, { name: 'Circle', rows: rows(2, 14) }];
  const venue = { name: 'Old Gasworks', city: 'Hamburg', timezone: 'Europe/Berlin', sections };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, organiser);
  const { event_id } = await send('POST', '/api/v1/events', { title, category: 'concert', venue_id }, organiser);
  const show = { starts_at: '2098-06-01T19:00:00Z', currency: 'EUR', prices: { Stalls: 3900, Circle: 2500 }, ...more };
  const { show_id } = await send('POST', `/api/v1/events/${event_id}/shows`, show, organiser);
  const isFound = async () => (await send('GET', `/api/v1/events?query=${encodeURIComponent(title)}`)).items.length > 0;
  await until('the search finds the event', isFound);
  return { title, show: show_id };
}

async function introduce(page) {
  await page.getByLabel('Your name').fill('Robin');
  await page.getByLabel('Email address').fill(newEmail());
  await press(page, 'Continue');
}

for (const [name, width, colorScheme] of [['a phone', 320, 'light'], ['a desktop', 1280, 'dark']]) {
  test(`without a script two tickets are bought on ${name}`, async (t) => {
    const { title, show } = await house();
    const { page, assertSound } = await open(t, '/', { ...WITHOUT, colorScheme, viewport: { width, height: 800 } });
    await page.getByRole('searchbox').fill(title);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: title }).click();
    if (!page.url().includes('/shows/')) await page.locator('main a[href^="/shows/"]').first().click();
    await page.getByRole('link', { name: 'Choose seats' }).click();
    await page.waitForURL(`${url}/shows/${show}/seats?plain`);
    await assertFits(page, 'best');
    const group = page.getByRole('group', { name: 'How many tickets?' });
    assert.ok(await group.getByRole('radio', { name: '2', exact: true }).isChecked());
    await press(page, 'Reserve the best');
    await headline(page, 'Who are you?');
    await assertFits(page, 'who');
    await introduce(page);
    await page.waitForURL(/\/shows\/shw_\w+\/holds\/hld_\w+\?plain$/);
    await headline(page, 'These places are held for you');
    await page.getByText('Held for you until').waitFor();
    await assertFits(page, 'checkout');
    assert.ok(await page.getByRole('radio', { name: 'Works' }).isChecked());
    await press(page, 'Buy now · €78.00');
    await headline(page, 'You are going');
    await assertFits(page, 'order');
    const codes = page.getByRole('img', { name: /^QR code: Stalls, row \d+, seat \d+$/ });
    assert.equal(await codes.count(), 2);
    for (const code of await codes.all()) {
      const shown = await code.evaluate((it) => it.complete && it.naturalWidth);
      assert.ok(shown > 0, 'the code is drawn');
    }
    assertSound({ secret: false });
  });
}

test('without a script a declined card is followed by one that works', async (t) => {
  const { show } = await house();
  const { page } = await open(t, `/shows/${show}/seats`, WITHOUT);
  await page.getByRole('radio', { name: '1', exact: true }).check();
  await press(page, 'Reserve the best');
  await introduce(page);
  await page.getByRole('radio', { name: 'Declined' }).check();
  await press(page, 'Buy now · €39.00');
  await headline(page, 'Your payment was declined');
  await page.getByRole('link', { name: 'Try again' }).click();
  await press(page, 'Buy now · €39.00');
  await headline(page, 'You are going');
});

test('without a script a show with its room on leads from the form to the room', async (t) => {
  const { show } = await house({ room: { mode: 'queue_all', capacity: 5, rate_per_second: 5 } });
  const { page } = await open(t, `/shows/${show}/seats`, WITHOUT);
  await press(page, 'Reserve the best');
  await introduce(page);
  await page.waitForURL(`${url}/room/${show}`);
});

test('the plain pages are accessible', async (t) => {
  // axe is a script, so this browser allows them; the pages have none of their own.
  const { show } = await house();
  const { page } = await open(t, `/shows/${show}/seats?plain`);
  const sound = async (step, says) => {
    await headline(page, says);
    assert.equal(await page.locator('script').count(), 0, step);
    await assertAccessible(page, step);
  };
  await sound('best', 'The best places that are free');
  await press(page, 'Reserve the best');
  await sound('who', 'Who are you?');
  await introduce(page);
  await sound('checkout', 'These places are held for you');
  await press(page, 'Buy now · €78.00');
  await sound('order', 'You are going');
});
