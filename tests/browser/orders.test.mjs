// Orders and tickets in Chromium: what was bought, given away, put back and cancelled.
// Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { logIn, newEmail, send, url } from './organiser.mjs';
import { assertFits, bought, close, fillIn, headline, mailed, newShow, open, order, press, start, TITLE, until } from './reader.mjs';

before(start);
after(close);

/** The code is there and drawn, and the ticket can be had as PDF. */
async function assertCode(page) {
  const code = page.getByRole('img', { name: /^QR code/ }).first();
  await code.waitFor();
  await page.waitForFunction((it) => it.complete && it.naturalWidth > 0, await code.elementHandle());
  const pdf = await page.getByRole('link', { name: 'Ticket as PDF' }).first().getAttribute('href');
  const answer = await page.context().request.get(url + pdf);
  assert.equal(answer.headers()['content-type'], 'application/pdf');
}

test('an order shows its tickets, its number and its calendar entry', async (t) => {
  const { token, order: id } = await bought(['Stalls-1-1', 'Stalls-1-2']);
  const { page, assertSound } = await open(t, `/orders/${id}`, { token });
  await headline(page, 'You are going');
  assert.equal(await page.locator('h1').textContent(), TITLE);
  assert.equal(await page.getByRole('img', { name: /^QR code/ }).count(), 2);
  await assertCode(page);
  await page.getByText('€178.00').first().waitFor();
  await page.getByText('Sunday, 1 June 2098 at 21:00 CEST').first().waitFor();
  const { number } = await send('GET', `/api/v1/orders/${id}`, undefined, token);
  await page.getByText(number, { exact: true }).waitFor();
  const calendar = await page.getByRole('link', { name: 'Add to my calendar' }).getAttribute('href');
  const entry = await page.context().request.get(url + calendar);
  assert.match(entry.headers()['content-type'], /^text\/calendar/);
  const receipt = await page.getByRole('link', { name: 'Receipt', exact: true }).getAttribute('href');
  const paper = await page.context().request.get(url + receipt);
  assert.equal(paper.headers()['content-type'], 'application/pdf');
  assertSound();
});

test('a buyer cancels, after reading exactly what comes back', async (t) => {
  const { token, order: id } = await bought(['Stalls-1-1', 'Stalls-1-2']);
  const { page } = await open(t, `/orders/${id}`, { token });
  await press(page, 'Cancel this order');
  const dialog = page.getByRole('dialog', { name: 'Cancel this order?' });
  await dialog.getByText('You get €178.00 back (100 % of the price)').waitFor();
  await assertAccessible(page, 'cancel');
  await press(page, 'No, keep it');
  await dialog.waitFor({ state: 'detached' });
  await press(page, 'Cancel this order');
  await press(page, 'Cancel and get €178.00 back');
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H2', 'the focus is on what happened');
  await headline(page, 'Your money is on its way back');
  assert.equal(await page.getByRole('img', { name: /^QR code/ }).count(), 0);
  await page.goto(`${url}/orders`);
  await page.getByRole('link', { name: /Refunded/ }).click();
  await headline(page, 'Your money is on its way back');
});

test('what comes back has become less while the buyer reads: nothing is cancelled before they have read it again', async (t) => {
  const { token, order: id } = await bought(['Stalls-1-1', 'Stalls-1-2']);
  const { page } = await open(t, '/imprint', { token });
  const path = `**/api/v1/orders/${id}`;
  // As if the page had been loaded when more came back.
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const more = { refund: { amount: 20_000, currency: 'EUR' }, percent: 100 };
    await route.fulfill({ response, json: { ...(await response.json()), refund_if_cancelled_now: more } });
  });
  await page.goto(`${url}/orders/${id}`);
  await press(page, 'Cancel this order');
  await page.getByRole('button', { name: 'Cancel and get €200.00 back' }).waitFor();
  await page.unroute(path);
  await press(page, 'Cancel and get €200.00 back');
  const dialog = page.getByRole('dialog', { name: 'Cancel this order?' });
  await dialog.getByRole('alert').filter({ hasText: 'Nothing was cancelled' }).waitFor();
  await dialog.getByText('You get €178.00 back (100 % of the price)').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 1);
  await assertAccessible(page, 'cancel again');
  assert.equal((await send('GET', `/api/v1/orders/${id}`, undefined, token)).status, 'confirmed');
  await press(page, 'Cancel and get €178.00 back');
  await headline(page, 'Your money is on its way back');
});

