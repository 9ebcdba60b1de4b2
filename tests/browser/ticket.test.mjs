// A ticket at the entrance, in Chromium: on the whole screen, awake, and without a network.
// Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { logIn, newEmail, send, url } from './organiser.mjs';
import { assertFits, bought, close, fillIn, headline, mailed, open, press, start, TITLE } from './reader.mjs';

before(start);
after(close);

const code = (page, seat) => page.getByRole('img', { name: `QR code: Stalls, row 1, seat ${seat}` });

/** The page says that its tickets, their codes and what they are made of are on the device. */
const kept = (page) => page.getByText('Kept on this device: it opens without a network, too.').waitFor();

const isDrawn = async (image) =>
  image.evaluate((it) => new Promise((done) => { if (it.complete) done(it.naturalWidth > 0); else { it.onload = () => done(true); it.onerror = () => done(false); } }));

test('a ticket opens with the network off, after its order was seen once', async (t) => {
  const { token, order, tickets } = await bought(['Stalls-1-1', 'Stalls-1-2']);
  const { page, context } = await open(t, `/orders/${order}`, { token });
  await headline(page, 'You are going');
  await kept(page);
  await context.setOffline(true);
  await page.goto(`${url}/tickets/${tickets[0].ticket_id}`);
  await code(page, 1).waitFor();
  assert.equal(await isDrawn(code(page, 1)), true);
  assert.equal(await page.locator('h1').textContent(), TITLE);
  await page.getByText('Sunday, 1 June 2098 at 21:00 CEST').waitFor();
  await page.getByRole('link', { name: 'Next' }).click();
  await code(page, 2).waitFor();
  assert.equal(await isDrawn(code(page, 2)), true);
  // The list of tickets needs the network; where there is none it leads to them.
  await page.getByRole('link', { name: 'My tickets' }).first().click();
  await page.waitForURL('**/tickets/tkt_*');
  await page.getByRole('img', { name: /^QR code/ }).waitFor();
});

test('an answer that was cut off, or one of too many requests, takes no ticket from the device', async (t) => {
  const { token, tickets } = await bought(['Stalls-1-7']);
  const { page, context } = await open(t, `/tickets/${tickets[0].ticket_id}`, { token });
  await kept(page);
  let answer = { status: 200, contentType: 'application/json', body: '{"account_id":' };
  await context.route('**/api/v1/me', (route) => route.fulfill(answer));
  await page.reload();
  await headline(page, 'That did not work');
  assert.equal((await page.evaluate(() => caches.keys())).length, 1);
  answer = { status: 429, json: { type: 'urn:onsale:rate_limited', status: 429 } };
  await page.reload();
  await code(page, 7).waitFor();
});

test('a log-out that was refused is told', async (t) => {
  const { page } = await open(t, '/account', { token: await logIn('buyer') });
  await page.route('**/api/v1/sessions/current', (route) => route.fulfill({ status: 429, json: { type: 'urn:onsale:rate_limited', status: 429 } }));
  await page.getByRole('button', { name: 'Log out' }).first().click();
  await page.getByRole('alert').filter({ hasText: 'too often' }).waitFor();
});

test('logging out removes the tickets from the device', async (t) => {
  const { token, tickets } = await bought(['Stalls-1-3']);
  const { page, context } = await open(t, `/tickets/${tickets[0].ticket_id}`, { token });
  await code(page, 3).waitFor();
  await kept(page);
  await press(page, 'Log out');
  await headline(page, 'Log in');
  assert.deepEqual(await page.evaluate(() => caches.keys()), []);
  await context.setOffline(true);
  await assert.rejects(page.goto(`${url}/tickets/${tickets[0].ticket_id}`));
});

test('another account on the same device removes the tickets of the first', async (t) => {
  const { token, tickets } = await bought(['Stalls-1-4']);
  const { page, context } = await open(t, `/tickets/${tickets[0].ticket_id}`, { token });
  await kept(page);
  await context.addCookies([{ name: 'onsale_session', value: await logIn('buyer'), url }]);
  await page.goto(`${url}/orders`);
  await headline(page, 'No tickets yet');
  await page.waitForFunction(async () => (await caches.keys()).length === 0);
  await page.goto(`${url}/tickets/${tickets[0].ticket_id}`);
  await headline(page, 'There is no such ticket for you');
});

test('a log-in link of another account removes the tickets of the first', async (t) => {
  const { token, tickets } = await bought(['Stalls-1-8']);
  const { page } = await open(t, `/tickets/${tickets[0].ticket_id}`, { token });
  await kept(page);
  const email = newEmail();
  await send('POST', '/api/v1/accounts', { email, name: 'Bo', role: 'buyer' });
  await send('POST', '/api/v1/session-links', { email });
  await page.goto(await mailed(email, '/log-in/'));
  await press(page, 'Log in');
  await headline(page, 'You are logged in');
  await page.waitForFunction(async () => (await caches.keys()).length === 0);
});

test('a kept ticket is shown after the session has ended, with a way to log in', async (t) => {
  const { email, token, tickets } = await bought(['Stalls-1-9']);
  const { page, context } = await open(t, `/tickets/${tickets[0].ticket_id}`, { token });
  await code(page, 9).waitFor();
  await kept(page);
  await context.clearCookies();
  // Twice: what is kept is not removed by looking at it.
  for (let n = 0; n < 2; n++) {
    await page.reload();
    await code(page, 9).waitFor();
    assert.equal(await isDrawn(code(page, 9)), true);
    await page.getByText('Your session has ended. This is what is kept on this device.').waitFor();
    await kept(page);
  }
  await assertAccessible(page, 'kept ticket');
  await press(page, 'Log in');
  await headline(page, 'Log in');
  await fillIn(page, email);
  await code(page, 9).waitFor();
  await page.getByText('Logged in as').waitFor();
});

test('the screen stays awake while a ticket is on it', async (t) => {
  const { token, tickets } = await bought(['Stalls-1-5']);
  const { page, context } = await open(t, '/orders', { token });
  await context.addInitScript(() => {
    window.asked = [];
    Object.defineProperty(navigator, 'wakeLock', { value: { request: async (kind) => window.asked.push(kind) } });
  });
  await page.goto(`${url}/tickets/${tickets[0].ticket_id}`);
  await code(page, 5).waitFor();
  await page.waitForFunction(() => window.asked.length > 0);
  assert.deepEqual(await page.evaluate(() => window.asked), ['screen']);
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 1280]) {
    test(`a ticket is large, black on white and accessible, ${width} px wide and ${colorScheme}`, async (t) => {
      const { token, tickets } = await bought(['Stalls-1-6', 'Stalls-1-7']);
      const { page } = await open(t, `/tickets/${tickets[0].ticket_id}`, { token, colorScheme, viewport: { width, height: 700 } });
      await code(page, 6).waitFor();
      const { width: size, y } = await code(page, 6).boundingBox();
      assert.ok(size >= Math.min(240, width * 0.7), `${size} px of ${width}`);
      assert.ok(y + size <= 700, 'the code is on the screen without scrolling');
      assert.equal(await page.locator('.code').evaluate((it) => getComputedStyle(it).backgroundColor), 'rgb(255, 255, 255)');
      await assertAccessible(page, 'ticket');
      await assertFits(page, 'ticket');
      const shots = process.env.ONSALE_SCREENSHOTS;
      if (shots) await page.screenshot({ path: `${shots}/ticket-${width}-${colorScheme}.png`, fullPage: true });
    });
  }
}
