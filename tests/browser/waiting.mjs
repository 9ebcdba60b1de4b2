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

/** A new visitor. What the page asks for and complains about is kept. */
export async function visitor(t, options = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
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

export const state = (page, ...states) =>
  page.waitForFunction((wanted) => wanted.includes(document.getElementById('room')?.dataset.state)
    && !document.getElementById('card').hidden, states, { timeout: PATIENCE_MS });

export const shown = (page, text) => page.getByText(text).first().waitFor({ timeout: PATIENCE_MS });

/** The page as somebody sees it who has gone to another tab. */
export const hide = (page, hidden) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
