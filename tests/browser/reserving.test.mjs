// Reserving seats in Chromium while others do: who was faster, what the feed tells, passes, lost
// replies and connections. Run as seats.test.mjs is.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { newEmail, password, send } from './organiser.mjs';
import { close, open, start } from './reader.mjs';
import {
  atCheckout,
  atSeats,
  chosen,
  enterAs,
  hearing,
  newHouse,
  otherBuyer,
  reserveButton,
  rows,
  scriptedFeed,
  stalls,
  theatre,
  told,
  waitForChosen,
  WIDE,
} from './seats.mjs';
import { hide } from './waiting.mjs';

before(start);
after(close);

/** The page hears nothing of others: its feed is refused. */
const deaf = async (page) => {
  await page.routeWebSocket(/\/feed\//, (socket) => socket.close());
  await page.route(/\/feed\//, (route) => route.abort());
};

const refusal = (body) => ({ status: body.status, contentType: 'application/problem+json', body: JSON.stringify(body) });

test('two want one seat: who comes second sees why, and reserves what is proposed', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, { ...WIDE, before: deaf });
  await (await otherBuyer(show)).take('Stalls-1-7', 'Stalls-1-8');
  await reserveButton(page).click();
  await told(page, 'Somebody was faster: one of your seats is gone.');
  assert.ok(!(await chosen(page)).includes('Stalls, row 1, seat 7'));
  assert.equal((await chosen(page)).length, 2, 'as many are proposed elsewhere');
  await page.getByRole('gridcell', { name: 'Row 1, seat 7, reserved' }).waitFor({ state: 'attached' });
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Reserve 2 seats · €78.00');
  await assertAccessible(page, 'somebody was faster');
  await reserveButton(page).click();
  await atCheckout(page);
});

test('a seat goes while it is chosen: others are proposed at once, and it is told', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, WIDE);
  await page.getByRole('gridcell', { name: 'Row 5, seat 3, free, €39.00' }).evaluate((it) => it.click());
  await waitForChosen(page, 'Stalls, row 5, seat 3', 'Stalls, row 5, seat 4');
  await (await otherBuyer(show)).take('Stalls-5-4');
  await page.locator('.news .notice', { hasText: 'Somebody was faster' }).waitFor();
  assert.equal((await chosen(page)).length, 2);
  await page.getByRole('status').filter({ hasText: 'Somebody was faster' }).first().waitFor({ state: 'attached' });
});

test('the feed is cut: that is told, and what was missed is seen when it is back', async (t) => {
  const show = await theatre();
  let isCut = false;
  const sockets = new Set();
  const before = async (page) => {
    await page.routeWebSocket(/\/feed\//, (socket) => {
      if (isCut) return socket.close();
      socket.connectToServer();
      return sockets.add(socket);
    });
    await page.route(/\/feed\//, (route) => (isCut ? route.abort() : route.continue()));
  };
  const { page } = await atSeats(t, show, { ...WIDE, before });
  await page.waitForFunction(() => document.querySelector('.twin [role=row]'));
  isCut = true;
  for (const socket of sockets) await socket.close();
  await page.getByText('No live connection.').waitFor();
  await assertAccessible(page, 'offline');
  await (await otherBuyer(show)).take('Stalls-9-1');
  isCut = false;
  await page.getByText('No live connection.').waitFor({ state: 'hidden' });
  await page.getByRole('gridcell', { name: 'Row 9, seat 1, reserved' }).waitFor({ state: 'attached' });
});

test('a tab that was hidden reads the map before it listens again', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, WIDE);
  await page.waitForFunction(() => document.querySelector('.twin [role=row]'));
  await hide(page, true);
  await (await otherBuyer(show)).take('Stalls-9-1');
  const read = page.waitForRequest(/availability\.bin$/);
  await hide(page, false);
  await read;
  await page.getByRole('gridcell', { name: 'Row 9, seat 1, reserved' }).waitFor({ state: 'attached' });
});

