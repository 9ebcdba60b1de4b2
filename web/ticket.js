// A ticket on the whole screen, for the entrance: its code, its seat, and when and where. Below
// that is what its owner can do with it, who may have been given it and have no order.

import { now } from './clock.js';
import { keepOffline } from './offline.js';
import { openOffers, ticketActions } from './order/actions.js';
import { asSomebodyElse, withReader } from './own.js';
import { address, ask, attempt, button, card, el, link, moment, place, row, show, titled } from './page.js';
import { about, nothing } from './showing.js';
import { code } from './ticket-card.js';
import { t } from './words.js';

/** @typedef {import('./own.js').Account} Account */
/** @typedef {Api['Ticket']} Ticket */

const [id] = address;

/** @param {Account} me @param {{ acted?: boolean }} [options] */
async function look(me, options) {
  // Without a network there is nothing to do with a ticket but to show it.
  const asked = openOffers().catch(() => undefined);
  const tickets = await mine();
  const ticket = tickets.find((it) => it.ticket_id === id);
  if (!ticket)
    return show(
      nothing(t('ticket.foreign'), t('ticket.foreign_words', { email: me.email }), row(asSomebodyElse(), toAll())),
      options,
    );
  const known = await about(ticket.show_id);
  if (known) titled(known.title);
  const good = tickets
    .filter((it) => it.show_id === ticket.show_id && it.status === 'valid')
    .sort((a, b) => a.seat.localeCompare(b.seat, undefined, { numeric: true }));
  if (ticket.status !== 'valid') return show(over(ticket), options);
  const actions = el('div', { class: 'actions' });
  show(whole(ticket, known, good, [keepOffline(me.account_id, good), actions]), options);
  stayAwake();
  const offers = await asked;
  const page = { again: () => attempt(() => look(me, { acted: true })), timezone: known?.timezone };
  if (offers) actions.append(el('div', { class: 'stack' }, ticketActions(ticket, offers.get(id), page)));
}

/** The reader's tickets, newest first, up to the one of this page. */
async function mine() {
  /** @type {Ticket[]} */
  const found = [];
  for (let after = ''; ; ) {
    const { items, next_cursor } = await ask('GET', `/tickets?limit=100${after}`);
    found.push(...items);
    if (!next_cursor || found.some((it) => it.ticket_id === id)) return found;
    after = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
}

const toAll = () => link(t('ticket.all'), '/orders', 'plain');

/**
 * @param {Ticket} ticket
 * @param {import('./showing.js').Showing | undefined} known
 * @param {Ticket[]} good the reader's tickets to this show
 * @param {[HTMLElement, HTMLElement]} parts that it is kept on this device, and what can be done with it
 */
function whole(ticket, known, good, [kept, actions]) {
  const at = good.findIndex((it) => it.ticket_id === ticket.ticket_id);
  const other = (/** @type {number} */ i, /** @type {string} */ label) =>
    good[i] && link(label, `/tickets/${good[i].ticket_id}`, 'plain');
  return el(
    'section',
    { class: 'ticket whole good' },
    code(ticket.ticket_id, ticket.seat),
    el(
      'div',
      { class: 'body' },
      el('h2', { class: 'seat', tabindex: -1 }, place(ticket.seat)),
      known && el('p', {}, el('strong', {}, moment(known.show.starts_at, known.timezone))),
      known && el('p', {}, known.where),
      el('p', { class: 'quiet' }, t('ticket.bright')),
      kept,
      good.length > 1 &&
        el(
          'nav',
          { class: 'row', 'aria-label': t('ticket.others') },
          other(at - 1, t('ticket.previous')),
          el('span', {}, t('ticket.of', { n: at + 1, all: good.length })),
          other(at + 1, t('ticket.next')),
        ),
      row(
        link(t('ticket.pdf'), `/api/v1/tickets/${ticket.ticket_id}/pdf`, 'plain'),
        known && inCalendar(known),
        toAll(),
      ),
      actions,
    ),
  );
}

/** An evening in the calendar lasts three hours, and says so two hours before. */
const EVENING = { minutes: 180, before: 120 };

/** @param {import('./showing.js').Showing} known */
const inCalendar = ({ title, show: { starts_at } }) =>
  button(
    t('order.calendar'),
    async () => {
      const { calendarFile } = await import('./show/calendar-file.js');
      const starts = Date.parse(starts_at);
      const text = calendarFile({ id, title, starts, made: now(), url: location.href, ...EVENING });
      const href = URL.createObjectURL(new Blob([text], { type: 'text/calendar' }));
      el('a', { href, download: 'onsale.ics' }).click();
      setTimeout(() => URL.revokeObjectURL(href), 1_000);
    },
    'plain',
  );

/** @param {Ticket} ticket */
const over = ({ seat, status }) =>
  card(
    { badge: place(seat), headline: status === 'used' ? t('ticket.used') : t('ticket.revoked') },
    el('p', {}, status === 'used' ? t('ticket.used_words') : t('ticket.revoked_words')),
    row(toAll()),
  );

/** The screen stays on while the ticket is on it, where the browser can do that. */
function stayAwake() {
  const hold = () => document.hidden || navigator.wakeLock?.request('screen').catch(() => undefined);
  document.addEventListener('visibilitychange', hold);
  hold();
}

withReader(t('ticket.why'), look);
