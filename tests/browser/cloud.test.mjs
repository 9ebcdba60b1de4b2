// The main journey in Chromium on the emulated cloud: the functions as Lambdas, the worker in
// workerd, and Stripe's emulator with a stand-in for Stripe's script.
//
//   scripts/cloud npm run cloud --prefix tests/browser
//
// scripts/cloud sets ONSALE_URL and STRIPE_API_URL.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newEmail, send, url } from './organiser.mjs';
import { close, open, organiser, press, start } from './reader.mjs';
import { rows } from './seats.mjs';
import { CARD, standInForStripe } from './stripe-stand-in.mjs';

const emulator = process.env.STRIPE_API_URL;
const skip = emulator ? false : 'STRIPE_API_URL is not set';
/** A function starts when it is first asked, and this machine may be busy with others. */
const PATIENCE_MS = 180_000;
/** Seldom enough for an address that may ask a hundred times in ten seconds. */
const POLL_MS = 1_000;
const room = { mode: 'queue_all', capacity: 50, rate_per_second: 50, pass_seconds: 300 };

before(async () => {
  if (!skip) await start();
});
after(close);

/** A show with its room on, whose event the search finds. */
async function house() {
  const title = `Cloud ${randomUUID().slice(0, 8)}`;
  const venue = { name: 'Old Gasworks', city: 'Hamburg', timezone: 'Europe/Berlin', sections: [{ name: 'Stalls', rows: rows(8, 12) }] };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, organiser);
  const { event_id } = await send('POST', '/api/v1/events', { title, category: 'concert', venue_id }, organiser);
  const show = { starts_at: '2098-06-01T19:00:00Z', currency: 'EUR', prices: { Stalls: 3900 }, room };
  await send('POST', `/api/v1/events/${event_id}/shows`, show, organiser);
  const isFound = async () => (await send('GET', `/api/v1/events?query=${encodeURIComponent(title)}`)).items.length > 0;
  for (const end = Date.now() + PATIENCE_MS; !(await isFound());) {
    assert.ok(Date.now() < end, 'the search never finds the event');
    await new Promise((next) => setTimeout(next, POLL_MS));
  }
  return title;
}

test('on the emulated cloud a fan buys two seats by Stripe’s form, from the front page to the tickets', { skip }, async (t) => {
  const title = await house();
  const { page, context } = await open(t, '/', { viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE_MS);
  const origins = new Set();
  context.on('request', (request) => {
    if (/^https?:/.test(request.url())) origins.add(new URL(request.url()).origin);
  });
  await standInForStripe(context, emulator);

  await page.getByRole('searchbox').fill(title);
  await page.getByRole('link', { name: title }).click();
  await page.waitForURL(/\/(events|shows)\/\w+$/);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  if (!/\/shows\//.test(page.url())) await page.locator('main a[href^="/shows/"]').first().click();
  await page.getByRole('link', { name: 'To the waiting room' }).click();
  await page.waitForURL('**/seats');
  await page.getByRole('group', { name: 'How many tickets?' }).waitFor();
  await page.getByRole('button', { name: 'Reserve 2 seats · €78.00' }).click();

  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Your name').fill('Robin');
  await dialog.getByLabel('Email address').fill(newEmail());
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(/\/holds\/hld_\w+$/);
  await page.getByRole('timer').waitFor();
  assert.equal(await page.getByRole('radio').count(), 0, 'no card of the sandbox');
  await page.getByLabel('Card number').fill(CARD);
  await press(page, 'Buy now · €78.00');

  await page.getByRole('heading', { name: 'You are going' }).waitFor();
  const codes = page.getByRole('img', { name: /^QR code/ });
  assert.equal(await codes.count(), 2);
  await page.waitForFunction((it) => it.complete && it.naturalWidth > 0, await codes.first().elementHandle());
  await page.getByRole('link', { name: 'Show full screen' }).first().click();
  await page.waitForURL('**/tickets/tkt_*');
  await codes.waitFor();
  assert.deepEqual([...origins].sort(), [new URL(url).origin, 'https://api.stripe.com', 'https://js.stripe.com'].sort());
});
