// Houses to choose seats in, and readers who do.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { logIn, newEmail, password, send } from './organiser.mjs';
import { open, organiser, PATIENCE_MS } from './reader.mjs';

export const WIDE = { viewport: { width: 1280, height: 800 } };

const STARTS = '2098-06-01T19:00:00Z';

/** So many rows of so many seats. */
export const rows = (count, seats) => Array.from({ length: count }, (_, i) => ({ label: String(i + 1), seats }));

/** A show in a house of its own. */
export async function newHouse(sections, prices, more) {
  const venue = { name: 'Old Gasworks', city: 'Hamburg', timezone: 'Europe/Berlin', sections };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, organiser);
  const event = { title: 'The Long Winter', category: 'concert', venue_id };
  const { event_id } = await send('POST', '/api/v1/events', event, organiser);
  const show = { starts_at: STARTS, currency: 'EUR', prices, ...more };
  return (await send('POST', `/api/v1/events/${event_id}/shows`, show, organiser)).show_id;
}

/** A small theatre: ten rows of twelve before two of fourteen. */
export const theatre = (more) =>
  newHouse(
    [
      { name: 'Stalls', rows: rows(10, 12), accessible: ['Stalls-10-1', 'Stalls-10-12'] },
      { name: 'Circle', rows: rows(2, 14) },
    ],
    { Stalls: 3900, Circle: 2500 },
    more,
  );

/** The index of a seat in the rows of twelve of the theatre. */
export const stalls = (row, seat) => (row - 1) * 12 + seat - 1;

/** Another buyer, who is faster. */
export async function otherBuyer(show) {
  const token = await logIn('buyer');
  const take = (body) => send('POST', `/api/v1/shows/${show}/holds`, body, token);
  return {
    take: (...seats) => take({ seats }),
    general: (section, quantity) => take({ general: { section, quantity } }),
    buy: ({ hold_id }) => send('POST', `/api/v1/shows/${show}/holds/${hold_id}/checkout`, { payment_method: 'pm_card_visa' }, token),
    release: ({ hold_id }) => send('DELETE', `/api/v1/shows/${show}/holds/${hold_id}`, undefined, token),
  };
}

/** Logs a browser in as a new buyer. */
export async function enterAs(context, origin, email = newEmail()) {
  await logIn('buyer', email);
  const headers = { 'Idempotency-Key': randomUUID(), Origin: origin };
  const answer = await context.request.post(`${origin}/api/v1/sessions`, { headers, data: { email, password } });
  assert.ok(answer.ok(), await answer.text());
}

/** A buyer at the seats of a show, who is logged in unless told. */
export async function atSeats(t, show, { known = true, before, query = '', ...options } = {}) {
  const reader = await open(t, '/healthz', options);
  const { context, page } = reader;
  const { origin } = new URL(page.url());
  if (known) await enterAs(context, origin);
  await before?.(page);
  await page.goto(`${origin}/shows/${show}/seats${query}`);
  await page.getByRole('group', { name: 'How many tickets?' }).waitFor();
  return { ...reader, origin };
}

export const reserveButton = (page) => page.getByRole('button', { name: /^Reserv/ });
export const told = (page, words) => page.getByRole('alert').filter({ hasText: words }).waitFor();
export const atCheckout = (page) => page.waitForURL(/\/shows\/shw_\w+\/holds\/hld_\w+$/, { timeout: PATIENCE_MS });

/** The chosen seats, as the bill lists them. */
export const chosen = async (page) => (await page.locator('.bill li > span:first-child').allTextContents()).sort();
export const waitForChosen = (page, ...lines) =>
  page.waitForFunction((wanted) => {
    const shown = [...document.querySelectorAll('.bill li > span:first-child')].map((it) => it.textContent);
    return JSON.stringify(shown.sort()) === wanted;
  }, JSON.stringify(lines.sort()));

/** Moves the mouse over the map until it says that a click would take these seats. */
export async function pointAt(page, words) {
  const { x, y, width, height } = await page.locator('.map canvas').boundingBox();
  const tip = page.locator('.tip');
  for (let dy = 60; dy < height - 10; dy += 7) {
    for (let dx = 10; dx < width - 10; dx += 7) {
      await page.mouse.move(x + dx, y + dy);
      if (!(await tip.isHidden()) && (await tip.textContent()).startsWith(words)) return;
    }
  }
  assert.fail(`no point of the map takes ${words}`);
}

/** No text is wider than its box, and the page does not scroll sideways. */
export async function assertFits(page) {
  const found = await page.evaluate(() => {
    const wide = [...document.querySelectorAll('button, label:not(.unseen), h1, h2, .line, .bill li')].filter((it) => {
      const style = getComputedStyle(it);
      return it.checkVisibility() && it.scrollWidth > it.clientWidth + 1 && style.textOverflow !== 'ellipsis' && it.clientWidth > 0;
    });
    return { wide: wide.map((it) => it.outerHTML), sideways: document.documentElement.scrollWidth > innerWidth };
  });
  assert.deepEqual(found, { wide: [], sideways: false });
}

/** A feed that says what the test says, and nothing else. */
export function scriptedFeed() {
  const sockets = [];
  let version = 9_000_000_000_000;
  const send = (news) => sockets.at(-1).send(JSON.stringify({ version: ++version, ...news }));
  return {
    /** What each new connection is told first. */
    welcome: { changes: [] },
    before(page) {
      return page.routeWebSocket(/\/feed\//, (socket) => {
        sockets.push(socket);
        send(this.welcome);
      });
    },
    reset: () => send({ reset: true }),
    /** Others take these places, by their index; the page has heard it when this returns. */
    async take(page, ...places) {
      send({ changes: places.map((place) => [place, 1]) });
      await page.waitForFunction(
        (wanted) => wanted.every((place) => / (reserved|chosen)/.test(document.querySelector(`[data-place="${place}"]`)?.ariaLabel)),
        places,
      );
    },
  };
}

/** A reader whose feed says what the test says. */
export async function hearing(t, options) {
  const show = await theatre();
  const feed = scriptedFeed();
  const before = async (page) => {
    await feed.before(page);
    await options?.before?.(page);
  };
  const reader = await atSeats(t, show, { ...WIDE, ...options, before });
  await reader.page.waitForFunction(() => document.querySelector('.twin [role=row]'));
  return { ...reader, show, feed };
}
