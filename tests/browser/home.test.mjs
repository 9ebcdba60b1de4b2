// The front page in Chromium: search, filters, the address, and its states. How to run it is
// in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, assertLarge } from './browser.mjs';
import { send, url } from './organiser.mjs';
import { close, newShow, open, organiser, PATIENCE_MS, start } from './reader.mjs';

// Nothing else in the catalogue has this word, so that tests beside this one change no count.
const letters = [...crypto.getRandomValues(new Uint8Array(14))].map((it) => 'bcdfghklmnprstvw'[it % 16]);
const WORD = `Q${letters.join('')}`;
const BEGINNING = WORD.slice(0, 9);
const soon = new Date(Date.now() + 40 * 86_400_000).toISOString();

before(async () => {
  await start();
  await newShow();
  for (const [title, category, city, price] of [
    [`${WORD} eins`, 'concert', 'Lisbon', 2_000],
    [`${WORD} zwei`, 'theatre', 'Lisbon', 6_000],
    [`${WORD} drei`, 'theatre', 'Porto', 12_000],
  ]) {
    const sections = [{ name: 'Hall', capacity: 10 }];
    const venue = { name: 'Casa', city, timezone: 'Europe/Lisbon', sections };
    const { venue_id } = await send('POST', '/api/v1/venues', venue, organiser);
    const { event_id } = await send('POST', '/api/v1/events', { title, category, venue_id }, organiser);
    await send('POST', `/api/v1/events/${event_id}/shows`, { starts_at: soon, currency: 'EUR', prices: { Hall: price } }, organiser);
  }
  // The index follows the catalogue.
  for (const end = Date.now() + PATIENCE_MS; ;) {
    const { items } = await send('GET', `/api/v1/events?query=${WORD}`);
    if (items.length === 3) return;
    assert.ok(Date.now() < end, 'the events are never found');
    await new Promise((next) => setTimeout(next, 200));
  }
});
after(close);

const item = (i) => ({
  event_id: `evt_${i}`, title: `Evening ${i}`, category: 'concert', city: 'Bern', venue: 'Hall', timezone: 'Europe/Zurich',
  next_show_at: soon, shows: 1, from_price: { amount: 100, currency: 'CHF' }, status: 'on_sale',
});
const search = (page) => page.getByRole('searchbox');
const cards = (page) => page.locator('.event');
/** All of it: '3 events' is not '43 events'. */
const said = (page, words) => page.getByRole('status').getByText(words, { exact: true }).waitFor({ state: 'attached' });

test('the list is searched as somebody types, and the address leads to the same list', async (t) => {
  const { page, assertSound } = await open(t, '/');
  await cards(page).first().waitFor();
  await search(page).pressSequentially(WORD.toLowerCase(), { delay: 20 });
  await said(page, '3 events');
  assert.equal(await cards(page).count(), 3);
  await page.waitForURL(`**/?query=${WORD.toLowerCase()}`);
  await page.reload();
  await said(page, '3 events');
  assert.equal(await search(page).inputValue(), WORD.toLowerCase());
  await page.goBack();
  await page.waitForURL(`${url}/`);
  await page.waitForFunction(() => document.querySelectorAll('.event').length !== 3);
  assert.equal(await search(page).inputValue(), '');
  assertSound();
});

test('an answer that comes late does not replace a newer one', async (t) => {
  const { page } = await open(t, '/');
  await cards(page).first().waitFor();
  let letGo;
  const late = new Promise((resolve) => { letGo = resolve; });
  await page.route(`**/api/v1/events?*query=${BEGINNING}&*`, async (route) => {
    await late;
    await route.continue().catch(() => {});
  });
  await search(page).fill(BEGINNING);
  await page.waitForRequest((it) => it.url().includes(`query=${BEGINNING}&`));
  await search(page).fill(`${WORD} drei`);
  await said(page, '1 event');
  letGo();
  await page.waitForLoadState('networkidle');
  assert.equal(await cards(page).count(), 1);
});

test('filters say how many they leave, and stay in the address', async (t) => {
  const { page } = await open(t, `/?query=${WORD}`, { viewport: { width: 1280, height: 800 } });
  await said(page, '3 events');
  const theatre = page.getByRole('button', { name: 'theatre 2' });
  await theatre.click();
  await said(page, '2 events');
  await page.waitForURL(/category=theatre/);
  assert.equal(await page.evaluate(() => document.activeElement.firstChild.textContent), 'theatre', 'the focus stays');
  await page.getByLabel('City', { exact: true }).selectOption({ label: 'Porto (1)' });
  await said(page, '1 event');
  await page.getByLabel('City', { exact: true }).selectOption('');
  await page.getByRole('button', { name: /^theatre/ }).click();
  await said(page, '3 events');
  // Nobody has to hover or focus: the numbers come by themselves.
  await page.getByLabel('Price', { exact: true }).locator('option', { hasText: 'up to €25.00 (1)' }).waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Today 0' }).waitFor();
  await page.getByLabel('Price', { exact: true }).selectOption('10000');
  await said(page, '2 events');
  await page.getByRole('button', { name: 'Choose dates' }).click();
  await page.getByLabel('From', { exact: true }).fill('2099-01-01');
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  assert.equal(await page.getByLabel('Price', { exact: true }).inputValue(), '10000', 'the filter is seen');
  await page.goBack();
  await said(page, '2 events');
});

