// The pages in Chromium, against a running platform. Every reader is a browser context of
// their own; most come by the link of a mail.
//
//   npm ci --prefix tests/browser
//   ONSALE_URL=http://127.0.0.1:8787 node --test tests/browser/pages.test.mjs
//
// CHROMIUM and ONSALE_SCREENSHOTS are as in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { logIn, newEmail, password, send, url } from './organiser.mjs';
import { close, event, fillIn, headline, mailed, newShow, open, order, organiser, PATIENCE_MS, press, start, TITLE } from './reader.mjs';

const screenshots = process.env.ONSALE_SCREENSHOTS;

before(start);
after(close);

const picture = async (page, name) => {
  if (screenshots) await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
};

test('a password is reset by the mailed link, with the keyboard alone', async (t) => {
  const email = newEmail();
  await logIn('buyer', email);
  await send('POST', '/api/v1/password-resets', { email });
  const link = await mailed(email, '/reset/');
  const { page, assertSound } = await open(t, link);
  await headline(page, 'Choose a password');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'password');
  await page.keyboard.type('short');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#password').evaluate((it) => it.validity.tooShort), true);
  await page.keyboard.type(' but longer now');
  await page.keyboard.press('Enter');
  await headline(page, 'Your new password is set');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /is set/, 'listeners hear it');
  await page.getByRole('link', { name: 'Log in and see my orders' }).click();
  await fillIn(page, email);
  await page.getByRole('alert').filter({ hasText: /email or the password/i }).waitFor();
  await fillIn(page, email, 'short but longer now');
  await headline(page, 'No orders yet');
  assertSound();

  const late = await open(t, link);
  await late.page.getByLabel('New password').fill('yet another one');
  await press(late.page, 'Set the password');
  await headline(late.page, 'This link does not work any more');
  await late.page.getByLabel('Email address').fill(email);
  await press(late.page, 'Send me a link');
  await headline(late.page, 'Look into your inbox');
});

test('whoever was invited as staff sets a password and hears what it is for', async (t) => {
  const email = newEmail();
  await send('POST', '/api/v1/staff', { email, name: 'Gate', show_ids: [await newShow()] }, organiser);
  const { page, assertSound } = await open(t, await mailed(email, '/invitation/'));
  await page.getByLabel('New password').fill(password);
  await page.getByLabel('Show the password').check();
  assert.equal(await page.getByLabel('New password').inputValue(), password);
  await press(page, 'Set the password');
  await headline(page, 'Welcome to the team');
  assert.equal((await send('POST', '/api/v1/sessions', { email, password })).role, 'staff');
  assertSound();
});

test('a friend without an account registers, accepts the ticket and sees its code', async (t) => {
  const bought = await order(['Stalls-1-7']);
  const friend = newEmail();
  await mailed(bought.email, '/orders/');
  const { items: [{ ticket_id }] } = await send('GET', `/api/v1/orders/${bought.order}/tickets`, undefined, bought.token);
  await send('POST', `/api/v1/tickets/${ticket_id}/transfer`, { to_email: friend }, bought.token);
  const link = await mailed(friend, '/transfers/');
  const { page, assertSound } = await open(t, link);
  await press(page, 'I have no account yet');
  await page.getByLabel('Your name').fill('Bo');
  await page.getByLabel('Email address').fill(friend);
  await page.getByLabel('Choose a password').fill(password);
  await press(page, 'Create the account');
  await headline(page, 'Somebody gives you a ticket');
  assert.equal(await page.locator('h1').textContent(), TITLE);
  await page.getByText('Stalls, row 1, seat 7').waitFor();
  await press(page, 'Accept the ticket');
  await headline(page, 'The ticket is yours');
  await assertCode(page);
  assertSound();
  await page.reload();
  await headline(page, 'The ticket is yours');

  const stranger = await open(t, link);
  await fillIn(stranger.page, bought.email);
  await headline(stranger.page, 'Your ticket was accepted');
  await press(stranger.page, 'Log out');
  const other = newEmail();
  await logIn('buyer', other);
  await fillIn(stranger.page, other);
  await headline(stranger.page, 'There is no such offer for you');
});