test('a declined payment leads back to the checkout, and to tickets', async (t) => {
  const { token, order: id } = await order(['Stalls-1-3'], 'pm_card_chargeDeclined');
  const { page } = await open(t, `/orders/${id}`, { token });
  await headline(page, 'Your payment was declined');
  await page.getByText(/Your places are kept for you until/).waitFor();
  await page.getByRole('link', { name: 'Try again' }).click();
  await press(page, 'Buy now · €89.00');
  await headline(page, 'You are going');
});

test('a ticket is given away, taken back, given again and accepted by a friend', async (t) => {
  const { email, token, order: id, tickets: [{ ticket_id }] } = await bought(['Stalls-1-7']);
  const friend = newEmail();
  const giver = await open(t, `/orders/${id}`, { token });
  const give = async () => {
    await giver.page.getByText('I cannot use it').click();
    await giver.page.getByLabel('Email address of your friend').fill(friend);
    await press(giver.page, 'Give it away');
    await giver.page.getByText(`You have offered it to ${friend}`).waitFor();
  };
  await give();
  await press(giver.page, 'Take the offer back');
  await giver.page.getByText('I cannot use it').waitFor();
  await mailed(friend, '/transfers/');
  await give();
  await giver.page.reload();
  await giver.page.getByText(`You have offered it to ${friend}`).waitFor();

  await logIn('buyer', friend);
  const { items } = await send('GET', '/api/v1/transfers', undefined, token);
  const { page, assertSound } = await open(t, `/transfers/${items[0].transfer_id}`);
  await fillIn(page, friend);
  await headline(page, 'Robin gives you a ticket');
  assert.ok(!(await page.content()).includes(email), 'the address of the sender is not told');
  await page.getByText('Stalls, row 1, seat 7').waitFor();
  await press(page, 'Accept the ticket');
  await headline(page, 'The ticket is yours');
  await assertCode(page);
  assertSound();
  await page.getByRole('link', { name: 'My tickets' }).last().click();
  await page.getByRole('link', { name: /Given to you/ }).click();
  await page.getByRole('img', { name: 'QR code: Stalls, row 1, seat 7' }).waitFor();
  assert.notEqual(new URL(page.url()).pathname, `/tickets/${ticket_id}`, 'it is another ticket');

  await giver.page.reload();
  await giver.page.getByText('Not valid any more').waitFor();
  await giver.page.goto(`${url}/transfers/${items[0].transfer_id}`);
  await headline(giver.page, 'Your ticket was accepted');
  const stranger = await open(t, `/transfers/${items[0].transfer_id}`, { token: await logIn('buyer') });
  await headline(stranger.page, 'There is no such offer for you');
});

test('a ticket that was given is given on, put back and put into the calendar on its own page', async (t) => {
  const { token, tickets: [{ ticket_id }] } = await bought(['Stalls-1-10']);
  const friend = newEmail();
  const theirs = await logIn('buyer', friend);
  const { transfer_id } = await send('POST', `/api/v1/tickets/${ticket_id}/transfer`, { to_email: friend }, token);
  await send('POST', `/api/v1/transfers/${transfer_id}/accept`, {}, theirs);
  let items = [];
  await until('the friend has the ticket', async () => {
    ({ items } = await send('GET', '/api/v1/tickets', undefined, theirs));
    return items.length > 0;
  });
  const { page } = await open(t, `/tickets/${items[0].ticket_id}`, { token: theirs });
  const third = newEmail();
  await page.getByText('I cannot use it').click();
  await assertAccessible(page, 'given ticket');
  await assertFits(page, 'given ticket');
  await page.getByLabel('Email address of your friend').fill(third);
  await press(page, 'Give it away');
  await page.getByText(`You have offered it to ${third}`).waitFor();
  await mailed(third, '/transfers/');
  await page.reload();
  await press(page, 'Take the offer back');
  await page.getByText('I cannot use it').click();
  await press(page, 'Put it back');
  await page.getByText('You have put it back.').waitFor();
  await press(page, 'Keep it after all');
  await page.getByText('I cannot use it').waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Add to my calendar')]);
  const entry = (await readFile(await file.path())).toString();
  assert.match(entry, /DTSTART:20980601T190000Z/);
  assert.match(entry, /SUMMARY:Nina & The <Long> Winter/);
});

