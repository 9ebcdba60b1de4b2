// The front page: what is on, searched as the reader types, with what they look for in the
// address, so that a reload, a link and the back button lead to the same list.
//
// The edge has rendered a first list, which stays until there is a newer one.

import { attempt, call, refusal } from './api.js';
import { now } from './clock.js';
import { button, card, el, moment, money, number, row, say, show } from './elements.js';
import { asked, filters, parameters, read } from './home/filters.js';
import { poster } from './poster.js';
import { counted, t } from './words.js';

/** @typedef {import('./home/filters.js').Wanted} Wanted */

const PAUSE_MS = 200;
/** The numbers of dates and prices are asked for once the reader has stopped typing. */
const COUNT_AFTER_MS = 400;
const REQUEST_MS = 20_000;
const PAGE = '24';
/** A facet has no more values than these. */
const VALUES_TOLD = 20;

let wanted = read(location.search);
let aborter = new AbortController();
/** @type {Record<'type' | 'count', ReturnType<typeof setTimeout> | undefined>} */
const pause = { type: undefined, count: undefined };

// The parts of the page. Those of the edge are taken over as they are.

const search = document.querySelector('form.search') ?? newSearch();
const input = /** @type {HTMLInputElement} */ (search.querySelector('input'));
/** @param {'div' | 'p' | 'ul'} tag @param {string} id @param {string} name */
const part = (tag, id, name) => document.getElementById(id) ?? el(tag, { id, class: name });
const bar = part('div', 'filters', 'filters');
const told = part('p', 'found', 'quiet');
const list = part('ul', 'events', 'posters');
const more = el('div', { class: 'row' });
const choice = filters(now(), change);
/** Of the last prices that were found. @type {string | undefined} */
let currency;
/** What the list answers. The edge has rendered one, or none at all. */
let listed = list.hasChildNodes() ? parameters(wanted) : undefined;

function newSearch() {
  const words = t('home.query');
  return el(
    'form',
    { class: 'search', role: 'search' },
    el('input', { type: 'search', 'aria-label': words, placeholder: words, maxlength: 200, autocomplete: 'off' }),
    el('button', { class: 'button' }, t('home.search')),
  );
}

// What is shown.

/** @type {Record<string, () => string>} */
const states = {
  sold_out: () => t('state.sold_out'),
  completed: () => t('state.completed'),
  cancelled: () => t('state.cancelled'),
};

/** @type {Intl.DateTimeFormatOptions} */
const SHORT = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' };

/** @param {Api['EventItem']} event */
const hrefOf = ({ event_id }) => `/events/${event_id}`;

/** @param {Api['EventItem'] & { timezone?: string }} event */
function entry(event) {
  const { from_price, next_show_at, shows, timezone, venue, city } = event;
  const state = states[event.status]?.();
  // Without the venue's clock it is the reader's, and says so.
  const parts = timezone ? SHORT : { ...SHORT, timeZoneName: /** @type {const} */ ('short') };
  const about = [
    el('strong', {}, event.title),
    next_show_at && el('time', { datetime: next_show_at }, moment(next_show_at, timezone, parts)),
    el('span', {}, [...new Set([venue, city])].join(', ')),
    shows > 1 && el('span', {}, counted('home.shows', shows)),
    el(
      'span',
      { class: state ? 'price sold' : 'price' },
      state ?? (from_price && t('from_price', { price: money(from_price) })),
    ),
  ];
  return el(
    'li',
    {},
    el(
      'a',
      { class: 'event', href: hrefOf(event) },
      poster(event, { loading: 'lazy' }),
      el('span', { class: 'about' }, about),
    ),
  );
}

function nothing() {
  if (!parameters(wanted)) return card({ headline: t('home.empty') }, el('p', {}, t('home.empty.what')));
  const clear = () => {
    change(read(''));
    input.focus();
  };
  return card(
    { headline: t('home.none') },
    el('p', {}, t('home.none.what')),
    row(button(t('home.clear'), clear, 'plain')),
  );
}

/**
 * How many were found: every event has one category and one city. Where there are more of
 * both than are told, there are more events as well.
 * @param {Api['Facets']} [facets]
 */
function total(facets) {
  if (!facets) return undefined;
  const all = [facets.category, facets.city];
  const n = Math.max(...all.map((values) => values.reduce((sum, { count }) => sum + count, 0)));
  const isAll = all.some(({ length }) => length < VALUES_TOLD);
  return { n, words: number(n) + (isAll ? '' : '+') };
}