test('an offered ticket can be declined', async (t) => {
  const bought = await order(['Stalls-1-8']);
  await mailed(bought.email, '/orders/');
  const friend = newEmail();
  await logIn('buyer', friend);
  const { items: [{ ticket_id }] } = await send('GET', `/api/v1/orders/${bought.order}/tickets`, undefined, bought.token);
  const { transfer_id } = await send('POST', `/api/v1/tickets/${ticket_id}/transfer`, { to_email: friend }, bought.token);
  const { page } = await open(t, `/transfers/${transfer_id}`);
  await fillIn(page, friend);
  await headline(page, 'Somebody gives you a ticket');
  await press(page, 'Decline');
  await headline(page, 'You have declined this ticket');
});

/** The code is there and drawn, and the ticket can be had as PDF. */
async function assertCode(page) {
  const code = page.getByRole('img', { name: /QR code/ }).first();
  await code.waitFor();
  await page.waitForFunction((it) => it.complete && it.naturalWidth > 0, await code.elementHandle());
  const pdf = await page.getByRole('link', { name: 'Ticket as PDF' }).first().getAttribute('href');
  const answer = await page.context().request.get(url + pdf);
  assert.equal(answer.headers()['content-type'], 'application/pdf');
}

test('an order changes by itself, shows its tickets and is cancelled for what the page says', async (t) => {
  const { email, order: id } = await order(['Stalls-1-1', 'Stalls-1-2'], 'pm_sandbox_requires_action');
  const { page, assertSound } = await open(t, `/orders/${id}`);
  await fillIn(page, email);
  await headline(page, 'Your bank has a question');
  await press(page, 'Confirm the payment');
  await headline(page, 'You are going!');
  assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 2);
  await assertCode(page);
  await page.getByText('€178.00').first().waitFor();
  await page.getByText('Sunday, 1 June 2098 at 21:00 CEST').first().waitFor();
  await page.getByText('I cannot come: cancel this order').click();
  await page.getByText('You get 100 % back (€178.00)').waitFor();
  await press(page, 'Cancel and get 100 % back');
  await headline(page, 'Your money is on its way back');
  assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 0);
  assertSound();

  await page.goto(`${url}/orders`);
  await page.getByRole('link', { name: /Refunded/ }).click();
  await headline(page, 'Your money is on its way back');
});

test('a declined payment says until when the places are kept', async (t) => {
  const { email } = await order(['Stalls-1-3'], 'pm_card_chargeDeclined');
  const { page } = await open(t, await mailed(email, '/orders/'));
  await fillIn(page, email);
  await headline(page, 'Your payment was declined');
  await page.getByText(/Your places are kept until/).waitFor();
});

test('whoever comes to the front page finds an event by a misspelt word, and its shows', async (t) => {
  const show = await newShow();
  const { page, assertSound } = await open(t, '/');
  await page.locator('.list a').first().waitFor();
  const search = page.getByLabel('What, who or where?');
  const entry = page.locator(`.list a[href="/events/${event}"]`);
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    await search.fill('Nina long wnter');
    await press(page, 'Search');
    await page.getByRole('status').filter({ hasText: 'Nina long wnter' }).or(page.getByText('Nothing found')).waitFor();
    if (await entry.isVisible()) break;
    assert.ok(Date.now() < end, 'never found');
    await page.waitForTimeout(500);
  }
  await search.fill('zzyzx qqqq');
  await press(page, 'Search');
  await headline(page, 'Nothing found');
  await search.fill('');
  await press(page, 'Search');
  await entry.click();
  await page.locator(`.list a[href="/shows/${show}"]`).click();
  await headline(page, 'There are tickets');
  await page.goto(`${url}/events/none`);
  await headline(page, 'There is no such event');
  await page.getByRole('link', { name: 'All events' }).click();
  await search.waitFor();
  assertSound();
});

test('a show is told by the clocks of its venue, and leads to its room', async (t) => {
  const show = await newShow({ room: { mode: 'queue', capacity: 10, rate_per_second: 10 } });
  const { page, assertSound } = await open(t, `/shows/${show}`, { timezoneId: 'America/New_York' });
  await headline(page, 'There are tickets');
  assert.equal(await page.locator('h1').textContent(), TITLE);
  await page.getByText('Sunday, 1 June 2098 at 21:00 CEST').waitFor();
  await page.getByText('Old Gasworks, Kanalstraße 7, Hamburg').waitFor();
  await page.getByRole('row', { name: 'Stalls €89.00 20' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'To the waiting room' }).getAttribute('href'), `/room/${show}`);
  assertSound();
  const nowhere = await open(t, `/shows/shw_${'0'.repeat(32)}`);
  await headline(nowhere.page, 'There is no such show');
});

