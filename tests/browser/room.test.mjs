// The waiting page in Chromium, against a running platform: from the first look to a pass.
//
//   npm ci --prefix tests/browser
//   ONSALE_URL=http://127.0.0.1:8787 node --test tests/browser/room.test.mjs
//
// CHROMIUM is the path of the browser, `chromium` in PATH otherwise; ONSALE_SCREENSHOTS is
// a folder for pictures of the states. Faults that a healthy platform does not show, such
// as a lost connection or a refusal, are made between browser and platform.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { scriptsOf } from './browser.mjs';
import { newEvent, url } from './organiser.mjs';
import { ownServer } from './own-server.mjs';
import { beforeOpening, close, event, hide, open, PATIENCE_MS, shown, start, state, TITLE, visitor, wide } from './waiting.mjs';

const BUDGET_BYTES = 10_000;

before(start);
after(close);

test('the page loads at most 10 KB of script, and nothing comes from elsewhere', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, complaints } = await visitor(t);
  const origins = new Set();
  context.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
  });
  const scripts = scriptsOf(context);
  const page = await open(context, show);
  await state(page, 'prequeue');
  const bytes = await scripts.bytes();
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes <= BUDGET_BYTES, `${bytes} bytes: ${scripts.names()}`);
  assert.ok(scripts.names().includes('work.js'));
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

