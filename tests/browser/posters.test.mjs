// Posters in Chromium: uploaded through the API, seen on the front page, on the page of the
// event and on that of its show. How to run it is in room.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { assertAccessible } from './browser.mjs';
import { send, url } from './organiser.mjs';
import { close, event, newShow, open, organiser, start, TITLE, until } from './reader.mjs';

const DESKTOP = { width: 1280, height: 800 };
let show;
let poster;

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG of this size in one colour. */
function png(width, height, colour) {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from(colour))]);
  const lines = Buffer.concat(Array(height).fill(line));
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

async function upload(file) {
  const headers = { Authorization: `Bearer ${organiser}`, 'Content-Type': 'image/png' };
  const response = await fetch(`${url}/api/v1/events/${event}/poster`, { method: 'PUT', headers, body: file });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).poster_url;
}

const listed = async () => (await send('GET', `/api/v1/events?query=${encodeURIComponent(TITLE)}&limit=100`)).items.find((it) => it.event_id === event);

before(async () => {
  await start();
  show = await newShow();
  poster = await upload(png(1500, 900, [200, 60, 30]));
  await until('the list has the poster', async () => (await listed())?.poster_url === poster);
});
after(close);

/** The picture is there, and its box has the size that it had before. */
async function assertShown(image, src) {
  await image.scrollIntoViewIfNeeded();
  await until('the picture is loaded', () => image.evaluate((it) => it.complete && it.naturalWidth > 0));
  const seen = await image.evaluate((it) => ({ src: it.getAttribute('src'), width: it.naturalWidth, height: it.naturalHeight }));
  assert.deepEqual(seen, { src, width: 1200, height: 720 });
}

/** The sum of what moved by itself since the page began. */
const moved = (page) =>
  page.evaluate(
    () =>
      new Promise((tell) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const it of list.getEntries()) if (!it.hadRecentInput) sum += it.value;
        }).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => setTimeout(() => tell(sum), 0));
      }),
  );

for (const colorScheme of ['light', 'dark']) {
  test(`the front page shows the poster in ${colorScheme}, and its card has one name`, async (t) => {
    const { page, assertSound } = await open(t, `/?query=${encodeURIComponent(TITLE)}`, { viewport: DESKTOP, colorScheme });
    const card = page.locator(`.event[href="/events/${event}"]`);
    await assertShown(card.locator('img.poster'), poster);
    assert.equal(await card.locator('img.poster').getAttribute('alt'), '');
    await assertAccessible(page, `home in ${colorScheme}`);
    assertSound({ secret: false });
  });
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with' : 'without';
  test(`the pages of the event and of its show have the poster ${how} a script`, async (t) => {
    for (const address of [`/events/${event}`, `/shows/${show}`]) {
      const { page, assertSound } = await open(t, address, { javaScriptEnabled });
      await page.waitForLoadState('networkidle');
      const image = page.getByRole('img', { name: `Poster of ${TITLE}` });
      assert.equal(await image.count(), 1, address);
      const meta = page.locator('meta[property="og:image"]');
      assert.equal(await meta.getAttribute('content'), url + poster);
      assertSound({ secret: false });
      if (!javaScriptEnabled) continue;
      await assertShown(image, poster);
      assert.ok((await moved(page)) < 0.02, `${address} moved`);
      await assertAccessible(page, address);
    }
  });
}

test('a poster of another origin is neither loaded nor told', async (t) => {
  const elsewhere = 'https://pictures.example/poster.png';
  t.after(() => send('PATCH', `/api/v1/events/${event}`, { poster_url: poster }, organiser));
  await send('PATCH', `/api/v1/events/${event}`, { poster_url: elsewhere }, organiser);
  await until('the list has the change', async () => (await listed())?.poster_url === elsewhere);
  for (const address of [`/events/${event}`, `/shows/${show}`, `/?query=${encodeURIComponent(TITLE)}`]) {
    let page;
    let assertSound;
    // What the edge knows may be a second and a half old.
    await until('the page has the change', async () => {
      ({ page, assertSound } = await open(t, address));
      return !(await page.content()).includes(poster);
    });
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator(`img[src*="pictures.example"]`).count(), 0, address);
    assert.ok(!(await page.content()).includes('pictures.example'), address);
    assertSound({ secret: false });
    if (address.startsWith('/?')) continue;
    // A shared link has a picture all the same.
    const shared = await page.request.get(await page.locator('meta[property="og:image"]').getAttribute('content'));
    assert.deepEqual([shared.status(), shared.headers()['content-type']], [200, 'image/png'], address);
  }
});