test('whoever finds a show sold out joins its waitlist and sees where they stand', async (t) => {
  const show = await newShow({ max_tickets_per_buyer: 50 });
  const seats = Array.from({ length: 20 }, (_, i) => `Stalls-1-${i + 1}`);
  const floor = Array.from({ length: 40 }, (_, i) => `Floor-GA-${i + 1}`);
  await order(seats, 'pm_card_visa', show);
  const rest = await logIn('buyer');
  const { hold_id } = await send('POST', `/api/v1/shows/${show}/holds`, { general: { section: 'Floor', quantity: floor.length } }, rest);
  await send('POST', `/api/v1/shows/${show}/holds/${hold_id}/checkout`, { payment_method: 'pm_card_visa' }, rest);
  const { page, assertSound } = await open(t, '/orders');
  const soldOut = async () => {
    await page.goto(`${url}/shows/${show}`);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    return page.getByRole('heading', { name: 'All places are sold' }).isVisible();
  };
  for (const end = Date.now() + PATIENCE_MS; !(await soldOut());) assert.ok(Date.now() < end, 'never sold out');
  const wishes = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/waitlist')) wishes.push(request.postDataJSON());
  });
  const quantity = page.getByLabel('How many tickets?');
  const together = page.getByLabel('Together, side by side');
  await quantity.fill('1');
  assert.equal(await together.isVisible(), false, 'one ticket has no neighbour');
  // More than any section has.
  await quantity.fill('41');
  await press(page, 'Join the waitlist');
  const email = newEmail();
  await logIn('buyer', email);
  await fillIn(page, email);
  await page.getByRole('alert').filter({ hasText: /so many places together/i }).waitFor();
  assert.equal(await together.isChecked(), true);
  await quantity.fill('41');
  await together.uncheck();
  await press(page, 'Join the waitlist');
  await headline(page, 'You are next');
  assert.deepEqual(wishes, [{ quantity: 41, together: true }, { quantity: 41, together: false }]);
  await press(page, 'Leave the waitlist');
  await headline(page, 'You are not waiting any more');
  assertSound();
});

test('the pages are in German for whoever reads German', async (t) => {
  const { page } = await open(t, '/reset/none', { locale: 'de-AT' });
  await headline(page, 'Wählen Sie ein Passwort');
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  assert.equal(await page.locator('h1').textContent(), 'Ein neues Passwort');
});

test('without JavaScript the page says that it needs it', async (t) => {
  const { page } = await open(t, '/reset/none', { javaScriptEnabled: false });
  await headline(page, 'This page needs JavaScript');
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [360, 1280]) {
    test(`every page is accessible, ${width} px wide and ${colorScheme}`, async (t) => {
      const bought = await order(['Stalls-1-1', 'Stalls-1-2']);
      await mailed(bought.email, '/orders/');
      const { items: [{ ticket_id }] } = await send('GET', `/api/v1/orders/${bought.order}/tickets`, undefined, bought.token);
      const friend = newEmail();
      await logIn('buyer', friend);
      const { transfer_id } = await send('POST', `/api/v1/tickets/${ticket_id}/transfer`, { to_email: friend }, bought.token);
      const pages = [
        ['events', '/'],
        ['event', `/events/${event}`],
        ['log-in', '/orders'],
        ['reset', '/reset/none'],
        ['invitation', '/invitation/none'],
        ['show', `/shows/${bought.show}`],
        ['transfer', `/transfers/${transfer_id}`, friend],
        ['orders', '/orders', bought.email],
        ['order', `/orders/${bought.order}`, bought.email],
      ];
      for (const [name, path, reader] of pages) {
        const { page, context } = await open(t, path, { colorScheme, viewport: { width, height: 740 } });
        await page.locator('h2, .list a').first().waitFor();
        if (reader) {
          await fillIn(page, reader);
          await page.getByText('Log out').waitFor();
          await page.locator('.list a, dl').first().waitFor();
        }
        if (name === 'order') {
          await assertCode(page);
          await page.getByText('I cannot come: cancel this order').click();
        }
        await assertAccessible(page, name);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
        for (const target of await page.locator('button:visible, a:visible, summary:visible, input:not([type=checkbox]):visible').all()) {
          const { height } = await target.boundingBox();
          assert.ok(height >= 44, `${name}: ${await target.textContent()} is ${height} px high`);
        }
        await picture(page, `${name}-${width}-${colorScheme}`);
        await context.close();
      }
    });
  }
}
