// The waiting page in Chromium, against a running platform. Every visitor is a browser
// context of their own, so they share no cookies.
//
//   npm ci --prefix tests/browser
//   ONSALE_URL=http://127.0.0.1:8787 node --test tests/browser/room.test.mjs
//
// CHROMIUM is the path of the browser, `chromium` in PATH otherwise; ONSALE_SCREENSHOTS is
// a folder for pictures of the states. Faults that a healthy platform does not show, such
// as a lost connection or a refusal, are made between browser and platform.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { assertAccessible, launch } from './browser.mjs';
import { buy, newEvent, url } from './organiser.mjs';

const screenshots = process.env.ONSALE_SCREENSHOTS;
const TITLE = 'Nina & The <Long> Winter';
const PATIENCE_MS = 60_000;
const BUDGET_BYTES = 30_000;

let browser;
let event;

before(async () => {
  browser = await launch();
  event = await newEvent(TITLE);
});
after(() => browser?.close());

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const wide = { mode: 'queue_all', capacity: 100 };
const beforeOpening = () => ({ ...wide, opens_at: inAnHour() });

/** A new visitor. What the page asks for and complains about is kept. */
async function visitor(t, options = {}) {
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

async function open(context, show, query = '') {
  const page = await context.newPage();
  await page.goto(`${url}/room/${show}${query}`);
  return page;
}

const state = (page, ...states) =>
  page.waitForFunction((wanted) => wanted.includes(document.getElementById('room')?.dataset.state)
    && !document.getElementById('card').hidden, states, { timeout: PATIENCE_MS });

const shown = (page, text) => page.getByText(text).first().waitFor({ timeout: PATIENCE_MS });

/** The page as somebody sees it who has gone to another tab. */
const hide = (page, hidden) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

test('the page is under 30,000 bytes, and nothing comes from elsewhere', async (t) => {
  const show = await event.show(beforeOpening());
  const files = [`room/${show}`, 'assets/room.css', 'assets/room.js', 'assets/work.js'];
  const sent = await Promise.all(files.map((file) => fetch(`${url}/${file}`, { headers: { Accept: 'text/html' } })));
  assert.ok(sent.every(({ ok }) => ok));
  const sizes = await Promise.all(sent.map(async (answer) => (await answer.arrayBuffer()).byteLength));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  t.diagnostic(`${total} bytes`);
  assert.ok(total < BUDGET_BYTES, `${total} bytes`);

  const { context, complaints } = await visitor(t);
  const origins = new Set();
  context.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
  });
  const page = await open(context, show);
  await state(page, 'prequeue');
  assert.deepEqual([...origins], [new URL(url).origin]);
  assert.equal(await page.locator('h1').textContent(), TITLE);
  assert.deepEqual(complaints, []);
});

test('a visitor goes in without doing anything, is focused on their turn, and can leave', async (t) => {
  const show = await event.show(wide);
  const { context, times, complaints } = await visitor(t);
  await context.addInitScript(() => {
    window.said = [];
    new MutationObserver(() => {
      const words = document.getElementById('said')?.textContent;
      if (words && words !== window.said.at(-1)) window.said.push(words);
    }).observe(document, { subtree: true, childList: true });
  });
  const page = await open(context, show);
  await state(page, 'turn');
  const said = await page.evaluate(() => window.said);
  assert.ok(said.some((words) => /keeps robots out/.test(words)), said.join(' | '));
  assert.ok(said.length <= 5, said.join(' | '));
  assert.match(await page.title(), /^It is your turn · /);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'headline');
  assert.match(await page.locator('#said').textContent(), /It is your turn/);
  assert.match(await page.locator('#number').textContent(), /^\d\d:\d\d$/);
  const cookies = await context.cookies(`${url}/api/v1/shows/${show}`);
  assert.ok(cookies.some(({ name, httpOnly }) => name === 'onsale_pass' && httpOnly));
  await page.getByRole('button', { name: 'Leave' }).click();
  await state(page, 'left');
  await page.reload();
  await state(page, 'left');
  assert.equal(times('POST join'), 1);
  await page.getByRole('button', { name: 'Join again' }).click();
  await state(page, 'turn');
  assert.equal(times('POST join'), 2);
  assert.deepEqual(complaints, []);
});

