// Every state of the fan's pages, and how a reader comes to it. Tests look at each of them,
// and the pictures are made of them. States that a healthy platform does not show are made
// between browser and platform.

import words from '../../web/words/en.js';
import { logIn, newEmail, send, url } from './organiser.mjs';
import { bought, hold, newShow, open, order, organiser, until } from './reader.mjs';
import { newHouse, otherBuyer, rows } from './seats.mjs';

/** The longest that a hold may last: those that are made once serve every state of every look. */
const HOLD_SECONDS = 900;

const inHours = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
const euros = (amount) => ({ amount, currency: 'EUR' });
const says = (name) => (page) => page.getByRole('heading', { name }).first().waitFor();
const never = () => new Promise(() => {});
const reserve = (page) => page.getByRole('button', { name: /^Reserve/ });
const answered = (pattern, answer) => (context) => context.route(pattern, (route) => route.fulfill(answer));

/** A show in a theatre of its own. */
const theatre = (more) =>
  newHouse(
    [{ name: 'Stalls', rows: rows(10, 12), accessible: ['Stalls-10-1'] }, { name: 'Circle', rows: rows(3, 14) }],
    { Stalls: 3900, Circle: 2500 },
    { hold_seconds: HOLD_SECONDS, ...more },
  );

async function eventOf(show) {
  return (await send('GET', `/api/v1/shows/${show}`)).event_id;
}

async function soldOut() {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }], { Box: 3900 });
  await order(['Box-1-1', 'Box-1-2'], 'pm_card_visa', show);
  await until('it is sold out', async () => (await send('GET', `/api/v1/shows/${show}`)).status === 'sold_out');
  return show;
}

async function cancelled() {
  const show = await theatre();
  await send('POST', `/api/v1/shows/${show}/cancel`, {}, organiser);
  return show;
}

/** A show that began a moment ago. */
async function over() {
  const show = await theatre({ starts_at: inHours(2 / 3_600) });
  await until('it has begun', async () => (await send('GET', `/api/v1/shows/${show}`)).status === 'completed');
  return show;
}

/** Events of the demo have posters. */
async function withPoster() {
  const { items } = await send('GET', '/api/v1/events?query=lighthouse');
  const { event_id } = items.find((it) => it.poster_url);
  const { shows } = await send('GET', `/api/v1/events/${event_id}`);
  return { event: event_id, show: shows.find((it) => it.starts_at > new Date().toISOString()).show_id };
}

/** A state of the front page. */
const item = (i) => ({
  event_id: `evt_${i}`, title: `Evening ${i}`, category: 'concert', city: 'Bern', venue: 'Hall', timezone: 'Europe/Zurich',
  next_show_at: inHours(900), shows: 1, from_price: euros(4_500), status: 'on_sale',
});
const facets = { city: [{ value: 'Bern', count: 30 }], category: [{ value: 'concert', count: 30 }] };
const listed = (items, more) => answered('**/api/v1/events?*', { json: { items, facets, ...more } });

const home = [
  { name: 'home', path: '/', ready: (page) => page.locator('.event').first().waitFor() },
  { name: 'home-filters', path: '/', ready: (page) => page.getByRole('button', { name: 'Choose dates' }).click() },
  { name: 'home-empty', path: '/', before: listed([]), ready: (page) => page.locator('#content h2').first().waitFor() },
  { name: 'home-nothing', path: '/?query=zzyzxqqqq', ready: says('Nothing found') },
  { name: 'home-more', path: '/', before: listed([1, 2, 3].map(item), { next_cursor: 'next' }), ready: (page) => page.getByRole('button', { name: 'More events' }).waitFor() },
  {
    name: 'home-searching',
    path: '/',
    ready: async (page) => {
      await page.locator('.event').first().waitFor();
      await page.route('**/api/v1/events?*', never);
      await page.getByRole('searchbox').fill('winter');
      await page.waitForRequest(/query=winter/);
    },
  },
  { name: 'home-trouble', path: '/', before: answered('**/api/v1/events?*', { status: 503, json: {} }), ready: says('That did not work') },
  {
    name: 'home-search-trouble',
    path: '/',
    ready: async (page) => {
      await page.locator('.event').first().waitFor();
      await page.route('**/api/v1/events?*', (route) => route.fulfill({ status: 503, json: {} }));
      await page.getByRole('searchbox').fill('winter');
      await says('That did not work')(page);
    },
  },
];

