// From the front page to the ticket in Chromium, in one go: with the mouse, with the keyboard
// alone, by the list alone, on a small phone, and with a reload at every step; and two browsers
// that want the same seats. Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newEmail, send, url } from './organiser.mjs';
import { close, open, organiser, PATIENCE_MS, start, until } from './reader.mjs';
import { assertFits, atCheckout, atSeats, chosen, reserveButton, rows, waitForChosen } from './seats.mjs';
import { state } from './waiting.mjs';

const WIDE = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const room = { mode: 'queue_all', capacity: 50, rate_per_second: 50, pass_seconds: 300 };

before(start);
after(close);

/** A show with its room on, whose event has a title that no other event has. */
async function house(more) {
  const title = `Journey ${randomUUID().slice(0, 8)}`;
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

const reserve = (page) => page.getByRole('button', { name: 'Reserve 2 seats · €78.00' });

const fill = (target, text) => target.fill(text);

/** From the front page to the event and its show. */
async function comeToShow(page, title, go, type = fill) {
  await type(page.getByRole('searchbox'), title);
  await go(page.getByRole('link', { name: title }));
  await page.waitForURL(/\/(events|shows)\/\w+$/);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  if (!/\/shows\//.test(page.url())) await go(page.locator('main a[href^="/shows/"]').first());
  await page.waitForURL(/\/shows\/\w+$/);
}

/** On through the room to the seats. */
async function comeToSeats(page, title, go, type) {
  await comeToShow(page, title, go, type);
  await go(page.getByRole('link', { name: 'To the waiting room' }));
  await page.getByRole('heading', { name: 'It is your turn' }).waitFor({ timeout: PATIENCE_MS });
  await page.waitForURL('**/seats', { timeout: PATIENCE_MS });
  await page.getByRole('group', { name: 'How many tickets?' }).waitFor();
}

async function sayWho(page, go, type = fill) {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Who are you?' }).waitFor();
  await type(dialog.getByLabel('Your name'), 'Robin');
  await type(dialog.getByLabel('Email address'), newEmail());
  await go(dialog.getByRole('button', { name: 'Continue' }));
  await atCheckout(page);
}

async function payAndShow(page, go) {
  await page.getByRole('timer').waitFor();
  await go(page.getByRole('button', { name: 'Buy now · €78.00' }));
  await page.getByRole('heading', { name: 'You are going' }).waitFor();
  assert.equal(await page.getByRole('img', { name: /^QR code/ }).count(), 2);
  await go(page.getByRole('link', { name: 'Show full screen' }).first());
  await page.waitForURL('**/tickets/tkt_*');
  await page.getByRole('img', { name: /^QR code/ }).waitFor();
}

test('a fan buys two seats with the mouse, from the front page to the ticket', async (t) => {
  const { title } = await house({ room });
  const { page, assertSound } = await open(t, '/', WIDE);
  const click = (target) => target.click();
  await comeToSeats(page, title, click);
  await click(reserve(page));
  await sayWho(page, click);
  await payAndShow(page, click);
  assertSound({ secret: false });
});

test('a fan buys two seats with the keyboard alone', async (t) => {
  const { title } = await house({ room });
  const { page, assertSound } = await open(t, '/', WIDE);
  const tabTo = async (target) => {
    await target.waitFor();
    for (let i = 0; i < 80; i++) {
      if (await target.evaluate((it) => it === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`the focus never reaches ${target}`);
  };
  const enter = async (target) => {
    await tabTo(target);
    await page.keyboard.press('Enter');
  };
  const type = async (target, text) => {
    await tabTo(target);
    await page.keyboard.type(text);
  };
  await comeToSeats(page, title, enter, type);
  await enter(reserve(page));
  await sayWho(page, enter, type);
  await payAndShow(page, enter);
  assertSound({ secret: false });
});

test('a fan buys two seats from the list, without looking at the map', async (t) => {
  const { title } = await house();
  const { page, assertSound } = await open(t, '/', WIDE);
  await comeToShow(page, title, (it) => it.click());
  await page.getByRole('link', { name: 'Choose seats' }).click();
  await page.getByRole('button', { name: 'Choose from a list' }).click();
  await page.getByRole('button', { name: /^Stalls, row 2/ }).first().click();
  await reserve(page).click();
  await sayWho(page, (it) => it.click());
  await payAndShow(page, (it) => it.click());
  assertSound({ secret: false });
});

test('a fan buys two seats on a screen of 320 pixels, and every page fits it', async (t) => {
  const { title } = await house({ room });
  const { page, assertSound } = await open(t, '/', PHONE);
  const tap = async (target) => {
    await target.waitFor();
    await page.waitForLoadState();
    await assertFits(page);
    await target.tap();
  };
  await comeToSeats(page, title, tap);
  await tap(reserve(page));
  await sayWho(page, (it) => it.tap());
  await payAndShow(page, tap);
  assertSound({ secret: false });
  assert.ok(page.url().startsWith(url));
});

test('every page can be loaded again, and the journey goes on where it was', async (t) => {
  const { title, show } = await house({ room: { ...room, capacity: 1 } });
  // The one who is inside keeps everybody else in the room.
  const inside = await open(t, `/room/${show}`, WIDE);
  await inside.page.waitForURL('**/seats', { timeout: PATIENCE_MS });
  const { page, assertSound } = await open(t, '/', WIDE);
  const click = (target) => target.click();
  const heading = (name, level = 2) => page.getByRole('heading', { level, name }).waitFor();

  await page.getByRole('searchbox').fill(title);
  await page.getByRole('link', { name: title }).waitFor();
  await page.waitForURL(/query=/);
  await page.reload();
  await page.getByRole('link', { name: title }).waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), title);
  await comeToShow(page, title, click);
  await page.reload();
  await heading(title, 1);

  await click(page.getByRole('link', { name: /waiting room/ }));
  await state(page, 'waiting', 'door');
  const placeInLine = async () => (await page.context().cookies(`${url}/room/${show}`)).map(({ name, value }) => `${name}=${value}`).sort();
  const place = await placeInLine();
  assert.ok(place.length > 0, 'the place in line is in a cookie');
  await page.reload();
  await state(page, 'waiting', 'door');
  assert.deepEqual(await placeInLine(), place, 'it is the same place in line');
  await send('PUT', `/api/v1/shows/${show}/room`, room, organiser);
  await page.waitForURL('**/seats', { timeout: PATIENCE_MS });

  await click(page.getByRole('button', { name: 'Choose from a list' }));
  await click(page.getByRole('button', { name: /^Stalls, row 3/ }).first());
  const wanted = await chosen(page);
  assert.ok(wanted.length === 2 && wanted.every((it) => it.startsWith('Stalls, row 3')), wanted.join());
  for (let i = 0; i < 2; i++) {
    await page.reload();
    await waitForChosen(page, ...wanted);
  }
  await click(reserve(page));
  const who = page.getByRole('dialog').getByRole('heading', { name: 'Who are you?' });
  await who.waitFor();
  await page.reload();
  await who.waitFor();
  assert.deepEqual(await chosen(page), wanted);
  await sayWho(page, click);

  await heading('These places are held for you');
  const checkout = page.url();
  await page.reload();
  await heading('These places are held for you');
  assert.equal(page.url(), checkout);
  for (const seat of wanted) await page.getByRole('row', { name: seat }).waitFor();
  await page.getByRole('radio', { name: '3-D Secure' }).check();
  await click(page.getByRole('button', { name: 'Buy now · €78.00' }));
  await heading('Your bank asks you to confirm');
  await page.reload();
  await heading('Your bank asks you to confirm');
  await click(page.getByRole('button', { name: 'Confirm at your bank' }));
  await heading('You are going');
  await page.reload();
  await heading('You are going');
  for (const seat of wanted) await page.getByRole('img', { name: `QR code: ${seat}` }).waitFor();
  await click(page.getByRole('link', { name: 'Show full screen' }).first());
  await page.waitForURL('**/tickets/tkt_*');
  await page.reload();
  await page.getByRole('img', { name: /^QR code: Stalls, row 3/ }).waitFor();
  assertSound({ secret: false });
});

test('two browsers want the same seats: one gets them, the other sees why and gets others proposed', async (t) => {
  const { show } = await house();
  const sent = new Set();
  // The first request waits for the second, so that both are on their way.
  const together = (page) =>
    page.route(/\/holds$/, async (route) => {
      if (route.request().method() === 'POST' && !sent.has(page)) {
        sent.add(page);
        await until('both have reserved', () => sent.size === 2);
      }
      await route.continue();
    });
  const pages = [];
  for (let i = 0; i < 2; i++) {
    const { page } = await atSeats(t, show, { ...WIDE, before: together });
    await page.getByRole('button', { name: 'Choose from a list' }).click();
    await page.getByRole('button', { name: /^Stalls, row 4/ }).first().click();
    pages.push(page);
  }
  const wanted = await chosen(pages[0]);
  assert.deepEqual(await chosen(pages[1]), wanted);
  await Promise.all(pages.map((page) => reserveButton(page).click()));
  const winner = await Promise.any(pages.map((page) => atCheckout(page).then(() => page)));
  const [loser] = pages.filter((page) => page !== winner);
  await loser.getByText('Somebody was faster: 2 of your seats are gone.').first().waitFor();
  const instead = await chosen(loser);
  assert.equal(instead.length, 2, 'as many are proposed');
  assert.ok(!instead.some((it) => wanted.includes(it)), instead.join());
  await reserveButton(loser).click();
  await atCheckout(loser);
  for (const [page, seats] of [[winner, wanted], [loser, instead]]) {
    for (const seat of seats) await page.getByRole('row', { name: seat }).waitFor();
  }
});
