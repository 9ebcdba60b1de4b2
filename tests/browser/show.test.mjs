// The pages of an event and of a show in Chromium, in each of their states. How to run it is
// in room.test.mjs.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, assertLarge, scriptsOf } from './browser.mjs';
import { logIn, newEmail, send, url } from './organiser.mjs';
import { bought, close, event, fillIn, headline, hold, newShow, open, order, organiser, PATIENCE_MS, press, start, TITLE, until } from './reader.mjs';
import { newHouse, rows } from './seats.mjs';

before(start);
after(close);

const inHours = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** An event of its own with so many shows, one every other day at 18:30 UTC. */
async function eventWith(shows, venue = {}) {
  const hall = { name: 'Old Gasworks', city: 'Hamburg', timezone: 'Europe/Berlin', sections: [{ name: 'Floor', capacity: 40 }], ...venue };
  const { venue_id } = await send('POST', '/api/v1/venues', hall, organiser);
  const { event_id } = await send('POST', '/api/v1/events', { title: TITLE, category: 'concert', venue_id }, organiser);
  const ids = [];
  for (let i = 0; i < shows; i++) {
    const starts_at = new Date(Date.UTC(2097, 0, 20 + 2 * i, 18, 30)).toISOString();
    const show = { starts_at, currency: 'EUR', prices: { Floor: 4_500 } };
    ids.push((await send('POST', `/api/v1/events/${event_id}/shows`, show, organiser)).show_id);
  }
  return { event: event_id, shows: ids };
}

async function soldOut() {
  const show = await newShow({ max_tickets_per_buyer: 50 });
  await order(Array.from({ length: 20 }, (_, i) => `Stalls-1-${i + 1}`), 'pm_card_visa', show);
  const buyer = await logIn('buyer');
  const { hold_id } = await send('POST', `/api/v1/shows/${show}/holds`, { general: { section: 'Floor', quantity: 40 } }, buyer);
  await send('POST', `/api/v1/shows/${show}/holds/${hold_id}/checkout`, { payment_method: 'pm_card_visa' }, buyer);
  for (const end = Date.now() + PATIENCE_MS; ;) {
    const { status } = await send('GET', `/api/v1/shows/${show}`);
    if (status === 'sold_out') return show;
    await send('GET', `/api/v1/shows/${show}/availability`);
    assert.ok(Date.now() < end, 'never sold out');
    await new Promise((next) => setTimeout(next, 200));
  }
}

test('the front page, an event and a show load at most 8 KB of script, and nothing moves while they load', async (t) => {
  const { event: many, shows: [show] } = await eventWith(8);
  const opens_at = inHours(1.9);
  const room = { mode: 'queue', capacity: 10, rate_per_second: 10, opens_at };
  const [soon, full] = [await newShow({ on_sale_at: opens_at, room }), await soldOut()];
  for (const width of [390, 1280]) {
    for (const path of ['/', `/events/${many}`, `/shows/${show}`, `/shows/${soon}`, `/shows/${full}`]) {
      const { page, context } = await open(t, '/healthz', { viewport: { width, height: 800 }, locale: 'fr-FR' });
      await page.addInitScript(() => {
        window.moved = 0;
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) window.moved += value;
        }).observe({ type: 'layout-shift', buffered: true });
      });
      const scripts = scriptsOf(context);
      await page.goto(url + path);
      await page.locator('#content h2, .event').first().waitFor();
      await page.waitForLoadState('networkidle');
      const bytes = await scripts.bytes();
      assert.ok(bytes > 0 && bytes <= 8_000, `${path} loads ${bytes} bytes: ${scripts.names()}`);
      const moved = await page.evaluate(() => window.moved);
      assert.ok(moved < 0.02, `${path} moves by ${moved}, ${width} px wide`);
      await context.close();
    }
  }
});

