// The pages that mails lead to, in Chromium, against a running platform. Every reader is a
// browser context of their own and comes by the link of a mail.
//
//   npm ci --prefix tests/browser
//   ONSALE_URL=http://127.0.0.1:8787 node --test tests/browser/pages.test.mjs
//
// CHROMIUM and ONSALE_SCREENSHOTS are as in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch } from './browser.mjs';
import { logIn, newEmail, password, send, url } from './organiser.mjs';

const screenshots = process.env.ONSALE_SCREENSHOTS;
const TITLE = 'Nina & The <Long> Winter';
const PATIENCE_MS = 30_000;
const NARROW = { width: 360, height: 740 };

let browser;
let organiser;
let event;

before(async () => {
  browser = await launch();
  organiser = await logIn('organiser');
  const rows = [{ label: '1', seats: 20 }];
  const venue = { name: 'Old Gasworks', city: 'Hamburg', address: 'Kanalstraße 7', timezone: 'Europe/Berlin', sections: [{ name: 'Stalls', rows }, { name: 'Floor', capacity: 40 }] };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, organiser);
  const description = 'Five musicians, one winter, and songs that take their time.';
  event = (await send('POST', '/api/v1/events', { title: TITLE, description, category: 'concert', venue_id }, organiser)).event_id;
});
after(() => browser?.close());

async function newShow(more) {
  const show = { starts_at: '2098-06-01T19:00:00Z', currency: 'EUR', prices: { Stalls: 8900, Floor: 4501 }, ...more };
  return (await send('POST', `/api/v1/events/${event}/shows`, show, organiser)).show_id;
}

/** A buyer with an order of these seats, paid with this card. */
async function order(seats, card = 'pm_card_visa', show) {
  const on = show ?? await newShow();
  const email = newEmail();
  const token = await logIn('buyer', email);
  const { hold_id } = await send('POST', `/api/v1/shows/${on}/holds`, { seats }, token);
  const { order_id } = await send('POST', `/api/v1/shows/${on}/holds/${hold_id}/checkout`, { payment_method: card }, token);
  return { email, token, order: order_id, show: on };
}

/** The link in the newest mail to somebody that leads to such a page. */
async function mailed(email, page) {
  const read = async (path) => (await fetch(url + path, { headers: { Accept: 'application/json' } })).json();
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const { items } = await read(`/dev/mail?to=${encodeURIComponent(email)}`);
    for (const { id } of items) {
      const { links } = await read(`/dev/mail/${id}`);
      const found = links.find((link) => link.startsWith(`${url}${page}`));
      if (found) return found;
    }
    await new Promise((next) => setTimeout(next, 100));
  }
  throw new Error(`no mail to ${email} leads to ${page}`);
}

/** A new reader at this address. What the page complains about, and whom it asks, is kept. */
async function open(t, address, options = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: NARROW, ...options });
  t.after(() => context.close());
  const complaints = [];
  const origins = new Set();
  const referrers = [];
  context.on('console', (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
    // A module that is imported may say which file of ours imports it; that is no secret.
    const { referer } = request.headers();
    if (referer && !referer.startsWith(`${url}/assets/`)) referrers.push(referer);
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(address.startsWith('/') ? url + address : address);
  const assertSound = () => {
    assert.deepEqual(complaints, []);
    assert.deepEqual([...origins], [new URL(url).origin], 'nothing comes from elsewhere');
    assert.deepEqual(referrers, [], 'nobody learns the address of the page');
  };
  return { page, context, assertSound };
}

const headline = (page, name) => page.getByRole('heading', { level: 2, name }).waitFor();
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

async function fillIn(page, email, secret = password) {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await press(page, 'Log in');
}

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
  await page.getByLabel('How many tickets?').fill('3');
  await press(page, 'Join the waitlist');
  const email = newEmail();
  await logIn('buyer', email);
  await fillIn(page, email);
  await headline(page, 'You are next');
  await press(page, 'Leave the waitlist');
  await headline(page, 'You are not waiting any more');
  assertSound();
});

test('a lost connection is said, and the page goes on after it', async (t) => {
  const { page, context } = await open(t, '/orders');
  await headline(page, 'Log in');
  await context.setOffline(true);
  await fillIn(page, newEmail());
  await page.getByText(/We cannot reach the server/).waitFor();
  await context.setOffline(false);
  await press(page, 'Log in');
  await page.getByText(/email or the password/i).waitFor();
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
