// What is on: all events that are to come, or one with its shows.

import { account, address, ask, attempt, button, call, card, el, facts, field, form, inWords, link, moment, money, note, row, show, t, titled, Trouble } from './page.js?v={{version}}';
import { nothing } from './showing.js?v={{version}}';

const [id] = address;

const states = {
  sold_out: t('Sold out', 'Ausverkauft'),
  completed: t('Over', 'Vorbei'),
  cancelled: t('Cancelled', 'Abgesagt'),
};
const price = (from) => from && t(`from ${money(from)}`, `ab ${money(from)}`);
const line = (href, title, ...parts) =>
  el('li', {}, el('a', { href }, el('strong', {}, title), parts.filter(Boolean).map((part) => el('span', {}, part))));

// All events.

const found = el('div', { class: 'found' });
const said = el('p', { class: 'quiet', role: 'status' });
const search = form(t('Search', 'Suchen'), [
  field(t('What, who or where?', 'Was, wer oder wo?'), { id: 'query', type: 'search', required: false, maxlength: 200 }),
], ({ query }) => list(query.trim()), 'plain');

async function all() {
  await list('');
  show([search, said, found]);
}

/** Shows what is found for these words, after what was found before this cursor. */
async function list(query, cursor, before = []) {
  const wanted = { from: new Date().toISOString(), limit: 20, ...(query ? { query } : { sort: 'date' }), ...(cursor && { cursor }) };
  const { items, next_cursor } = await ask('GET', `/events?${new URLSearchParams(wanted)}`);
  const events = [...before, ...items];
  const more = () => attempt(() => list(query, next_cursor, events));
  found.replaceChildren(...[
    events.length === 0 && none(query),
    el('ul', { class: 'list' }, events.map(entry)),
    next_cursor && row(button(t('More events', 'Weitere Veranstaltungen'), more, 'plain')),
  ].filter(Boolean));
  said.textContent = query && events.length > 0 ? t(`Found for “${query}”`, `Gefunden zu „${query}“`) : '';
}

const none = (query) => (query
  ? card({ headline: t('Nothing found', 'Nichts gefunden') }, el('p', {}, t('Try fewer words, or another spelling.', 'Versuchen Sie es mit weniger Wörtern oder einer anderen Schreibweise.')))
  : card({ headline: t('Nothing is on sale yet', 'Noch ist nichts im Verkauf') }, el('p', {}, t('What organisers publish is listed here.', 'Was Veranstalter veröffentlichen, steht hier.'))));

const entry = (event) =>
  line(`/events/${event.event_id}`, event.title,
    states[event.status] ?? price(event.from_price),
    event.next_show_at && moment(event.next_show_at),
    [...new Set([event.venue, event.city])].join(', '));

// One event.

async function look() {
  const { ok, status, body: event } = await call('GET', `/events/${id}`);
  if (status === 404 || status === 400) return show(nothing(t('There is no such event', 'Diese Veranstaltung gibt es nicht'), t('Check the address, or look at everything that is on.', 'Prüfen Sie die Adresse, oder sehen Sie nach, was läuft.'), row(toAll())));
  if (!ok) throw new Trouble(inWords(event));
  titled(event.title);
  const entries = event.shows.map((it) =>
    line(`/shows/${it.show_id}`, moment(it.starts_at, event.timezone), states[it.status] ?? price(it.from_price)));
  show([
    card({ badge: event.category, headline: entries.length === 1 ? t('One show', 'Eine Vorstellung') : t(`${entries.length} shows`, `${entries.length} Vorstellungen`) },
      event.description && el('p', { class: 'told' }, event.description),
      facts([t('Where', 'Wo'), [...new Set([event.venue, event.address, event.city])].filter(Boolean).join(', ')])),
    entries.length === 0 && note(t('No show is published yet.', 'Noch ist keine Vorstellung veröffentlicht.')),
    el('ul', { class: 'list' }, entries),
    row(toAll()),
  ]);
}

const toAll = () => link(t('All events', 'Alle Veranstaltungen'), '/', 'plain');

account(el('div', { class: 'row' },
  el('a', { href: '/orders' }, t('My orders and tickets', 'Meine Bestellungen und Tickets')),
  el('a', { href: '/api/v1/openapi.json' }, t('For developers: the API', 'Für Entwickler: die API'))));
attempt(id ? look : all);
