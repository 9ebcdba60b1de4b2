// The checkout in Chromium: paying, the bank, declined cards, the time that runs out.
// Run as session.test.mjs is.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { logIn, send, url } from './organiser.mjs';
import { assertFits, close, headline, hold, newShow, open, order, organiser, press, start, TITLE, until } from './reader.mjs';

before(start);
after(close);

const going = (page) => page.getByRole('heading', { name: 'You are going' }).waitFor();
const card = (page, name) => page.getByRole('radio', { name, exact: true }).check();
const timer = (page) => page.getByRole('timer');
const secondsOf = async (page) => {
  const text = await timer(page).textContent();
  assert.match(text, /^\d\d:\d\d$/);
  const [minutes, seconds] = text.split(':').map(Number);
  return minutes * 60 + seconds;
};

/** This page is told so of the hold, and everything else as it is. */
const told = (page, path, change) =>
  page.route(`**/api/v1${path}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...change } });
  });

/** However fast a payment is, this page sees it under way until the function that this returns is called. */
async function underWay(page, { path, order: id }) {
  const order = `/orders/${id}`;
  let goOn;
  const seen = new Promise((resolve) => {
    goOn = resolve;
  });
  await told(page, path, { status: 'paying' });
  await told(page, order, { status: 'pending' });
  await page.route('**/feed/orders/*', (route) => seen.then(() => route.continue()));
  return async () => {
    await page.unroute(`**/api/v1${path}`);
    await page.unroute(`**/api/v1${order}`);
    goOn();
  };
}

test('held places are paid, and the order shows its tickets', async (t) => {
  const { token, path, hold: id } = await hold(['Stalls-1-1', 'Stalls-1-2']);
  const { page, assertSound } = await open(t, path, { token });
  await headline(page, 'These places are held for you');
  assert.equal(await page.locator('h1').textContent(), TITLE);
  await page.getByText('Sunday, 1 June 2098 at 21:00 CEST').waitFor();
  await page.getByRole('row', { name: 'Stalls, row 1, seat 1 €89.00' }).waitFor();
  await page.getByRole('row', { name: /Total.*€178.00/ }).waitFor();
  assert.deepEqual(await page.getByRole('radio').evaluateAll((all) => all.map((it) => it.labels[0].textContent)), ['Works', 'Declined', '3-D Secure', 'Capture fails']);
  await press(page, 'Buy now · €178.00');
  await going(page);
  assert.equal(new URL(page.url()).pathname, `/orders/${id.replace('hld_', 'ord_')}`);
  assert.equal(await page.getByRole('img', { name: /^QR code/ }).count(), 2);
  assertSound();
});

test('a declined card keeps its places and its timer, and another card pays', async (t) => {
  const { token, path } = await hold(['Stalls-1-3']);
  const { page, assertSound } = await open(t, path, { token });
  await card(page, 'Declined');
  const before = await secondsOf(page);
  await press(page, 'Buy now · €89.00');
  await headline(page, 'Your payment was declined');
  await page.getByRole('alert').filter({ hasText: 'The card was declined.' }).waitFor();
  const after = await secondsOf(page);
  const { expires_at, status } = await send('GET', `/api/v1${path}`, undefined, token);
  const left = (Date.parse(expires_at) - Date.now()) / 1_000;
  assert.equal(status, 'held');
  assert.ok(before > 0 && after > left - 2 && after < left + 60, `${before} s, then ${after} s are shown, and ${left} s are left`);
  // The same card once more is another attempt, not the answer of the first.
  await card(page, 'Declined');
  const [again] = await Promise.all([page.waitForResponse((it) => it.url().endsWith('/checkout')), press(page, 'Buy now · €89.00')]);
  assert.equal(again.status(), 202);
  await headline(page, 'Your payment was declined');
  await page.reload();
  await headline(page, 'Your payment was declined');
  await card(page, 'Works');
  await press(page, 'Buy now · €89.00');
  await going(page);
  assertSound();
});

test('a card that is declined after the page read its hold is told as declined', async (t) => {
  const { token, path, hold: id } = await hold(['Stalls-1-4']);
  const { page } = await open(t, path, { token });
  await card(page, 'Declined');
  let isFirst = true;
  await page.route(`**/api/v1${path}`, async (route) => {
    if (!isFirst) return route.fallback();
    isFirst = false;
    const paid = `/api/v1/orders/${id.replace('hld_', 'ord_')}`;
    await until('the card is declined', async () => (await send('GET', paid, undefined, token)).status === 'declined');
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), status: 'paying' } });
  });
  await press(page, 'Buy now · €89.00');
  await headline(page, 'Your payment was declined');
});

test('3-D Secure is confirmed in the page, which can be loaded again at every step', async (t) => {
  const { token, path } = await hold(['Stalls-1-4']);
  const { page, assertSound } = await open(t, path, { token });
  await headline(page, 'These places are held for you');
  await page.reload();
  await headline(page, 'These places are held for you');
  await card(page, '3-D Secure');
  await press(page, 'Buy now · €89.00');
  await headline(page, 'Your bank asks you to confirm');
  await page.reload();
  await headline(page, 'Your bank asks you to confirm');
  await press(page, 'Confirm at your bank');
  await going(page);
  await page.reload();
  await going(page);
  await page.goto(url + path);
  await going(page);
  assertSound();
});

test('a payment under way is shown after a reload, and changes by itself', async (t) => {
  const made = await order(['Stalls-1-5'], 'pm_sandbox_slow');
  const { page } = await open(t, '/imprint', { token: made.token });
  const goOn = await underWay(page, made);
  await page.goto(url + made.path);
  await headline(page, 'Your payment is being made');
  await page.reload();
  await headline(page, 'Your payment is being made');
  await goOn();
  await going(page);
});

test('a card whose capture fails leads to what happened, and nothing was charged', async (t) => {
  const { token, path } = await hold(['Stalls-1-6']);
  const { page } = await open(t, path, { token });
  await card(page, 'Capture fails');
  await press(page, 'Buy now · €89.00');
  await headline(page, 'This order was not completed');
  await page.getByText('Nothing was charged.').waitFor();
  await page.getByRole('link', { name: 'Choose again' }).waitFor();
});

test('when the time runs out the page says so by itself, and offers as many places again', async (t) => {
  const { token, path, show } = await hold(['Stalls-1-1', 'Stalls-1-2']);
  const { page, assertSound } = await open(t, path, { token, clock: { time: new Date() } });
  await headline(page, 'These places are held for you');
  const left = await secondsOf(page);
  await told(page, path, { status: 'expired' });
  await page.clock.runFor((left + 2) * 1_000);
  await headline(page, 'The time to pay is over');
  assert.equal(await timer(page).count(), 0);
  const again = page.getByRole('link', { name: 'Choose the same number again' });
  assert.equal(await again.getAttribute('href'), `/shows/${show}/seats?n=2`);
  await page.reload();
  await headline(page, 'The time to pay is over');
  assertSound();
});

test('a payment that comes after the end is refused, and the page says so', async (t) => {
  const { token, path } = await hold(['Stalls-1-1'], await newShow({ hold_seconds: 2 }));
  const { page } = await open(t, '/imprint', { token });
  // As on a device that slept: it does not know yet.
  await told(page, path, { status: 'held', expires_at: new Date(Date.now() + 600_000).toISOString() });
  await page.goto(url + path);
  await headline(page, 'These places are held for you');
  await until('the hold has lapsed', async () => (await send('GET', `/api/v1${path}`, undefined, token)).status !== 'held');
  await page.unroute(`**/api/v1${path}`);
  await press(page, 'Buy now · €89.00');
  await headline(page, 'The time to pay is over');
});

for (const [name, minutes] of [['fast', 5], ['slow', -5]]) {
  test(`a reader whose clock is five minutes ${name} sees the time that the server gives`, async (t) => {
    const { token, path } = await hold(['Stalls-1-7']);
    const { page } = await open(t, path, { token, clock: { time: new Date(Date.now() + minutes * 60_000) } });
    await headline(page, 'These places are held for you');
    const seconds = await secondsOf(page);
    assert.ok(seconds > 420 && seconds <= 601, `${seconds} s left of 600`);
  });
}

test('the time that is left is said aloud at five, two and one minutes', async (t) => {
  const { token, path } = await hold(['Stalls-1-8']);
  const { page } = await open(t, path, { token, clock: { time: new Date() } });
  await headline(page, 'These places are held for you');
  const said = page.locator('#said');
  for (const [left, words] of [[295, '5 minutes left to pay'], [115, '2 minutes left to pay'], [55, 'One minute left to pay']]) {
    await page.clock.fastForward((await secondsOf(page) - left) * 1_000);
    await said.filter({ hasText: words }).waitFor({ state: 'attached' });
  }
});

test('a device that slept says how much time is left, not how much was', async (t) => {
  const { token, path } = await hold(['Stalls-1-8']);
  const { page } = await open(t, path, { token, clock: { time: new Date() } });
  await headline(page, 'These places are held for you');
  await page.clock.fastForward((await secondsOf(page) - 40) * 1_000);
  await page.locator('#said').filter({ hasText: 'One minute left to pay' }).waitFor({ state: 'attached' });
});

test('a payment whose answer was lost is sent again under its key', async (t) => {
  const { token, path } = await hold(['Stalls-1-9']);
  const { page, context } = await open(t, path, { token });
  const keys = [];
  await context.route('**/checkout', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    return route.abort();
  });
  await press(page, 'Buy now · €89.00');
  await page.getByRole('alert').filter({ hasText: /cannot reach/ }).waitFor();
  await page.reload();
  await press(page, 'Buy now · €89.00');
  await going(page);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
});

test('places that are not wanted go back at once', async (t) => {
  const { token, path, show } = await hold(['Stalls-1-10']);
  const { page } = await open(t, path, { token });
  await press(page, 'I do not want them');
  await headline(page, 'You have given these places back');
  assert.equal((await send('GET', `/api/v1${path}`, undefined, token)).status, 'released');
  assert.equal(await page.getByRole('link', { name: 'Choose the same number again' }).getAttribute('href'), `/shows/${show}/seats?n=1`);
});

test('held places are for their owner, who is asked to log in', async (t) => {
  const { email, path } = await hold(['Stalls-1-11']);
  const stranger = await hold(['Stalls-1-12']);
  const { page } = await open(t, path, { token: stranger.token });
  await headline(page, 'There is nothing here for you');
  await press(page, 'Log in as somebody else');
  await headline(page, 'Log in');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill('correct horse');
  await press(page, 'Log in');
  await headline(page, 'These places are held for you');
});

test('a buyer pays with the keyboard alone', async (t) => {
  const { token, path } = await hold(['Stalls-1-13']);
  const { page } = await open(t, path, { token });
  await headline(page, 'These places are held for you');
  const focused = () => page.evaluate(() => document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent);
  const tabTo = async (words) => {
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      if ((await focused()).includes(words)) return;
    }
    assert.fail(`no way to ${words}`);
  };
  await tabTo('Works');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), '3-D Secure');
  await tabTo('Buy now');
  await page.keyboard.press('Enter');
  await headline(page, 'Your bank asks you to confirm');
  await tabTo('Confirm at your bank');
  await page.keyboard.press('Enter');
  await going(page);
});

test('prices that follow demand say why', async (t) => {
  const show = await newShow();
  await send('PUT', `/api/v1/shows/${show}/pricing`, { mode: 'dynamic' }, organiser);
  // Prices follow within two seconds.
  let held;
  for (let i = 0; ; i++) {
    held = await hold([`Stalls-1-${i + 1}`], show);
    if (held.held.pricing) break;
    await send('DELETE', `/api/v1${held.path}`, undefined, held.token);
    assert.ok(i < 19, 'prices never follow demand');
  }
  const { page } = await open(t, held.path, { token: held.token });
  await page.getByText('Why this price?').click();
  await page.getByRole('row', { name: /Base price €89.00/ }).waitFor();
  await page.getByRole('row', { name: /Your price for one place/ }).waitFor();
  await assertAccessible(page, 'reasons');
});

test('a price that moved between the map and the reservation is told at the checkout', async (t) => {
  const show = await newShow();
  const { page } = await open(t, '/healthz', { token: await logIn('buyer') });
  // The map was told less than the hold costs.
  await page.route(`**/api/v1/shows/${show}`, async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    told.prices.Stalls.amount = 8_000;
    await route.fulfill({ response, json: told });
  });
  await page.goto(`${url}/shows/${show}/seats?n=1`);
  await page.getByRole('gridcell', { name: /^Row 1, seat 3, free/ }).press('Space');
  await page.getByRole('button', { name: 'Reserve 1 seat · €80.00' }).click();
  await page.getByText('The price has changed since you chose: it was €80.00.').waitFor();
  await page.getByRole('button', { name: 'Buy now · €89.00' }).waitFor();
});

test('work that the server asks for is done in the background, with a bar', async (t) => {
  const { token, path } = await hold(['Stalls-1-19']);
  const { page, context } = await open(t, path, { token });
  const salt = randomBytes(16).toString('hex');
  const nonce = randomBytes(16).toString('hex');
  const solved = createHash('sha256').update(Buffer.from(`${salt}${nonce}0000002a`, 'hex')).digest('hex');
  const challenge = { parameters: { algorithm: 'SHA-256', salt, nonce, cost: 1, keyPrefix: solved.slice(0, 32) }, signature: 'none' };
  const sent = [];
  const bar = page.getByRole('progressbar', { name: /not a robot/ });
  await context.route('**/checkout', async (route) => {
    sent.push(route.request().headers()['onsale-work']);
    if (sent.length > 1) {
      await bar.waitFor();
      await assertAccessible(page, 'work');
      return route.continue();
    }
    const problem = { type: 'urn:onsale:work_required', title: 'Work', status: 428, detail: 'Work first.', challenge };
    return route.fulfill({ status: 428, contentType: 'application/problem+json', body: JSON.stringify(problem) });
  });
  await press(page, 'Buy now · €89.00');
  await going(page);
  assert.equal(sent.length, 2);
  assert.equal(sent[0], undefined);
  const { challenge: answered, solution } = JSON.parse(atob(sent[1]));
  assert.deepEqual(answered, challenge);
  assert.equal(solution.counter, 42);
  assert.equal(solution.derivedKey, solved);
});

for (const viewport of [{ width: 390, height: 800 }, { width: 1280, height: 800 }]) {
  test(`nothing jumps while the pages fill, ${viewport.width} px wide`, async (t) => {
    const { token, path, hold: id } = await hold(['Stalls-1-20']);
    const { page, context } = await open(t, '/imprint', { token, viewport });
    await context.addInitScript(() => {
      window.shifts = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) window.shifts += value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    const assertStill = async (name) => {
      await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
      const shifts = await page.evaluate(() => window.shifts);
      assert.ok(shifts < 0.02, `${name} shifts by ${shifts}`);
    };
    await page.goto(url + path);
    await headline(page, 'These places are held for you');
    await page.getByText('Log out').waitFor();
    await assertStill('checkout');
    await send('POST', `/api/v1${path}/checkout`, { payment_method: 'pm_card_visa' }, token);
    await page.goto(`${url}/orders/${id.replace('hld_', 'ord_')}`);
    await going(page);
    await page.reload();
    await going(page);
    await page.getByText('Log out').waitFor();
    await assertStill('order');
    await page.goto(`${url}/orders`);
    await headline(page, 'Coming up');
    await page.getByText('Log out').waitFor();
    await assertStill('orders');
  });
}

for (const [status, type] of [[503, 'unavailable'], [429, 'rate_limited']]) {
  test(`while nobody knows how to pay (${status}), the places and their time are shown, and no card of the sandbox`, async (t) => {
    const { token, path } = await hold(['Stalls-1-1']);
    const { page } = await open(t, '/imprint', { token });
    const settings = '**/api/v1/payments/settings';
    const problem = { type: `urn:onsale:${type}`, title: 'No', status, detail: 'Not now.' };
    await page.route(settings, (route) => route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify(problem) }));
    await page.goto(url + path);
    await headline(page, 'These places are held for you');
    await timer(page).waitFor();
    await page.getByRole('row', { name: /Total.*€89.00/ }).waitFor();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByRole('radio').count(), 0);
    assert.equal(await page.getByRole('button', { name: /^Buy now/ }).count(), 0);
    await assertAccessible(page, 'unknown way to pay');
    await page.unroute(settings);
    await again.click();
    await page.getByRole('radio', { name: 'Works' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await press(page, 'Buy now · €89.00');
    await going(page);
  });
}

test('the button names the obligation in the language of the reader', async (t) => {
  const { token, path } = await hold(['Stalls-1-14']);
  const { page } = await open(t, path, { token, locale: 'de-DE' });
  await page.getByRole('button', { name: /^Zahlungspflichtig bestellen · 89,00\s€$/ }).waitFor();
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 1280]) {
    test(`every state of the checkout is accessible, ${width} px wide and ${colorScheme}`, async (t) => {
      const options = { colorScheme, viewport: { width, height: 800 } };
      const check = async (page, name) => {
        await assertAccessible(page, name);
        await assertFits(page, name);
        const shots = process.env.ONSALE_SCREENSHOTS;
        if (shots) await page.screenshot({ path: `${shots}/checkout-${name}-${width}-${colorScheme}.png`, fullPage: true });
      };
      const show = await newShow({ hold_seconds: 600 });
      const held = await hold(['Stalls-1-15', 'Stalls-1-16'], show);
      const { page } = await open(t, held.path, { token: held.token, ...options });
      await headline(page, 'These places are held for you');
      await check(page, 'held');
      await card(page, 'Declined');
      await press(page, 'Buy now · €178.00');
      await headline(page, 'Your payment was declined');
      await check(page, 'declined');
      await card(page, '3-D Secure');
      await press(page, 'Buy now · €178.00');
      await headline(page, 'Your bank asks you to confirm');
      await check(page, 'bank');
      const slow = await order(['Stalls-1-17'], 'pm_sandbox_slow', show);
      const second = await open(t, '/imprint', { token: slow.token, ...options });
      await underWay(second.page, slow);
      await second.page.goto(url + slow.path);
      await headline(second.page, 'Your payment is being made');
      await check(second.page, 'paying');
      const late = await hold(['Stalls-1-18'], await newShow({ hold_seconds: 2 }));
      const third = await open(t, late.path, { token: late.token, ...options });
      await headline(third.page, 'The time to pay is over');
      await check(third.page, 'lapsed');
      const stranger = await open(t, held.path, { token: late.token, ...options });
      await headline(stranger.page, 'There is nothing here for you');
      await check(stranger.page, 'foreign');
      const nobody = await open(t, held.path, options);
      await headline(nobody.page, 'Log in');
      await check(nobody.page, 'log-in');
    });
  }
}
