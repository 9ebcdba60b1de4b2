// What the owner of an order or of a ticket can do with it: give it away, put it back, cancel.

import { confirm } from '../dialog.js';
import {
  ask,
  button,
  call,
  el,
  facts,
  field,
  form,
  moment,
  money,
  newKey,
  note,
  place,
  press,
  refusal,
  row,
} from '../page.js';
import { t } from '../words.js';

/** @typedef {{ again: () => Promise<unknown>, timezone?: string }} Page */

/**
 * What the reader has offered to others and can take back, by ticket; nothing while that is unknown.
 * @returns {Promise<Map<string, Api['Transfer']> | undefined>}
 */
export async function openOffers() {
  const { ok, body } = await call('GET', '/transfers?limit=100');
  if (!ok) return undefined;
  const open = body.items.filter((/** @type {any} */ it) => it.direction === 'out' && it.status === 'open');
  return new Map(open.map((/** @type {any} */ it) => [it.ticket_id, it]));
}

/**
 * What can be done with one ticket, and what is under way with it.
 * @param {Api['Ticket']} ticket
 * @param {Api['Transfer'] | undefined} offer to somebody, while it is open
 * @param {Page} page
 */
export function ticketActions(ticket, offer, page) {
  if (ticket.status !== 'valid') return undefined;
  if (offer) return offered(offer, page);
  if (/^(offered|being_bought)$/.test(ticket.return?.status ?? '')) return putBack(ticket, page);
  return el(
    'details',
    { class: 'more' },
    el('summary', {}, t('ticket.cannot_use')),
    el('div', { class: 'stack' }, giveAway(ticket, page), giveBack(ticket, page)),
  );
}

/** A button that does one thing and says what went wrong. @param {string} label @param {() => unknown} work */
function single(label, work) {
  const trouble = el('div');
  const made = button(label, () => press([made], trouble, work), 'plain');
  return [trouble, row(made)];
}

/** @param {Api['Transfer']} offer @param {Page} page */
const offered = ({ transfer_id, to_email = '', expires_at }, { again, timezone }) => [
  el('p', { class: 'notice' }, t('ticket.offered', { email: to_email, until: moment(expires_at, timezone) })),
  single(t('ticket.take_offer_back'), async () => {
    await ask('DELETE', `/transfers/${transfer_id}`);
    await again();
  }),
];

/** @param {Api['Ticket']} ticket @param {Page} page */
const putBack = ({ ticket_id, return: back }, { again }) =>
  back && [
    el(
      'p',
      { class: 'notice' },
      back.status === 'offered' ? t('ticket.is_put_back', { refund: money(back.refund) }) : t('ticket.being_bought'),
    ),
    back.status === 'offered' &&
      single(t('ticket.keep'), async () => {
        await ask('DELETE', `/tickets/${ticket_id}/return`);
        await again();
      }),
  ];

/** @param {Api['Ticket']} ticket @param {Page} page */
function giveAway({ ticket_id }, { again }) {
  const key = newKey();
  const id = `to-${ticket_id}`;
  const email = field(t('ticket.give_email'), {
    id,
    name: 'to_email',
    type: 'email',
    maxlength: 254,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  return el(
    'div',
    { class: 'stack' },
    el('p', {}, t('ticket.give_words')),
    form(
      t('ticket.give'),
      [email],
      async ({ to_email }) => {
        await ask('POST', `/tickets/${ticket_id}/transfer`, { to_email }, key);
        await again();
      },
      'plain',
    ),
  );
}

/** @param {Api['Ticket']} ticket @param {Page} page */
const giveBack = ({ ticket_id }, { again }) =>
  el(
    'div',
    { class: 'stack' },
    el('p', {}, t('ticket.return_words')),
    single(t('ticket.return'), async () => {
      await ask('POST', `/tickets/${ticket_id}/return`);
      await again();
    }),
  );

/** @typedef {{ refund: import('../page.js').Money, percent: number }} Back */

/**
 * Cancels the whole order, after saying exactly what comes back.
 * @param {any} order
 * @param {Page} page
 */
export function cancelling({ order_id, refund_if_cancelled_now: now }, { again }) {
  if (!now) return undefined;
  const key = newKey();
  const path = `/orders/${order_id}`;
  /** @param {Back} back what the reader has read @param {(back: Back) => void} askAgain */
  const cancel = async (back, askAgain) => {
    const answer = await call('POST', `${path}/cancel`, { expected_refund: back.refund }, key);
    // After this dialog has closed.
    if (answer.status === 409 && answer.body.refund) return void setTimeout(askAgain, 0, answer.body);
    if (!answer.ok) throw refusal(answer);
    await again();
  };
  const trouble = el('div');
  // What comes back falls with time, so it is asked for again.
  const open = button(
    t('order.cancel'),
    () =>
      press([open], trouble, async () => {
        const { refund_if_cancelled_now: back = now, seats } = await ask('GET', path);
        const askFor = (/** @type {Back} */ back, /** @type {Children} */ news) =>
          confirm(
            t('order.cancel_headline'),
            [news, whatComesBack(back, seats)],
            back.refund.amount ? t('order.cancel_with', { refund: money(back.refund) }) : t('order.cancel_without'),
            () => cancel(back, (less) => askFor(less, note(t('order.cancel_changed')))),
          );
        askFor(back, undefined);
      }),
    'plain',
  );
  return [trouble, row(open)];
}

/** @param {Back} back @param {any[]} seats */
const whatComesBack = ({ refund, percent }, seats) => [
  el('p', {}, refund.amount ? t('order.cancel_refund', { refund: money(refund), percent }) : t('order.cancel_nothing')),
  facts([t('order.places'), seats.map((it) => el('div', {}, place(it.seat)))]),
  el('p', {}, t('order.cancel_words')),
];