test('a pass is renewed while the page is looked at', async (t) => {
  const show = await event.show({ ...wide, pass_seconds: 10 });
  const { context, times } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'turn');
  const asked = times('GET status');
  await page.waitForResponse((response) => response.url().endsWith('/enter') && response.ok(), { timeout: 15_000 });
  assert.equal(times('GET status'), asked, 'the pass had already run out');
  await state(page, 'turn');
  assert.equal(times('POST join'), 1);
});

test('whoever came from a page of this site is sent back there with the pass', async (t) => {
  const show = await event.show(wide);
  const { context } = await visitor(t);
  const page = await open(context, show, `?return=${encodeURIComponent('/healthz?from=room')}`);
  await page.waitForURL('**/healthz?from=room', { timeout: PATIENCE_MS });
});

test('nobody is sent to another site', async (t) => {
  const show = await event.show(wide);
  for (const path of ['//evil.example/', '/\\evil.example/', 'https://evil.example/', '/\t/evil.example/', '\\\\evil.example', 'javascript:alert(1)']) {
    const { context } = await visitor(t);
    const elsewhere = [];
    context.on('request', (request) => {
      if (request.isNavigationRequest() && !request.url().startsWith(`${url}/room/`)) elsewhere.push(request.url());
    });
    const page = await open(context, show, `?return=${encodeURIComponent(path)}`);
    await state(page, 'turn');
    assert.equal(await page.locator('#link').isVisible(), false, path);
    assert.deepEqual(elsewhere, [], path);
    await context.close();
  }
});

test('before opening the page explains the draw and counts down', async (t) => {
  const show = await event.show(beforeOpening());
  const { context } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'prequeue');
  await shown(page, /one draw/);
  await shown(page, /Arriving earlier gives no advantage/);
  assert.match(await page.locator('#number').textContent(), /^(01:00:00|59:\d\d)$/);
  assert.match(await page.title(), /^Opens in /);
});

test('a reload and another tab keep the place, and one tab does the work', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, times } = await visitor(t);
  const [first, second] = await Promise.all([open(context, show), open(context, show)]);
  await state(first, 'prequeue');
  await state(second, 'prequeue');
  await first.reload();
  await state(first, 'prequeue');
  assert.equal(times('POST join'), 1);
  assert.equal(times('GET challenge'), 1);
  const locks = () => second.evaluate(async () => (await navigator.locks.query()).held.length);
  assert.equal(await locks(), 1);
  await first.close();
  await second.waitForFunction(async () => {
    const { held, pending } = await navigator.locks.query();
    return held.length === 1 && pending.length === 0;
  });
});

test('a fan code from the link is sent along, and one that is refused leaves the place as it was', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, times } = await visitor(t);
  let sent = [];
  context.on('request', (request) => {
    if (request.url().endsWith('/join')) sent.push(request.postDataJSON().fan_code);
  });
  const page = await open(context, show);
  await state(page, 'prequeue');
  await page.getByText('I have a fan code').click();
  await page.getByLabel('Fan code').fill('NOT-A-CODE');
  await page.getByRole('button', { name: 'Use this code' }).click();
  await page.locator('#notice').waitFor({ timeout: PATIENCE_MS });
  await state(page, 'prequeue');
  assert.deepEqual(sent, [undefined, 'NOT-A-CODE', 'NOT-A-CODE']);
  assert.equal(times('POST join'), 3);

  sent = [];
  const other = await open(await browser.newContext().then((it) => (t.after(() => it.close()), it)), show, '?code=FROM-A-LINK');
  const request = await other.waitForRequest((it) => it.url().endsWith('/join'), { timeout: PATIENCE_MS });
  assert.equal(request.postDataJSON().fan_code, 'FROM-A-LINK');
});

