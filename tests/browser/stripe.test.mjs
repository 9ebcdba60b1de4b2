// Paying with Stripe in Chromium, with a stand-in for Stripe's script. What only Stripe itself can
// show is how its form looks, and that its script takes what we pass.
//
//   ONSALE_LOCALSTRIPE_URL=… ONSALE_URL=… node --test tests/browser/stripe.test.mjs
//
// ONSALE_URL is a platform with STRIPE_SECRET_KEY, STRIPE_API_URL and ONSALE_STRIPE_PUBLISHABLE_KEY.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { url } from './organiser.mjs';
import { close, headline, hold, open, press, start, until } from './reader.mjs';
import { CARD, SECRET_KEY, standInForStripe } from './stripe-stand-in.mjs';

const emulator = process.env.ONSALE_LOCALSTRIPE_URL;
const skip = emulator ? false : 'ONSALE_LOCALSTRIPE_URL is not set';
const DECLINED = '4000000000000341';
const WITH_3DS = '4000002500003155';

before(start);
after(close);

/** The checkout of a hold, with the stand-in in place of Stripe's script. */
async function checkout(t, seats) {
  const held = await hold(seats);
  const opened = await open(t, '/imprint', { token: held.token });
  const { page, context } = opened;
  await standInForStripe(context, emulator);
  await page.goto(url + held.path);
  await page.getByLabel('Card number').waitFor();
  return { ...held, ...opened };
}

const going = (page) => page.getByRole('heading', { name: 'You are going' }).waitFor();

async function payWith(page, card, price = '€89.00') {
  await page.getByLabel('Card number').fill(card);
  await press(page, `Buy now · ${price}`);
}

test('a card is paid by Stripe’s form, of which we see a name alone', { skip }, async (t) => {
  const { page, email } = await checkout(t, ['Stalls-1-1', 'Stalls-1-2']);
  const { key, options } = await page.evaluate(() => window.given);
  assert.match(key, /^pk_test_/);
  assert.deepEqual({ ...options, appearance: undefined }, { mode: 'payment', amount: 17800, currency: 'eur', captureMethod: 'manual', paymentMethodCreation: 'manual', appearance: undefined });
  assert.equal(await page.getByRole('radio').count(), 0, 'no card of the sandbox');
  await assertAccessible(page, 'stripe');
  const sent = page.waitForRequest((request) => request.url().endsWith('/checkout'));
  await payWith(page, CARD, '€178.00');
  assert.match((await sent).postDataJSON().payment_method, /^pm_/);
  assert.equal((await page.evaluate(() => window.billed).catch(() => ({ email }))).email, email);
  await going(page);
});

test('a declined card stays with its places, and another one pays', { skip }, async (t) => {
  const { page } = await checkout(t, ['Stalls-1-3']);
  await payWith(page, DECLINED);
  await headline(page, 'Your payment was declined');
  await payWith(page, CARD);
  await going(page);
});

test('3-D Secure is finished in the page', { skip }, async (t) => {
  const { page } = await checkout(t, ['Stalls-1-4']);
  await payWith(page, WITH_3DS);
  await going(page);
});

test('3-D Secure goes on after the page was loaded again', { skip }, async (t) => {
  const { page } = await checkout(t, ['Stalls-1-5']);
  // The buyer leaves the bank's question unanswered.
  await page.evaluate(() => {
    const made = window.Stripe;
    window.Stripe = (key) => ({ ...made(key), handleNextAction: () => new Promise(() => {}) });
  });
  await payWith(page, WITH_3DS);
  await headline(page, 'Your bank asks you to confirm');
  await page.reload();
  await headline(page, 'Your bank asks you to confirm');
  await press(page, 'Confirm at your bank');
  await going(page);
});

test('a bank that sends the buyer back finds the order going on', { skip }, async (t) => {
  const { page, hold: id, token } = await checkout(t, ['Stalls-1-6']);
  await page.evaluate(() => {
    const made = window.Stripe;
    window.Stripe = (key) => ({ ...made(key), handleNextAction: () => new Promise(() => {}) });
  });
  await payWith(page, WITH_3DS);
  await headline(page, 'Your bank asks you to confirm');
  const order = id.replace('hld_', 'ord_');
  const answer = await fetch(`${url}/api/v1/orders/${order}`, { headers: { Authorization: `Bearer ${token}` } });
  const { action: { client_secret } } = await answer.json();
  const [intent] = client_secret.split('_secret_');
  const form = new URLSearchParams({ client_secret, success: 'true' });
  await fetch(`${emulator}/v1/payment_intents/${intent}/_authenticate`, { method: 'POST', headers: { Authorization: `Bearer ${SECRET_KEY}` }, body: form });
  await page.goto(`${url}/orders/${order}?payment_intent=${intent}&redirect_status=succeeded`);
  await going(page);
  assert.equal(new URL(page.url()).search, '', 'the address that is shared says nothing of the payment');
});

test('a bank with a page of its own is reached by a link, and leads back to the order', { skip }, async (t) => {
  const { page, context, hold: id } = await checkout(t, ['Stalls-1-8']);
  await page.evaluate(() => {
    const made = window.Stripe;
    window.Stripe = (key) => ({ ...made(key), handleNextAction: () => new Promise(() => {}) });
  });
  const order = id.replace('hld_', 'ord_');
  const bank = 'https://bank.example/confirm';
  let secret;
  await context.route(`**/api/v1/orders/${order}`, async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    if (told.action) {
      secret = told.action.client_secret;
      told.action = { type: 'redirect', url: bank };
    }
    await route.fulfill({ response, json: told });
  });
  await context.route(`${bank}*`, async (route) => {
    const [intent] = secret.split('_secret_');
    const form = new URLSearchParams({ client_secret: secret, success: 'true' });
    await fetch(`${emulator}/v1/payment_intents/${intent}/_authenticate`, { method: 'POST', headers: { Authorization: `Bearer ${SECRET_KEY}` }, body: form });
    await route.fulfill({ contentType: 'text/html', body: `<a href="${url}/orders/${order}?payment_intent=${intent}">Back to the shop</a>` });
  });
  await payWith(page, WITH_3DS);
  await headline(page, 'Your bank asks you to confirm');
  await page.getByRole('link', { name: 'Confirm at your bank' }).click();
  await page.getByRole('link', { name: 'Back to the shop' }).click();
  await going(page);
});

test('without Stripe’s script the places and their time are shown, and the form can be had later', { skip }, async (t) => {
  const held = await hold(['Stalls-1-7']);
  const { page, context } = await open(t, '/imprint', { token: held.token });
  const asked = [];
  await context.route('https://js.stripe.com/v3/', (route) => {
    asked.push(route);
    // The first is never answered before the summary was read.
    if (asked.length > 1) return route.abort();
  });
  await page.goto(url + held.path);
  await headline(page, 'These places are held for you');
  await page.getByRole('timer').waitFor();
  await until('the script is asked for', () => asked.length === 1);
  await asked[0].abort();
  const trouble = page.getByRole('alert').filter({ hasText: 'The payment form could not be loaded.' });
  await trouble.waitFor();
  await page.getByRole('row', { name: /Total.*€89.00/ }).waitFor();
  await assertAccessible(page, 'without Stripe');
  await press(page, 'Try again');
  await until('the script is asked for again', () => asked.length === 2);
  await trouble.waitFor();
  await context.unroute('https://js.stripe.com/v3/');
  await standInForStripe(context, emulator);
  await press(page, 'Try again');
  await page.getByLabel('Card number').waitFor();
  assert.equal(await trouble.count(), 0);
  await payWith(page, CARD);
  await going(page);
});
