// The checkout: the places that are held for the reader, the time that is left, and the payment.
// It is also the page of what a waitlist offers.
//
// The page keeps nothing that the server does not know, but for the key of the payment it is
// about to send: whatever happens, loading it again shows where the sale stands.

import { askHowPaid, wayToPay } from './checkout/methods.js';
import { costs } from './checkout/price.js';
import { isPast, timer } from './checkout/timer.js';
import { asSomebodyElse, goOn, rest, withReader } from './own.js';
import {
  address,
  ask,
  attempt,
  button,
  call,
  card,
  el,
  facts,
  form,
  link,
  money,
  newKey,
  note,
  places,
  press,
  refusal,
  row,
  show,
  Trouble,
  titled,
} from './page.js';
import { follow, isSettled, whyDeclined } from './progress.js';
import { about, nothing, whenAndWhere } from './showing.js';
import { t } from './words.js';

/** @typedef {import('./own.js').Account} Account */
/** @typedef {{ acted?: boolean }} Options */
/** @typedef {{ me: Account, hold: any, order: any, known: import('./showing.js').Showing | undefined }} Seen */

const [showId, , holdId] = address;
const path = `/shows/${showId}/holds/${holdId}`;
const orderId = holdId.replace('hld_', 'ord_');
const toOrder = () => location.replace(`/orders/${orderId}`);

const LOOK_AGAIN_MS = 500;
/** A proof of work takes at most so many tries. */
const TRIES = 65_536;

/** What the reader was told before they reserved, if that was another price. */
const was = Number(/^\d{1,9}$/.exec(new URLSearchParams(location.search).get('was') ?? '')?.[0] ?? 0);

/** Whether the reader has just paid here, so that the bank may ask at once. */
let isFresh = false;

/** @type {Seen['known']} */
let known;

/** @param {Account} me @param {Options} [options] */
async function look(me, options) {
  rest();
  askHowPaid();
  const answer = await call('GET', path);
  if (answer.status === 404 || answer.status === 400) return show(foreign(me), options);
  if (!answer.ok) throw refusal(answer);
  const hold = answer.body;
  const [order, showing] = await Promise.all([lastTry(), known ?? about(showId)]);
  if (showing && !known) {
    titled(showing.title);
    await painted();
  }
  known = showing;
  await tell({ me, hold, order, known }, options);
}

/** A title may take a line more: that moves an empty page and not a full one. A hidden tab paints nothing. */
const painted = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

/** The order, once there was a try to pay. */
async function lastTry() {
  const answer = await call('GET', `/orders/${orderId}`);
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw refusal(answer);
  return answer.body;
}

/** @param {Seen} seen @param {Options} [options] */
async function tell(seen, options) {
  const {
    hold: { status, expires_at },
    order,
  } = seen;
  const isOver = order && /^(confirmed|cancelling|cancelled|refunded|stuck|failed)$/.test(order.status);
  if (status === 'sold' || (isOver && order.reason !== 'hold_expired')) return toOrder();
  if (order?.status === 'requires_action') return bank(seen, options);
  if (status === 'paying' || (order && !isSettled(order.status))) return paying(seen, options);
  if (status === 'held' && !isPast(expires_at)) return held(seen, options);
  show(status === 'released' ? released(seen) : lapsed(seen), options);
}

/** @param {Account} me */
const foreign = (me) =>
  nothing(t('checkout.foreign'), t('checkout.foreign_words', { email: me.email }), row(asSomebodyElse(), toShow()));
const toShow = () => link(t('checkout.to_show'), `/shows/${showId}`, 'plain');

/** The seats page, for as many as these. @param {any[]} seats */
const chooseAgain = (seats) => link(t('checkout.choose_again'), `/shows/${showId}/seats?n=${seats.length}`);

/** @param {Seen} seen */
const lapsed = ({ hold: { seats }, known }) =>
  card(
    { badge: t('checkout.over'), headline: t('checkout.lapsed') },
    el('p', {}, t('checkout.lapsed_words')),
    facts(...whenAndWhere(known), [t('checkout.places'), places(seats)]),
    row(chooseAgain(seats), toShow()),
  );

