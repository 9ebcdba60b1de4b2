// Readers of the pages that mails lead to, and what they read about. Every reader is a
// browser context of their own.

import assert from 'node:assert/strict';
import { launch } from './browser.mjs';
import { logIn, newEmail, password, send, url } from './organiser.mjs';

export const TITLE = 'Nina & The <Long> Winter';
export const PATIENCE_MS = 30_000;
const NARROW = { width: 360, height: 740 };

let browser;
export let organiser;
export let event;

/** Before the tests of a file: a browser, and an event with nothing on sale. */
export async function start() {
  browser = await launch();
  organiser = await logIn('organiser');
  const rows = [{ label: '1', seats: 20 }];
  const venue = { name: 'Old Gasworks', city: 'Hamburg', address: 'Kanalstraße 7', timezone: 'Europe/Berlin', sections: [{ name: 'Stalls', rows }, { name: 'Floor', capacity: 40 }] };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, organiser);
  const description = 'Five musicians, one winter, and songs that take their time.';
  event = (await send('POST', '/api/v1/events', { title: TITLE, description, category: 'concert', venue_id }, organiser)).event_id;
}

export const close = () => browser?.close();

export async function newShow(more) {
  const show = { starts_at: '2098-06-01T19:00:00Z', currency: 'EUR', prices: { Stalls: 8900, Floor: 4501 }, ...more };
  return (await send('POST', `/api/v1/events/${event}/shows`, show, organiser)).show_id;
}

/** A buyer for whom these seats are held, and the address of the checkout. */
export async function hold(seats, show) {
  const on = show ?? await newShow();
  const email = newEmail();
  const token = await logIn('buyer', email);
  const held = await send('POST', `/api/v1/shows/${on}/holds`, { seats }, token);
  return { email, token, show: on, hold: held.hold_id, held, path: `/shows/${on}/holds/${held.hold_id}` };
}

/** A buyer with an order of these seats, paid with this card. */
export async function order(seats, card = 'pm_card_visa', show) {
  const held = await hold(seats, show);
  const { order_id } = await send('POST', `/api/v1${held.path}/checkout`, { payment_method: card }, held.token);
  return { ...held, order: order_id };
}

/** A buyer with an order that is confirmed, and its tickets. */
export async function bought(seats, show) {
  const made = await order(seats, 'pm_card_visa', show);
  await mailed(made.email, '/orders/');
  const { items } = await send('GET', `/api/v1/orders/${made.order}/tickets`, undefined, made.token);
  return { ...made, tickets: items };
}

/** Waits until the platform says so. */
export async function until(what, isSo) {
  for (const end = Date.now() + PATIENCE_MS; !(await isSo());) {
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((next) => setTimeout(next, 100));
  }
}

/** The link in the newest mail to somebody that leads to such a page. */
export async function mailed(email, page) {
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

/**
 * A new reader at this address, with the session of `token` if there is one. What the page
 * complains about, and whom it asks, is kept.
 */
export async function open(t, address, { token, clock, ...options } = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: NARROW, ...options });
  t.after(() => context.close());
  if (token) await context.addCookies([{ name: 'onsale_session', value: token, url }]);
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
  if (clock) await page.clock.install(clock);
  await page.goto(address.startsWith('/') ? url + address : address);
  /** `secret`: whether the address of a page is nobody's business, as that of an order is. */
  const assertSound = ({ secret = true } = {}) => {
    assert.deepEqual(complaints, []);
    assert.deepEqual([...origins], [new URL(url).origin], 'nothing comes from elsewhere');
    if (secret) assert.deepEqual(referrers, [], 'nobody learns the address of the page');
  };
  return { page, context, assertSound };
}

export const headline = (page, name) => page.getByRole('heading', { level: 2, name }).waitFor();
/** The page is as wide as its window, and every target is large enough for a finger. */
export async function assertFits(page, name) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
  for (const target of await page.locator('main :is(button, a.button, summary, input:not([type=checkbox], [type=radio])):visible').all()) {
    const { height } = await target.boundingBox();
    assert.ok(height >= 44, `${name}: ${await target.textContent()} is ${height} px high`);
  }
}

export const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

export async function fillIn(page, email, secret = password) {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await press(page, 'Log in');
}
