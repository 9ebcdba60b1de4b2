// The reader's orders: all of them, or one as it changes, with its tickets.

import { address, ask, attempt, button, call, card, el, facts, form, link, moment, money, newKey, places, refusal, row, show, t, titled } from './page.js?v={{version}}';
import { asSomebodyElse, goOn, rest, withReader } from './session.js?v={{version}}';
import { about, nothing, ticket, whenAndWhere } from './showing.js?v={{version}}';

const [id] = address;
const POLL_MS = 5_000;
const why = t('Orders and tickets are shown to whoever bought them.', 'Bestellungen und Tickets sieht, wer sie gekauft hat.');

const states = {
  pending: { word: t('In progress', 'In Arbeit'), headline: t('Your payment is being made', 'Ihre Zahlung läuft'), words: t('This takes a few seconds. The page changes by itself.', 'Das dauert ein paar Sekunden. Die Seite ändert sich von selbst.') },
  requires_action: { word: t('Waiting for you', 'Wartet auf Sie'), headline: t('Your bank has a question', 'Ihre Bank hat eine Rückfrage'), words: t('The payment goes on once you have confirmed it.', 'Die Zahlung geht weiter, sobald Sie sie bestätigt haben.') },
  authorised: { word: t('In progress', 'In Arbeit'), headline: t('Almost done', 'Fast fertig'), words: t('Your payment is approved, and we are writing your tickets.', 'Ihre Zahlung ist genehmigt, und wir stellen Ihre Tickets aus.') },
  confirmed: { word: t('Confirmed', 'Bestätigt'), headline: t('You are going!', 'Sie sind dabei!'), words: t('The order is paid. Here are your tickets.', 'Die Bestellung ist bezahlt. Hier sind Ihre Tickets.'), kind: 'good' },
  declined: { word: t('Declined', 'Abgelehnt'), headline: t('Your payment was declined', 'Ihre Zahlung wurde abgelehnt'), words: t('Nothing was charged.', 'Es wurde nichts abgebucht.'), kind: 'bad' },
  cancelling: { word: t('In progress', 'In Arbeit'), headline: t('Your order is being cancelled', 'Ihre Bestellung wird storniert'), words: t('The tickets are not valid any more. The page changes by itself.', 'Die Tickets gelten nicht mehr. Die Seite ändert sich von selbst.') },
  cancelled: { word: t('Cancelled', 'Storniert'), headline: t('This order is cancelled', 'Diese Bestellung ist storniert'), words: t('It has ended without a refund.', 'Sie endete ohne Erstattung.') },
  refunded: { word: t('Refunded', 'Erstattet'), headline: t('Your money is on its way back', 'Ihr Geld ist auf dem Weg zurück'), words: t('It goes to what you paid with. Your bank may take a few days to show it.', 'Es geht dorthin, womit Sie bezahlt haben. Bis Ihre Bank es anzeigt, können einige Tage vergehen.') },
  failed: { word: t('Not completed', 'Nicht abgeschlossen'), headline: t('This order was not completed', 'Diese Bestellung wurde nicht abgeschlossen'), words: t('Nothing was charged.', 'Es wurde nichts abgebucht.'), kind: 'bad' },
  stuck: { word: t('Being looked at', 'In Prüfung'), headline: t('We are looking into this order', 'Wir sehen uns diese Bestellung an'), words: t('Something went wrong on our side, and a person takes care of it. You need not do anything.', 'Bei uns ist etwas schiefgegangen, und ein Mensch kümmert sich darum. Sie müssen nichts tun.') },
};
const stateOf = (status) => states[status] ?? { word: status, headline: status, words: '' };
const isFinal = (status) => /^(confirmed|declined|cancelled|refunded|failed)$/.test(status);

// All orders.

