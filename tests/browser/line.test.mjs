// The waiting page in Chromium when there is a line, and in each of its states. How to run
// it is in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { buy, url } from './organiser.mjs';
import { close, event, open, PATIENCE_MS, shown, start, state, visitor, wide } from './waiting.mjs';

const screenshots = process.env.ONSALE_SCREENSHOTS;

before(start);
after(close);

test('after the draw people wait in line, and go in when others leave', async (t) => {
  const opens_at = new Date(Date.now() + 12_000).toISOString();
  const show = await event.show({ mode: 'queue_all', capacity: 1, opens_at });
  const pages = [];
  for (let i = 0; i < 5; i++) {
    const { context } = await visitor(t);
    pages.push(await open(context, show));
  }
  await Promise.all(pages.map((page) => state(page, 'prequeue', 'waiting', 'door', 'admitted', 'turn')));
  const isAt = async (page, wanted) => (await page.locator('#room').getAttribute('data-state')) === wanted;
  const inside = async () => (await Promise.all(pages.map((page) => isAt(page, 'turn')))).filter(Boolean).length;

  const winner = await Promise.any(pages.map(async (page) => (await state(page, 'turn'), page)));
  const waiting = await Promise.any(pages.map(async (page) => (await state(page, 'waiting', 'door'), page)));
  assert.equal(await inside(), 1);
  await shown(waiting, /ahead of you|You are next/);
  await shown(waiting, /Your wait: (about|less than) |as soon as there is room/);
  assert.match(await waiting.title(), /^(Your place \d+|You are next) · /);
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

/** What the product promises from the heading to the seats. */
const PROMISED_MS = 3_000;
const TURN = 'It is your turn';

/** From now on the pages of a context note, by their own clock, what they say, hear and open. */
const record = (context) =>
  context.addInitScript(() => {
    const notes = JSON.parse(sessionStorage.getItem('notes') ?? '[]');
    const note = (what, value, at = Date.now()) => {
      notes.push({ what, value, at });
      sessionStorage.setItem('notes', JSON.stringify(notes));
    };
    // The time at which the browser began to go to this page.
    note('page', location.pathname, performance.timeOrigin);
    let said = '';
    new MutationObserver(() => {
      const words = document.getElementById('headline')?.textContent;
      if (words && words !== said) note('heading', (said = words));
    }).observe(document, { subtree: true, childList: true, characterData: true });
    const ask = window.fetch;
    window.fetch = async (...request) => {
      const answer = await ask(...request);
      const path = String(request[0]);
      if (path.endsWith('/status')) note('status', (await answer.clone().json()).state);
      if (path.endsWith('/enter')) note('enter', answer.status);
      return answer;
    };
  });

/** Where the notes of a visitor break a promise. */
function broken(notes, seats) {
  const complaints = [];
  const turn = notes.findIndex(({ what, value }) => what === 'heading' && value === TURN);
  if (turn < 0) return ['never their turn'];
  const pass = notes.findIndex(({ what, value }) => what === 'enter' && value === 200);
  if (pass < 0 || pass > turn) complaints.push('told of a turn without a pass');
  const after = notes.slice(turn + 1);
  const gone = after.find(({ what, value }) => what === 'page' && value === seats);
  if (!gone) complaints.push('never at the seats');
  else if (gone.at - notes[turn].at > PROMISED_MS) complaints.push(`on the way to the seats after ${gone.at - notes[turn].at} ms`);
  for (const { what, value } of after) if (what === 'heading') complaints.push(`back from the turn to “${value}”`);
  // Whoever hears `admitted` enters, and is not refused.
  notes.forEach(({ what, value }, i) => {
    const next = notes.slice(i + 1).find((it) => it.what === 'enter');
    if (what === 'status' && value === 'admitted' && next?.value !== 200) complaints.push(`admitted, then ${next?.value}`);
  });
  return complaints;
}

test('a page that says “It is your turn” has a pass, and is on its way to the seats within 3 s', async (t) => {
  const show = await event.show({ mode: 'queue_all', capacity: 3, rate_per_second: 5, pass_seconds: 10 });
  const seats = `/shows/${show}/seats`;
  const visit = async (_, n) => {
    const { context } = await visitor(t, { goesOn: true });
    await record(context);
    const page = await open(context, show);
    // With two before them, a visitor waits for passes of 10 s twice.
    await page.waitForURL(`**${seats}`, { timeout: 3 * PATIENCE_MS, waitUntil: 'commit' });
    await page.waitForFunction((path) => sessionStorage.getItem('notes')?.includes(path), seats);
    const notes = await page.evaluate(() => JSON.parse(sessionStorage.getItem('notes')));
    await page.close();
    // Half of them give their slot back, the passes of the others lapse.
    if (n % 2) assert.equal((await context.request.post(`${url}/room/${show}/leave`)).status(), 204);
    return { n, complaints: broken(notes, seats), notes };
  };
  const visits = await Promise.all(Array.from({ length: 7 }, visit));
  const told = visits.filter(({ complaints }) => complaints.length);
  assert.deepEqual(told.map(({ n, complaints }) => [n, complaints]), [], JSON.stringify(told));
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
  let late;
  let page;
  // A visitor who was let in stays in, so each look is another visitor's.
  const known = async () => {
    late = await visitor(t);
    page = await open(late.context, show);
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
  const canJoin = () => page.getByRole('button', link).waitFor({ timeout: 5_000 }).then(() => true, () => false);
  while (!(await canJoin())) {
    assert.ok(Date.now() < patience, 'the page of the show has no form');
    await page.reload();
  }
  assert.deepEqual(late.complaints, []);
});

test('without JavaScript a visitor waits, joins, and is let in by the page itself', async (t) => {
  const show = await event.show(wide);
  const { context } = await visitor(t, { javaScriptEnabled: false });
  const page = await open(context, show);
  const waitSeconds = Number((await page.getByText(/in \d+ seconds/).textContent()).match(/in (\d+) seconds/)[1]);
  const ready = Date.now() + waitSeconds * 1_000 + 1_000;
  // The wait is the price, so there is nothing else to wait for.
  await new Promise((resolve) => setTimeout(resolve, ready - Date.now()));
  const pages = [];
  page.on('response', async (response) => {
    if (response.request().isNavigationRequest()) pages.push(await response.text().catch(() => ''));
  });
  await page.getByRole('button', { name: 'Join the line' }).click();
  await page.getByRole('heading', { name: 'You may buy now' }).waitFor({ timeout: PATIENCE_MS });
  const cookies = await context.cookies(`${url}/api/v1/shows/${show}`);
  assert.ok(cookies.some(({ name }) => name === 'onsale_pass'), 'whoever may buy has a pass');
  assert.ok(pages.every((text) => !text.includes(TURN)), 'nobody is told of a turn before');
});