test('while the last seats are only reserved the page waits for them, and offers them when they come back', async (t) => {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }], { Box: 3900 });
  const { page } = await atSeats(t, show, WIDE);
  const other = await otherBuyer(show);
  const hold = await other.take('Box-1-1', 'Box-1-2');
  await told(page, 'All places are reserved right now.');
  assert.equal(await page.getByRole('link', { name: 'Join the waitlist' }).count(), 0);
  await reserveButton(page).waitFor({ state: 'hidden' });
  await assertAccessible(page, 'all reserved');
  await other.release(hold);
  await page.getByRole('button', { name: 'Reserve 2 seats · €78.00' }).waitFor();
});

test('a show that is sold out meanwhile leads to the waitlist', async (t) => {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }], { Box: 3900 });
  const { page } = await atSeats(t, show, WIDE);
  const other = await otherBuyer(show);
  await other.buy(await other.take('Box-1-1', 'Box-1-2'));
  await told(page, 'Sold out.');
  assert.match(await page.getByRole('link', { name: 'Join the waitlist' }).getAttribute('href'), new RegExp(`^/shows/${show}`));
  await reserveButton(page).waitFor({ state: 'hidden' });
  await assertAccessible(page, 'sold out meanwhile');
});

test('who is not known says who they are in place, and the reservation goes on by itself', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, { known: false });
  const email = newEmail();
  await send('POST', '/api/v1/accounts', { email, password, name: 'Robin', role: 'buyer' });
  await reserveButton(page).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Who are you?' }).waitFor();
  await assertAccessible(page, 'who are you');
  await dialog.getByRole('button', { name: 'I have an account' }).click();
  await dialog.getByLabel('Email address').fill(email);
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await atCheckout(page);
});

test('work that is asked for is done in the background, with a bar', async (t) => {
  const show = await theatre();
  const { page } = await atSeats(t, show, WIDE);
  const hex = () => randomBytes(16).toString('hex');
  const parameters = { algorithm: 'SHA-256', salt: hex(), nonce: hex(), cost: 4 };
  const counter = 60_000;
  let key = Buffer.from(parameters.salt + parameters.nonce + counter.toString(16).padStart(8, '0'), 'hex');
  for (let i = 0; i < parameters.cost; i++) key = createHash('sha256').update(key).digest();
  const challenge = { parameters: { ...parameters, keyPrefix: key.toString('hex').slice(0, 32) }, signature: 'ours' };
  const bar = page.getByRole('progressbar');
  const solved = new Promise((resolve) => {
    page.route(/\/holds$/, async (route) => {
      const proof = await route.request().headerValue('onsale-work');
      if (route.request().method() !== 'POST') return route.continue();
      if (proof) {
        // It stays until the answer is there.
        await bar.waitFor();
        resolve(JSON.parse(atob(proof)));
        return route.continue();
      }
      const body = { type: 'urn:onsale:work_required', status: 428, challenge };
      return route.fulfill({ status: 428, contentType: 'application/problem+json', body: JSON.stringify(body) });
    });
  });
  await reserveButton(page).click();
  const proof = await solved;
  assert.equal(proof.solution.counter, counter);
  assert.deepEqual(proof.challenge, challenge);
  await atCheckout(page);
});

test('a reply that was lost and a page that was loaded anew find the same hold', async (t) => {
  const show = await theatre();
  const { page, origin, context } = await atSeats(t, show, WIDE);
  const keys = [];
  let first;
  await page.route(/\/holds$/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    keys.push(await route.request().headerValue('idempotency-key'));
    if (first) return route.continue();
    first = await (await route.fetch()).json();
    return route.abort();
  });
  await reserveButton(page).click();
  await page.waitForFunction(() => Object.keys(sessionStorage).some((it) => it.startsWith('reserve ')));
  while (!first) await page.evaluate(() => new Promise((next) => requestAnimationFrame(next)));
  await page.goto(`${origin}/shows/${show}/seats`);
  await atCheckout(page);
  assert.equal(new Set(keys).size, 1, 'one key for one reservation');
  assert.ok(page.url().endsWith(first.hold_id));
  assert.equal((await context.cookies()).some(({ name }) => name.endsWith('onsale_session')), true);
});

