// The draw of a waiting room, checked in the browser. How to run it is in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, assertLarge } from './browser.mjs';
import { url } from './organiser.mjs';
import { beforeOpening, close, event, open, PATIENCE_MS, start, state, visitor, wide } from './waiting.mjs';

before(start);
after(close);

const headline = (page, name) => page.getByRole('heading', { level: 2, name }).waitFor({ timeout: PATIENCE_MS });

/** A visitor whose draw is known and whose seed is published. */
async function drawn(t, options) {
  const show = await event.show(beforeOpening());
  const { context, complaints } = await visitor(t, options);
  await state(await open(context, show), 'prequeue');
  // The room opens once its visitor is there, however long that takes.
  await event.setRoom(show, { ...wide, rate_per_second: 100, opens_at: new Date(Date.now() + 2_000).toISOString() });
  const fairness = async () => (await context.request.get(`${url}/room/${show}/fairness`)).json();
  for (const end = Date.now() + PATIENCE_MS; ;) {
    const { yours, opening } = await fairness();
    if (yours && opening.seed) break;
    assert.ok(Date.now() < end, 'never drawn');
    await new Promise((next) => setTimeout(next, 500));
  }
  const page = await context.newPage();
  return { show, page, context, complaints, fairness };
}

test('a visitor checks their own draw in the browser, and a false one is found out; so can others', async (t) => {
  const { show, page, context, complaints, fairness } = await drawn(t);
  await page.goto(`${url}/fairness/${show}`);
  await headline(page, 'Your draw is what was published');
  const { yours, opening } = await fairness();
  await page.getByText(yours.draw).first().waitFor();
  await page.getByText(opening.seed).first().waitFor();
  const cookies = await context.cookies(`${url}/room/${show}`);
  assert.ok(cookies.some(({ name, value }) => name === 'onsale_ticket' && value !== yours.ticket), 'what is shown lets nobody in');
  await assertAccessible(page, 'good');
  await assertLarge(page, 'good');
  assert.deepEqual(complaints, []);

  const lie = async (change) => {
    await page.route('**/fairness', async (route) => {
      if (route.request().resourceType() === 'document') return route.continue();
      const told = await (await route.fetch()).json();
      change(told);
      return route.fulfill({ json: told });
    });
    await page.reload();
    await headline(page, 'Your draw is not what was published');
    await page.unrouteAll();
  };
  await lie((told) => { told.yours.draw = told.yours.draw.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')); });
  await assertAccessible(page, 'bad');
  await lie((told) => { told.opening.seed = '00'.repeat(32); });

  // Somebody else checks the ticket that was told to them.
  const other = await visitor(t, { viewport: { width: 320, height: 640 } });
  const theirs = await other.context.newPage();
  await theirs.goto(`${url}/fairness/${show}`);
  await headline(theirs, 'Check my ticket');
  await assertAccessible(theirs, 'without a ticket');
  await assertFits(theirs, 'without a ticket');
  await theirs.getByLabel('Queue ticket').fill('A'.repeat(127));
  await theirs.getByRole('button', { name: 'Check', exact: true }).click();
  await theirs.getByRole('alert').filter({ hasText: 'not a queue ticket' }).waitFor();
  await theirs.getByLabel('Queue ticket').fill(yours.ticket);
  await theirs.getByRole('button', { name: 'Check', exact: true }).click();
  await headline(theirs, 'Your draw is what was published');
  await theirs.getByText(yours.draw).first().waitFor();
  await assertFits(theirs, 'checked');
});

test('before the draw the page says when it can be checked, in the reader’s language', async (t) => {
  const show = await event.show(beforeOpening());
  const { context } = await visitor(t, { locale: 'fr-FR' });
  const page = await context.newPage();
  await page.goto(`${url}/fairness/${show}`);
  await headline(page, 'Comment l’ordre est décidé');
  await assertAccessible(page, 'before');
});
