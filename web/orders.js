// The reader's tickets: what is to come first, what is over below.

import { now } from './clock.js';
import { stateOf } from './order/states.js';
import { withReader } from './own.js';
import { ask, attempt, button, card, el, link, moment, money, place, row, show } from './page.js';
import { about } from './showing.js';
import { counted, t } from './words.js';

/** @typedef {import('./own.js').Account} Account */
/** @typedef {import('./showing.js').Showing} Showing */
/** @typedef {{ showId: string, href: string, word: string, seats: string[], total?: any, isGood: boolean }} Entry */

/** @type {Map<string, Showing | undefined>} */
const shows = new Map();

/** @param {Account} _me @param {{ acted?: boolean }} [options] */
async function list(_me, options) {
  const orders = pages('/orders');
  const gifts = await given();
  /** @type {Api['Order'][]} */
  const bought = [];
  /** @param {{ acted?: boolean }} [options] */
  const more = async (options) => {
    bought.push(...(await orders.next()));
    const entries = [...gifts, ...bought.map(ofOrder)];
    await learn(entries);
    tell(entries, orders.isOver() ? undefined : () => attempt(() => more({ acted: true })), options);
  };
  await more(options);
}

/** The pages of a list, one at a time. @param {string} path */
function pages(path) {
  /** @type {string | undefined} */
  let cursor;
  let isOver = false;
  /** A page is on its way: a second press asks for nothing. */
  let isAsked = false;
  return {
    isOver: () => isOver,
    async next() {
      if (isAsked) return [];
      isAsked = true;
      const page = await ask(
        'GET',
        `${path}?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      ).finally(() => {
        isAsked = false;
      });
      cursor = page.next_cursor;
      isOver = !cursor;
      return page.items;
    },
  };
}

/** Tickets that the reader was given by others and has not passed on, as far as the first pages have them. @returns {Promise<Entry[]>} */
async function given() {
  /** @type {[Api['Transfer'][], Api['Ticket'][]]} */
  const [transfers, tickets] = await Promise.all([pages('/transfers').next(), pages('/tickets').next()]);
  const accepted = new Set(transfers.filter((it) => it.direction === 'in').map((it) => it.ticket_id));
  return tickets
    .filter((it) => accepted.has(it.ticket_id))
    .map((it) => ({
      showId: it.show_id,
      href: `/tickets/${it.ticket_id}`,
      word: it.status === 'revoked' ? t('ticket.revoked') : t('orders.given'),
      seats: [it.seat],
      isGood: it.status !== 'revoked',
    }));
}

/** @param {string | null} [time] */
const isPast = (time) => Date.parse(time ?? '') <= now();

/** @param {Api['Order']} order @returns {Entry} */
const ofOrder = ({ show_id, order_id, status, seats, total, pay_until }) => ({
  showId: show_id,
  href: `/orders/${order_id}`,
  word: stateOf(status).word,
  seats: seats.map((it) => it.seat),
  total,
  isGood: !/^(cancelled|refunded|failed)$/.test(status) && !(status === 'declined' && isPast(pay_until)),
});

/** @param {Entry[]} entries */
async function learn(entries) {
  const unknown = [...new Set(entries.map((it) => it.showId))].filter((it) => !shows.has(it));
  await Promise.all(unknown.map(async (it) => shows.set(it, await about(it))));
}

/** A show that cannot be read now may be to come. @param {Entry} entry */
const startsAt = ({ showId }) => Date.parse(shows.get(showId)?.show.starts_at ?? '') || Number.MAX_SAFE_INTEGER;

/** A show lasts an evening: until then its tickets are still at hand. */
const EVENING_MS = 6 * 3_600_000;

/**
 * @param {Entry[]} entries
 * @param {(() => void) | undefined} more
 * @param {{ acted?: boolean }} [options]
 */
function tell(entries, more, options) {
  const isUpcoming = (/** @type {Entry} */ it) => it.isGood && startsAt(it) + EVENING_MS > now();
  const upcoming = entries.filter(isUpcoming).sort((a, b) => startsAt(a) - startsAt(b));
  const past = entries.filter((it) => !isUpcoming(it)).sort((a, b) => startsAt(b) - startsAt(a));
  show(
    [
      entries.length === 0 &&
        card({ headline: t('orders.none') }, el('p', {}, t('orders.none_words')), row(link(t('orders.to_home'), '/'))),
      upcoming.length > 0 && group(t('orders.upcoming'), upcoming),
      past.length > 0 && group(t('orders.past'), past),
      more && row(button(t('orders.older'), more, 'plain')),
    ],
    options,
  );
}

/** @param {string} headline @param {Entry[]} entries */
const group = (headline, entries) =>
  el(
    'section',
    { class: 'stack' },
    el('h2', { tabindex: -1 }, headline),
    el('ul', { class: 'list' }, entries.map(line)),
  );

/** @param {Entry} entry */
function line({ showId, href, word, seats, total }) {
  const known = shows.get(showId);
  return el(
    'li',
    {},
    el(
      'a',
      { href },
      el('strong', {}, known?.title ?? t('orders.unknown')),
      el('span', { class: 'state' }, word),
      known && el('span', {}, moment(known.show.starts_at, known.timezone)),
      known && el('span', {}, known.where),
      el('span', {}, seats.length === 1 ? place(seats[0]) : counted('orders.places', seats.length)),
      total && el('span', {}, money(total)),
    ),
  );
}

withReader(t('orders.why'), list);