test('a lost connection is said, the place is kept, and the page recovers by itself', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, times } = await visitor(t);
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${url}/room/${show}`);
  await state(page, 'prequeue');
  await context.setOffline(true);
  await page.clock.fastForward(300_000);
  await shown(page, /We lost the connection; your place is kept/);
  assert.match(await page.locator('#said').textContent(), /place is kept/);
  await context.setOffline(false);
  await page.locator('#notice').waitFor({ state: 'hidden', timeout: PATIENCE_MS });
  await state(page, 'prequeue');
  assert.equal(times('POST join'), 1);
});

test('a busy server is given the time it asks for', async (t) => {
  const show = await event.show(beforeOpening());
  const { context } = await visitor(t);
  const asked = [];
  await context.route('**/status', (route) => {
    asked.push(Date.now());
    if (asked.length > 1) return route.continue();
    return route.fulfill({ status: 429, headers: { 'Retry-After': '4' }, contentType: 'application/problem+json', body: '{}' });
  });
  const page = await open(context, show);
  await shown(page, /Many people are asking/);
  await state(page, 'prequeue');
  assert.ok(asked[1] - asked[0] >= 3_900, `${asked[1] - asked[0]} ms`);
});

test('a refused join is tried again once, then there is a button', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, times } = await visitor(t);
  await context.route('**/join', async (route) => {
    if (times('POST join') > 2) return route.continue();
    const body = JSON.stringify({ type: 'urn:onsale:invalid_request', title: 'no', status: 400, detail: 'The challenge has expired.' });
    return route.fulfill({ status: 400, contentType: 'application/problem+json', body });
  });
  const page = await open(context, show);
  await shown(page, 'The challenge has expired.');
  assert.equal(times('GET challenge'), 2);
  await page.getByRole('button', { name: 'Try again' }).click();
  await state(page, 'prequeue');
});

test('whoever is turned away at the door is back in line', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  const status = { state: 'waiting', position: 1_235, ahead: 1_234, wait_seconds: { p50: 180, p90: 350 }, refresh_after_ms: 3_000 };
  await context.route('**/enter', async (route) => {
    if (times('POST enter') > 1) return route.continue();
    const problem = { type: 'urn:onsale:not_admitted', title: 'no', detail: 'Not yet.', ...status, status: 425 };
    return route.fulfill({ status: 425, contentType: 'application/problem+json', body: JSON.stringify(problem) });
  });
  const page = await open(context, show);
  await state(page, 'waiting');
  await shown(page, '1,234 people ahead of you');
  await shown(page, 'Your wait: about 3 to 6 minutes.');
  assert.match(await page.title(), /^Your place 1,235 · /);
  await state(page, 'turn');
  assert.equal(times('POST join'), 1);
});

test('a browser that keeps no cookies is told so, instead of working for ever', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, times } = await visitor(t);
  await context.route('**/status', async (route) => {
    const headers = { ...(await route.request().allHeaders()), cookie: '' };
    return route.continue({ headers });
  });
  await context.route('**/join', async (route) => {
    const response = await route.fetch();
    await context.clearCookies({ name: 'onsale_ticket' });
    const headers = { 'Content-Type': 'application/json' };
    await route.fulfill({ status: response.status(), headers, body: await response.text() });
    await context.clearCookies({ name: 'onsale_ticket' });
  });
  const page = await open(context, show);
  await shown(page, /Allow cookies/);
  assert.equal(times('POST join'), 1);
});

test('without Web Workers the page works in slices', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, complaints } = await visitor(t);
  await context.addInitScript(() => delete window.Worker);
  const page = await open(context, show);
  await state(page, 'prequeue');
  assert.deepEqual(complaints, []);
});

test('a turn is not taken while nobody looks; the title says so', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  await context.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${url}/room/${show}`);
  await state(page, 'admitted');
  const title = (text) => page.waitForFunction((it) => document.title.startsWith(it), text);
  await title('It is your turn');
  await title(TITLE);
  await title('It is your turn');
  const polled = page.waitForResponse((response) => response.url().endsWith('/status'));
  await page.clock.fastForward(20_000);
  await polled;
  assert.equal(times('POST enter'), 0);
  await hide(page, false);
  await state(page, 'turn');
});