test('the front page, an event and a show are read without a script', async (t) => {
  const show = await newShow();
  const { page } = await open(t, '/', { javaScriptEnabled: false, timezoneId: 'America/New_York' });
  assert.ok((await page.locator('a.event').count()) > 0, 'events are listed');
  await page.goto(`${url}/events/${event}`);
  await page.getByRole('heading', { level: 1, name: TITLE }).waitFor();
  await page.locator(`.list a[href="/shows/${show}"]`, { hasText: '1 June 2098' }).click();
  await page.getByText(/1 June 2098,? (at )?21:00/).first().waitFor();
  await page.getByRole('row', { name: /Stalls €89.00/ }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Choose seats' }).getAttribute('href'), `/shows/${show}/seats`);
});

test('an event lists its shows; one that does not exist says so', async (t) => {
  const { event: id, shows } = await eventWith(2);
  const { page, assertSound } = await open(t, `/events/${id}`);
  await headline(page, '2 shows');
  await page.locator('.list a').first().waitFor();
  assert.equal(await page.locator('.calendar').count(), 0, 'two shows need no calendar');
  assert.deepEqual(await page.locator('.list a').evaluateAll((all) => all.map((it) => it.getAttribute('href'))), shows.map((it) => `/shows/${it}`));
  assertSound();
  await page.goto(`${url}/events/evt_${'0'.repeat(32)}`);
  await page.getByRole('link', { name: /All events|See what is on/ }).first().waitFor();
});

test('from eight shows on there is a calendar of the venue, and it works by keyboard', async (t) => {
  const { event: id } = await eventWith(8);
  const { page, assertSound } = await open(t, `/events/${id}`, { timezoneId: 'Pacific/Auckland' });
  const calendar = page.getByRole('table', { name: 'January 2097' });
  await calendar.waitFor();
  assert.equal(await page.locator('.list a').count(), 6, 'those of the month');
  await page.getByRole('button', { name: 'Tuesday 22 January, One show' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.list a').length === 1);
  await page.locator('.list a', { hasText: '22 January 2097 at 19:30' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.ariaPressed), 'true', 'the focus stays');
  await page.getByRole('button', { name: 'Later month' }).click();
  await page.getByRole('table', { name: 'February 2097' }).waitFor();
  assert.equal(await page.locator('.list a').count(), 2);
  await assertAccessible(page, 'calendar');
  assertSound();
});

test('a show is told by the clocks of its venue, and its button names the next step', async (t) => {
  const show = await newShow();
  const { page, assertSound } = await open(t, `/shows/${show}`, { timezoneId: 'America/New_York' });
  await headline(page, 'There are tickets');
  assert.equal(await page.locator('h1').textContent(), TITLE);
  await page.getByText('Sunday, 1 June 2098 at 21:00 CEST').waitFor();
  await page.getByText('Old Gasworks, Kanalstraße 7, Hamburg').waitFor();
  await page.getByRole('row', { name: 'Stalls €89.00 20' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Choose seats' }).getAttribute('href'), `/shows/${show}/seats`);
  assertSound();
  const { shows: [general] } = await eventWith(1);
  await page.goto(`${url}/shows/${general}`);
  assert.equal(await page.getByRole('link', { name: 'Choose tickets' }).getAttribute('href'), `/shows/${general}/seats`);
  const withRoom = await newShow({ room: { mode: 'queue', capacity: 10, rate_per_second: 10 } });
  await page.goto(`${url}/shows/${withRoom}`);
  assert.equal(await page.getByRole('link', { name: 'To the waiting room' }).getAttribute('href'), `/room/${withRoom}`);
  assert.equal(await page.getByRole('link', { name: /^Choose/ }).count(), 0);
  await page.goto(`${url}/shows/shw_${'0'.repeat(32)}`);
  await page.getByRole('link', { name: /All events|See what is on/ }).first().waitFor();
});

test('what is left changes while somebody looks', async (t) => {
  const show = await newShow();
  const { page } = await open(t, '/healthz');
  await page.clock.install();
  await page.goto(`${url}/shows/${show}`);
  await page.getByRole('row', { name: 'Stalls €89.00 20' }).waitFor();
  await order(['Stalls-1-1', 'Stalls-1-2'], 'pm_card_visa', show);
  const row = page.getByRole('row', { name: 'Stalls €89.00 18' });
  for (const end = Date.now() + PATIENCE_MS; !(await row.isVisible());) {
    assert.ok(Date.now() < end, 'the page does not look again');
    const looked = page.waitForResponse((it) => it.url().endsWith('/availability'), { timeout: 3_000 });
    await page.clock.fastForward(20_000);
    await looked.catch(() => undefined);
  }
});

test('a sold-out show offers its seats again when places come back', async (t) => {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }], { Box: 3900 });
  const sold = await bought(['Box-1-1', 'Box-1-2'], show);
  const { page } = await open(t, '/healthz');
  await page.clock.install();
  await page.goto(`${url}/shows/${show}`);
  await headline(page, 'All places are sold');
  await page.getByLabel('How many tickets?').focus();
  await send('POST', `/api/v1/orders/${sold.order}/cancel`, undefined, sold.token);
  const until = async (what, isSo) => {
    for (const end = Date.now() + PATIENCE_MS; !(await isSo());) {
      assert.ok(Date.now() < end, what);
      // A page that is being renewed just now looks again a moment later.
      const looked = page.waitForResponse((it) => it.url().endsWith('/availability'), { timeout: 3_000 });
      await page.clock.fastForward(20_000);
      await looked.catch(() => undefined);
    }
  };
  await until('the page does not look again', () => page.getByRole('row', { name: 'Box €39.00 2' }).isVisible());
  assert.ok(await page.getByLabel('How many tickets?').isVisible(), 'a form is not taken away from who fills it in');
  await page.getByLabel('How many tickets?').blur();
  await until('the seats are not offered', () => page.getByRole('link', { name: 'Choose seats' }).isVisible());
});

for (const [what, path, gone] of [
  ['event', async () => `/events/${event}`, /\/api\/v1\/events\//],
  ['show', async () => `/shows/${await newShow()}`, /\/api\/v1\/shows\//],
]) {
  test(`an ${what} that was rendered stays when the API fails, and a reader keeps the focus in it`.replace('an s', 'a s'), async (t) => {
    await newShow();
    const { page } = await open(t, '/healthz');
    let isBroken = true;
    await page.route(gone, (route) => (isBroken ? route.fulfill({ status: 503, json: {} }) : route.continue()));
    await page.goto(url + await path());
    await page.getByRole('alert').waitFor();
    const next = page.locator(what === 'show' ? 'a[href$="/seats"]' : '.list a').first();
    assert.ok(await next.isVisible(), 'the content stays');
    const { y } = await page.getByRole('alert').boundingBox();
    assert.ok(y < await page.evaluate(() => innerHeight), 'what went wrong is in sight');
    await assertAccessible(page, what);
    await press(page, 'Try again');
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByRole('alert').count(), 1);
    isBroken = false;
    // What the reader has focused by the time that the answer comes.
    await page.getByRole('button', { name: 'Try again' }).evaluate((it) => it.click());
    await next.focus();
    const href = await next.getAttribute('href');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), href);
  });
}

for (const wrongBy of [-300_000, 300_000]) {
  test(`the countdown is the server's, with a clock that is wrong by ${wrongBy / 60_000} minutes`, async (t) => {
    const show = await newShow({ on_sale_at: inHours(2) });
    const { page, assertSound } = await open(t, '/healthz');
    await page.clock.install({ time: Date.now() + wrongBy });
    await page.goto(`${url}/shows/${show}`);
    await headline(page, 'Not on sale yet');
    const shown = (await page.getByRole('timer').textContent()).split(':').map(Number);
    const left = shown.reduce((sum, part) => sum * 60 + part, 0);
    assert.ok(left > 7_080 && left <= 7_202, `${shown} of two hours`);
    assertSound();
  });
}

test('when the sale begins the page offers the seats by itself', async (t) => {
  const show = await newShow({ on_sale_at: inHours(1 / 720) });
  const { page } = await open(t, `/shows/${show}`);
  await page.getByRole('link', { name: 'Choose seats' }).waitFor();
});

test('the beginning of a sale goes into a calendar, with an alarm', async (t) => {
  const on_sale_at = inHours(50).replace(/\.\d+/, '.000');
  const show = await newShow({ on_sale_at });
  const { page } = await open(t, `/shows/${show}`);
  const download = page.waitForEvent('download');
  await press(page, 'Add to my calendar');
  const text = await readFile(await (await download).path(), 'utf8');
  assert.match(text, /^BEGIN:VCALENDAR\r\n/);
  assert.ok(text.includes(`DTSTART:${on_sale_at.replace(/[-:]|\.\d+/g, '')}`), text);
  assert.ok(text.replaceAll('\r\n ', '').includes(`SUMMARY:Tickets go on sale: ${TITLE}`), text);
  assert.ok(text.includes('BEGIN:VALARM'));
  assert.ok(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75), text);
});

