// Follows the button of every mail that a journey causes, and fails where its page has no
// control that does what the button says. What a button promises is in crates/mails/buttons.json;
// the last test compares the letters there with those that were followed. Run as
// session.test.mjs is.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { search } from '../../web/work.js';
import { logIn, newEmail, newEvent, send, url } from './organiser.mjs';
import { ownServer } from './own-server.mjs';
import { bought, close, headline, newShow, open, order, organiser, PATIENCE_MS, press, start, TITLE, until } from './reader.mjs';

before(start);
after(close);

const file = new URL('../../crates/mails/buttons.json', import.meta.url);
/** What the button of each letter promises, by the name of the letter. */
const promises = new Map(JSON.parse(await readFile(file, 'utf8')).map((it) => [it.letter, it]));
const followed = new Set();

const says = (name) => (page) => headline(page, name);
const shows = (...texts) => async (page) => {
  for (const text of texts) await page.getByText(text).first().waitFor();
};

/** Where the title of an event is not all that its reader wants to see. */
const seen = {
  confirmation: says('You are going'),
  cancellation: says(/Your order is being cancelled|Your money is on its way back|This order is cancelled|This order was not completed/),
  offer_lapsed: says('You are not waiting any more'),
  resold: says(/Coming up|Past and cancelled/),
  show_changed: shows(/2 June 2098/, /Old Gasworks/),
  show_cancelled: says(/Coming up|Past and cancelled/),
  ticket_lost: shows(/\d{1,2} \w+ 20\d\d/, /Hall/),
};

const read = async (path, base = url) => (await fetch(base + path, { headers: { Accept: 'application/json' } })).json();

/** The newest mail to somebody that has this subject: the label and the address of its button. */
async function mailTo(email, subject, base) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const { items } = await read(`/dev/mail?to=${encodeURIComponent(email)}`, base);
    const mail = items.find((it) => subject.test(it.subject));
    if (mail) return { subject: mail.subject, ...buttonOf((await read(`/dev/mail/${mail.id}`, base)).html) };
    await new Promise((next) => setTimeout(next, 200));
  }
  throw new Error(`no mail to ${email} is like ${subject}`);
}

function buttonOf(html) {
  const [whole] = html.match(/<a [^>]*class="button"[^>]*>[^<]*<\/a>/) ?? [''];
  const [, href] = whole.match(/href="([^"]*)"/) ?? [];
  return { label: whole.replace(/<[^>]*>/g, ''), href: href?.replaceAll('&amp;', '&') };
}

/** What the button of this letter promised is on the page. */
async function keeps(page, letter) {
  const { control: { role, name } } = promises.get(letter);
  const control = role ? page.getByRole(role, { name: new RegExp(`^${name}`) }) : page.getByText(TITLE);
  await control.first().waitFor();
  await seen[letter]?.(page);
}

/** Follows the button of a letter, which has this subject, as its reader. */
async function follow(t, { email, token, cookies = [], base = url, seats }, letter, subject) {
  const mail = await mailTo(email, subject, base);
  const { button, page: pattern } = promises.get(letter);
  assert.equal(mail.label, button.en, mail.subject);
  const path = new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/?#]+')}(#.*)?$`);
  assert.ok(mail.href?.startsWith(`${base}/`), `${mail.subject}: the button leads to us, not to ${mail.href}`);
  assert.match(mail.href.slice(base.length), path, mail.subject);
  const opened = await open(t, `${base}/imprint`, { token });
  await opened.context.addCookies(cookies);
  if (seats) await opened.context.route('**/shows/*/seats', seats);
  await opened.page.goto(mail.href);
  await keeps(opened.page, letter);
  followed.add(letter);
  return opened;
}

const ticketOf = ({ tickets: [{ ticket_id }] }) => ticket_id;
const cancel = ({ order: id, token }) => send('POST', `/api/v1/orders/${id}/cancel`, undefined, token);