test('an offered ticket can be declined', async (t) => {
  const { token, tickets: [{ ticket_id }] } = await bought(['Stalls-1-8']);
  const friend = newEmail();
  const theirs = await logIn('buyer', friend);
  const { transfer_id } = await send('POST', `/api/v1/tickets/${ticket_id}/transfer`, { to_email: friend }, token);
  const { page } = await open(t, `/transfers/${transfer_id}`, { token: theirs });
  await press(page, 'Decline');
  await headline(page, 'You have declined this ticket');
});

test('a ticket is put back at face value, and kept after all', async (t) => {
  const { token, order: id } = await bought(['Stalls-1-9']);
  const { page } = await open(t, `/orders/${id}`, { token });
  await page.getByText('I cannot use it').click();
  await press(page, 'Put it back');
  await page.getByText('When somebody buys it you get €89.00').waitFor();
  await press(page, 'Keep it after all');
  await page.getByText('I cannot use it').waitFor();
});

test('my tickets: what comes next is first, and what is over is below', async (t) => {
  const soon = await newShow({ starts_at: new Date(Date.now() + 3 * 86_400_000).toISOString() });
  const { email, token } = await bought(['Stalls-1-1'], await newShow());
  for (const [show, card] of [[soon, 'pm_card_visa'], [await newShow(), 'pm_sandbox_capture_fails']]) {
    const { hold_id } = await send('POST', `/api/v1/shows/${show}/holds`, { seats: ['Stalls-1-2'] }, token);
    await send('POST', `/api/v1/shows/${show}/holds/${hold_id}/checkout`, { payment_method: card }, token);
  }
  const status = async () => (await send('GET', '/api/v1/orders', undefined, token)).items.map((it) => it.status);
  await until('an order fails', async () => (await status()).includes('failed'));
  const { page } = await open(t, '/orders');
  await fillIn(page, email);
  await headline(page, 'Coming up');
  const texts = await page.locator('section', { has: page.getByRole('heading', { name: 'Coming up' }) }).getByRole('listitem').allTextContents();
  assert.equal(texts.length, 2);
  assert.match(texts[1], /2098/);
  await page.locator('section', { has: page.getByRole('heading', { name: 'Past and cancelled' }) }).getByRole('link', { name: /Not completed/ }).waitFor();
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 1280]) {
    test(`orders and offers are accessible, ${width} px wide and ${colorScheme}`, async (t) => {
      const options = { colorScheme, viewport: { width, height: 800 } };
      const made = await bought(['Stalls-1-1', 'Stalls-1-2']);
      const friend = newEmail();
      const theirs = await logIn('buyer', friend);
      const { transfer_id } = await send('POST', `/api/v1/tickets/${made.tickets[0].ticket_id}/transfer`, { to_email: friend }, made.token);
      const pages = [
        ['orders', '/orders', made.token, 'Coming up'],
        ['order', `/orders/${made.order}`, made.token, 'You are going'],
        ['transfer', `/transfers/${transfer_id}`, theirs, 'Robin gives you a ticket'],
        ['sent', `/transfers/${transfer_id}`, made.token, 'Your offer stands'],
        ['none', '/orders', theirs, 'No tickets yet'],
        ['log-in', '/orders', undefined, 'Log in'],
      ];
      for (const [name, path, token, says] of pages) {
        const { page, context } = await open(t, path, { token, ...options });
        await headline(page, says);
        if (name === 'order') {
          await assertCode(page);
          await page.getByText('I cannot use it').first().click();
        }
        await assertAccessible(page, name);
        await assertFits(page, name);
        const shots = process.env.ONSALE_SCREENSHOTS;
        if (shots) await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        await context.close();
      }
    });
  }
}
