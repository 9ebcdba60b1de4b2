// What the reader of the front page looks for: as its address says it, as the API is asked,
// and as filters for dates, city, category and price, with how many events each would leave.

import { el, money, number } from '../elements.js';
import { t } from '../words.js';

/** @typedef {'query' | 'city' | 'category' | 'when' | 'from' | 'to' | 'max_price'} Name */
/** @typedef {Record<Name, string>} Wanted */
/** @typedef {{ wanted: Wanted, facets?: Api['Facets'], currency?: string }} Choice */
/** @typedef {{ changes: Partial<Wanted>, write: (count: string) => void }} Count */

/** What each may be. @type {[Name, RegExp][]} */
const PATTERNS = [
  ['query', /^.{1,200}$/],
  ['city', /^.{1,200}$/],
  ['category', /^.{1,200}$/],
  ['when', /^(today|weekend|month)$/],
  ['from', /^\d{4}-\d\d-\d\d$/],
  ['to', /^\d{4}-\d\d-\d\d$/],
  ['max_price', /^\d{1,9}$/],
];
/** In the major unit of a currency with small change. */
const PRICES = [25, 50, 100];
const MINUTE_MS = 60_000;

/** A 13th month has the form of a date, but is none. @param {string} value */
const isDay = (value) => !Number.isNaN(Date.parse(`${value}T00:00`));

/** What this address asks for. What is not in order is left out. @param {string} search */
export function read(search) {
  const given = new URLSearchParams(search);
  const wanted = PATTERNS.map(([name, pattern]) => {
    const value = pattern.exec(given.get(name)?.trim() ?? '')?.[0] ?? '';
    return [name, (name === 'from' || name === 'to') && !isDay(value) ? '' : value];
  });
  return /** @type {Wanted} */ (Object.fromEntries(wanted));
}

/** The parameters that have a value. @param {Record<string, string | undefined>} values */
export const parameters = (values) =>
  String(new URLSearchParams(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : []))));

/**
 * The parameters of GET /events. Days are those of the reader's calendar. Without dates the
 * list begins now, at the last whole minute, as the list of the edge does.
 * @param {Wanted} wanted
 * @param {number} time
 * @param {Record<string, string>} more
 */
export function asked({ when, from, to, ...rest }, time, more) {
  const now = new Date(time - (time % MINUTE_MS));
  const day = (/** @type {number} */ after) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + after);
  const toSaturday = 6 - (now.getDay() || 7);
  let [first, last] = [from && !when ? new Date(`${from}T00:00`) : now, to && new Date(`${to}T23:59:59`)];
  if (when === 'today') last = day(1);
  if (when === 'month') last = new Date(now.getFullYear(), now.getMonth() + 1, 1);
  if (when === 'weekend') [first, last] = [toSaturday > 0 ? day(toSaturday) : now, day(toSaturday + 2)];
  const moment = (/** @type {Date | ''} */ it) => (it ? it.toISOString() : undefined);
  return parameters({ ...rest, from: moment(first), to: moment(last), sort: rest.query ? '' : 'date', ...more });
}

/** @param {Element} within @param {Element[]} wanted */
function place(within, wanted) {
  const isSame = wanted.length === within.children.length && wanted.every((it, i) => it === within.children[i]);
  if (isSame) return;
  const held = /** @type {HTMLElement} */ (document.activeElement);
  within.replaceChildren(...wanted);
  if (within.contains(held)) held.focus();
}

/**
 * The filters. They are made once: a date that is half typed, and the focus, stay while lists
 * come and go.
 * @param {number} time
 * @param {(changes: Partial<Wanted>) => void} change
 */