for (const [when, room] of [
  ['a room opens', (opens_at) => ({ mode: 'queue', capacity: 10, rate_per_second: 10, opens_at })],
  ['a sale without a room begins', () => undefined],
]) {
  test(`before ${when} somebody can be reminded`, async (t) => {
    const at = inHours(30);
    const show = await newShow({ on_sale_at: at, room: room(at) });
    const { page } = await open(t, `/shows/${show}`);
    await page.getByText('Remind me').first().click();
    await page.getByLabel('Your email address').fill(newEmail());
    await press(page, 'Remind me');
    await page.getByText(/^Noted: /).waitFor();
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^Noted: /);
  });
}

test('a show whose room is closed says that the sale is paused, rendered and by script', async (t) => {
  const show = await newShow({ room: { mode: 'closed', capacity: 10, rate_per_second: 10 } });
  for (const javaScriptEnabled of [false, true]) {
    const { page } = await open(t, `/shows/${show}`, { javaScriptEnabled });
    await page.waitForLoadState('networkidle');
    await headline(page, 'The sale is paused');
    assert.equal(await page.getByText('There are tickets').count(), 0);
  }
});

test('a section whose places are only reserved is not called sold out', async (t) => {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }, { name: 'Stalls', rows: rows(1, 4) }], { Box: 3900, Stalls: 2500 });
  await hold(['Box-1-1', 'Box-1-2'], show);
  for (const javaScriptEnabled of [false, true]) {
    const { page } = await open(t, `/shows/${show}`, { javaScriptEnabled });
    // The map is a second old at most, and what the edge knows of it a second and a half.
    await until('the page has the change', async () => {
      await page.reload({ waitUntil: 'networkidle' });
      return page.getByRole('row', { name: /^Box €39.00 0$/ }).isVisible();
    });
    assert.equal(await page.getByText('Sold out').count(), 0);
  }
});