/** @param {Seen} seen */
const released = ({ hold: { seats } }) =>
  card(
    { badge: t('checkout.over'), headline: t('checkout.released') },
    el('p', {}, t('checkout.released_words')),
    row(chooseAgain(seats), toShow()),
  );

// Held: the reader chooses how to pay.

/**
 * The places and the time that is left do not wait for the way to pay, which may fail.
 * @param {Seen} seen @param {Options} [options]
 */
async function held(seen, options) {
  const { hold, order, me } = seen;
  if (order?.status === 'declined') forgetKey();
  const again = () => attempt(() => look(me));
  const clock = timer(hold.expires_at, again);
  goOn(stopAll(clock.stop, whenSeenAgain(hold, again)));
  const { made, offer } = payment(seen);
  show([summary(seen, clock.stub), made], options);
  await offer();
}

/** @param {...(() => void)} stops */
const stopAll =
  (...stops) =>
  () => {
    for (const stop of stops) stop();
  };

/**
 * After a sleep, or in another tab, things may have changed. What has not is left alone: the
 * reader may have typed.
 * @param {any} hold
 * @param {() => void} again
 */
function whenSeenAgain(hold, again) {
  const check = async () => {
    if (document.hidden) return;
    const answer = await call('GET', path).catch(() => undefined);
    if (answer?.ok && (answer.body.status !== hold.status || answer.body.expires_at !== hold.expires_at)) again();
  };
  document.addEventListener('visibilitychange', check);
  return () => document.removeEventListener('visibilitychange', check);
}

/** @param {Seen} seen @param {HTMLElement} stub */
function summary({ hold, order, known }, stub) {
  const isDeclined = order?.status === 'declined';
  return card(
    {
      badge: t('checkout.held_badge'),
      headline: isDeclined ? t('checkout.declined') : t('checkout.held'),
      kind: isDeclined ? '' : 'good',
      stub,
    },
    isDeclined && note(t('checkout.declined_words', { reason: whyDeclined(order.reason) })),
    was > 0 && note(t('checkout.price_was', { price: money({ ...hold.total, amount: was }) })),
    facts(...whenAndWhere(known)),
    costs(hold),
  );
}

/**
 * The card below the places. `offer` puts the way to pay into it, or what is wrong with that.
 * @param {Seen} seen
 */
function payment({ hold, me }) {
  const trouble = el('div');
  const ways = el('div', { class: 'ways' }, el('p', { class: 'quiet' }, t('wait')));
  const leave = button(
    t('checkout.release'),
    () =>
      press([leave], trouble, async () => {
        await ask('DELETE', path);
        await look(me, { acted: true });
      }),
    'plain',
  );
  const again = button(t('try_again'), () => offer());
  again.hidden = true;
  const made = card({ headline: t('checkout.how') }, ways, trouble, row(again, leave));
  const offer = async () => {
    let isOffered = false;
    await press([again], trouble, async () => {
      const way = await wayToPay(hold, me);
      isOffered = true;
      if (!way) return made.replaceWith(nothing(t('checkout.closed'), t('checkout.closed_words')));
      ways.replaceChildren(buying(way, hold, me));
      way.ready?.();
    });
    again.hidden = isOffered;
    if (!isOffered) ways.replaceChildren();
  };
  return { made, offer };
}

/** @param {import('./checkout/methods.js').Way} way @param {any} hold @param {Account} me */
function buying(way, hold, me) {
  const work = el('div');
  return form(
    t('checkout.buy', { price: money(hold.total) }),
    [
      way.shown,
      el('p', { class: 'quiet' }, t('checkout.accept'), ' ', el('a', { href: '/terms' }, t('checkout.terms'))),
      work,
    ],
    async () => pay(me, await way.chosen(), work),
    'buy',
  );
}

/**
 * Sends the payment, once however often the button is pressed: its key is kept before it is
 * sent, and a key whose answer was lost is sent again.
 * @param {Account} me
 * @param {string} payment_method
 * @param {HTMLElement} work where work that the server asks for is shown
 */