test('the tab that is looked at takes over from a hidden one', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  const hidden = await context.newPage();
  await hidden.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));
  await hidden.goto(`${url}/room/${show}`);
  await state(hidden, 'admitted');
  const looked = await open(context, show);
  await state(looked, 'turn');
  await state(hidden, 'turn');
  assert.equal(times('POST join'), 1);
});

test('after the draw people wait in line, and go in when others leave', async (t) => {
  const opens_at = new Date(Date.now() + 12_000).toISOString();
  const show = await event.show({ mode: 'queue_all', capacity: 1, opens_at });
  const pages = [];
  for (let i = 0; i < 5; i++) {
    const { context } = await visitor(t);
    pages.push(await open(context, show));
  }
  await Promise.all(pages.map((page) => state(page, 'prequeue', 'waiting', 'admitted', 'turn')));
  const isAt = async (page, wanted) => (await page.locator('#room').getAttribute('data-state')) === wanted;
  const inside = async () => (await Promise.all(pages.map((page) => isAt(page, 'turn')))).filter(Boolean).length;

  const winner = await Promise.any(pages.map(async (page) => (await state(page, 'turn'), page)));
  const waiting = await Promise.any(pages.map(async (page) => (await state(page, 'waiting'), page)));
  assert.equal(await inside(), 1);
  await shown(waiting, /ahead of you|You are next/);
  await shown(waiting, /Your wait: (about|less than) |as soon as there is room/);
  assert.match(await waiting.title(), /^Your place \d+ · /);
  await assertAccessible(waiting, 'waiting');
  await waiting.evaluate(() => {
    window.announcements = 0;
    new MutationObserver(() => window.announcements++).observe(document.getElementById('said'), { childList: true });
  });
  for (let polls = 0; polls < 3; polls++) {
    await waiting.waitForResponse((response) => /\/(status|enter)$/.test(response.url()), { timeout: PATIENCE_MS });
  }
  assert.ok((await waiting.evaluate(() => window.announcements)) <= 1, 'a poll is not worth an announcement');
  if (screenshots) await waiting.screenshot({ path: `${screenshots}/waiting.png`, fullPage: true });

  await winner.getByRole('button', { name: 'Leave' }).click();
  const others = pages.filter((page) => page !== winner);
  await Promise.any(others.map((page) => state(page, 'turn')));
  assert.equal(await inside(), 1);
});

test('a closed room says so, and lets people in when it opens', async (t) => {
  const show = await event.show({ ...wide, mode: 'closed' });
  const { context } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'closed');
  await event.setRoom(show, { ...wide, rate_per_second: 100 });
  await state(page, 'turn');
});

test('sold out is said, and the page leads to the waitlist', async (t) => {
  const show = await event.show(wide);
  const { context } = await visitor(t);
  await state(await open(context, show), 'turn');
  await buy(context, show);
  const late = await visitor(t);
  const page = await late.context.newPage();
  const known = async () => {
    await page.goto(`${url}/room/${show}`);
    await state(page, 'sold_out', 'turn');
    return (await page.locator('#room').getAttribute('data-state')) === 'sold_out';
  };
  const patience = Date.now() + PATIENCE_MS;
  while (!(await known())) assert.ok(Date.now() < patience, 'the room does not learn that all is sold');
  await shown(page, 'Sold out');
  await shown(page, /offered to the waitlist/);
  const plain = await open((await visitor(t, { javaScriptEnabled: false })).context, show);
  const link = { name: 'Join the waitlist' };
  assert.equal(await plain.getByRole('link', link).getAttribute('href'), `/shows/${show}`);

  await page.getByRole('link', link).click();
  await page.waitForURL(`${url}/shows/${show}`);
  // What is left is known there a moment later than in the room.
  const canJoin = async () => {
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    return page.getByRole('button', link).isVisible();
  };
  while (!(await canJoin())) {
    assert.ok(Date.now() < patience, 'the page of the show has no form');
    await page.reload();
  }
  assert.deepEqual(late.complaints, []);
});

