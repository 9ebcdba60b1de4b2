// How fast the seat map of 50,000 places is drawn, moved and used, and how soon the front page and the
// checkout answer a press, with a processor four times slower than this one. Prints a row for each figure: its name, the figure, what is promised
// (or `-`) and the unit. `scripts/bench seats` runs it and judges.
//
//   ONSALE_URL=http://127.0.0.1:8787 node tests/browser/bench-seats.mjs

import { launch } from './browser.mjs';
import { logIn, send, url } from './organiser.mjs';

const SLOWER = 4;
const FRAMES = 120;
const SECTIONS = 50;
const PATIENCE_MS = 120_000;

async function stadium() {
  const token = await logIn('organiser');
  const rows = Array.from({ length: 25 }, (_, i) => ({ label: String(i + 1), seats: 40 }));
  const sections = Array.from({ length: SECTIONS }, (_, i) => ({ name: `Block ${i + 1}`, rows }));
  const venue = { name: 'Stadium', city: 'Hamburg', timezone: 'Europe/Berlin', sections };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, token);
  const event = { title: 'A bench', category: 'concert', venue_id };
  const { event_id } = await send('POST', '/api/v1/events', event, token);
  const prices = Object.fromEntries(sections.map(({ name }, i) => [name, 3_000 + (i % 6) * 1_500]));
  const show = { starts_at: '2098-06-01T19:00:00Z', currency: 'EUR', prices };
  return (await send('POST', `/api/v1/events/${event_id}/shows`, show, token)).show_id;
}

const share = (values, part) => [...values].sort((a, b) => a - b)[Math.floor(values.length * part)];
const tell = (name, value, most = '-', unit = 'ms') => console.log([name, value.toFixed(1), most, unit].join('\t'));

/** Runs in the page before anything else: when the places are on the map, and how long each input took. */
function observe(sections) {
  const { prototype } = CanvasRenderingContext2D;
  let painted = 0;
  // Places are painted into a bitmap that no document has; what is painted there is counted.
  for (const name of ['fill', 'fillRect']) {
    const plain = prototype[name];
    prototype[name] = function (...given) {
      if (!this.canvas.isConnected) painted++;
      return plain.apply(this, given);
    };
  }
  const { drawImage } = prototype;
  prototype.drawImage = function (...given) {
    drawImage.apply(this, given);
    // The bitmap is on the map. It is seen after this frame.
    if (this.canvas.isConnected && painted > sections && !window.drawn) {
      window.drawn = Infinity;
      requestAnimationFrame(() => { window.drawn = performance.now(); window.painted = painted; });
    }
  };
  window.inputs = new Map();
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name } of list.getEntries()) {
      if (interactionId) window.inputs.set(interactionId, { name, duration: Math.max(duration, window.inputs.get(interactionId)?.duration ?? 0) });
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
}

/** While the map is dragged: the time between frames. */
const frames = (page) =>
  page.evaluate(async (count) => {
    const canvas = document.querySelector('.map canvas');
    const { left, top } = canvas.getBoundingClientRect();
    const fire = (kind, x, y) =>
      canvas.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: left + x, clientY: top + y, bubbles: true, buttons: 1 }));
    canvas.setPointerCapture = () => {};
    const between = [];
    let last;
    fire('pointerdown', 300, 300);
    for (let i = 0; i < count; i++) {
      const now = await new Promise((next) => requestAnimationFrame(next));
      if (last) between.push(now - last);
      last = now;
      fire('pointermove', 300 + Math.sin(i / 9) * 180, 300 + Math.cos(i / 7) * 120);
    }
    fire('pointerup', 300, 300);
    return between;
  }, FRAMES);

/** The map rests: nothing was painted for a while. */
const rests = (page) =>
  page.evaluate(async () => {
    const { prototype } = CanvasRenderingContext2D;
    const { fillRect } = prototype;
    let last = performance.now();
    prototype.fillRect = function (...given) {
      last = performance.now();
      return fillRect.apply(this, given);
    };
    while (performance.now() - last < 500) await new Promise((next) => setTimeout(next, 50));
    prototype.fillRect = fillRect;
  });

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(PATIENCE_MS);
await page.addInitScript(observe, SECTIONS);
const show = process.env.SHOW ?? (await stadium());
const cdp = await page.context().newCDPSession(page);
await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
await page.goto(`${url}/shows/${show}/seats`);
await page.waitForFunction(() => Number.isFinite(window.drawn));
tell('map drawn', await page.evaluate(() => window.drawn), 2_500);
await page.locator('.reserve', { hasText: '€' }).waitFor();
for (const [zoom, times] of [['whole house', 0], ['part of the house', 1], ['one section', 2], ['seats with numbers', 3]]) {
  for (let i = 0; i < times; i++) await page.getByRole('button', { name: 'Zoom in' }).click();
  await rests(page);
  const between = await frames(page);
  tell(`frame while panning, ${zoom}, median`, share(between, 0.5));
  tell(`frame while panning, ${zoom}, p95`, share(between, 0.95), 20);
}

const { x, y, width, height } = await page.locator('.map canvas').boundingBox();
for (const [dx, dy] of [[0.5, 0.5], [0.4, 0.6], [0.6, 0.4], [0.3, 0.5], [0.5, 0.3]]) await page.mouse.click(x + width * dx, y + height * dy);
await page.locator('.twin [tabindex="0"]').focus();
for (const key of ['ArrowRight', 'ArrowDown', 'Space', 'ArrowLeft', 'ArrowUp', 'Space']) await page.keyboard.press(key);
await page.getByText('4', { exact: true }).first().click();
await rests(page);
const inputs = await page.evaluate(() => [...window.inputs.values()]);
// Below 200 interactions the slowest is what counts; one too short to be told took less than 16 ms.
tell('next paint after a click or key (INP)', Math.max(16, ...inputs.map(({ duration }) => duration)), 200);
tell('clicks and keys that took 16 ms or more', inputs.length, '-', '');

/** The slowest input on another page, as slowed down. */
async function slowestInput(name, path, use) {
  await page.goto(url + path);
  await use();
  await page.waitForLoadState('networkidle');
  const durations = await page.evaluate(() => [...window.inputs.values()].map(({ duration }) => duration));
  tell(`next paint after a click or key (INP), ${name}`, Math.max(16, ...durations), 200);
}
await slowestInput('front page', '/', async () => {
  await page.getByRole('searchbox').pressSequentially('bench', { delay: 50 });
  await page.getByRole('button', { name: 'Choose dates' }).click();
});
const token = await logIn('buyer');
await page.context().addCookies([{ name: 'onsale_session', value: token, url }]);
const { hold_id } = await send('POST', `/api/v1/shows/${show}/holds`, { best_available: { quantity: 2 } }, token);
await slowestInput('checkout', `/shows/${show}/holds/${hold_id}`, async () => {
  await page.getByRole('radio', { name: 'Declined' }).check();
  await page.getByRole('button', { name: /^Buy now/ }).click();
  await page.getByRole('heading', { name: 'Your payment was declined' }).waitFor();
});
await browser.close();
