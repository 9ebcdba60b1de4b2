// The waiting page in Chromium, against a running platform: from the first look to a pass.
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
import { url } from './organiser.mjs';
import { beforeOpening, close, event, hide, open, PATIENCE_MS, shown, start, state, TITLE, visitor, wide } from './waiting.mjs';

const BUDGET_BYTES = 30_000;

before(start);
after(close);

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

test('once drawn, a visitor is shown how to check their own draw', async (t) => {
  const show = await event.show({ ...wide, opens_at: new Date(Date.now() + 15_000).toISOString() });
  const { context, complaints } = await visitor(t);
  const page = await open(context, show);
  const ask = async (what) => (await context.request.get(`${url}/room/${show}/${what}`)).json();
  await state(page, 'prequeue');
  assert.equal(await page.locator('#check').isVisible(), false);
  assert.equal((await ask('fairness')).yours, undefined);
  await state(page, 'turn');
  await page.getByText('Check your own draw').click();
  await shown(page, /^onsale verify-draw /);
  const command = await page.locator('#command').textContent();
  const [, ticket, draw] = command.match(/^onsale verify-draw ([\w-]{127}) --draw ([\da-f]{16}) --fairness fairness\.json$/);
  assert.equal(draw, (await ask('status')).draw);
  const cookies = await context.cookies(`${url}/room/${show}`);
  assert.ok(cookies.some(({ name, value }) => name === 'onsale_ticket' && value !== ticket), 'what is shown lets nobody in');
  await page.reload();
  await state(page, 'turn');
  await page.getByText('Check your own draw').click();
  await shown(page, command);
  assert.deepEqual(complaints, []);
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
  const other = await open((await visitor(t)).context, show, '?code=FROM-A-LINK');
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