for (const colorScheme of ['light', 'dark']) {
  test(`every state is accessible, on a narrow screen and ${colorScheme}`, async (t) => {
    const rooms = { prequeue: beforeOpening(), turn: wide, closed: { ...wide, mode: 'closed' } };
    for (const [name, room] of Object.entries(rooms)) {
      const { context } = await visitor(t, { colorScheme, viewport: { width: 320, height: 640 } });
      const page = await open(context, await event.show(room));
      await state(page, name);
      if (name === 'prequeue') await page.getByText('I have a fan code').click();
      await assertAccessible(page, name);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
      for (const target of await page.locator('button:visible, a:visible, summary:visible, input:visible').all()) {
        const { height } = await target.boundingBox();
        assert.ok(height >= 44, `${await target.textContent()} is ${height} px high`);
      }
      // 200 % zoom of a small laptop's screen is the same as half its width.
      await page.setViewportSize({ width: 640, height: 400 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), name);
      if (screenshots) await page.screenshot({ path: `${screenshots}/${name}-${colorScheme}.png`, fullPage: true });
    }
  });
}

test('without JavaScript a visitor waits, joins and goes in by buttons', async (t) => {
  const show = await event.show(wide);
  const { context } = await visitor(t, { javaScriptEnabled: false });
  const page = await open(context, show);
  const waitSeconds = Number((await page.getByText(/in \d+ seconds/).textContent()).match(/in (\d+) seconds/)[1]);
  const ready = Date.now() + waitSeconds * 1_000 + 1_000;
  // The wait is the price, so there is nothing else to wait for.
  await new Promise((resolve) => setTimeout(resolve, ready - Date.now()));
  await page.getByRole('button', { name: 'Join the line' }).click();
  const hasPass = async () => (await context.cookies(`${url}/api/v1/shows/${show}`)).some(({ name }) => name === 'onsale_pass');
  // The turn may be announced a moment before the gate has a slot; the button stays.
  for (const end = Date.now() + PATIENCE_MS; !(await hasPass());) {
    assert.ok(Date.now() < end, 'never let in');
    await page.getByRole('button', { name: 'Enter' }).click({ timeout: PATIENCE_MS });
    await page.waitForLoadState();
  }
});

/** A number that the rules of the work name. */
function ofWork(name) {
  const text = readFileSync(new URL('../../crates/domain/src/work/cost.rs', import.meta.url), 'utf8');
  const [, digits] = text.match(new RegExp(`const ${name}: u32 = ([\\d_]+);`));
  return Number(digits.replaceAll('_', ''));
}

test('the worker is fast enough for the ceiling', async (t) => {
  const demanded = ofWork('PHONE_HASHES_PER_SECOND');
  const cost = Math.floor((ofWork('LONGEST_WORK_S') * demanded) / 65_536);
  const show = await event.show(beforeOpening());
  const { context } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'prequeue');
  const hashes = 65_536 * cost;
  const ms = await page.evaluate((cost) => new Promise((resolve) => {
    const worker = new Worker('/assets/work.js', { type: 'module' });
    let began;
    worker.onmessage = () => { began ??= performance.now(); };
    worker.onerror = (failure) => {
      failure.preventDefault();
      resolve(performance.now() - began);
    };
    worker.postMessage({ algorithm: 'SHA-256', salt: '01'.repeat(16), nonce: '02'.repeat(16), cost, keyPrefix: 'ff'.repeat(16) });
  }), cost);
  const rate = Math.round((hashes / ms) * 1_000);
  t.diagnostic(`${rate.toLocaleString('en')} hashes/s in a Web Worker`);
  assert.ok(rate >= demanded, `${rate} hashes/s`);
});
