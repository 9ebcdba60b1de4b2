// The shows of an event as a month of days, for events with many of them. A day is one of
// the venue's calendar.

import { el, moment } from '../elements.js';
import { counted, locale, t } from '../words.js';

/** @typedef {{ day: string, shows: Api['EventShow'][] }} Day */

/** `2026-12-17` where the venue is. @param {string} time @param {string} [timeZone] */
export const dayOf = (time, timeZone) =>
  new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(new Date(time));

/** Days are counted at noon in UTC, where no clock is ever changed. @param {string} day */
const noon = (day) => new Date(`${day}T12:00:00Z`);
/** @param {Date} date */
const iso = (date) => date.toISOString().slice(0, 10);

/** 1 is Monday, 7 is Sunday. */
function firstDayOfWeek() {
  const known = /** @type {any} */ (new Intl.Locale(locale));
  return (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 1;
}

/** The weeks of a month, with empty days where others begin or end. @param {string} month `2026-12` */
function weeksOf(month) {
  const first = noon(`${month}-01`);
  const before = (first.getUTCDay() - (firstDayOfWeek() % 7) + 7) % 7;
  /** @type {string[]} */
  const days = Array(before).fill('');
  for (const day = new Date(first); iso(day).startsWith(month); day.setUTCDate(day.getUTCDate() + 1))
    days.push(iso(day));
  return Array.from({ length: Math.ceil(days.length / 7) }, (_, i) => days.slice(i * 7, i * 7 + 7));
}

/** The names of the days from the first of the week on. @param {'short' | 'long'} weekday */
const weekdays = (weekday) =>
  Array.from({ length: 7 }, (_, i) =>
    moment(`2026-06-0${((firstDayOfWeek() - 1 + i) % 7) + 1}T12:00:00Z`, 'UTC', { weekday }),
  );

/**
 * The month of the chosen day. `choose` is called with a day, or with the first of a month.
 * @param {Map<string, number>} days how many shows each day has
 * @param {string} chosen a day, or a month
 * @param {(chosen: string) => void} choose
 */
export function calendar(days, chosen, choose) {
  const month = chosen.slice(0, 7);
  const months = [...new Set([...days.keys()].map((day) => day.slice(0, 7)))].sort();
  const at = months.indexOf(month);
  /** @param {string | undefined} to @param {string} label @param {string} arrow */
  const step = (to, label, arrow) =>
    el(
      'button',
      { type: 'button', class: 'chip', 'aria-label': label, disabled: !to, click: () => to && choose(to) },
      arrow,
    );
  const long = weekdays('long');
  /** @param {string} day */
  const cell = (day) => {
    const n = days.get(day);
    const number = day && String(Number(day.slice(8)));
    if (!n) return el('td', {}, number);
    const label = `${moment(`${day}T12:00:00Z`, 'UTC', { weekday: 'long', day: 'numeric', month: 'long' })}, ${counted('event.shows', n)}`;
    const press = () => choose(day === chosen ? month : day);
    return el(
      'td',
      {},
      el(
        'button',
        { type: 'button', 'aria-label': label, 'aria-pressed': String(day === chosen), click: press },
        number,
      ),
    );
  };
  return el(
    'div',
    { class: 'calendar' },
    el(
      'div',
      { class: 'months' },
      step(months[at - 1], t('event.earlier'), '←'),
      el(
        'strong',
        { id: 'month', 'aria-live': 'polite' },
        moment(`${month}-15T12:00:00Z`, 'UTC', { month: 'long', year: 'numeric' }),
      ),
      step(months[at + 1], t('event.later'), '→'),
    ),
    el(
      'table',
      { 'aria-labelledby': 'month' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          weekdays('short').map((name, i) => el('th', { scope: 'col' }, el('abbr', { title: long[i] }, name))),
        ),
      ),
      el(
        'tbody',
        {},
        weeksOf(month).map((week) => el('tr', {}, week.map(cell))),
      ),
    ),
  );
}
