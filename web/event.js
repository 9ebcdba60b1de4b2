// An event: what it is, where, and its shows. The edge has rendered them; this adds the
// calendar, and how the shows stand by now.

import { attempt, call, refusal } from './api.js';
import { now } from './clock.js';
import { card, el, link, moment, money, note, row } from './elements.js';
import { calendar, dayOf } from './event/calendar.js';
import { poster } from './poster.js';
import { below, renew } from './rendered.js';
import { counted, t } from './words.js';

/** So many shows are easier to find in a calendar. */
const CALENDAR_FROM = 8;

const id = location.pathname.split('/')[2];

/** @type {Record<string, () => string>} */
const states = {
  sold_out: () => t('state.sold_out'),
  completed: () => t('state.completed'),
  cancelled: () => t('state.cancelled'),
};

/** @type {Intl.DateTimeFormatOptions} */
const LONG = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' };

/** @type {Intl.DateTimeFormatOptions} */
const SOON = { ...LONG, weekday: 'short', month: 'short' };

/** @param {Api['Event']} event @param {Api['EventShow']} it */
function entry({ timezone }, { show_id, starts_at, on_sale_at, status, from_price }) {
  const isOver = Date.parse(starts_at) <= now();
  const isSoon = on_sale_at && Date.parse(on_sale_at) > now();
  const state = states[isOver && status === 'on_sale' ? 'completed' : status]?.();
  const price = t('from_price', { price: money(from_price) });
  return el(
    'li',
    {},
    el(
      'a',
      { href: `/shows/${show_id}` },
      el('strong', {}, el('time', { datetime: starts_at }, moment(starts_at, timezone, LONG))),
      el('span', {}, state ?? (isSoon ? t('event.on_sale_from', { when: moment(on_sale_at, timezone, SOON) }) : price)),
    ),
  );
}

/** @param {Api['Event']} event */
const about = (event) =>
  el(
    'section',
    { class: 'ticket event-about' },
    poster(event, { alt: t('poster.alt', { title: event.title }) }),
    el(
      'div',
      { class: 'body' },
      el('p', { class: 'badge' }, event.category),
      event.description && el('p', { class: 'told' }, event.description),
      el(
        'dl',
        {},
        el('dt', {}, t('showing.where')),
        el('dd', {}, [...new Set([event.venue, event.address, event.city])].filter(Boolean).join(', ')),
      ),
    ),
  );

/** The list, and from a number on the calendar above it. @param {Api['Event']} event @returns {Children} */
function dates(event) {
  const list = el('ul', { class: 'list' });
  /** @param {string} chosen */
  const fill = (chosen) =>
    list.replaceChildren(
      ...event.shows
        .filter((it) => dayOf(it.starts_at, event.timezone).startsWith(chosen))
        .map((it) => entry(event, it)),
    );
  if (event.shows.length < CALENDAR_FROM) {
    fill('');
    return list;
  }
  /** @type {Map<string, number>} */
  const days = new Map();
  for (const { starts_at } of event.shows) {
    const day = dayOf(starts_at, event.timezone);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  const place = el('div');
  /** @param {string} chosen */
  const choose = (chosen) => {
    const focused = document.activeElement?.getAttribute('aria-label');
    place.replaceChildren(calendar(days, chosen, choose));
    fill(chosen);
    /** @type {HTMLElement | undefined} */ (
      [...place.querySelectorAll('button')].find((it) => it.ariaLabel === focused)
    )?.focus();
  };
  const next = event.shows.find((it) => Date.parse(it.starts_at) > now()) ?? event.shows[0];
  choose(dayOf(next.starts_at, event.timezone).slice(0, 7));
  return [place, list];
}

async function look() {
  const answer = await call('GET', `/events/${id}`);
  const toAll = row(link(t('event.all'), '/', 'plain'));
  if (answer.status === 404 || answer.status === 400) {
    return renew(card({ headline: t('event.lost'), kind: 'bad' }, el('p', {}, t('event.lost.what')), toAll));
  }
  if (!answer.ok) throw refusal(answer);
  /** @type {Api['Event']} */
  const event = answer.body;
  document.title = event.title;
  /** @type {HTMLElement} */ (document.getElementById('title')).textContent = event.title;
  const isNone = event.shows.length === 0;
  renew([
    about(event),
    isNone ? note(t('event.none')) : el('h2', {}, counted('event.shows', event.shows.length)),
    dates(event),
    toAll,
  ]);
}

attempt(look, below);
