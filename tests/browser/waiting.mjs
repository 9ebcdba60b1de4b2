// Visitors of a waiting room. Each is a browser context of their own, so they share no
// cookies.

import { launch } from './browser.mjs';
import { newEvent, url } from './organiser.mjs';

export const TITLE = 'Nina & The <Long> Winter';
export const PATIENCE_MS = 60_000;

let browser;
export let event;

/** Before the tests of a file: a browser, and an event with nothing on sale. */
export async function start() {
  browser = await launch();
  event = await newEvent(TITLE);
}

export const close = () => browser?.close();

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
export const wide = { mode: 'queue_all', capacity: 100 };
export const beforeOpening = () => ({ ...wide, opens_at: inAnHour() });

/**
 * A new visitor. What the page asks for and complains about is kept. Unless told otherwise
 * they stay in the room when they are let in: the seats are there, but without content.
 */
export async function visitor(t, { goesOn = false, ...options } = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  if (!goesOn) await context.route('**/shows/*/seats', (route) => route.fulfill({ status: 204 }));
  t.after(() => context.close());
  const asked = [];
  const complaints = [];
  context.on('request', (request) => {
    const { pathname } = new URL(request.url());
    asked.push(`${request.method()} ${pathname.split('/').pop()}`);
  });
  context.on('console', (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  const times = (what) => asked.filter((it) => it === what).length;
  return { context, asked, times, complaints };
}

export async function open(context, show, query = '') {
  const page = await context.newPage();
  await page.goto(`${url}/room/${show}${query}`);
  return page;
}

/** Waits until the page is in one of these states; says which it is in if it never is. */
export async function state(page, ...states) {
  try {
    await page.waitForFunction((wanted) => wanted.includes(document.getElementById('room')?.dataset.state)
      && !document.getElementById('card').hidden, states, { timeout: PATIENCE_MS });
  } catch (error) {
    const told = await page.evaluate(() => {
      const [room, card] = ['room', 'card'].map((id) => document.getElementById(id));
      return [room?.dataset.state, card?.textContent.replace(/\s+/g, ' ')];
    }).catch(String);
    throw new Error(`never ${states.join(' or ')}, but ${told} at ${page.url()}`, { cause: error });
  }
}

export const shown = (page, text) => page.getByText(text).first().waitFor({ timeout: PATIENCE_MS });

/** The page as somebody sees it who has gone to another tab. */
export const hide = (page, hidden) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
