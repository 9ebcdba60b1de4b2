// One order as it changes, with its tickets and what can be done with them.

import { now } from './clock.js';
import { keepOffline } from './offline.js';
import { cancelling, openOffers, ticketActions } from './order/actions.js';
import { stateOf, whyEnded } from './order/states.js';
import { asSomebodyElse, goOn, rest, withReader } from './own.js';
import {
  address,
  ask,
  attempt,
  call,
  card,
  el,
  facts,
  link,
  moment,
  money,
  places,
  refusal,
  row,
  show,
  titled,
} from './page.js';
import { follow, isSettled, whyDeclined } from './progress.js';
import { about, nothing, whenAndWhere } from './showing.js';
import { ticketCard } from './ticket-card.js';
import { t } from './words.js';

/** @typedef {import('./own.js').Account} Account */

const [id] = address;

/** The bank has sent the reader back, perhaps before it tells the server. */
let isBack = new URLSearchParams(location.search).has('payment_intent');
if (isBack) history.replaceState(null, '', location.pathname);

/** @type {import('./showing.js').Showing | undefined} */
let known;

/** @param {Account} me @param {{ acted?: boolean }} [options] */
async function look(me, options) {
  rest();
  const answer = await call('GET', `/orders/${id}`);
  if (answer.status === 404 || answer.status === 400) return show(foreign(me), options);
  if (!answer.ok) throw refusal(answer);
  const order = answer.body;
  if (order.status === 'requires_action' && isBack) {
    isBack = false;
    await call('POST', `/orders/${id}/confirm-action`);
    return look(me, options);
  }
  known ??= await about(order.show_id);
  if (known) titled(known.title);
  const tickets = order.tickets.length ? (await ask('GET', `/orders/${id}/tickets`)).items : [];
  const offers = tickets.length ? await openOffers() : undefined;
  const page = { again: () => attempt(() => look(me, { acted: true })), timezone: known?.timezone };
  const good = tickets.filter((/** @type {any} */ it) => it.status === 'valid');
  show(
    [
      summary(order, page),
      tickets.map((/** @type {any} */ it) => ticketCard(it, ticketActions(it, offers?.get(it.ticket_id), page))),
      good.length > 0 && keepOffline(me.account_id, good),
    ],
    options,
  );
  if (!isSettled(order.status)) goOn(follow(id, order.status, () => attempt(() => look(me))));
}

/** @param {Account} me */
const foreign = (me) =>
  nothing(
    t('order.foreign'),
    t('order.foreign_words', { email: me.email }),
    row(asSomebodyElse(), link(t('order.all'), '/orders', 'plain')),
  );

/** @param {any} order @param {{ again: () => Promise<unknown>, timezone?: string }} page */
function summary(order, page) {
  const { word, headline, words, kind } = stateOf(order.status);
  const isGood = order.status === 'confirmed';
  return card(
    { badge: word, headline, kind, stub: order.number && readOut(order.number) },
    el('p', {}, words),
    order.status === 'declined' && el('p', {}, whyDeclined(order.reason)),
    whyEnded(order.reason) && el('p', {}, whyEnded(order.reason)),
    next(order),
    facts(
      ...whenAndWhere(known),
      [t('order.places'), places(order.seats)],
      [t('order.total'), money(order.total)],
      order.refund && [t('order.refund'), money(order.refund)],
      order.resold?.length && [t('order.resold'), places(order.resold)],
    ),
    (isGood || order.status === 'refunded') &&
      row(
        isGood && link(t('order.calendar'), `/api/v1/orders/${id}/calendar`, 'plain'),
        link(t('order.receipt'), `/api/v1/orders/${id}/receipt`, 'plain'),
      ),
    isGood && cancelling(order, page),
    !isGood && row(link(t('order.all'), '/orders', 'plain')),
  );
}

/** The number of the order, large enough to read it out. @param {string} number */
const readOut = (number) =>
  el(
    'div',
    { class: 'stub' },
    el('span', {}, t('order.number')),
    el('strong', { class: 'number' }, number),
    el('small', {}, t('order.number_words')),
  );

/** The way on for an order that is not done. @param {any} order */
function next({ status, show_id, order_id, pay_until, seats, reason }) {
  const checkout = `/shows/${show_id}/holds/${order_id.replace('ord_', 'hld_')}`;
  const chooseAgain = () => row(link(t('order.choose_again'), `/shows/${show_id}/seats?n=${seats.length}`));
  if (status === 'declined' && Date.parse(pay_until) <= now()) return [el('p', {}, t('order.not_kept')), chooseAgain()];
  if (status === 'declined') {
    return [
      el('p', { class: 'notice' }, t('order.kept_until', { until: moment(pay_until, known?.timezone) })),
      row(link(t('order.try_again'), checkout)),
    ];
  }
  if (status === 'requires_action') return row(link(t('order.confirm_at_bank'), checkout));
  if (status === 'failed' && reason !== 'show_cancelled') return chooseAgain();
  return undefined;
}

withReader(t('order.why'), look);