async function list(me, options) {
  const items = [];
  const shows = new Map();
  const more = async (cursor, options) => {
    const page = await ask('GET', `/orders?limit=20${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
    items.push(...page.items);
    const unknown = [...new Set(page.items.map((order) => order.show_id))].filter((it) => !shows.has(it));
    await Promise.all(unknown.map(async (it) => shows.set(it, await about(it))));
    const next = page.next_cursor;
    show([
      items.length === 0 && nothingYet(),
      el('ul', { class: 'list' }, items.map((order) => entry(order, shows.get(order.show_id)))),
      next && row(button(t('Older orders', 'Ältere Bestellungen'), () => attempt(() => more(next, { acted: true })), 'plain')),
    ], options);
  };
  await more(undefined, options);
}

const nothingYet = () =>
  card({ headline: t('No orders yet', 'Noch keine Bestellungen') }, el('p', {}, t('What you buy with this account is listed here.', 'Was Sie mit diesem Konto kaufen, steht hier.')));

const entry = (order, known) =>
  el('li', {}, el('a', { href: `/orders/${order.order_id}` },
    el('strong', {}, known?.event.title ?? order.order_id),
    el('span', {}, stateOf(order.status).word),
    known && el('span', {}, moment(known.show.starts_at, known.event.timezone)),
    el('span', {}, money(order.total))));

// One order.

let known;

async function look(me, options) {
  rest();
  const answer = await call('GET', `/orders/${id}`);
  const { status, body: order } = answer;
  if (status === 404 || status === 400) return show(foreign(me), options);
  if (status !== 200) throw refusal(answer);
  known ??= await about(order.show_id);
  if (known) titled(known.event.title);
  const tickets = order.tickets.length ? (await ask('GET', `/orders/${id}/tickets`)).items : [];
  show([summary(me, order), ...tickets.map((it) => ticket(it, known?.event.title)), cancelling(me, order)], options);
  if (!isFinal(order.status)) follow(me, order);
}

/** Looks again when the order has changed; where the stream is refused, now and then. */
function follow(me, order) {
  const again = () => attempt(() => look(me));
  const stream = new EventSource(`/feed/orders/${id}`);
  let timer;
  stream.addEventListener('status', ({ data }) => {
    if (JSON.parse(data).status !== order.status) again();
  });
  stream.addEventListener('error', () => {
    if (stream.readyState === EventSource.CLOSED) timer = setTimeout(again, POLL_MS);
  });
  goOn(() => {
    stream.close();
    clearTimeout(timer);
  });
}

const foreign = (me) =>
  nothing(t('There is no such order for you', 'Für Sie gibt es diese Bestellung nicht'),
    t(`You are logged in as ${me.email}. If you bought with another account, log in with that one.`, `Sie sind als ${me.email} angemeldet. Wenn Sie mit einem anderen Konto gekauft haben, melden Sie sich damit an.`),
    row(asSomebodyElse(), link(t('My orders', 'Meine Bestellungen'), '/orders', 'plain')));

function summary(me, order) {
  const { word, headline, words, kind } = stateOf(order.status);
  const timeZone = known?.event.timezone;
  return card({ badge: word, headline, kind },
    el('p', {}, words),
    order.reason && /declined|failed|cancelled/.test(order.status) && el('p', {}, t(`Reason given: ${order.reason}`, `Angegebener Grund: ${order.reason}`)),
    order.status === 'declined' && order.pay_until && el('p', { class: 'notice' }, t(`Your places are kept until ${moment(order.pay_until, timeZone)}. Pay in another way before that, where you chose them; this page shows it at once.`, `Ihre Plätze sind bis ${moment(order.pay_until, timeZone)} für Sie reserviert. Zahlen Sie vorher auf einem anderen Weg, dort, wo Sie sie gewählt haben; diese Seite zeigt es dann.`)),
    order.action && action(me, order),
    facts(
      ...(known ? whenAndWhere(known) : []),
      [t('Places', 'Plätze'), places(order.seats)],
      [t('Total', 'Summe'), money(order.total)],
      order.refund && [t('Refund', 'Erstattung'), money(order.refund)],
      order.resold?.length && [t('Resold', 'Weiterverkauft'), places(order.resold)],
      [t('Order', 'Bestellung'), el('code', {}, order.order_id)],
    ));
}

/** What the bank wants, as far as it can be done from here. */
function action(me, { action: { type, url } }) {
  if (type === 'redirect' && /^https:\/\//.test(url ?? '')) return row(link(t('Go to my bank', 'Zu meiner Bank'), url));
  if (type !== 'confirm_in_sandbox') return el('p', { class: 'notice' }, t('Confirm the payment where you began it.', 'Bestätigen Sie die Zahlung dort, wo Sie sie begonnen haben.'));
  return form(t('Confirm the payment', 'Zahlung bestätigen'), [], async () => {
    await ask('POST', `/orders/${id}/confirm-action`);
    await look(me, { acted: true });
  });
}

/** How much comes back now, and until when it is so much: by the terms of the sale or those of today. */
function refundNow({ sold_under }, { refund_policy, starts_at }) {
  const today = Date.parse(starts_at);
  const now = refundBy(refund_policy, today);
  const then = sold_under ? refundBy(sold_under.refund_policy, Math.max(Date.parse(sold_under.starts_at), today)) : now;
  return then.percent > now.percent ? then : now;
}

function refundBy(refund_policy, starts) {
  const until = ({ hours_before }) => starts - hours_before * 3_600_000;
  const step = refund_policy.find((it) => Date.now() <= until(it));
  return step ? { percent: step.percent, until: new Date(until(step)).toISOString() } : { percent: 0 };
}

function cancelling(me, order) {
  if (order.status !== 'confirmed' || !known || Date.now() >= Date.parse(known.show.starts_at)) return undefined;
  const key = newKey();
  const { percent, until } = refundNow(order, known.show);
  const { amount, currency } = order.total;
  const sum = order.resold?.length ? '' : ` (${money({ amount: Math.floor((amount * percent + 50) / 100), currency })})`;
  const back = percent
    ? t(`You get ${percent} % back${sum} if you cancel until ${moment(until, known.event.timezone)}.`, `Sie bekommen ${percent} % zurück${sum}, wenn Sie bis ${moment(until, known.event.timezone)} stornieren.`)
    : t('By the terms of this show nothing is paid back any more.', 'Nach den Bedingungen dieser Vorstellung wird nichts mehr erstattet.');
  return el('section', { class: 'ticket' }, el('div', { class: 'body' },
    el('details', {},
      el('summary', {}, t('I cannot come: cancel this order', 'Ich kann nicht kommen: Bestellung stornieren')),
      el('div', { class: 'body' },
        el('p', {}, back),
        el('p', {}, t('All tickets of this order stop working at once, and the places go to others. This cannot be undone.', 'Alle Tickets dieser Bestellung verlieren sofort ihre Gültigkeit, und die Plätze gehen an andere. Das lässt sich nicht rückgängig machen.')),
        form(percent ? t(`Cancel and get ${percent} % back`, `Stornieren und ${percent} % zurückbekommen`) : t('Cancel without a refund', 'Ohne Erstattung stornieren'), [], async () => {
          await ask('POST', `/orders/${id}/cancel`, undefined, key);
          await look(me, { acted: true });
        }, 'bad')))));
}

withReader(why, id ? look : list);
