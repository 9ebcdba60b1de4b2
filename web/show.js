// A show: what, when, where, what it costs, what is left of it, and the next step. The edge
// has rendered it; this counts down by the server's clock, follows what is left, and has the
// form of the waitlist.

import { attempt, call, refusal } from './api.js';
import { now } from './clock.js';
import { left } from './countdown.js';
import { button, card, el, link, moment, money, number, row } from './elements.js';
import { picture } from './poster.js';
import { below, renew } from './rendered.js';
import { counted, learnFor, t } from './words.js';

/**
 * @typedef {{ offered: Api['Show'], title: string, description?: string, poster_url?: string, eventId: string,
 *   where: string, timezone?: string, numbered: boolean }} Known
 */

const id = location.pathname.split('/')[2];
const LOOK_MS = 15_000;
const DAY_MS = 86_400_000;
// What the edge has rendered knows whether the places have numbers.
const rendered = document.querySelector(`#content a[href="/shows/${id}/seats"]`)?.textContent;

// What is known.

/** @returns {Promise<Known | undefined>} */
async function known() {
  const answer = await call('GET', `/shows/${id}`);
  if (answer.status === 404 || answer.status === 400) return undefined;
  if (!answer.ok) throw refusal(answer);
  const offered = answer.body;
  const { event, venue } = offered.event ? offered : await ofEvent(offered.event_id);
  const where = [...new Set([venue.name, venue.address, venue.city])].filter(Boolean).join(', ');
  const { title, description, poster_url, event_id: eventId } = event;
  const told = { offered, title, description, poster_url, eventId, where, timezone: venue.timezone };
  return { ...told, numbered: await isNumbered() };
}

/** @param {string} event */
async function ofEvent(event) {
  const answer = await call('GET', `/events/${event}`);
  if (!answer.ok) throw refusal(answer);
  return { event: answer.body, venue: { ...answer.body, name: answer.body.venue } };
}

async function isNumbered() {
  if (rendered) return rendered === t('show.seats');
  const { ok, body } = await call('GET', `/shows/${id}/layout`);
  return !ok || body.sections.some((/** @type {{ kind: string }} */ { kind }) => kind === 'seated');
}

/** @returns {Promise<Api['Availability'] | undefined>} */
async function availability() {
  const { ok, body } = await call('GET', `/shows/${id}/availability`);
  return ok ? body : undefined;
}

// What is shown.

/** @param {Known} it @param {Api['Availability']} [places] */
function summary(it, places) {
  const { status, on_sale_at, room, starts_at } = it.offered;
  const on_sale = Date.parse(on_sale_at ?? '') || 0;
  /** @param {string} name @param {string} value */
  const fact = (name, value) => [el('dt', {}, name), el('dd', {}, value)];
  const told = el(
    'dl',
    {},
    fact(t('showing.when'), moment(starts_at, it.timezone)),
    fact(t('showing.where'), it.where),
    on_sale > now() && fact(t('show.on_sale_from'), moment(on_sale, it.timezone)),
  );
  const words = it.description && el('p', { class: 'told' }, it.description);
  const toEvent = link(t('show.all_dates'), `/events/${it.eventId}`, 'plain');
  if (status === 'cancelled') {
    return card(
      { badge: t('state.cancelled'), headline: t('show.cancelled'), kind: 'bad' },
      el('p', {}, t('show.cancelled.what')),
      told,
      row(link(t('show.my_tickets'), '/orders', 'plain'), toEvent),
    );
  }
  if (status === 'completed' || now() >= Date.parse(starts_at)) {
    return card({ badge: t('state.completed'), headline: t('show.over') }, words, told, row(toEvent));
  }
  if (status === 'sold_out') {
    const most = it.offered.max_tickets_per_buyer;
    const sections = places?.sections.map(({ name }) => name) ?? Object.keys(it.offered.prices);
    return [
      card({ badge: t('state.sold_out'), headline: t('show.sold_out') }, words, told, row(toEvent)),
      later('waitlist-form', async () => (await import('./waitlist-form.js')).waitlist({ id, most, sections })),
    ];
  }
  const hasRoom = room.mode !== 'off';
  const toRoom = hasRoom && link(t('show.room'), `/room/${id}`);
  const why = hasRoom && el('p', {}, t('show.room.what'));
  if (on_sale > now()) {
    return card(
      { badge: t('show.soon'), headline: t('show.soon.headline'), stub: countdown(on_sale) },
      words,
      told,
      why,
      row(toRoom, inCalendar(it, on_sale, hasRoom ? 'plain' : ''), toEvent),
      later('remind-form', async () => (await import('./remind-form.js')).remindForm(id)),
    );
  }
  if (room.mode === 'closed') {
    return card({ headline: t('show.paused') }, words, told, el('p', {}, t('show.paused.what')), row(toEvent));
  }
  const toSeats = link(it.numbered ? t('show.seats') : t('show.tickets'), `/shows/${id}/seats`);
  return card(
    { badge: t('show.on_sale'), headline: t('show.on_sale.headline'), kind: 'good' },
    words,
    told,
    why,
    row(toRoom || toSeats, toEvent),
  );
}

