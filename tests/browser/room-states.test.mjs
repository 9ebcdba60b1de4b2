// What the waiting page shows of each state that the room may tell, in Chromium. The room's
// answers are made between browser and platform. How to run it is in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, assertLarge } from './browser.mjs';
import { logIn, newEmail, password } from './organiser.mjs';
import { close, event, open, shown, start, state, visitor, wide } from './waiting.mjs';

before(start);
after(close);

const euros = (amount) => ({ amount, currency: 'EUR' });
const told = {
  total_waiting: 18_234,
  prices: { from: euros(4_501), to: euros(8_900) },
  sold_out_sections: ['Stalls', 'Box 4'],
  message: 'Doors open at 18:00. Bags stay outside.',
};
const minutes = (n) => new Date(Date.now() + n * 60_000).toISOString();
const states = {
  prequeue: { state: 'prequeue', opens_at: minutes(119), ...told },
  waiting: { state: 'waiting', position: 12_346, ahead: 12_345, wait_seconds: { p50: 1_800, p90: 3_200 }, ...told },
  paused: { state: 'waiting', position: 3, ahead: 2, total_waiting: 12 },
  door: { state: 'door', position: 1, ahead: 0, ...told },
  inside: { state: 'inside', expires_at: minutes(4) },
  sold_out: { state: 'sold_out', waitlist: '/' },
  closed: { state: 'closed' },
};

/** A page of a visitor whom the room tells this. */
async function toldTo(t, status, options) {
  const { context } = await visitor(t, options);
  const answer = { refresh_after_ms: 60_000, ...status };
  await context.route('**/status', (route) => route.fulfill({ json: answer }));
  await context.route('**/enter', (route) => route.fulfill({ status: 425, json: { ...answer, status: 425 } }));
  const page = await open(context, await event.show(wide));
  await state(page, status.state);
  return page;
}

test('those who wait are told how many wait, what it costs, what is sold out, and what the organiser says', async (t) => {
  const page = await toldTo(t, states.waiting);
  await shown(page, '12,345 people ahead of you');
  await shown(page, 'Your wait: about 30 to 54 minutes.');
  await shown(page, '18,234');
  await shown(page, '€45.01 – €89.00');
  await shown(page, 'Stalls, Box 4');
  await shown(page, told.message);
});

for (const [width, colorScheme] of [[320, 'dark'], [1280, 'light']]) {
  test(`every state is accessible and fits, ${width} px wide and ${colorScheme}`, async (t) => {
    for (const [name, status] of Object.entries(states)) {
      const page = await toldTo(t, status, { colorScheme, viewport: { width, height: 740 } });
      if (name === 'prequeue') await page.getByText('I have a fan code').click();
      await assertAccessible(page, name);
      await assertFits(page, name);
      await assertLarge(page, name);
      await page.context().close();
    }
  });
}

for (const [locale, headline] of [
  ['de-DE', '12.345 Personen vor Ihnen'],
  ['fr-FR', /12.345 personnes devant vous/],
  ['es-ES', '12.345 personas delante de usted'],
]) {
  test(`the room speaks ${locale}`, async (t) => {
    const page = await toldTo(t, states.waiting, { locale, viewport: { width: 320, height: 740 } });
    await page.getByRole('heading', { name: headline }).waitFor();
    await assertFits(page, locale);
  });
}

test('somebody logs in while they wait', async (t) => {
  const email = newEmail();
  await logIn('buyer', email);
  const page = await toldTo(t, states.waiting);
  await page.getByText('Log in while you wait').click();
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await shown(page, `Logged in as ${email}`);
  assert.equal(await page.locator('#room').getAttribute('data-state'), 'waiting', 'the place is kept');
});