test('order: confirmed, cancelled, declined', async (t) => {
  const made = await bought(['Stalls-1-1']);
  await follow(t, made, 'confirmation', /^Your tickets/);
  await cancel(made);
  await follow(t, made, 'cancellation', /^Order cancelled/);
  await follow(t, await order(['Stalls-1-2'], 'pm_card_chargeDeclined'), 'decline', /^Payment declined/);
});

test('an order that failed', async (t) => {
  await follow(t, await order(['Stalls-1-1'], 'pm_sandbox_capture_fails'), 'cancellation', /^Order not completed/);
});

test('a ticket for a friend, and its loss when the show is cancelled', async (t) => {
  const made = await bought(['Stalls-1-3']);
  const email = newEmail();
  await send('POST', `/api/v1/tickets/${ticketOf(made)}/transfer`, { to_email: email }, made.token);
  const friend = { email, token: await logIn('buyer', email) };
  const { page } = await follow(t, friend, 'transfer', /^A ticket for you/);
  await press(page, 'Accept the ticket');
  await headline(page, 'The ticket is yours');
  await send('POST', `/api/v1/shows/${made.show}/cancel`, undefined, organiser);
  await follow(t, friend, 'show_cancelled', /^Cancelled/);
});

/** A platform of our own, and on it a show whose only place somebody has bought. */
async function soldOutOn(t, env) {
  const { base } = await ownServer(t, { env });
  const event = await newEvent(TITLE, base);
  const show = await event.show({ mode: 'off', capacity: 1 });
  const post = (token, path, body) => send('POST', `/api/v1${path}`, body, token, base);
  const buyer = async () => {
    const email = newEmail();
    return { email, base, token: await logIn('buyer', email, base) };
  };
  const { token: owner } = await buyer();
  const { hold_id } = await post(owner, `/shows/${show}/holds`, { general: { section: 'FLOOR', quantity: 1 } });
  const { order_id } = await post(owner, `/shows/${show}/holds/${hold_id}/checkout`, { payment_method: 'pm_card_visa' });
  let tickets = [];
  await until('there is a ticket', async () => {
    tickets = (await send('GET', `/api/v1/orders/${order_id}/tickets`, undefined, owner, base)).items;
    return tickets.length > 0;
  });
  return { base, show, post, buyer, owner, order: order_id, ticket: ticketOf({ tickets }) };
}

