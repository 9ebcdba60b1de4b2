// Makes pictures of the pages of a running platform with a fresh demo: of the demo, and of
// every state that the pages have, in light and dark, on a phone and on a desktop.
// scripts/screenshots starts one and calls this. ONSALE_STATES names states, and ONSALE_LOOKS
// looks such as phone-dark, if not all of them are wanted.
//
//   ONSALE_URL=http://127.0.0.1:8787 node tests/browser/screenshots.mjs FOLDER

import { mkdir } from 'node:fs/promises';
import { launch } from './browser.mjs';
import { logIn, newEmail, send } from './organiser.mjs';
import { close, start } from './reader.mjs';
import { bringTo, everyState, waitingRoom } from './states.mjs';

const folder = process.argv[2] ?? 'target/screenshots';
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
const SCHEMES = ['light', 'dark'];
/** So many pages are open at once. */
const AT_ONCE = 3;

const { items: events } = await send('GET', `/api/v1/events?limit=50&from=${new Date().toISOString()}`);
/** The next show of the first event for which this holds. */
async function showOf(isWanted) {
  for (const { event_id } of events) {
    const event = await send('GET', `/api/v1/events/${event_id}`);
    for (const { show_id } of event.shows) {
      const show = await send('GET', `/api/v1/shows/${show_id}`);
      const layout = await send('GET', `/api/v1/shows/${show_id}/layout`);
      if (isWanted({ show, layout })) return { event_id, show_id, layout };
    }
  }
  throw new Error('the demo has no such show');
}

const isSeated = ({ kind }) => kind === 'seated';
const theatre = await showOf(({ show, layout }) => show.room.mode === 'off' && layout.places < 2_000 && layout.sections.every(isSeated));
const arena = await showOf(({ layout }) => layout.places >= 20_000);
const club = await showOf(({ layout }) => !layout.sections.some(isSeated));
const queue = await showOf(({ show }) => show.room.mode !== 'off' && !show.on_sale_at);

const email = newEmail();
const token = await logIn('buyer', email);
const hold = () => send('POST', `/api/v1/shows/${theatre.show_id}/holds`, { best_available: { quantity: 2 } }, token);
const bought = await hold();
const { order_id } = await send('POST', `/api/v1/shows/${theatre.show_id}/holds/${bought.hold_id}/checkout`, { payment_method: 'pm_card_visa' }, token);
const held = await hold();

let tickets = [];
for (const end = Date.now() + 30_000; tickets.length === 0 && Date.now() < end;) {
  const order = await send('GET', `/api/v1/orders/${order_id}`, undefined, token);
  ({ tickets } = order);
  if (tickets.length === 0) await new Promise((next) => setTimeout(next, 200));
}

const reserve = (page) => page.getByRole('button', { name: /^Reserve .*€/ }).waitFor();
const poster = (page) => page.waitForFunction(() => [...document.images].filter((it) => it.loading !== 'lazy').every((it) => it.complete));

/** What the demo shows, before anything else is on sale. */
const demo = [
  { name: 'demo-home', path: '/', ready: async (page) => {
    await page.getByRole('button', { name: /^This month \d/ }).waitFor();
    await poster(page);
  } },
  { name: 'demo-event', path: `/events/${theatre.event_id}`, ready: poster },
  { name: 'demo-show', path: `/shows/${theatre.show_id}`, ready: (page) => page.getByRole('link', { name: 'Choose seats' }).waitFor() },
  { name: 'demo-seats-theatre', path: `/shows/${theatre.show_id}/seats`, ready: reserve },
  { name: 'demo-seats-arena', path: `/shows/${arena.show_id}/seats`, ready: reserve },
  { name: 'demo-tickets-club', path: `/shows/${club.show_id}/seats`, ready: reserve },
  { name: 'demo-checkout', path: `/shows/${theatre.show_id}/holds/${held.hold_id}`, token, ready: (page) => page.getByRole('button', { name: /^Buy now/ }).waitFor() },
  { name: 'demo-order', path: `/orders/${order_id}`, token, ready: (page) => page.getByRole('img', { name: /^QR code/ }).first().waitFor() },
  { name: 'demo-ticket', path: `/tickets/${tickets[0]}`, token, ready: (page) => page.getByRole('img', { name: /^QR code/ }).waitFor() },
  waitingRoom('demo-room', queue.show_id),
];

const browser = await launch();
const looks = Object.keys(SIZES)
  .flatMap((size) => SCHEMES.map((colorScheme) => ({ size, colorScheme })))
  .filter(({ size, colorScheme }) => process.env.ONSALE_LOOKS?.split(',').includes(`${size}-${colorScheme}`) ?? true);
const wanted = process.env.ONSALE_STATES?.split(',');
const isWanted = ({ name }) => wanted?.includes(name) ?? true;
let made = 0;
const failed = [];

async function picture(state, { size, colorScheme }) {
  const isPhone = size === 'phone';
  const device = { viewport: SIZES[size], deviceScaleFactor: isPhone ? 2 : 1, isMobile: isPhone, hasTouch: isPhone };
  const context = await browser.newContext({ ...device, colorScheme, locale: 'en-GB', reducedMotion: 'reduce' });
  const name = `${state.name}-${size}-${colorScheme}`;
  try {
    const page = await bringTo(state, context);
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: `${folder}/${name}.png` });
    made += 1;
    process.stdout.write(`${name}\n`);
  } catch (error) {
    failed.push(`${name}: ${error.message.split('\n')[0]}`);
  } finally {
    await context.close();
  }
}

async function pictures(states) {
  const open = looks.flatMap((look) => states.filter(isWanted).map((state) => () => picture(state, look)));
  const work = async () => {
    for (let next = open.shift(); next; next = open.shift()) await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

await mkdir(folder, { recursive: true });
await pictures(demo);
await start();
// A state is spent by its picture where others take its seats: each look has its own.
for (const look of looks.splice(0)) {
  looks.splice(0, looks.length, look);
  await pictures(await everyState());
}
await close();
await browser.close();
console.log(`${made} pictures in ${folder}`);
if (failed.length > 0) {
  console.error(failed.join('\n'));
  process.exitCode = 1;
}