test('the turn leads on to the seats by itself', async (t) => {
  const show = await event.show(wide);
  const { context } = await visitor(t, { goesOn: true });
  const page = await open(context, show);
  await page.waitForURL(`**/shows/${show}/seats`, { timeout: PATIENCE_MS });
  const cookies = await context.cookies(`${url}/api/v1/shows/${show}`);
  assert.ok(cookies.some(({ name }) => name === 'onsale_pass'));
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
    const page = await open(context, show, `?return=${encodeURIComponent(path)}`);
    const next = page.waitForRequest((request) => request.isNavigationRequest(), { timeout: PATIENCE_MS });
    await state(page, 'turn');
    assert.equal(await page.locator('#link').getAttribute('href'), `/shows/${show}/seats`, path);
    assert.equal((await next).url(), `${url}/shows/${show}/seats`, path);
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

test('the page leads to the draw and to a reminder', async (t) => {
  const show = await event.show(beforeOpening());
  const { context } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'prequeue');
  assert.equal(await page.getByRole('link', { name: 'How anybody can check the draw' }).getAttribute('href'), `/fairness/${show}`);
  assert.equal(await page.getByRole('link', { name: 'Email me when it is my turn' }).getAttribute('href'), `/room/${show}/remind`);
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

test('at the door a visitor knocks at every look, and hears of a turn once they are in', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  const door = { state: 'door', position: 1, ahead: 0, refresh_after_ms: 1_000 };
  await context.addInitScript(() => {
    window.headings = [];
    new MutationObserver(() => {
      const words = document.getElementById('headline')?.textContent;
      if (words && words !== window.headings.at(-1)) window.headings.push(words);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  await context.route('**/status', async (route) => {
    if (times('POST join') === 0) return route.continue();
    return route.fulfill({ json: times('POST enter') > 1 ? { ...door, state: 'admitted' } : door });
  });
  await context.route('**/enter', async (route) => {
    if (times('POST enter') > 3) return route.continue();
    return route.fulfill({ status: 425, json: { type: 'urn:onsale:not_admitted', ...door, status: 425 } });
  });
  const page = await open(context, show);
  await state(page, 'door');
  await shown(page, /Keep this page open/);
  await state(page, 'turn');
  assert.ok(times('POST enter') >= 4);
  const headings = await page.evaluate(() => window.headings);
  assert.equal(headings.filter((it) => it === 'It is your turn').length, 1, headings.join(' | '));
  assert.equal(headings.at(-1), 'It is your turn', headings.join(' | '));
});

test('a visitor who is inside is told so, and goes on or leaves', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'turn');
  const inside = { state: 'inside', expires_at: new Date(Date.now() + 240_000).toISOString(), refresh_after_ms: 5_000 };
  await context.route('**/status', (route) => route.fulfill({ json: inside }));
  await page.reload();
  await state(page, 'inside');
  assert.match(await page.locator('#number').textContent(), /^0[34]:\d\d$/);
  assert.equal(await page.getByRole('link', { name: 'Continue to the tickets' }).getAttribute('href'), `/shows/${show}/seats`);
  assert.equal(times('POST join'), 1);
  await page.getByRole('button', { name: 'Leave' }).click();
  await state(page, 'left');
});

test('a room with a CAPTCHA sends what the visitor proved, once for every try', async (t) => {
  const show = await event.show(beforeOpening());
  const { context, times } = await visitor(t);
  await context.addInitScript(() => {
    new MutationObserver(() => {
      const room = document.getElementById('room');
      if (room) room.dataset.captcha ??= 'site-key';
    }).observe(document, { subtree: true, childList: true });
    let solved = 0;
    const answer = (place, { sitekey, callback }) => callback(`${sitekey}-${place.isConnected}-${++solved}`);
    window.turnstile = { render: (...asked) => setTimeout(answer, 50, ...asked) };
  });
  const sent = [];
  context.on('request', (request) => {
    if (request.url().endsWith('/join')) sent.push(request.postDataJSON().captcha);
  });
  await context.route('**/join', (route) => {
    if (times('POST join') > 1) return route.continue();
    return route.fulfill({ status: 400, json: { detail: 'Used before.' } });
  });
  const page = await open(context, show);
  await state(page, 'prequeue');
  assert.deepEqual(sent, ['site-key-true-1', 'site-key-true-2']);
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

/** From its beginning the page is in a tab that nobody looks at. */
const inTheBackground = (it) => it.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));

test('a hidden tab takes its turn, calls for its visitor, and goes on when they look', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  await inTheBackground(context);
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${url}/room/${show}`);
  await state(page, 'turn');
  const cookies = await context.cookies(`${url}/api/v1/shows/${show}`);
  assert.ok(cookies.some(({ name }) => name === 'onsale_pass'));
  const title = (text) => page.waitForFunction((it) => document.title.startsWith(it), text);
  await title('It is your turn');
  await title(TITLE);
  await title('It is your turn');
  await page.clock.runFor(30_000);
  assert.equal(times('GET seats'), 0, 'nobody looks yet');
  const next = page.waitForRequest((request) => request.url().endsWith('/seats'), { timeout: PATIENCE_MS });
  await hide(page, false);
  await next;
});

test('a hidden tab enters at once when it is told that it is admitted', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  await inTheBackground(context);
  await context.route('**/status', (route) =>
    times('POST join') === 0 ? route.continue() : route.fulfill({ json: { state: 'admitted', refresh_after_ms: 600_000 } }));
  const expires_at = new Date(Date.now() + 300_000).toISOString();
  await context.route('**/enter', (route) => route.fulfill({ json: { pass: 'pass', expires_at } }));
  await state(await open(context, show), 'turn');
  assert.equal(times('POST enter'), 1);
});

test('a turn that passed while nobody looked is taken again when somebody does', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  await inTheBackground(context);
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${url}/room/${show}`);
  await state(page, 'turn');
  await context.route('**/status', (route) => route.fulfill({ json: { state: 'door', position: 1, ahead: 0, refresh_after_ms: 1_000 } }));
  await page.clock.fastForward(1_000_000);
  await state(page, 'door');
  await page.clock.fastForward(1_000_000);
  assert.equal(times('POST enter'), 1, 'an empty chair takes no slot');
  await hide(page, false);
  await state(page, 'turn');
  assert.equal(times('POST enter'), 2);
});

test('the tab that is looked at takes over from a hidden one', async (t) => {
  const show = await event.show(wide);
  const { context, times } = await visitor(t);
  const hidden = await context.newPage();
  await inTheBackground(hidden);
  await hidden.goto(`${url}/room/${show}`);
  await state(hidden, 'turn');
  const looked = await context.newPage();
  const next = looked.waitForRequest((request) => request.url().endsWith('/seats'), { timeout: PATIENCE_MS });
  await looked.goto(`${url}/room/${show}`, { waitUntil: 'commit' });
  await state(looked, 'turn');
  await next;
  await state(hidden, 'turn');
  assert.equal(times('POST join'), 1);
});

test('the worker tries all answers of a challenge, tells how many it has tried, and says when there is none', async (t) => {
  const show = await event.show(beforeOpening());
  const { context } = await visitor(t);
  const page = await open(context, show);
  await state(page, 'prequeue');
  const { tried, said } = await page.evaluate(() => new Promise((resolve) => {
    const worker = new Worker(document.querySelector('script[src$="/room.js"]').src.replace('room.js', 'work.js'), { type: 'module' });
    const tried = [];
    worker.onmessage = ({ data }) => tried.push(data.tried);
    worker.onerror = (failure) => {
      failure.preventDefault();
      resolve({ tried, said: failure.message });
    };
    worker.postMessage({ algorithm: 'SHA-256', salt: '01'.repeat(16), nonce: '02'.repeat(16), cost: 3, keyPrefix: 'ff'.repeat(16) });
  }));
  assert.match(said, /found no answer/);
  assert.equal(tried.at(-1), 65_536);
  assert.deepEqual(tried, [...new Set(tried)].toSorted((a, b) => a - b), 'each is tried once');
});

test('a platform whose rooms take a CAPTCHA that no page can show says so when it starts', async (t) => {
  const env = { CAPTCHA_SECRET: 'a-secret', ONSALE_CAPTCHA_SITE_KEY: '' };
  const { said } = await ownServer(t, { args: ['--room-captcha'], env });
  const isSaid = () => said.some((line) => /WARN.*ONSALE_CAPTCHA_SITE_KEY.*no browser can join/.test(line));
  for (const end = Date.now() + PATIENCE_MS; !isSaid();) {
    assert.ok(Date.now() < end, said.join(' '));
    await new Promise((next) => setTimeout(next, 50));
  }
});

test('a room with a CAPTCHA shows the widget of its service, by the page’s own markup and policy', async (t) => {
  // Whoever asks about a token is told that it is good, once.
  const asked = [];
  const service = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const token = new URLSearchParams(body).get('response');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ success: token === 'solved-0x4-key' && !asked.includes(token) }));
    asked.push(token);
  });
  await new Promise((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.after(() => service.close());
  const { base } = await ownServer(t, {
    args: ['--room-captcha'],
    env: {
      CAPTCHA_SECRET: 'a-secret',
      CAPTCHA_VERIFY_URL: `http://127.0.0.1:${service.address().port}/`,
      ONSALE_CAPTCHA_SITE_KEY: '0x4-key',
    },
  });
  const show = await (await newEvent(TITLE, base)).show(beforeOpening());
  const { context, complaints } = await visitor(t);
  // Turnstile's script cannot run here: a stand-in offers the call that the page makes.
  const standIn = () => {
    window.turnstile = {
      render(place, { sitekey, callback }) {
        const box = Object.assign(document.createElement('button'), { textContent: 'I am human' });
        box.addEventListener('click', () => callback(`solved-${sitekey}`));
        place.append(box);
      },
    };
  };
  const scripts = [];
  await context.route('https://challenges.cloudflare.com/**', (route) => {
    scripts.push(route.request().url());
    return route.fulfill({ contentType: 'text/javascript', body: `(${standIn})()` });
  });
  const page = await context.newPage();
  await page.goto(`${base}/room/${show}`);
  await page.getByRole('button', { name: 'I am human' }).click({ timeout: PATIENCE_MS });
  await state(page, 'prequeue');
  assert.deepEqual(asked, ['solved-0x4-key']);
  assert.deepEqual(scripts, ['https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit']);
  assert.deepEqual(complaints, []);
});