export function filters(time, change) {
  let wanted = read('');
  /** What is not counted yet. @type {Count[]} */
  let open = [];
  /** @type {Map<string, HTMLElement>} */
  const chips = new Map();
  /** @param {Name} name @param {string} value @param {string} label @param {number} [count] */
  const chip = (name, value, label, count) => {
    const toggle = () => change({ ...(name === 'when' && noDays), [name]: wanted[name] === value ? '' : value });
    const made =
      chips.get(name + value) ?? el('button', { type: 'button', class: 'chip', click: toggle }, label, el('small'));
    chips.set(name + value, made);
    made.setAttribute('aria-pressed', `${wanted[name] === value}`);
    const write = (/** @type {string} */ words) => {
      /** @type {Element} */ (made.lastChild).textContent = words;
    };
    write(count === undefined ? '' : number(count));
    if (count === undefined) open.push({ changes: { ...noDays, [name]: value }, write });
    return made;
  };
  /** @param {string} label @param {Children} [within] */
  const group = (label, within) => el('div', { class: 'chips', role: 'group', 'aria-label': label }, within);

  // Dates.

  const noDays = { from: '', to: '' };
  const from = dateField('from', t('home.from'));
  const to = dateField('to', t('home.to'));
  const days = el('div', { class: 'days', id: 'days', hidden: true }, from, to);
  const own = el(
    'button',
    { type: 'button', class: 'chip', 'aria-controls': 'days', click: toggleDays },
    t('home.dates'),
  );
  openDays(false);

  /** @param {'from' | 'to'} name @param {string} label */
  function dateField(name, label) {
    // The year 2 on the way to 2030 is before the first day, so that nothing is asked for it.
    const min = new Date(time).toLocaleDateString('sv');
    const heard = (/** @type {{ target: HTMLInputElement }} */ { target }) =>
      target.validity.valid && change({ [name]: target.value, when: '' });
    return el('label', {}, el('span', {}, label), el('input', { type: 'date', min, name, change: heard }));
  }
  /** @param {boolean} isOpen */
  function openDays(isOpen) {
    days.hidden = !isOpen;
    own.setAttribute('aria-expanded', `${isOpen}`);
  }
  function toggleDays() {
    openDays(days.hidden);
    if (!days.hidden) days.querySelector('input')?.focus();
    else if (wanted.from || wanted.to) change(noDays);
  }
  function showDays() {
    for (const input of days.querySelectorAll('input')) {
      const value = wanted[/** @type {'from' | 'to'} */ (input.name)];
      if (input.value !== value && (value || input.validity.valid)) input.value = value;
    }
    if (wanted.from || wanted.to) openDays(true);
    else if (wanted.when) openDays(false);
  }

  // City, price and category.

  /** @param {Name} name @param {string} label */
  const picker = (name, label) =>
    el('select', { class: 'chip', 'aria-label': label, change: ({ target }) => change({ [name]: target.value }) });
  const city = picker('city', t('home.city'));
  const price = picker('max_price', t('home.price'));
  /** @param {HTMLSelectElement} select @param {Name} name @param {[value: string, text: string][]} choices */
  const fill = (select, name, choices) => {
    select.replaceChildren(...choices.map(([value, text]) => el('option', { value }, text)));
    select.value = wanted[name];
  };
  /** @param {string} what @param {string} n */
  const withCount = (what, n) => t('home.counted', { what, n });
  /** @param {string} currency */
  const showPrices = (currency) => {
    const amounts = [...new Set([...PRICES.map((it) => it * 100), Number(wanted.max_price)])].filter(Boolean);
    const text = (/** @type {number} */ amount) => t('home.up_to', { price: money({ amount, currency }) });
    fill(price, 'max_price', [
      ['', t('home.prices')],
      ...(currency ? amounts.map((it) => /** @type {[string, string]} */ ([`${it}`, text(it)])) : []),
    ]);
    for (const option of [...price.options].slice(1)) {
      const what = option.text;
      open.push({
        changes: { max_price: option.value },
        write: (n) => {
          option.text = withCount(what, n);
        },
      });
    }
  };

  const when = group(t('home.when'));
  const categories = group(t('home.category'));
  return {
    parts: [when, days, el('div', { class: 'pickers' }, city, price), categories],
    /** @param {Choice} choice */
    show({ wanted: now, facets, currency = '' }) {
      wanted = now;
      open = [];
      /** What was found, and what is asked for even if nothing was. @param {'city' | 'category'} name */
      const known = (name) => {
        const found = facets?.[name] ?? [];
        const isThere = !wanted[name] || found.some(({ value }) => value === wanted[name]);
        return isThere ? found : [{ value: wanted[name], count: 0 }, ...found];
      };
      place(when, [
        chip('when', 'today', t('home.today')),
        chip('when', 'weekend', t('home.weekend')),
        chip('when', 'month', t('home.month')),
        own,
      ]);
      showDays();
      fill(city, 'city', [
        ['', t('home.cities')],
        ...known('city').map(
          ({ value, count }) => /** @type {[string, string]} */ ([value, withCount(value, number(count))]),
        ),
      ]);
      showPrices(currency);
      place(
        categories,
        known('category').map(({ value, count }) => chip('category', value, value, count)),
      );
    },
    /**
     * Asks how many events each date and price would leave, one after the other, and writes
     * it there.
     * @param {(changes: Partial<Wanted>) => Promise<string | undefined>} ask
     */
    async count(ask) {
      for (const { changes, write } of open) {
        const n = await ask(changes);
        if (n === undefined) return;
        write(n);
      }
    },
  };
}