test('a ticket that was given away, when the bank takes the money for it back', async (t) => {
  const secret = 'whsec_test';
  const { base, post, buyer, owner, order, ticket } = await soldOutOn(t, { STRIPE_WEBHOOK_SECRETS: secret });
  const friend = await buyer();
  const { transfer_id } = await post(owner, `/tickets/${ticket}/transfer`, { to_email: friend.email });
  await post(friend.token, `/transfers/${transfer_id}/accept`);
  const object = { id: 'dp_1', object: 'dispute', payment_intent: order.replace('ord_', 'pi_sandbox_') };
  const body = JSON.stringify({ id: 'evt_1', type: 'charge.dispute.created', data: { object } });
  const seconds = Math.floor(Date.now() / 1_000);
  const signature = `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
  const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': signature };
  const told = await fetch(`${base}/api/v1/payments/webhook`, { method: 'POST', headers, body });
  assert.equal(told.status, 200, await told.text());
  await follow(t, friend, 'ticket_lost', /^No longer valid/);
});

test('an offer that nobody takes', async (t) => {
  const { show, post, buyer, owner, ticket } = await soldOutOn(t, { ONSALE_OFFER_SECONDS: '2' });
  const waiting = await buyer();
  await post(waiting.token, `/shows/${show}/waitlist`, { quantity: 1 });
  await post(owner, `/tickets/${ticket}/return`);
  await follow(t, waiting, 'offer_lapsed', /^Offer expired/);
});

test('a place that comes back is offered to the waitlist, and bought by the button of the mail', async (t) => {
  const show = await newShow({ prices: { Stalls: 8900, Floor: 4501 }, max_tickets_per_buyer: 20 });
  const seats = Array.from({ length: 20 }, (_, i) => `Stalls-1-${i + 1}`);
  const owner = await bought(seats, show);
  const email = newEmail();
  const waiting = { email, token: await logIn('buyer', email) };
  const { waitlist_id } = await send('POST', `/api/v1/shows/${show}/waitlist`, { quantity: 1, sections: ['Stalls'] }, waiting.token);
  const line = await open(t, `/shows/${show}/waitlist/${waitlist_id}`, { token: waiting.token });
  await headline(line.page, 'You are next');
  await send('POST', `/api/v1/tickets/${owner.tickets[4].ticket_id}/return`, undefined, owner.token);
  const { page } = await follow(t, waiting, 'offer', /^Your turn on the waitlist/);
  await line.page.reload();
  await headline(line.page, 'Places are held for you');
  assert.match(await line.page.getByRole('link', { name: 'Buy' }).getAttribute('href'), new RegExp(`^/shows/${show}/holds/`));
  await press(page, 'Buy now · €89.00');
  await headline(page, 'You are going');
  await follow(t, owner, 'resold', /^Your ticket was resold/);
  await line.page.reload();
  await headline(line.page, 'You took what was offered');
});

test('a show that moves, and a show that is cancelled', async (t) => {
  const show = await newShow();
  const made = await bought(['Stalls-1-4'], show);
  await send('PATCH', `/api/v1/shows/${show}`, { starts_at: '2098-06-02T19:00:00Z' }, organiser);
  await follow(t, made, 'show_changed', /^Changed/);
  await send('POST', `/api/v1/shows/${show}/cancel`, undefined, organiser);
  await follow(t, made, 'show_cancelled', /^Cancelled/);
  await follow(t, made, 'cancellation', /^Refund for a cancelled show/);
});

test('passwords and links', async (t) => {
  const email = newEmail();
  const reader = { email, token: await logIn('buyer', email) };
  await send('POST', '/api/v1/password-resets', { email });
  await follow(t, reader, 'password_reset', /^Choose a new password/);
  await send('POST', '/api/v1/me/address-proof', undefined, reader.token);
  await follow(t, reader, 'prove_address', /confirm/i);
  await send('POST', '/api/v1/session-links', { email });
  const { page } = await follow(t, { email }, 'log_in_link', /log in/i);
  await press(page, 'Log in');
  await headline(page, 'You are logged in');
  const staff = newEmail();
  await send('POST', '/api/v1/staff', { email: staff, name: 'Gate', show_ids: [await newShow()] }, organiser);
  await follow(t, { email: staff }, 'invitation', /^Your staff account/);
});

/** Somebody in the line of a room. */
async function join(show) {
  const challenge = await read(`/room/${show}/challenge`);
  const solution = search(challenge.parameters, 0, 65_536);
  const altcha = btoa(JSON.stringify({ challenge, solution: { ...solution, time: 1 } }));
  const { ticket } = await send('POST', `/room/${show}/join`, { altcha });
  const call = async (path, headers, body) =>
    fetch(`${url}/room/${show}/${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json', 'Onsale-Ticket': ticket, ...headers }, body: body && JSON.stringify(body) });
  return { ticket, call };
}

test('a visitor who waits is told by mail that they are next, and let in', async (t) => {
  const show = await newShow({ room: { mode: 'queue_all', capacity: 1, rate_per_second: 5 } });
  const first = await join(show);
  let entered;
  await until('the first is let in', async () => {
    entered = await first.call('enter');
    return entered.ok;
  });
  const { pass } = await entered.json();
  const second = await join(show);
  const email = newEmail();
  assert.equal((await second.call('remind', {}, { email })).status, 202);
  assert.equal((await first.call('leave', { 'Onsale-Pass': pass })).status, 204);
  const cookies = [{ name: 'onsale_ticket', value: second.ticket, domain: new URL(url).hostname, path: `/room/${show}` }];
  // The page stays where it says so; otherwise it goes on to the seats.
  const seats = (route) => route.fulfill({ status: 204 });
  await follow(t, { email, cookies, seats }, 'your_turn', /^You are next/);
});

test('the button of every letter was followed', () => {
  assert.deepEqual([...followed].toSorted(), [...promises.keys()].toSorted());
});
