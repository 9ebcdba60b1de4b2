// What a waitlist has for the reader: where they stand, and the places that are held for them.

import { address, ask, attempt, call, card, el, facts, form, link, moment, money, places, refusal, row, show, t, titled } from './page.js?v={{version}}';
import { asSomebodyElse, goOn, rest, withReader } from './session.js?v={{version}}';
import { about, nothing, whenAndWhere } from './showing.js?v={{version}}';

const [showId, kind, id] = address;
const path = `/shows/${showId}/${kind}/${id}`;
const POLL_MS = 30_000;
const why = t('Places and waitlists are shown to whoever they are for.', 'Plätze und Wartelisten sieht, für wen sie sind.');

let shown;

async function look(me, options) {
  const before = shown;
  // Should anything go wrong, that is what the page shows.
  shown = undefined;
  const answer = await call('GET', path);
  const { status, body } = answer;
  if (status === 404 || status === 400) return show(foreign(me), options);
  if (status !== 200) throw refusal(answer);
  if (body.status === 'waiting') lookAgain(me);
  const news = JSON.stringify(body);
  if (news !== before || options?.acted) {
    const known = await about(showId);
    if (known) titled(known.event.title);
    show((kind === 'holds' ? hold : entry)(body, known, me), options);
  }
  shown = news;
}

function lookAgain(me) {
  const timer = setTimeout(() => attempt(() => look(me)), POLL_MS);
  goOn(() => clearTimeout(timer));
}

const foreign = (me) =>
  nothing(t('There is nothing here for you', 'Hier gibt es nichts für Sie'),
    t(`You are logged in as ${me.email}. If our message went to another address, log in with that one.`, `Sie sind als ${me.email} angemeldet. Wenn unsere Nachricht an eine andere Adresse ging, melden Sie sich damit an.`),
    row(asSomebodyElse()));

const toShow = () => link(t('To the show', 'Zur Vorstellung'), `/shows/${showId}`, 'plain');
const toOrders = () => link(t('My orders', 'Meine Bestellungen'), '/orders');

function hold({ status, seats, total, expires_at, hold_id }, known, me) {
  const told = facts(
    ...(known ? whenAndWhere(known) : []),
    [t('Places', 'Plätze'), places(seats)],
    [t('Total', 'Summe'), money(total)],
    status === 'held' && [t('Held until', 'Reserviert bis'), moment(expires_at, known?.event.timezone)]);
  if (status === 'sold' || status === 'paying') {
    return card({ badge: t('Yours', 'Ihre'), headline: status === 'sold' ? t('You have bought these places', 'Sie haben diese Plätze gekauft') : t('Your payment is being made', 'Ihre Zahlung läuft'), kind: 'good' }, told, row(link(t('To the order', 'Zur Bestellung'), `/orders/${hold_id.replace('hld_', 'ord_')}`)));
  }
  if (status !== 'held') {
    return card({ badge: t('Over', 'Vorbei'), headline: t('These places are not held any more', 'Diese Plätze sind nicht mehr reserviert') }, el('p', {}, t('The time was up, or they were given back. They have gone to others.', 'Die Zeit war um, oder sie wurden zurückgegeben. Sie sind an andere gegangen.')), told, row(toShow()));
  }
  return card({ badge: t('For you', 'Für Sie'), headline: t('These places are held for you', 'Diese Plätze sind für Sie reserviert'), kind: 'good' },
    el('p', {}, t('Pay before the time below, in the shop where you joined the waitlist. After it they go to the next person.', 'Zahlen Sie vor der unten genannten Zeit, in dem Shop, in dem Sie sich auf die Warteliste gesetzt haben. Danach gehen sie an die nächste Person.')),
    told,
    form(t('I do not want them', 'Ich möchte sie nicht'), [], async () => {
      await ask('DELETE', path);
      await look(me, { acted: true });
    }, 'plain'));
}

const over = (told) =>
  card({ badge: t('Over', 'Vorbei'), headline: t('You are not waiting any more', 'Sie warten nicht mehr') }, el('p', {}, t('The offer was not bought in time, or you left the line. You may join again, at its end.', 'Das Angebot wurde nicht rechtzeitig gekauft, oder Sie haben die Schlange verlassen. Sie können sich wieder anstellen, am Ende.')), told, row(toShow()));

function entry({ status, position, offer }, known) {
  const told = facts(...(known ? whenAndWhere(known) : []), offer && [t('Places', 'Plätze'), places(offer.seats)], offer && [t('Held until', 'Reserviert bis'), moment(offer.expires_at, known?.event.timezone)]);
  if (status === 'offered' && offer) return card({ badge: t('It is your turn', 'Sie sind dran'), headline: t('Places are held for you', 'Plätze sind für Sie reserviert'), kind: 'good' }, told, row(link(t('See the places', 'Plätze ansehen'), `/shows/${showId}/holds/${offer.hold_id}`)));
  if (status === 'taken') return card({ badge: t('Done', 'Fertig'), headline: t('You took what was offered', 'Sie haben das Angebot genommen'), kind: 'good' }, told, row(toOrders()));
  if (status !== 'waiting') return over(told);
  return card({ badge: t('Waitlist', 'Warteliste'), headline: position === 1 ? t('You are next', 'Sie sind als Nächstes dran') : t(`You are number ${position}`, `Sie sind Nummer ${position}`) },
    el('p', {}, t('When tickets come back we hold them for you and write to you. You need not keep this page open.', 'Wenn Tickets zurückkommen, halten wir sie für Sie und schreiben Ihnen. Sie müssen diese Seite nicht offen lassen.')),
    told,
    form(t('Leave the waitlist', 'Warteliste verlassen'), [], async () => {
      await ask('DELETE', path);
      rest();
      show(over(told), { acted: true });
    }, 'plain'));
}

withReader(why, look);
