// The waiting page in Chromium when there is a line, and in each of its states. How to run
// it is in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './browser.mjs';
import { buy, url } from './organiser.mjs';
import { beforeOpening, close, event, open, PATIENCE_MS, shown, start, state, visitor, wide } from './waiting.mjs';

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
