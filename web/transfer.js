// A ticket that somebody offers to the reader: what it is, yes or no, and then the ticket.

import { keepOffline } from './offline.js';
import { asSomebodyElse, withReader } from './own.js';
import {
  address,
  ask,
  attempt,
  button,
  call,
  card,
  el,
  facts,
  link,
  moment,
  place,
  press,
  refusal,
  row,
  show,
  titled,
} from './page.js';
import { about, nothing, whenAndWhere } from './showing.js';
import { ticketCard } from './ticket-card.js';
import { t } from './words.js';

/** @typedef {import('./own.js').Account} Account */
/** @typedef {import('./showing.js').Showing | undefined} Known */

const path = `/transfers/${address[0]}`;

/** @type {Record<string, () => [string, string]>} */
const over = {
  declined: () => [t('transfer.declined'), t('transfer.declined_words')],
  withdrawn: () => [t('transfer.withdrawn'), t('transfer.withdrawn_words')],
  expired: () => [t('transfer.expired'), t('transfer.expired_words')],
};

/** @type {Record<string, () => string>} */
const sent = {
  open: () => t('transfer.sent_open'),
  accepted: () => t('transfer.sent_accepted'),
  declined: () => t('transfer.sent_declined'),
  withdrawn: () => t('transfer.sent_withdrawn'),
  expired: () => t('transfer.sent_expired'),
};

/** @param {Account} me @param {{ acted?: boolean }} [options] @returns {Promise<void>} */
async function look(me, options) {
  const answer = await call('GET', path);
  if (answer.status === 404 || answer.status === 400) return show(foreign(me), options);
  if (!answer.ok) throw refusal(answer);
  const transfer = answer.body;
  const known = await about(transfer.show_id);
  if (known) titled(known.title);
  const again = () => attempt(() => look(me, { acted: true }));
  if (transfer.direction === 'out') return show(offeredByMe(transfer, known, again), options);
  if (transfer.status === 'accepted') {
    return show([...mine(transfer, known), keepOffline(me.account_id, [transfer])], options);
  }
  if (transfer.status === 'open') return show(offered(transfer, known, again), options);
  const [headline, words] = over[transfer.status]?.() ?? [transfer.status, ''];
  show(card({ headline }, el('p', {}, words), facts(...offer(transfer, known))), options);
}

/** @param {any} transfer @param {Known} known @returns {[string, Children][]} */
const offer = (transfer, known) => [...whenAndWhere(known), [t('transfer.place'), place(transfer.seat)]];

/** @param {Account} me */
const foreign = (me) =>
  nothing(t('transfer.foreign'), t('transfer.foreign_words', { email: me.email }), row(asSomebodyElse()));

/**
 * Buttons of which one is pressed, and what is said if that is refused.
 * @param {...[string, () => unknown, string?]} choices
 */
function choices(...choices) {
  const trouble = el('div');
  /** @type {HTMLElement[]} */
  const made = choices.map(([label, work, kind]) => button(label, () => press(made, trouble, work), kind));
  return [trouble, row(made)];
}

/** @param {any} transfer @param {Known} known @param {() => unknown} again */
function offered(transfer, known, again) {
  const answer = (/** @type {string} */ word) => async () => {
    await ask('POST', `${path}/${word}`);
    await again();
  };
  const { from_name } = transfer;
  return card(
    {
      badge: t('transfer.for_you'),
      headline: from_name ? t('transfer.from', { name: from_name }) : t('transfer.from_somebody'),
    },
    el('p', {}, t('transfer.words')),
    facts(...offer(transfer, known), [t('transfer.until'), moment(transfer.expires_at, known?.timezone)]),
    choices([t('transfer.accept'), answer('accept')], [t('transfer.decline'), answer('decline'), 'plain']),
  );
}

/** @param {any} transfer @param {Known} known */
const mine = (transfer, known) => [
  card(
    { badge: t('transfer.accepted_badge'), headline: t('transfer.accepted'), kind: 'good' },
    facts(...offer(transfer, known)),
    el('p', {}, t('transfer.accepted_words')),
    row(link(t('transfer.my_tickets'), '/orders', 'plain')),
  ),
  ticketCard(
    transfer.ticket_id
      ? { ticket_id: transfer.ticket_id, seat: transfer.seat }
      : { ticket_id: '', seat: transfer.seat, status: 'revoked' },
  ),
];

/** @param {any} transfer @param {Known} known @param {() => unknown} again */
function offeredByMe(transfer, known, again) {
  const withdraw = async () => {
    await ask('DELETE', path);
    await again();
  };
  return card(
    { badge: t('transfer.by_you'), headline: sent[transfer.status]?.() ?? transfer.status },
    facts(...offer(transfer, known), transfer.to_email && [t('transfer.to'), transfer.to_email]),
    transfer.status === 'open' && choices([t('ticket.take_offer_back'), withdraw, 'plain']),
  );
}

withReader(t('transfer.why'), look);