async function pay(me, payment_method, work) {
  const key = keyFor(payment_method);
  const send = (/** @type {Record<string, string>} */ headers = {}) =>
    call('POST', `${path}/checkout`, { payment_method }, key, { headers });
  let answer = await send();
  if (answer.status === 428) {
    const { solve } = await import('./solve.js');
    const bar = el('progress', { max: TRIES, value: 0, 'aria-label': t('seats.work') });
    work.replaceChildren(el('p', { role: 'status' }, t('seats.work')), bar);
    const solved = solve(answer.body.challenge, (tried) => {
      bar.value = tried;
    });
    answer = await send({ 'Onsale-Work': await solved }).finally(() => work.replaceChildren());
  }
  const isNews = answer.ok || /hold_expired|request_in_flight|conflict/.test(answer.body.type);
  if (!isNews) throw refusal(answer);
  isFresh = true;
  await look(me, { acted: true });
}

/** @param {string} method */
function keyFor(method) {
  const kept = JSON.parse(sessionStorage.getItem(holdId) ?? '{}');
  if (kept.method === method) return kept.key;
  const key = newKey();
  sessionStorage.setItem(holdId, JSON.stringify({ method, key }));
  return key;
}

/** A payment that was declined is over: the next one is another. */
const forgetKey = () => sessionStorage.removeItem(holdId);

// Paying: the server is at work, or the bank asks.

/** @param {Seen} seen @param {Options} [options] */
function paying({ me, hold, order, known }, options) {
  const again = () => attempt(() => look(me));
  if (isSettled(order?.status)) {
    // The card was declined after the hold was read. The feed has no more news, so look again.
    const timer = setTimeout(again, LOOK_AGAIN_MS);
    goOn(() => clearTimeout(timer));
  } else {
    goOn(follow(orderId, order?.status ?? 'pending', again));
  }
  show(
    card(
      { badge: t('checkout.paying_badge'), headline: t('checkout.paying') },
      el('progress', { 'aria-label': t('checkout.paying') }),
      el('p', {}, t('checkout.paying_words')),
      facts(
        ...whenAndWhere(known),
        [t('checkout.places'), places(hold.seats)],
        [t('checkout.total'), money(hold.total)],
      ),
    ),
    options,
  );
}

/** @param {Seen} seen @param {Options} [options] */
async function bank({ me, hold, order, known }, options) {
  const again = () => attempt(() => look(me));
  const { action } = order;
  const confirm = async () => {
    const way = action?.type === 'use_sdk' && (await wayToPay(hold, me));
    const trouble = way ? await way.confirm?.(action) : undefined;
    const answer = await call('POST', `/orders/${orderId}/confirm-action`);
    if (answer.status === 409 && trouble) throw new Trouble(trouble);
    if (!answer.ok && answer.status !== 409) throw refusal(answer);
    await look(me, { acted: true });
  };
  const asked = form(t('checkout.bank_confirm'), [], confirm);
  const isAddress = action?.type === 'redirect' && /^https?:\/\//.test(action.url ?? '');
  const until = order.pay_until ?? hold.expires_at;
  // Past the end the server decides, and the feed tells.
  const clock = isPast(until) ? undefined : timer(until, again);
  goOn(stopAll(clock?.stop ?? (() => {}), follow(orderId, order.status, again)));
  show(
    card(
      { badge: t('checkout.bank_badge'), headline: t('checkout.bank'), stub: clock?.stub },
      el('p', {}, t('checkout.bank_words')),
      facts(
        ...whenAndWhere(known),
        [t('checkout.places'), places(hold.seats)],
        [t('checkout.total'), money(hold.total)],
      ),
      isAddress ? row(link(t('checkout.bank_confirm'), action.url)) : asked,
    ),
    options,
  );
  if (isFresh && action?.type === 'use_sdk') asked.requestSubmit();
  isFresh = false;
}

withReader(t('checkout.why'), look);
