// Logging in and out, and what becomes of a page whose reader has gone, in Chromium, against a
// running platform. Every reader is a browser context of their own.
//
//   npm ci --prefix tests/browser
//   ONSALE_URL=http://127.0.0.1:8787 node --test tests/browser/session.test.mjs
//
// CHROMIUM and ONSALE_SCREENSHOTS are as in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { logIn, newEmail, password, send } from './organiser.mjs';
import { close, fillIn, headline, mailed, newShow, open, order, press, start } from './reader.mjs';

before(start);
after(close);

/** Pages that look again by themselves, each with who may read it and what it says. */
const following = {
  async waitlist() {
    const show = await newShow({ max_tickets_per_buyer: 50 });
    const seats = Array.from({ length: 20 }, (_, i) => `Stalls-1-${i + 1}`);
    await send('POST', `/api/v1/shows/${show}/holds`, { seats }, await logIn('buyer'));
    const email = newEmail();
    const wish = { quantity: 2, sections: ['Stalls'] };
    const { waitlist_id } = await send('POST', `/api/v1/shows/${show}/waitlist`, wish, await logIn('buyer', email));
    return { path: `/shows/${show}/waitlist/${waitlist_id}`, email, says: 'You are next' };
  },
  async order() {
    const { email, order: id } = await order(['Stalls-1-4'], 'pm_sandbox_requires_action');
    return { path: `/orders/${id}`, email, says: 'Your bank has a question' };
  },
};

/** A reader of such a page, by a clock that the test can put forward. */
async function follow(t, { path, email, says }) {
  const opened = await open(t, path);
  const { page, context } = opened;
  // Without its stream an order is asked for now and then.
  await context.route('**/feed/**', (route) => route.fulfill({ status: 503 }));
  await page.clock.install();
  await page.reload();
  const refused = path.startsWith('/orders/') && page.waitForResponse((response) => response.url().includes('/feed/'));
  await fillIn(page, email);
  await headline(page, says);
  await refused;
  // What the page was told, and what it asks for at once, comes before this.
  const roundTrip = () => page.evaluate(async () => { await fetch('/healthz'); });
  await roundTrip();
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const pass = async (ms) => {
    asked.length = 0;
    await page.clock.fastForward(ms);
    await roundTrip();
    return asked.filter((it) => it !== '/healthz');
  };
  return { ...opened, pass };
}

for (const [name, made] of Object.entries(following)) {
  test(`whoever logs out of a page that follows its ${name} can log in undisturbed`, async (t) => {
    const followed = await made();
    const { page, pass, assertSound } = await follow(t, followed);
    await press(page, 'Log out');
    await headline(page, 'Log in');
    await page.getByLabel('Email address').fill('half of an addr');
    assert.deepEqual(await pass(90_000), [], 'nobody is there to look for');
    assert.equal(await page.getByLabel('Email address').inputValue(), 'half of an addr');
    await fillIn(page, followed.email);
    await headline(page, followed.says);
    assertSound();
  });

  test(`a page that follows its ${name} asks for a log-in when the session has ended`, async (t) => {
    const followed = await made();
    const { page, context, pass } = await follow(t, followed);
    await context.clearCookies();
    await pass(45_000);
    await headline(page, 'Log in');
    await page.getByText('Your session has ended.').waitFor();
    await page.getByLabel('Email address').fill('half of an addr');
    assert.deepEqual(await pass(90_000), []);
    assert.equal(await page.getByLabel('Email address').inputValue(), 'half of an addr');
    await fillIn(page, followed.email);
    await headline(page, followed.says);
  });
}