/** @param {Api['EventList']} found */
function render({ items, facets, next_cursor }) {
  // A list that is the same already stays: its pictures would load anew.
  const isSame =
    items.map(hrefOf).join() === [...list.querySelectorAll('a')].map((it) => it.getAttribute('href')).join();
  if (!isSame) list.replaceChildren(...items.map(entry));
  offerMore(next_cursor);
  listed = parameters(wanted);
  const isEmpty = items.length === 0;
  list.hidden = isEmpty;
  if (isEmpty) more.replaceChildren(nothing());
  // The index may not have counted yet what is listed.
  const own = { n: items.length, words: number(items.length) };
  const { n, words } = (next_cursor && total(facets)) || own;
  told.textContent = isEmpty ? '' : counted('home.found', n, { n: words });
  say(told.textContent || (more.querySelector('h2')?.textContent ?? ''));
  currency = items.find((it) => it.from_price)?.from_price?.currency ?? currency;
  choice.show({ wanted, facets, currency });
  if (!bar.contains(choice.parts[0])) bar.replaceChildren(el('div', {}, choice.parts));
  pause.count = setTimeout(() => choice.count(countOf).catch(() => {}), COUNT_AFTER_MS);
}

/** @param {Partial<Wanted>} changes */
const countOf = async (changes) => total((await found({ limit: '1' }, changes))?.facets)?.words;

/** @param {string} [cursor] */
function offerMore(cursor) {
  const load = async () => {
    const first = list.children.length;
    const answer = await found({ cursor: cursor ?? '' });
    // A second press was answered before.
    if (!answer || list.children.length !== first) return;
    list.append(...answer.items.map(entry));
    offerMore(answer.next_cursor);
    list.children[first]?.querySelector('a')?.focus();
  };
  more.replaceChildren(...(cursor ? [button(t('home.more'), () => attempt(load, trouble), 'plain')] : []));
}

/** @param {Children} words */
const trouble = (words) => more.replaceChildren(/** @type {Node} */ (words));

// What is asked.

/**
 * A page of the list; nothing if the reader looks for something else by now.
 * @param {Record<string, string>} [added]
 * @param {Partial<Wanted>} [changes]
 * @returns {Promise<Api['EventList'] | undefined>}
 */
async function found(added, changes) {
  const path = `/events?${asked({ ...wanted, ...changes }, now(), { limit: PAGE, ...added })}`;
  const { signal } = aborter;
  const own = new AbortController();
  const stop = () => own.abort();
  const timer = setTimeout(stop, REQUEST_MS);
  signal.addEventListener('abort', stop);
  try {
    const answer = await call('GET', path, undefined, undefined, { signal: own.signal });
    if (signal.aborted) return undefined;
    if (!answer.body.items) throw refusal(answer);
    return answer.body;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Looks for what is wanted now, and forgets what was looked for before. */
function look() {
  clearTimeout(pause.count);
  aborter.abort();
  aborter = new AbortController();
  list.setAttribute('aria-busy', 'true');
  const work = async () => {
    const answer = await found();
    if (!answer) return;
    list.removeAttribute('aria-busy');
    render(answer);
  };
  return attempt(work, (words) => {
    list.removeAttribute('aria-busy');
    // The list of something else would be taken for what was looked for.
    list.hidden = listed !== parameters(wanted);
    told.textContent = '';
    trouble(words);
    more.firstElementChild?.classList.toggle('afloat', !list.hidden);
    say(t('error.headline'));
  });
}

/** @param {Partial<Wanted>} changes @param {'pushState' | 'replaceState'} [step] */
function change(changes, step = 'pushState') {
  wanted = { ...wanted, ...changes };
  if (input.value.trim() !== wanted.query) input.value = wanted.query;
  history[step](null, '', `/?${parameters(wanted)}`.replace(/\?$/, ''));
  look();
}

/** While somebody types, there is not a step back for every letter. */
function typed() {
  clearTimeout(pause.type);
  const query = input.value.trim();
  if (query !== wanted.query) change({ query }, wanted.query && query ? 'replaceState' : 'pushState');
}

input.value ||= wanted.query;
input.addEventListener('input', () => {
  clearTimeout(pause.type);
  pause.type = setTimeout(typed, PAUSE_MS);
});
input.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown') return;
  event.preventDefault();
  list.querySelector('a')?.focus();
});
search.addEventListener('submit', (event) => {
  event.preventDefault();
  typed();
});
addEventListener('popstate', () => {
  wanted = read(location.search);
  input.value = wanted.query;
  look();
});
// What the edge rendered stays where it is: somebody may be typing in it already.
if (search.isConnected) list.after(more);
else show([search, bar, told, list, more]);
look();
typed();