test('the list begins now, as that of the edge does, and a date that does not exist is left out', async (t) => {
  const { page } = await open(t, '/healthz');
  for (const search of ['', '?from=2026-99-99&to=2026-00-01']) {
    const asked = page.waitForRequest(/\/api\/v1\/events\?/);
    await page.goto(`${url}/${search}`);
    const from = new URL((await asked).url()).searchParams.get('from');
    const age = Date.now() - Date.parse(from);
    assert.ok(age >= -5_000 && age < 600_000, `${from} is not now`);
    assert.equal(Date.parse(from) % 60_000, 0, 'a whole minute, so that all readers ask the same');
    await said(page, /\d events?/);
    assert.equal(await page.getByRole('heading', { name: 'That did not work' }).count(), 0);
  }
});

test('a date is typed by keyboard, and the list follows it without taking the focus', async (t) => {
  const { page } = await open(t, `/?query=${WORD}`, { viewport: { width: 1280, height: 800 } });
  await said(page, '3 events');
  const dates = page.getByRole('button', { name: 'Choose dates' });
  assert.equal(await dates.getAttribute('aria-expanded'), 'false');
  await dates.press('Enter');
  assert.equal(await dates.getAttribute('aria-expanded'), 'true');
  const from = page.getByLabel('From', { exact: true });
  assert.ok(await from.evaluate((it) => it === document.activeElement), 'the first date is focused');
  const asked = [];
  page.on('request', (it) => asked.push(new URL(it.url()).searchParams.get('from')));
  await page.keyboard.type('01012099');
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  assert.equal(await from.inputValue(), '2099-01-01');
  assert.ok(await from.evaluate((it) => it === document.activeElement), 'the focus stays');
  assert.ok(asked.every((it) => !it || it > '2026'), `nothing is asked for a year that is half typed: ${asked}`);
  // Nothing was searched for the years on the way, so that one step leads back.
  await page.goBack();
  await said(page, '3 events');
  assert.equal(await from.inputValue(), '');
  await from.fill('2099-01-01');
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  await dates.press('Enter');
  await said(page, '3 events');
  assert.equal(await dates.getAttribute('aria-expanded'), 'false');
  assert.ok(await dates.evaluate((it) => it === document.activeElement), 'the focus stays');
});

test('where there are more cities and categories than are told, the number says that there are more events', async (t) => {
  const { page } = await open(t, '/healthz');
  const values = (count) => Array.from({ length: count }, (_, i) => ({ value: `v${i}`, count: 2 }));
  let facets = { city: values(20), category: values(20) };
  await page.route('**/api/v1/events?*', (route) => route.fulfill({ json: { items: [item(1)], facets, next_cursor: 'next' } }));
  await page.goto(`${url}/`);
  await page.getByRole('status').getByText('40+ events', { exact: true }).waitFor({ state: 'attached' });
  facets = { city: values(3), category: values(20) };
  await page.reload();
  await page.getByRole('status').getByText('40 events', { exact: true }).waitFor({ state: 'attached' });
});