test('a cancelled show says so and sells nothing', async (t) => {
  const show = await newShow();
  await send('POST', `/api/v1/shows/${show}/cancel`, {}, organiser);
  const { page } = await open(t, `/shows/${show}`);
  await headline(page, 'This show is cancelled');
  assert.equal(await page.getByRole('link', { name: /^Choose|waiting room/ }).count(), 0);
  await assertAccessible(page, 'cancelled');
});

test('when all is sold somebody waits for certain sections, and says who they are in place', async (t) => {
  const show = await soldOut();
  const { page, assertSound } = await open(t, `/shows/${show}`);
  await headline(page, 'All places are sold');
  const wishes = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/waitlist')) wishes.push(request.postDataJSON());
  });
  const quantity = page.getByLabel('How many tickets?');
  const together = page.getByLabel('Together, side by side');
  await quantity.fill('1');
  assert.equal(await together.isVisible(), false, 'one ticket has no neighbour');
  await quantity.fill('3');
  await page.locator('summary', { hasText: 'Only certain sections' }).click();
  await page.getByLabel('Floor').check();
  await assertAccessible(page, 'sold out');
  const email = newEmail();
  await logIn('buyer', email);
  await press(page, 'Join the waitlist');
  await press(page, 'I have an account');
  await fillIn(page, email);
  await page.waitForURL('**/waitlist/wls_*');
  const wish = { quantity: 3, together: true, sections: ['Floor'] };
  assert.deepEqual(wishes, [wish, wish]);
  assertSound();
});

test('a wish that cannot be met is refused where the form is', async (t) => {
  const show = await soldOut();
  const email = newEmail();
  await logIn('buyer', email);
  const { page } = await open(t, `/shows/${show}`);
  // More than any section has.
  await page.getByLabel('How many tickets?').fill('41');
  await press(page, 'Join the waitlist');
  await press(page, 'I have an account');
  await fillIn(page, email);
  await page.getByRole('alert').filter({ hasText: /so many places together/i }).waitFor();
  assert.equal(await page.getByLabel('How many tickets?').inputValue(), '41', 'what was filled in is kept');
});

for (const [width, colorScheme] of [[320, 'dark'], [1280, 'light']]) {
  test(`events and shows are accessible and fit, ${width} px wide and ${colorScheme}`, async (t) => {
    const at = inHours(30);
    const states = {
      event: `/events/${event}`,
      calendar: `/events/${(await eventWith(9)).event}`,
      'on sale': `/shows/${await newShow()}`,
      soon: `/shows/${await newShow({ on_sale_at: inHours(1.9) })}`,
      'with a room': `/shows/${await newShow({ on_sale_at: at, room: { mode: 'queue', capacity: 10, rate_per_second: 10, opens_at: at } })}`,
      days: `/shows/${await newShow({ on_sale_at: inHours(24 * 400) })}`,
    };
    const { page } = await open(t, '/healthz', { colorScheme, viewport: { width, height: 740 } });
    for (const [name, path] of Object.entries(states)) {
      await page.goto(url + path);
      await page.locator('#content h2').first().waitFor();
      await page.waitForLoadState('networkidle');
      await assertAccessible(page, name);
      await assertFits(page, name);
      await assertLarge(page, name);
    }
  });
}

for (const [locale, words] of [['de-AT', 'Plätze wählen'], ['fr-FR', 'Choisir les places'], ['es-ES', 'Elegir asientos']]) {
  test(`a show speaks ${locale}`, async (t) => {
    const { page } = await open(t, `/shows/${await newShow()}`, { locale, viewport: { width: 320, height: 740 } });
    await page.getByRole('link', { name: words }).waitFor();
    await assertFits(page, locale);
  });
}
