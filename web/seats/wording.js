// Seats and prices as people say them.

import { number, money as price } from '../elements.js';
import { counted, t } from '../words.js';
import { ACCESSIBLE, COMPANION, RESTRICTED } from './house.js';

/** @typedef {import('./house.js').House} House */

/** @param {House} house @param {number} place @param {boolean} isChosen */
export function seatWords(house, place, isChosen) {
  const { row, seat, section } = house.seat(place);
  const state = house.state[place],
    marks = house.marks[place];
  const values = { row, seat, price: price(section.price) };
  const states = /** @type {const} */ (['seats.cell_free', 'seats.cell_held', 'seats.cell_sold', 'seats.cell_none']);
  return [
    t(isChosen ? 'seats.cell_chosen' : states[state], values),
    marks & ACCESSIBLE && t('seats.accessible_place'),
    marks & COMPANION && t('seats.companion'),
    marks & RESTRICTED && t('seats.restricted'),
  ]
    .filter(Boolean)
    .join(', ');
}

/** `9–12`, `3, 7–8`: the numbers of these seats of a row. @param {number[]} seats in order of the row */
function numbers(seats) {
  /** @type {number[][]} */
  const runs = [];
  for (const seat of seats) {
    const run = runs[runs.length - 1];
    if (run && Math.abs(seat - run[run.length - 1]) === 1) run.push(seat);
    else runs.push([seat]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}–${run[run.length - 1]}` : run.join(', '))).join(', ');
}

/** The places of a choice, a line a row: `Stalls, row 5, seats 9–12`. @param {House} house @param {number[]} places */
export function rowLines(house, places) {
  /** @type {Map<number, number[]>} */
  const rows = new Map();
  for (const place of places) rows.set(house.rowOf[place], [...(rows.get(house.rowOf[place]) ?? []), place]);
  return [...rows.values()].map((own) => {
    const { section, row } = house.seat(own[0]);
    return counted('seats.in_row', own.length, {
      section: section.name,
      row,
      seats: numbers(own.map((it) => house.seat(it).seat)),
    });
  });
}

/** What the map and the menu say of a section. @param {import('./house.js').Section} section */
export const sectionWords = (section) =>
  section.free
    ? t('seats.from_free', { price: price(section.price, true), n: number(section.free) })
    : t('seats.none_free');
