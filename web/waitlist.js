// A place in a waitlist: where the reader stands, and what is offered to them.

import { isPast, timer } from './checkout/timer.js';
import { asSomebodyElse, goOn, rest, withReader } from './own.js';
import {
  address,
  ask,
  attempt,
  call,
  card,
  el,
  facts,
  form,
  link,
  places,
  refusal,
  row,
  show,
  titled,
} from './page.js';
import { about, nothing, whenAndWhere } from './showing.js';
import { t } from './words.js';

/** @typedef {import('./own.js').Account} Account */
/** @typedef {import('./showing.js').Showing | undefined} Known */

const [showId, , id] = address;
const path = `/shows/${showId}/waitlist/${id}`;
const POLL_MS = 30_000;

/** @type {string | undefined} */
let shown;
/** @type {Known} */
let known;

/** @param {Account} me @param {{ acted?: boolean }} [options] */
async function look(me, options) {
  const before = shown;
  const again = () => attempt(() => look(me));
  // Should anything go wrong, that is what the page shows, and it looks again all the same.
  shown = undefined;
  lookAgain(again);
  const answer = await call('GET', path);
  if (!answer.ok && answer.status !== 404 && answer.status !== 400) throw refusal(answer);
  const entry = answer.body;
  if (entry.status !== 'waiting') rest();
  if (!answer.ok) return show(foreign(me), options);
  const news = JSON.stringify([entry, isOpen(entry)]);
  if (news !== before || options?.acted) {
    known ??= await about(showId);
    if (known) titled(known.title);
    show(tell(entry, again), options);
  }
  shown = news;
}

/** @param {() => void} again */
function lookAgain(again) {
  const timer = setTimeout(again, POLL_MS);
  goOn(() => clearTimeout(timer));
}

/** @param {Account} me */
const foreign = (me) =>
  nothing(t('waitlist.foreign'), t('waitlist.foreign_words', { email: me.email }), row(asSomebodyElse()));
const toShow = () => link(t('waitlist.to_show'), `/shows/${showId}`, 'plain');

/** Whether the offer can still be taken. @param {any} entry */
const isOpen = ({ status, offer }) => status === 'offered' && offer && !isPast(offer.expires_at);

/** @param {any} entry @param {() => void} again */
function tell({ status, position, offer }, again) {
  if (isOpen({ status, offer })) return offered(offer, again);
  if (status === 'taken') return taken();
  if (status !== 'waiting') return over();
  return card(
    {
      badge: t('waitlist.badge'),
      headline: position === 1 ? t('waitlist.next') : t('waitlist.number', { n: position }),
    },
    el('p', {}, t('waitlist.words')),
    facts(...whenAndWhere(known)),
    form(
      t('waitlist.leave'),
      [],
      async () => {
        await ask('DELETE', path);
        rest();
        show(over(), { acted: true });
      },
      'plain',
    ),
  );
}

const taken = () =>
  card(
    { badge: t('waitlist.done'), headline: t('waitlist.taken'), kind: 'good' },
    facts(...whenAndWhere(known)),
    row(link(t('waitlist.my_tickets'), '/orders')),
  );

/** @param {any} offer @param {() => void} again */
function offered({ hold_id, seats, expires_at }, again) {
  const { stub, stop } = timer(expires_at, again);
  goOn(stop);
  return card(
    { badge: t('waitlist.turn'), headline: t('waitlist.offered'), kind: 'good', stub },
    facts(...whenAndWhere(known), [t('waitlist.places'), places(seats)]),
    row(link(t('waitlist.buy'), `/shows/${showId}/holds/${hold_id}`)),
  );
}

const over = () =>
  card(
    { badge: t('waitlist.over'), headline: t('waitlist.lapsed') },
    el('p', {}, t('waitlist.lapsed_words')),
    facts(...whenAndWhere(known)),
    row(toShow()),
  );

withReader(t('waitlist.why'), look);