/** The poster is there. */
async function isDrawn(page) {
  await page.waitForFunction(() => {
    // Looked up each time: what the edge has rendered gives way to newer content.
    const poster = document.querySelector('img.poster');
    return poster?.complete && poster.naturalWidth > 0;
  });
}

async function events() {
  const one = await theatre();
  const many = await eventOf(one);
  for (let day = 0; day < 8; day++) {
    const show = { starts_at: new Date(Date.UTC(2097, 0, 20 + 2 * day, 18, 30)).toISOString(), currency: 'EUR', prices: { Stalls: 3900, Circle: 2500 } };
    await send('POST', `/api/v1/events/${many}/shows`, show, organiser);
  }
  const ready = (page) => page.locator('#content h2').first().waitFor();
  return [
    { name: 'event', path: `/events/${await eventOf(await theatre())}`, ready },
    { name: 'event-calendar', path: `/events/${many}`, ready: (page) => page.getByRole('table').or(page.locator('.calendar')).first().waitFor() },
    { name: 'event-sold-out', path: `/events/${await eventOf(await soldOut())}`, ready },
    { name: 'event-over', path: `/events/${await eventOf(await over())}`, ready: (page) => page.locator('.list', { hasText: 'Over' }).waitFor() },
    { name: 'event-poster', path: `/events/${(await withPoster()).event}`, ready: isDrawn },
    { name: 'event-trouble', path: `/events/${many}`, before: answered('**/api/v1/events/*', { status: 503, json: {} }), ready: says('That did not work') },
    { name: 'event-cancelled', path: `/events/${await eventOf(await cancelled())}`, ready },
  ];
}

async function shows() {
  const room = { mode: 'queue', capacity: 10, rate_per_second: 10 };
  const ready = (page) => page.locator('#content h2').first().waitFor();
  return [
    { name: 'show', path: `/shows/${await theatre()}`, ready: (page) => page.getByRole('link', { name: 'Choose seats' }).waitFor() },
    { name: 'show-soon', path: `/shows/${await theatre({ on_sale_at: inHours(1.9) })}`, ready },
    { name: 'show-soon-room', path: `/shows/${await theatre({ on_sale_at: inHours(30), room: { ...room, opens_at: inHours(30) } })}`, ready },
    { name: 'show-room', path: `/shows/${await theatre({ room: { ...room, mode: 'queue_all' } })}`, ready: (page) => page.getByRole('link', { name: 'To the waiting room' }).waitFor() },
    { name: 'show-sold-out', path: `/shows/${await soldOut()}`, ready: (page) => page.getByRole('button', { name: 'Join the waitlist' }).waitFor() },
    { name: 'show-over', path: `/shows/${await over()}`, ready: says(words['show.over']) },
    { name: 'show-poster', path: `/shows/${(await withPoster()).show}`, ready: isDrawn },
    { name: 'show-trouble', path: `/shows/${await theatre()}`, before: answered('**/api/v1/shows/*', { status: 503, json: {} }), ready: says('That did not work') },
    { name: 'show-cancelled', path: `/shows/${await cancelled()}`, ready: says('This show is cancelled') },
  ];
}

/** What the room tells in each state. */
const facts = { total_waiting: 18_234, prices: { from: euros(2_500), to: euros(3_900) }, sold_out_sections: ['Circle'], message: 'Doors open at 18:00. Bags stay outside.' };
const ROOM = {
  prequeue: { state: 'prequeue', opens_at: inHours(1.9), ...facts },
  waiting: { state: 'waiting', position: 12_346, ahead: 12_345, wait_seconds: { p50: 1_800, p90: 3_200 }, ...facts },
  paused: { state: 'waiting', position: 3, ahead: 2, total_waiting: 12 },
  door: { state: 'door', position: 1, ahead: 0, ...facts },
  inside: { state: 'inside', expires_at: inHours(0.1) },
  sold_out: { state: 'sold_out', waitlist: '/' },
  closed: { state: 'closed' },
};

/** The page as a browser without scripts shows it: axe is a script, so this browser has them. */
const withoutScripts = (pattern) => (context) =>
  context.route(pattern, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<script[^>]*><\/script>|<\/?noscript>/g, '');
    await route.fulfill({ response, body });
  });