test('more than a person may buy is told', async (t) => {
  const show = await theatre({ max_tickets_per_buyer: 2 });
  const { page, origin } = await atSeats(t, show, WIDE);
  await reserveButton(page).click();
  await atCheckout(page);
  await page.goto(`${origin}/shows/${show}/seats`);
  await page.getByRole('gridcell', { name: 'Row 5, seat 3, free, €39.00' }).evaluate((it) => it.click());
  await reserveButton(page).click();
  await told(page, 'At most 2 tickets for each person');
  await assertAccessible(page, 'limit reached');
});

test('seats that are held already, in another tab perhaps, are told', async (t) => {
  const show = await theatre();
  const { page, origin } = await atSeats(t, show, WIDE);
  await reserveButton(page).click();
  await atCheckout(page);
  const checkout = page.url();
  await page.goto(`${origin}/shows/${show}/seats`);
  await told(page, 'You have 2 seats reserved until');
  await assertAccessible(page, 'held in another tab');
  assert.equal(origin + (await page.getByRole('link', { name: 'Go to the checkout' }).getAttribute('href')), checkout);
  await page.getByRole('button', { name: 'Give them back' }).click();
  await page.getByText('You have 2 seats reserved until').waitFor({ state: 'hidden' });
  await page.getByRole('gridcell', { name: /^Row 1, seat 6, (free|chosen), / }).waitFor({ state: 'attached' });
});

test('without a pass the page leads to the waiting room, and the choice is kept', async (t) => {
  const show = await theatre({ room: { mode: 'queue_all', capacity: 10, rate_per_second: 10 } });
  const { page, origin } = await atSeats(t, show, WIDE);
  await told(page, 'The way to these seats goes through the waiting room');
  assert.equal(await page.getByRole('link', { name: 'To the waiting room' }).getAttribute('href'), `/room/${show}`);
  await assertAccessible(page, 'no pass');
  await page.evaluate((it) => sessionStorage.setItem(`choice ${it}`, '{"seats":["Stalls-8-3","Stalls-8-4"]}'), show);
  await page.goto(`${origin}/shows/${show}/seats`);
  await waitForChosen(page, 'Stalls, row 8, seat 3', 'Stalls, row 8, seat 4');
});

test('the waiting room leads to the seats; the pass is renewed by what is done there, and not by looking', async (t) => {
  const show = await theatre({ room: { mode: 'queue_all', capacity: 10, rate_per_second: 10, pass_seconds: 10 } });
  const feed = scriptedFeed();
  const { page } = await open(t, '/healthz', WIDE);
  await feed.before(page);
  await page.goto(`${new URL(page.url()).origin}/room/${show}`);
  await page.waitForURL(`**/shows/${show}/seats`);
  await reserveButton(page).filter({ hasText: '€' }).waitFor();
  const renewed = page.waitForResponse((it) => it.url().endsWith(`/room/${show}/enter`) && it.ok());
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await renewed;
  await told(page, 'Your time to choose is over');
  await reserveButton(page).waitFor({ state: 'hidden' });
  // Others take what was chosen: the way back to the room stays.
  const lost = await chosen(page);
  const [, row, seat] = lost[0].match(/row (\d+), seat (\d+)/);
  await page.waitForFunction(() => document.querySelector('.twin [role=row]'));
  await feed.take(page, stalls(Number(row), Number(seat)));
  assert.ok(await page.getByRole('link', { name: 'Back to the waiting room' }).isVisible());
});

test('a room that does not answer, and holds that nobody tells of, keep nobody from the map', async (t) => {
  const show = await theatre({ room: { mode: 'queue_all', capacity: 10, rate_per_second: 10 } });
  const never = () => new Promise(() => {});
  const before = async (page) => {
    await page.route(/\/enter$/, never);
    await page.route(/\/holds$/, never);
  };
  const { page } = await atSeats(t, show, { ...WIDE, before });
  await reserveButton(page).filter({ hasText: '€' }).waitFor();
});