/** A part of the page that most readers do not need. @param {string} name @param {() => Promise<HTMLElement>} load */
function later(name, load) {
  const place = el('div', { class: 'stack' });
  attempt(
    async () => {
      await learnFor(name);
      place.replaceChildren(await load());
    },
    (trouble) => place.replaceChildren(/** @type {Node} */ (trouble)),
  );
  return place;
}

/** Days, or hours, minutes and seconds, by the server's clock. @param {number} opens */
function countdown(opens) {
  const time = el('strong', { role: 'timer' });
  const tick = () => {
    const ms = opens - now();
    time.textContent = ms > 2 * DAY_MS ? counted('show.days', Math.floor(ms / DAY_MS)) : left(ms);
    if (ms > 0) setTimeout(tick, ms > 2 * DAY_MS ? 60_000 : ms % 1_000 || 1_000);
    else attempt(look, below);
  };
  tick();
  return el('p', { class: 'stub' }, el('span', {}, t('show.opens_in')), ' ', time);
}

/** @param {Known} it @param {number} starts @param {string} kind */
function inCalendar({ title }, starts, kind) {
  const save = async () => {
    const { calendarFile } = await import('./show/calendar-file.js');
    const text = calendarFile({
      id,
      title: t('show.calendar.title', { title }),
      starts,
      made: now(),
      url: location.href,
    });
    const href = URL.createObjectURL(new Blob([text], { type: 'text/calendar' }));
    el('a', { href, download: 'onsale.ics' }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1_000);
  };
  return button(t('show.calendar'), save, kind);
}

/** @param {Known} it @param {Api['Availability']} [places] */
function prices({ offered }, places) {
  const sections = new Map(places?.sections.map((it) => [it.name, it]));
  /** @param {[string, Api['Money']]} section */
  const line = ([name, price]) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, name),
      el('td', {}, money(price)),
      el('td', { 'data-section': name }, freeIn(sections.get(name))),
    );
  return el(
    'section',
    { class: 'ticket' },
    el(
      'div',
      { class: 'body' },
      el('h2', {}, t('show.prices')),
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'col' }, t('show.section')),
            el('th', { scope: 'col' }, t('show.price')),
            el('th', { scope: 'col' }, t('show.free')),
          ),
        ),
        el('tbody', {}, Object.entries(offered.prices).map(line)),
      ),
    ),
  );
}

/** What is only reserved may come back. @param {{ free: number, held: number }} [section] */
const freeIn = (section) => {
  if (!section) return '';
  return section.free + section.held ? number(section.free) : t('state.sold_out');
};

// What goes on by itself.

/** @type {ReturnType<typeof setTimeout>} */
let timer;

/**
 * What is left changes while somebody looks. When it is gone, or there is some again, so does
 * the page; but never under the hands of a reader who fills in a form.
 * @param {string} status
 */
function follow(status) {
  clearTimeout(timer);
  timer = setTimeout(
    async () => {
      if (document.hidden) return follow(status);
      const places = await availability().catch(() => undefined);
      for (const section of places?.sections ?? []) {
        const cell = [...document.querySelectorAll('[data-section]')].find(
          (it) => it.getAttribute('data-section') === section.name,
        );
        if (cell) cell.textContent = freeIn(section);
      }
      const isGone = places && status === 'on_sale' && places.free + places.held === 0;
      const isBack = places && status === 'sold_out' && places.free > 0 && !document.activeElement?.closest('form');
      if (!isGone && !isBack) return follow(status);
      attempt(look, (trouble) => {
        below(trouble);
        follow(status);
      });
    },
    LOOK_MS * (0.8 + 0.4 * Math.random()),
  );
}

async function look() {
  const [it, places] = await Promise.all([known(), availability().catch(() => undefined)]);
  if (!it) {
    return renew(
      card(
        { headline: t('show.lost'), kind: 'bad' },
        el('p', {}, t('show.lost.what')),
        row(link(t('show.all_events'), '/', 'plain')),
      ),
    );
  }
  document.title = it.title;
  /** @type {HTMLElement} */ (document.getElementById('title')).textContent = it.title;
  const isOver = it.offered.status === 'cancelled' || now() >= Date.parse(it.offered.starts_at);
  const banner = picture(it, { class: 'poster banner', alt: t('poster.alt', { title: it.title }) });
  renew([banner, summary(it, places), !isOver && prices(it, places)]);
  follow(it.offered.status);
}

attempt(look, below);