/** Somebody who waits in the room of a show. */
export const waitingRoom = (name, show, told = ROOM.waiting) => ({
  name,
  path: `/room/${show}`,
  before: async (context) => {
    const answer = { refresh_after_ms: 60_000, ...told };
    await context.route('**/status', (route) => route.fulfill({ json: answer }));
    await context.route('**/enter', (route) => route.fulfill({ status: 425, json: { ...answer, status: 425 } }));
  },
  ready: (page) =>
    page.waitForFunction((it) => document.getElementById('room')?.dataset.state === it && !document.getElementById('card').hidden, told.state),
});

async function rooms() {
  const show = await theatre({ room: { mode: 'queue_all', capacity: 10, rate_per_second: 10 } });
  const path = `/room/${show}`;
  const told = Object.entries(ROOM).map(([name, status]) => waitingRoom(`room-${name.replace('_', '-')}`, show, status));
  const paused = told.find(({ name }) => name === 'room-paused');
  paused.ready = (page) => page.locator('#lead', { hasText: words['room.still'] }).waitFor();
  return [
    ...told,
    { name: 'room-join', path, before: withoutScripts('**/room/*'), ready: (page) => page.locator('main form button').first().waitFor() },
    { name: 'room-working', path, before: (context) => context.route('**/join', never), ready: (page) => page.locator('#card:not([hidden])').waitFor() },
    {
      name: 'room-turn',
      path,
      before: (context) => context.route('**/shows/*/seats', (route) => route.fulfill({ status: 204 })),
      ready: says('It is your turn'),
    },
    {
      name: 'room-lost',
      path,
      before: async (context) => {
        let isAsked = false;
        await context.route('**/status', (route) => {
          if (isAsked) return route.abort();
          isAsked = true;
          return route.fulfill({ json: { refresh_after_ms: 1_000, ...ROOM.waiting } });
        });
      },
      ready: (page) => page.locator('#notice').waitFor(),
    },
  ];
}