test('a reader who holds the last seats is led to the checkout', async (t) => {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }], { Box: 3900 });
  const { page, origin } = await atSeats(t, show, WIDE);
  await reserveButton(page).click();
  await atCheckout(page);
  await page.goto(`${origin}/shows/${show}/seats`);
  await told(page, 'You have 2 seats reserved until');
  await told(page, 'All places are reserved right now');
  assert.ok(await page.getByRole('link', { name: 'Go to the checkout' }).isVisible());
});

test('a refusal is told in the language of its reader', async (t) => {
  const body = { type: 'urn:onsale:conflict', status: 409, detail: 'Words of the API.' };
  const before = (page) =>
    page.route(/\/holds$/, (route) => (route.request().method() === 'POST' ? route.fulfill(refusal(body)) : route.continue()));
  const { page, context } = await open(t, '/healthz', { ...WIDE, locale: 'de-DE' });
  await before(page);
  await enterAs(context, new URL(page.url()).origin);
  await page.goto(`${new URL(page.url()).origin}/shows/${await theatre()}/seats`);
  await page.getByRole('button', { name: /^2 Plätze reservieren/ }).click();
  await page.getByRole('alert').waitFor();
  assert.doesNotMatch(await page.getByRole('alert').textContent(), /Words of the API/);
});

test('a reply to a reservation that was cut off is asked for again under its key', async (t) => {
  const keys = [];
  const before = (page) =>
    page.route(/\/holds$/, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.fulfill({ status: 201, contentType: 'application/json', body: '{"hold_id":' });
    });
  const { page } = await atSeats(t, await theatre(), { ...WIDE, before });
  await reserveButton(page).click();
  await atCheckout(page);
  assert.equal(new Set(keys).size, 1);
});

test('seats that went while they were being reserved are not proposed again', async (t) => {
  const { page, feed } = await hearing(t);
  await page.route(/\/holds$/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    // The feed is faster than the answer.
    await feed.take(page, stalls(1, 6), stalls(1, 7), stalls(9, 1));
    return route.fulfill(refusal({ type: 'urn:onsale:seats_taken', status: 409, taken: ['Stalls-1-6', 'Stalls-1-7'] }));
  });
  await reserveButton(page).click();
  await told(page, 'Somebody was faster: 2 of your seats are gone.');
  const proposed = await chosen(page);
  assert.equal(proposed.length, 2);
  assert.ok(!proposed.some((it) => /row 1, seat [67]$/.test(it)), proposed.join());
});

test('seats that went while a refused reservation was on its way are replaced', async (t) => {
  const { page, feed } = await hearing(t);
  await page.route(/\/holds$/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await feed.take(page, stalls(1, 6), stalls(9, 1));
    return route.fulfill(refusal({ type: 'urn:onsale:limit_exceeded', status: 422, limit: 1 }));
  });
  await reserveButton(page).click();
  await told(page, 'At most one ticket');
  assert.ok(!(await chosen(page)).includes('Stalls, row 1, seat 6'));
});

test('a map that cannot be read anew after a reset is told, and read later', async (t) => {
  const { page, feed } = await hearing(t);
  await page.route(/availability\.bin/, (route) => route.abort());
  feed.welcome = { reset: true };
  feed.reset();
  await page.getByText('No live connection.').waitFor();
  await page.unroute(/availability\.bin/);
  await page.getByText('No live connection.').waitFor({ state: 'hidden' });
});

test('a reader who goes offline is told, and hears of it when the connection is back', async (t) => {
  const { page, context } = await hearing(t);
  await context.setOffline(true);
  await page.getByText('No live connection.').waitFor();
  await context.setOffline(false);
  await page.getByText('No live connection.').waitFor({ state: 'hidden' });
});