test('with the keyboard alone somebody finds an event and opens it', async (t) => {
  const { page } = await open(t, '/');
  await cards(page).first().waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.keyboard.press('Enter');
  for (let i = 0; i < 5 && !(await search(page).evaluate((it) => it === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.type(`${WORD} zwei`);
  await said(page, '1 event');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/events/evt_*');
  await page.getByRole('heading', { level: 1, name: `${WORD} zwei` }).waitFor();
});

test('more events are added on request, and the first of them is focused', async (t) => {
  const { page } = await open(t, '/healthz');
  const facets = { city: [], category: [{ value: 'concert', count: 3 }] };
  await page.route('**/api/v1/events?*', (route) => {
    const isNext = route.request().url().includes('cursor=next');
    return route.fulfill({ json: isNext ? { items: [item(3)], facets } : { items: [item(1), item(2)], facets, next_cursor: 'next' } });
  });
  await page.goto(`${url}/`);
  await said(page, '3 events');
  await page.getByRole('button', { name: 'More events' }).evaluate((it) => { it.click(); it.click(); });
  await page.getByText('Evening 3').last().waitFor();
  await page.waitForLoadState('networkidle');
  assert.equal(await page.locator('.event').count(), 3, 'two presses add them once');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Evening 3/);
  assert.equal(await page.getByRole('button', { name: 'More events' }).isVisible(), false);
});

test('a new search while more events are on their way is not told as a lost connection', async (t) => {
  const { page } = await open(t, '/healthz');
  await page.route('**/api/v1/events?*', (route) => {
    if (route.request().url().includes('cursor=next')) return undefined;
    const json = { items: [item(1)], facets: { city: [], category: [{ value: 'concert', count: 2 }] }, next_cursor: 'next' };
    return route.fulfill({ json });
  });
  await page.goto(`${url}/`);
  await said(page, '2 events');
  await page.evaluate(() => {
    window.troubles = 0;
    new MutationObserver(() => { window.troubles += document.querySelectorAll('.notice').length; }).observe(document.body, { childList: true, subtree: true });
  });
  await page.getByRole('button', { name: 'More events' }).click();
  const isAsked = page.waitForResponse(/query=evening/);
  await search(page).fill('evening');
  await isAsked;
  await page.waitForURL(/query=evening/);
  await page.locator('#events:not([aria-busy])').waitFor();
  assert.equal(await page.evaluate(() => window.troubles), 0);
});

test('a search that is not answered ends, with a way to try again', async (t) => {
  const { page } = await open(t, '/healthz');
  await page.clock.install();
  await page.goto(`${url}/`);
  await said(page, /\d events?/);
  await page.route('**/api/v1/events?*', () => {});
  const isAsked = page.waitForRequest(/query=silence/);
  await search(page).fill('silence');
  await page.clock.runFor(1_000);
  await isAsked;
  await page.clock.runFor(25_000);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  assert.equal(await cards(page).first().isVisible(), false, 'what was found before is not taken for it');
});

test('the list that the edge rendered stays when it cannot be asked for again', async (t) => {
  const { page } = await open(t, '/healthz');
  await page.route('**/api/v1/events?*', (route) => route.fulfill({ status: 503, json: {} }));
  await page.goto(`${url}/?query=${WORD}`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  assert.equal(await cards(page).count(), 3);
  assert.ok(await cards(page).first().isVisible());
  const { y } = await page.getByRole('alert').boundingBox();
  assert.ok(y < await page.evaluate(() => innerHeight), 'what went wrong is in sight');
  await page.unroute('**/api/v1/events?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await said(page, '3 events');
  await page.getByLabel('City', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('a show has the same time on the list, at the event and on its own page', async (t) => {
  const { page } = await open(t, `/?query=${WORD}+eins`, { timezoneId: 'Asia/Tokyo' });
  await said(page, '1 event');
  const at = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Lisbon', hour: '2-digit', minute: '2-digit' }).format(new Date(soon));
  const { items: [item] } = await send('GET', `/api/v1/events?query=${WORD}+eins`);
  assert.equal(item.timezone, 'Europe/Lisbon', 'the list has the clock of the venue');
  assert.match(await cards(page).first().textContent(), new RegExp(at));
  await cards(page).first().click();
  await page.locator('.list a', { hasText: at }).click();
  await page.getByText(new RegExp(`at ${at}`)).first().waitFor();
});

test('trouble is said, with a way to try again', async (t) => {
  const { page } = await open(t, '/healthz');
  await page.route('**/api/v1/events?*', (route) => route.fulfill({ status: 503, json: {} }));
  await page.goto(`${url}/`);
  await page.getByRole('heading', { name: 'That did not work' }).waitFor();
  await assertAccessible(page, 'trouble');
  await page.unroute('**/api/v1/events?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await cards(page).first().waitFor();
});

for (const locale of ['de-DE', 'fr-FR', 'es-ES']) {
  test(`the front page speaks ${locale}`, async (t) => {
    const { page } = await open(t, `/?query=${WORD}`, { locale });
    const words = { 'de-DE': '3 Veranstaltungen', 'fr-FR': '3 événements', 'es-ES': '3 eventos' };
    await said(page, words[locale]);
    await assertFits(page, locale);
  });
}

for (const [width, colorScheme] of [[320, 'dark'], [1280, 'light']]) {
  test(`the front page is accessible and fits, ${width} px wide and ${colorScheme}`, async (t) => {
    const { page } = await open(t, '/', { colorScheme, viewport: { width, height: 740 } });
    await cards(page).first().waitFor();
    await page.getByRole('button', { name: 'Choose dates' }).click();
    await assertAccessible(page, 'list');
    await assertFits(page, 'list');
    await assertLarge(page, 'list');
    await page.goto(`${url}/?query=zzyzxqqqq`);
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    await assertAccessible(page, 'nothing');
    await assertFits(page, 'nothing');
    await page.getByRole('button', { name: 'Show everything' }).click();
    await cards(page).first().waitFor();
  });
}

