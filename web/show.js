// A show: what, when, where, what it costs and what is left of it.

import { address, attempt, box, call, card, el, facts, field, form, inWords, link, moment, money, newKey, note, number, refusal, row, show, t, titled } from './page.js?v={{version}}';
import { withReader } from './session.js?v={{version}}';
import { about, nothing, whenAndWhere } from './showing.js?v={{version}}';

const [id] = address;

async function look() {
  const known = await about(id);
  if (!known) return show(nothing(t('There is no such show', 'Diese Vorstellung gibt es nicht'), t('Check the address, or follow the link in our message once more.', 'Prüfen Sie die Adresse, oder folgen Sie noch einmal dem Link in unserer Nachricht.')));
  titled(known.event.title);
  const { ok, body: left } = await call('GET', `/shows/${id}/availability`);
  show([summary(known, ok ? left : undefined), prices(known.show, ok ? left : undefined)]);
}

function summary(known, left) {
  const { show: { status, on_sale_at, room, starts_at }, event } = known;
  const isBefore = on_sale_at && Date.now() < Date.parse(on_sale_at);
  const told = facts(...whenAndWhere(known), isBefore && [t('On sale from', 'Verkauf ab'), moment(on_sale_at, event.timezone)], left && [t('Free places', 'Freie Plätze'), ofAll(left)]);
  const description = event.description && el('p', { class: 'told' }, event.description);
  if (status === 'cancelled') return card({ badge: t('Cancelled', 'Abgesagt'), headline: t('This show is cancelled', 'Diese Vorstellung ist abgesagt'), kind: 'bad' }, el('p', {}, t('Please do not come to the venue. Whoever has tickets gets all their money back and need not do anything.', 'Bitte kommen Sie nicht zum Veranstaltungsort. Wer Tickets hat, bekommt das ganze Geld zurück und muss nichts tun.')), told, row(link(t('My orders', 'Meine Bestellungen'), '/orders', 'plain')));
  if (status === 'completed' || Date.now() >= Date.parse(starts_at)) return card({ badge: t('Over', 'Vorbei'), headline: t('This show has begun or is over', 'Diese Vorstellung hat begonnen oder ist vorbei') }, told);
  if (status === 'sold_out') return [card({ badge: t('Sold out', 'Ausverkauft'), headline: t('All places are sold', 'Alle Plätze sind verkauft') }, description, told), waitlist(known.show)];
  const isOpen = room.mode === 'off';
  return card({ badge: isBefore ? t('Soon', 'Demnächst') : t('On sale', 'Im Verkauf'), headline: isBefore ? t('Not on sale yet', 'Noch nicht im Verkauf') : t('There are tickets', 'Es gibt Tickets'), kind: isBefore ? '' : 'good' },
    description,
    told,
    !isOpen && el('p', {}, t('The way to the tickets goes through the waiting room, which keeps the order.', 'Der Weg zu den Tickets führt durch den Warteraum, der die Reihenfolge wahrt.')),
    row(!isOpen && link(t('To the waiting room', 'Zum Warteraum'), `/room/${id}`), link(t('My orders', 'Meine Bestellungen'), '/orders', 'plain')));
}

const ofAll = ({ free, total }) => t(`${number(free)} of ${number(total)}`, `${number(free)} von ${number(total)}`);

function prices({ prices: costs }, left) {
  const free = new Map((left?.sections ?? []).map((it) => [it.name, it]));
  const line = ([name, price]) => el('tr', {},
    el('th', { scope: 'row' }, name),
    el('td', {}, money(price)),
    el('td', {}, free.has(name) ? number(free.get(name).free) : ''));
  return el('section', { class: 'ticket' }, el('div', { class: 'body' },
    el('h2', {}, t('Prices', 'Preise')),
    el('table', {},
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, t('Section', 'Bereich')), el('th', { scope: 'col' }, t('Price', 'Preis')), el('th', { scope: 'col' }, t('Free', 'Frei')))),
      el('tbody', {}, Object.entries(costs).map(line)))));
}

/** The form by which one joins, and why that was refused before. */
function waitlist(offered, refused) {
  const { max_tickets_per_buyer: most } = offered;
  const key = newKey();
  const why = t('Whoever waits is told by mail, so we need to know who you are.', 'Wer wartet, wird per E-Mail benachrichtigt, deshalb müssen wir wissen, wer Sie sind.');
  const sideBySide = box(t('Together, side by side', 'Zusammen, nebeneinander'), { id: 'together', checked: true });
  const ofOne = (quantity) => { sideBySide.hidden = quantity < 2; };
  ofOne(most);
  const quantityField = field(t('How many tickets?', 'Wie viele Tickets?'), { id: 'quantity', type: 'number', min: 1, max: most, value: Math.min(2, most), input: ({ target }) => ofOne(target.value) }, t(`At most ${most}.`, `Höchstens ${most}.`));
  const join = ({ quantity, together }) => withReader(why, async () => {
    const answer = await call('POST', `/shows/${id}/waitlist`, { quantity: Number(quantity), together: together !== undefined }, key);
    if (answer.status === 401) throw refusal(answer);
    if (!answer.ok) return show(waitlist(offered, inWords(answer.body)), { acted: true });
    location.assign(`/shows/${id}/waitlist/${answer.body.waitlist_id}`);
  });
  return card({ headline: t('Wait for tickets that come back', 'Auf Tickets warten, die zurückkommen') },
    el('p', {}, t('Tickets that are given back are offered to the waitlist, in order. We hold them for you for 30 minutes and write to you.', 'Zurückgegebene Tickets werden der Reihe nach der Warteliste angeboten. Wir halten sie 30 Minuten für Sie und schreiben Ihnen.')),
    refused && note(refused),
    form(t('Join the waitlist', 'Auf die Warteliste'), [quantityField, sideBySide], join));
}

attempt(look);