test('a button that works keeps the focus, and is pressed once', async (t) => {
  const { page, context } = await open(t, '/orders');
  await headline(page, 'Log in');
  let sent = 0;
  let letGo;
  const held = new Promise((resolve) => { letGo = resolve; });
  await context.route('**/api/v1/sessions', async (route) => {
    sent += 1;
    await held;
    await route.continue();
  });
  await page.getByLabel('Email address').fill(newEmail());
  await page.getByLabel('Password', { exact: true }).fill(password);
  const button = page.getByRole('button', { name: 'Log in', exact: true });
  const isFocused = () => button.evaluate((it) => it === document.activeElement);
  await button.focus();
  await page.keyboard.press('Enter');
  await page.locator('button[aria-disabled=true]').waitFor();
  await page.keyboard.press('Enter');
  assert.equal(await isFocused(), true);
  letGo();
  await page.getByRole('alert').filter({ hasText: /email address or the password/i }).waitFor();
  assert.equal(await isFocused(), true);
  assert.equal(sent, 1);
  assert.equal(await button.getAttribute('aria-disabled'), null);
});

test('a lost connection is said, and the page goes on after it', async (t) => {
  const { page, context } = await open(t, '/orders');
  await headline(page, 'Log in');
  await context.setOffline(true);
  await fillIn(page, newEmail());
  await page.getByText(/We cannot reach the server/).waitFor();
  await context.setOffline(false);
  await press(page, 'Log in');
  await page.getByText(/email address or the password/i).waitFor();
});

const introduce = async (page, email) => {
  await press(page, 'I have no account yet');
  await page.getByLabel('Your name').fill('Bo');
  await page.getByLabel('Email address').fill(email);
  await press(page, 'Continue');
};

test('a name and an address are enough for a session', async (t) => {
  const email = newEmail();
  const { page, assertSound } = await open(t, '/orders');
  await introduce(page, email);
  await headline(page, 'No tickets yet');
  await page.getByRole('link', { name: email }).waitFor();
  await page.reload();
  await headline(page, 'No tickets yet');
  assertSound();
});

test('an address that has an account gets a link, and the page goes on once it is followed', async (t) => {
  const email = newEmail();
  await logIn('buyer', email);
  const { page, context } = await open(t, '/orders');
  await introduce(page, email);
  await headline(page, 'Look into your inbox');
  await page.getByText(`There is an account for ${email} already.`).waitFor();
  const link = await mailed(email, '/log-in/');
  const other = await context.newPage();
  await other.goto(link);
  await press(other, 'Log in');
  await headline(other, 'You are logged in');
  await headline(page, 'No tickets yet');

  const late = await open(t, link);
  await press(late.page, 'Log in');
  await headline(late.page, 'This link does not work any more');
  await late.page.getByRole('link', { name: 'To the log-in' }).waitFor();
});

test('a buyer without a password logs in by a mailed link', async (t) => {
  const email = newEmail();
  await send('POST', '/api/v1/accounts', { email, name: 'Bo', role: 'buyer' });
  const { page, context } = await open(t, '/orders');
  await page.getByLabel('Email address').fill(email);
  await press(page, 'Send me a log-in link instead');
  assert.equal(await page.getByLabel('Email address').inputValue(), email, 'what was typed is kept');
  await press(page, 'Send me a link');
  await headline(page, 'Look into your inbox');
  const other = await context.newPage();
  await other.goto(await mailed(email, '/log-in/'));
  await press(other, 'Log in');
  await headline(page, 'No tickets yet');
});

test('the pages are in German for a reader of German', async (t) => {
  const { page } = await open(t, '/reset/none', { locale: 'de-AT' });
  await headline(page, 'Wählen Sie ein Passwort');
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
});

test('without JavaScript the page says that it needs it', async (t) => {
  const { page } = await open(t, '/reset/none', { javaScriptEnabled: false });
  await page.getByRole('heading', { name: 'This page needs JavaScript' }).waitFor();
});

test('a waitlist is looked at again after a look that failed', async (t) => {
  const { path, email, says } = await following.waitlist();
  const { page } = await open(t, path, { clock: { time: new Date() } });
  await fillIn(page, email);
  await headline(page, says);
  await page.route('**/waitlist/wls_*', (route) => route.abort());
  await page.clock.fastForward(31_000);
  await headline(page, 'That did not work');
  await page.unroute('**/waitlist/wls_*');
  await page.clock.fastForward(31_000);
  await headline(page, says);
});