test('Reserve pressed without a connection says so, and works at the next try', async (t) => {
  const { page } = await hearing(t);
  await page.route(/\/booking\.js$/, (route) => route.abort());
  await reserveButton(page).click();
  await told(page, 'We cannot reach the server');
  await page.unroute(/\/booking\.js$/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await atCheckout(page);
});

test('a reservation that fails in the page leaves its button as it was', async (t) => {
  const { page } = await hearing(t);
  await page.evaluate(() => {
    crypto.getRandomValues = () => {
      throw new Error('no randomness');
    };
  });
  await reserveButton(page).click();
  await told(page, 'Press the button again');
  await page.getByRole('button', { name: 'Reserve 2 seats · €78.00' }).waitFor();
});

/** What the page reads of the reader's holds: one that lasts ten minutes. */
const heldBefore = (page) =>
  page.route(/\/holds$/, (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    const hold = { hold_id: 'hld_1', status: 'held', seats: [{ seat: 'Stalls-9-1' }], expires_at: new Date(Date.now() + 600_000).toISOString() };
    return route.fulfill({ json: { items: [hold] } });
  });

test('seats that were held already are told until their time is over', async (t) => {
  const before = async (page) => {
    await page.clock.install();
    await heldBefore(page);
  };
  const { page } = await hearing(t, { before });
  await told(page, 'You have one seat reserved until');
  await page.clock.fastForward(601_000);
  await page.getByText('You have one seat reserved until').waitFor({ state: 'hidden' });
});

test('seats that cannot be given back for want of a connection stay, and that is told', async (t) => {
  const { page } = await hearing(t, { before: heldBefore });
  await told(page, 'You have one seat reserved until');
  await page.route(/\/holds\/hld_1$/, (route) => route.abort());
  await page.getByRole('button', { name: 'Give them back' }).click();
  await told(page, 'We cannot reach the server');
  await told(page, 'You have one seat reserved until');
});

test('what nobody asked for is said once in five seconds at most', async (t) => {
  const { page, feed } = await hearing(t, { before: (page) => page.clock.install() });
  await feed.take(page, stalls(1, 6));
  await page.locator('.news .notice', { hasText: 'Somebody was faster' }).waitFor();
  await page.clock.runFor(6_000);
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await page.evaluate(() => {
    window.said = [];
    const said = document.querySelector('#said');
    new MutationObserver(() => window.said.push(said.textContent)).observe(said, { childList: true });
  });
  for (const row of [2, 1, 3, 4]) await feed.take(page, ...[4, 5, 6, 7, 8, 9].map((seat) => stalls(row, seat)));
  await page.waitForFunction(() => window.said.length > 0);
  assert.equal(await page.evaluate(() => window.said.length), 1);
  await page.clock.runFor(5_000);
  assert.equal(await page.evaluate(() => window.said.length), 2);
  assert.equal(await page.getByRole('alert').count(), 0, 'an alert would be said at once');
});

test('who says who they are while their seats go is asked before other seats are reserved', async (t) => {
  const { page, feed } = await hearing(t, { known: false });
  const email = newEmail();
  await send('POST', '/api/v1/accounts', { email, password, name: 'Robin', role: 'buyer' });
  await reserveButton(page).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'I have an account' }).click();
  await feed.take(page, stalls(1, 6));
  await dialog.getByLabel('Email address').fill(email);
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await told(page, 'Your choice has changed meanwhile.');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Reserve 2 seats · €78.00');
  await reserveButton(page).click();
  await atCheckout(page);
});

test('places without numbers that go while they are chosen are told', async (t) => {
  const show = await newHouse([{ name: 'Floor', capacity: 2 }, { name: 'Balcony', capacity: 9 }], { Floor: 2500, Balcony: 4000 });
  const { page } = await atSeats(t, show);
  await page.getByRole('button', { name: 'Reserve 2 tickets · €50.00' }).waitFor();
  await (await otherBuyer(show)).general('Floor', 1);
  await page.locator('.news .notice', { hasText: 'Somebody was faster: one of your seats is gone.' }).waitFor();
  await page.getByRole('button', { name: 'Reserve 2 tickets · €80.00' }).waitFor();
});