async function seats() {
  const show = await theatre();
  const path = `/shows/${show}/seats`;
  const free = (page) => reserve(page).filter({ hasText: '€' }).waitFor();
  const token = await logIn('buyer');
  const press = async (page) => {
    await free(page);
    await reserve(page).click();
  };
  const { token: holder } = await hold(['Stalls-9-1', 'Stalls-9-2'], show);
  const limited = await theatre({ max_tickets_per_buyer: 2 });
  const atLimit = await hold(['Stalls-9-1', 'Stalls-9-2'], limited);
  const deaf = async (context) => {
    await context.routeWebSocket(/\/feed\//, (socket) => socket.close());
    await context.route(/\/feed\//, (route) => route.abort());
  };
  const contested = await theatre();
  const challenge = { parameters: { algorithm: 'SHA-256', salt: '00'.repeat(16), nonce: '00'.repeat(16), cost: 2_000, keyPrefix: 'ff'.repeat(16) }, signature: 'ours' };
  return [
    { name: 'seats-loading', path, before: (context) => context.route('**/layout?*', never), ready: (page) => page.getByText('One moment').waitFor() },
    { name: 'seats', path, ready: free },
    {
      name: 'seats-chosen',
      path,
      ready: async (page) => {
        await free(page);
        await page.getByRole('gridcell', { name: /^Row 5, seat 3, free/ }).evaluate((it) => it.click());
        await says('Your seats')(page);
      },
    },
    {
      name: 'seats-list',
      path,
      ready: async (page) => {
        await free(page);
        // By a key: what moves after an input of the reader does not move by itself.
        await page.keyboard.press('Shift');
        await page.getByRole('button', { name: 'Choose from a list' }).press('Enter');
        await page.locator('.rows button').first().waitFor();
      },
    },
    {
      name: 'seats-reserving',
      path,
      token,
      before: (context) => context.route('**/holds', (route) => (route.request().method() === 'POST' ? never() : route.continue())),
      ready: async (page) => {
        await press(page);
        await page.getByText('Reserving').first().waitFor();
      },
    },
    {
      name: 'seats-work',
      path,
      token,
      before: (context) =>
        context.route('**/holds', (route) =>
          route.request().method() === 'POST' ? route.fulfill({ status: 428, json: { type: 'urn:onsale:work_required', status: 428, challenge } }) : route.continue()),
      ready: async (page) => {
        await press(page);
        await page.getByRole('progressbar').waitFor();
      },
    },
    {
      name: 'seats-faster',
      path: `/shows/${contested}/seats`,
      token,
      before: deaf,
      ready: async (page) => {
        await free(page);
        const [line] = await page.locator('.bill li > span:first-child').allTextContents();
        const [, row, seat] = line.match(/row (\d+), seat (\d+)/);
        await (await otherBuyer(contested)).take(`${line.split(',')[0]}-${row}-${seat}`);
        await reserve(page).click();
        await page.getByRole('alert').filter({ hasText: 'Somebody was faster' }).waitFor();
      },
    },
    {
      name: 'seats-limit',
      path: `/shows/${limited}/seats`,
      token: atLimit.token,
      ready: async (page) => {
        await press(page);
        await page.getByRole('alert').filter({ hasText: 'At most 2 tickets' }).waitFor();
      },
    },
    { name: 'seats-held', path, token: holder, ready: (page) => page.getByText('You have 2 seats reserved until').waitFor() },
    {
      name: 'seats-pass-over',
      path: `/shows/${await theatre({ room: { mode: 'queue_all', capacity: 10, rate_per_second: 10 } })}/seats`,
      ready: (page) => page.getByText('The way to these seats goes through the waiting room').first().waitFor(),
    },
    { name: 'seats-sold-out', path: `/shows/${await soldOut()}/seats`, ready: (page) => page.getByText('Sold out.').first().waitFor() },
    { name: 'seats-offline', path, before: deaf, ready: (page) => page.getByText('No live connection.').waitFor() },
    {
      name: 'seats-who',
      path,
      ready: async (page) => {
        await press(page);
        await says('Who are you?')(page);
      },
    },
    {
      name: 'tickets',
      path: `/shows/${await newHouse([{ name: 'Floor', capacity: 300 }, { name: 'Balcony', capacity: 40 }], { Floor: 2500, Balcony: 4000 })}/seats`,
      ready: free,
    },
  ];
}

async function checkouts() {
  const show = await newShow({ hold_seconds: HOLD_SECONDS });
  const held = await hold(['Stalls-1-1', 'Stalls-1-2'], show);
  const declined = await order(['Stalls-1-3'], 'pm_card_chargeDeclined', show);
  const bank = await order(['Stalls-1-4'], 'pm_sandbox_requires_action', show);
  const late = await hold(['Stalls-1-5'], await newShow({ hold_seconds: 2 }));
  const released = await hold(['Stalls-1-6'], show);
  await send('DELETE', `/api/v1${released.path}`, undefined, released.token);
  const paying = await hold(['Stalls-1-7'], show);
  return [
    { name: 'checkout', ...held, ready: says('These places are held for you') },
    { name: 'checkout-declined', ...declined, ready: says('Your payment was declined') },
    { name: 'checkout-bank', ...bank, ready: says('Your bank asks you to confirm') },
    { name: 'checkout-lapsed', ...late, ready: says('The time to pay is over') },
    { name: 'checkout-released', ...released, ready: says('You have given these places back') },
    {
      name: 'checkout-paying',
      ...paying,
      before: (context) => context.route('**/checkout', never),
      ready: async (page) => {
        await says('These places are held for you')(page);
        await page.getByRole('button', { name: /^Buy now/ }).click();
        await page.getByRole('button', { disabled: true }).or(page.locator('[aria-disabled]')).first().waitFor();
      },
    },
    { name: 'checkout-log-in', path: held.path, ready: says('Log in') },
    { name: 'checkout-foreign', path: held.path, token: late.token, ready: says('There is nothing here for you') },
  ];
}

/** Orders whose state is made between browser and platform: it passes in a moment, or needs a fault. */
const claimed = (order, status) => (context) =>
  context.route(`**/api/v1/orders/${order}`, async (route) => {
    // The page asks again and again, and may be closed while it does.
    const response = await route.fetch().catch(() => undefined);
    const json = await response?.json().catch(() => undefined);
    if (json) await route.fulfill({ response, json: { ...json, status } }).catch(() => {});
  });

async function orders() {
  const made = await bought(['Stalls-1-1', 'Stalls-1-2', 'Stalls-1-8']);
  const path = `/orders/${made.order}`;
  const gone = await bought(['Stalls-1-3']);
  await send('POST', `/api/v1/orders/${gone.order}/cancel`, undefined, gone.token);
  await until('it is refunded', async () => (await send('GET', `/api/v1/orders/${gone.order}`, undefined, gone.token)).status === 'refunded');
  const failed = await order(['Stalls-1-4'], 'pm_sandbox_capture_fails');
  const nobody = await logIn('buyer');
  const { token, tickets } = made;
  await send('POST', `/api/v1/shows/${made.show}/scans`, { code: tickets[2].code, gate: 'north' }, organiser);
  const code = (page) => page.getByRole('img', { name: /^QR code/ }).first().waitFor();
  return [
    { name: 'order', path, token, ready: code },
    { name: 'order-cancelling', path, token, before: claimed(made.order, 'cancelling'), ready: says(words['order.cancelling']) },
    { name: 'order-refunded', path: `/orders/${gone.order}`, token: gone.token, ready: says(words['order.refunded']) },
    { name: 'order-failed', path: `/orders/${failed.order}`, token: failed.token, ready: says('This order was not completed') },
    { name: 'order-stuck', path, token, before: claimed(made.order, 'stuck'), ready: says(words['order.stuck']) },
    { name: 'orders', path: '/orders', token, ready: says('Coming up') },
    { name: 'orders-none', path: '/orders', token: nobody, ready: says('No tickets yet') },
    { name: 'orders-log-in', path: '/orders', ready: says('Log in') },
    { name: 'ticket', path: `/tickets/${tickets[1].ticket_id}`, token, ready: code },
    { name: 'ticket-used', path: `/tickets/${tickets[2].ticket_id}`, token, ready: says(words['ticket.used']) },
    {
      name: 'ticket-offline',
      path,
      token,
      ready: async (page) => {
        await page.getByText('Kept on this device').first().waitFor();
        await page.context().setOffline(true);
        await page.goto(`${url}/tickets/${tickets[0].ticket_id}`);
        await code(page);
      },
    },
    { name: 'account', path: '/account', token, ready: says('Your account') },
  ];
}

async function transfers() {
  const owner = await bought(['open', 'accepted', 'declined', 'withdrawn'].map((_, i) => `Stalls-1-${i + 1}`));
  const friend = newEmail();
  const theirs = await logIn('buyer', friend);
  const offer = async (i) => {
    const { transfer_id } = await send('POST', `/api/v1/tickets/${owner.tickets[i].ticket_id}/transfer`, { to_email: friend }, owner.token);
    return { path: `/transfers/${transfer_id}`, api: `/api/v1/transfers/${transfer_id}` };
  };
  const [standing, accepted, declined, withdrawn] = [await offer(0), await offer(1), await offer(2), await offer(3)];
  await send('POST', `${accepted.api}/accept`, undefined, theirs);
  await send('POST', `${declined.api}/decline`, undefined, theirs);
  await send('DELETE', withdrawn.api, undefined, owner.token);
  const both = (name, { path }, received, sent) => [
    { name, path, token: theirs, ready: says(received) },
    { name: name.replace('transfer', 'transfer-sent'), path, token: owner.token, ready: says(sent) },
  ];
  return [
    ...both('transfer', standing, /gives you a ticket$/, words['transfer.sent_open']),
    ...both('transfer-accepted', accepted, words['transfer.accepted'], words['transfer.sent_accepted']),
    ...both('transfer-declined', declined, words['transfer.declined'], words['transfer.sent_declined']),
    ...both('transfer-withdrawn', withdrawn, words['transfer.withdrawn'], words['transfer.sent_withdrawn']),
  ];
}

async function waitlists() {
  const show = await newHouse([{ name: 'Box', rows: rows(1, 2) }], { Box: 3900 });
  const owner = await bought(['Box-1-1', 'Box-1-2'], show);
  await until('it is sold out', async () => (await send('GET', `/api/v1/shows/${show}`)).status === 'sold_out');
  const wait = async () => {
    const token = await logIn('buyer');
    const { waitlist_id } = await send('POST', `/api/v1/shows/${show}/waitlist`, { quantity: 1 }, token);
    return { token, path: `/shows/${show}/waitlist/${waitlist_id}` };
  };
  const [first, second] = [await wait(), await wait()];
  await send('POST', `/api/v1/tickets/${owner.tickets[0].ticket_id}/return`, undefined, owner.token);
  await until('it is offered', async () => (await send('GET', `/api/v1${first.path}`, undefined, first.token)).status === 'offered');
  return [
    { name: 'waitlist', ...second, ready: says('You are next') },
    { name: 'waitlist-offer', ...first, ready: (page) => page.getByRole('link', { name: 'Buy' }).waitFor() },
    // An offer lasts longer than a test.
    { name: 'waitlist-lapsed', ...second, before: answered(`**/api/v1${second.path}`, { json: { status: 'lapsed' } }), ready: says(words['waitlist.lapsed']) },
  ];
}

/** The page of a refusal of this status: the words are those of the edge, in a page of the edge. */
function refused(status, key) {
  const before = (context) =>
    context.route('**/refused', async (route) => {
      const answer = await fetch(`${url}/no-such-page`, { headers: { Accept: 'text/html' } });
      const html = (await answer.text())
        .replaceAll(words['error.lost'], words[key])
        .replaceAll(words['error.lost.what'], words[`${key}.what`]);
      await route.fulfill({ status, body: html, contentType: 'text/html; charset=utf-8' });
    });
  const ready = (page) => page.getByRole('heading', { name: words[key] }).waitFor();
  return { name: `refused-${status}`, path: '/refused', before, ready };
}

async function links() {
  const token = await logIn('buyer');
  const pressed = (name) => async (page) => {
    await page.locator('main form button').click();
    await says(name)(page);
  };
  return [
    { name: 'log-in-link', path: '/log-in/none', ready: (page) => page.locator('main form button').waitFor() },
    { name: 'log-in-link-old', path: '/log-in/none', ready: pressed(words['link.old']) },
    { name: 'prove-link', path: '/prove/none', token, ready: says(words['link.prove']) },
    { name: 'prove-link-old', path: '/prove/none', token, ready: pressed(words['link.old']) },
  ];
}

const others = [
  { name: 'not-found', path: '/no-such-page', ready: (page) => page.getByRole('heading').first().waitFor() },
  { name: 'imprint', path: '/imprint', ready: (page) => page.getByRole('heading').first().waitFor() },
  refused(410, 'error.gone'),
  refused(429, 'error.too_often'),
  refused(500, 'error.ours'),
  refused(503, 'error.busy'),
  { name: 'password', path: '/reset/none', ready: says('Choose a password') },
];

async function fairness() {
  const room = { mode: 'queue_all', capacity: 10, rate_per_second: 10, opens_at: inHours(1) };
  const show = await theatre({ room });
  return [
    { name: 'fairness', path: `/fairness/${await theatre({ room })}`, ready: (page) => page.getByRole('heading', { level: 2 }).first().waitFor() },
    { name: 'fairness-checked', path: `/fairness/${show}`, cookies: await drawn(show, room), ready: says('Your draw is what was published') },
  ];
}

/** The cookies of a visitor who was there when the room opened, once the draw is published. */
async function drawn(show, room) {
  const { context, page } = await open({ after() {} }, `/room/${show}`);
  await page.waitForFunction(() => document.getElementById('room')?.dataset.state === 'prequeue');
  await send('PUT', `/api/v1/shows/${show}/room`, { ...room, opens_at: inHours(2 / 3_600) }, organiser);
  await until('it is drawn', async () => {
    const { yours, opening } = await (await context.request.get(`${url}/room/${show}/fairness`)).json();
    return yours && opening.seed;
  });
  const cookies = await context.cookies(`${url}/room/${show}`);
  await context.close();
  return cookies;
}

/** All of them. A browser of tests has to be started before. */
export async function everyState() {
  const makers = [events, shows, checkouts, orders, transfers, waitlists, links, rooms, seats, fairness];
  const made = await Promise.all(makers.map((make) => make()));
  return [...home, ...made.flat(), ...others];
}

/** Brings a page of a new context there. */
export async function bringTo({ path, token, cookies, before, ready }, context) {
  if (token) await context.addCookies([{ name: 'onsale_session', value: token, url }]);
  if (cookies) await context.addCookies(cookies);
  await before?.(context);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(url + path);
  await ready(page);
  return page;
}
