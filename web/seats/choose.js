// Which seats: the best there are, and the neighbours of the one that was tapped.
//
// `snap` is the rule of crates/domain/src/neighbours.rs, and both are tested against its
// vectors. `bestPlaces` and `offers` follow crates/domain/src/best_available.rs.

import { ACCESSIBLE, COMPANION, FREE, RESTRICTED } from './house.js';

/** @typedef {import('./house.js').House} House */
/** @typedef {import('./house.js').Row} Row */
/** @typedef {'.' | 'a' | '#'} Seat free; free but kept for people who ask; taken */
/** @typedef {{ first: number, reason?: 'avoids_single' | 'single_left' }} Snap */
/** @typedef {{ refused: 'not_free' } | { refused: 'too_few', together: number }} Refusal */
/**
 * `isSparing`: places that are kept for people who ask are not taken.
 * @typedef {object} Wish
 * @property {number} quantity
 * @property {boolean} accessible
 * @property {(section: import('./house.js').Section) => boolean} sections
 * @property {Set<number>} [without]
 * @property {boolean} [isSparing]
 */
/** @typedef {{ row: Row, first: number, score: number[] }} Window */

/**
 * The longest stretch around a seat without an aisle in which every seat passes.
 * @param {ArrayLike<Seat>} seats @param {number[]} aisles @param {number} at @param {(seat: Seat) => boolean} passes
 */
function around(seats, aisles, at, passes) {
  let start = at,
    end = at + 1;
  while (start > 0 && !aisles.includes(start) && passes(seats[start - 1])) start--;
  while (end < seats.length && !aisles.includes(end) && passes(seats[end])) end++;
  return { start, end };
}

/**
 * How many single seats a window leaves of its run. A kept place counts for nothing.
 * @param {{ start: number, end: number }} run @param {number} first @param {number} end @param {(at: number) => boolean} isKept
 */
const singlesLeft = (run, first, end, isKept) =>
  Number(first - run.start === 1 && !isKept(run.start)) + Number(run.end - end === 1 && !isKept(end));

/** @param {number[]} a @param {number[]} b */
export function compare(a, b) {
  const at = a.findIndex((it, i) => it !== b[i]);
  return at < 0 ? 0 : a[at] - b[at];
}

/**
 * The window of so many neighbours for a tap on this seat of a row.
 * @param {ArrayLike<Seat>} seats @param {number[]} aisles @param {boolean} asked for accessible places
 * @param {number} tapped @param {number} quantity @returns {Snap | Refusal}
 */
export function snap(seats, aisles, asked, tapped, quantity) {
  if (!seats[tapped] || seats[tapped] === '#') return { refused: 'not_free' };
  const tapsKept = seats[tapped] === 'a';
  const run = around(seats, aisles, tapped, (seat) => seat !== '#');
  const open = around(seats, aisles, tapped, (seat) => seat === '.' || (seat === 'a' && (asked || tapsKept)));
  const last = open.end - quantity;
  if (last < open.start) return { refused: 'too_few', together: open.end - open.start };
  const nearest = Math.min(Math.max(tapped - Math.floor((quantity - 1) / 2), open.start), last);
  /** @param {number} first */
  const rank = (first) => {
    const misses = Number(tapped < first || tapped >= first + quantity);
    return [
      singlesLeft(run, first, first + quantity, (at) => seats[at] === 'a'),
      misses,
      Math.abs(first - nearest),
      first,
    ];
  };
  let best = rank(nearest);
  for (let first = open.start; first <= last; first++) {
    const next = rank(first);
    if (!(tapsKept && next[1]) && compare(next, best) < 0) best = next;
  }
  const [singles, , , first] = best;
  if (singles) return { first, reason: 'single_left' };
  return first === nearest ? { first } : { first, reason: 'avoids_single' };
}

/** The seats of a row as a person sees them who may take these. @param {House} house @param {Row} row @param {Set<number>} [without] @returns {Seat[]} */
export const seatsOf = (house, row, without) =>
  row.seats.map((_, at) => {
    const place = row.first + at;
    if (house.state[place] !== FREE || without?.has(place)) return '#';
    return house.marks[place] & (ACCESSIBLE | COMPANION) ? 'a' : '.';
  });

/**
 * What a window wastes of the places that are kept for people who ask, and how many of its seats
 * do not see all of the stage; nothing: it may not be given.
 * @param {House} house @param {number} place its first @param {Wish} wish
 */
function marksIn({ marks }, place, { quantity, accessible, isSparing }) {
  const own = marks.subarray(place, place + quantity);
  if (!own.some(Boolean)) return accessible ? undefined : [0, 0];
  const count = (/** @type {number} */ mark) => own.reduce((sum, it) => sum + Number((it & mark) > 0), 0);
  const wheels = count(ACCESSIBLE);
  const kept = count(ACCESSIBLE | COMPANION);
  const restricted = count(RESTRICTED);
  if (!accessible) return isSparing && kept ? undefined : [kept, restricted];
  // One accessible place and companions beside it; then other neighbours; then accessible
  // places that somebody else may need.
  return wheels ? [2 * (wheels - 1) + quantity - kept, restricted] : undefined;
}

/**
 * The best window of a row.
 * @param {House} house @param {Row} row @param {Wish} wish @returns {Window | undefined}
 */
function bestInRow(house, row, wish) {
  const { quantity, without } = wish;
  const seats = seatsOf(house, row, without);
  const isKept = (/** @type {number} */ at) => seats[at] === 'a';
  /** @type {Window | undefined} */
  let best;
  for (let at = 0; at < seats.length; at++) {
    if (seats[at] === '#') continue;
    const run = around(seats, row.aisles, at, (seat) => seat !== '#');
    for (let first = run.start; first + quantity <= run.end; first++) {
      const marks = marksIn(house, row.first + first, wish);
      if (!marks) continue;
      const singles = singlesLeft(run, first, first + quantity, isKept);
      const score = [marks[0], singles, marks[1], house.measure.of(row, first, quantity)];
      if (!best || compare(score, best.score) < 0) best = { row, first, score };
    }
    at = run.end - 1;
  }
  return best;
}

/** The rows that a wish allows. @param {House} house @param {Wish} wish */
const rowsFor = (house, wish) =>
  house.rows.filter(({ section }) => house.sections[section].free && wish.sections(house.sections[section]));

/**
 * The best window of each row that has one, the best first.
 * @param {House} house @param {Wish} wish
 */
export function offers(house, wish) {
  const windows = rowsFor(house, wish).flatMap((row) => bestInRow(house, row, wish) ?? []);
  return windows.sort((a, b) => compare(a.score, b.score));
}

/** The best window of the house: the first of `offers`, without looking at rows that cannot have it. @param {House} house @param {Wish} wish */
function bestWindow(house, wish) {
  /** @type {Window | undefined} */
  let found;
  for (const row of rowsFor(house, wish)) {
    if (found && compare(found.score, [0, 0, 0, house.measure.least(row)]) <= 0) continue;
    const window = bestInRow(house, row, wish);
    if (window && (!found || compare(window.score, found.score) < 0)) found = window;
  }
  return found;
}

/** The places of a window. @param {Window} window @param {number} quantity */
export const placesOf = ({ row, first }, quantity) => Array.from({ length: quantity }, (_, i) => row.first + first + i);

/**
 * The best places for a group: neighbours where there are enough, or else halves of it.
 * @param {House} house @param {Wish} wish @returns {number[] | undefined}
 */
export function bestPlaces(house, wish) {
  const window = bestWindow(house, wish);
  if (window) return placesOf(window, wish.quantity);
  if (wish.quantity < 2) return undefined;
  const larger = bestPlaces(house, { ...wish, quantity: Math.ceil(wish.quantity / 2) });
  if (!larger) return undefined;
  const without = new Set([...(wish.without ?? []), ...larger]);
  // One accessible place is enough; the rest of the group need not have another.
  const smaller = bestPlaces(house, { ...wish, without, accessible: false, quantity: Math.floor(wish.quantity / 2) });
  return smaller && [...larger, ...smaller].sort((a, b) => a - b);
}

/**
 * The neighbours for a tap on this place.
 * @param {House} house @param {number} place @param {Wish} wish
 * @returns {{ places: number[], reason?: Snap['reason'] } | Refusal}
 */
export function neighbours(house, place, { quantity, accessible, without }) {
  const row = house.rows[house.rowOf[place]];
  const found = snap(seatsOf(house, row, without), row.aisles, accessible, place - row.first, quantity);
  if ('refused' in found) return found;
  return { places: placesOf({ row, first: found.first, score: [] }, quantity), reason: found.reason };
}

/** Whether these are side by side in one row. @param {House} house @param {number[]} places */
export function areTogether({ rows, rowOf }, [first, ...rest]) {
  const row = rows[rowOf[first]];
  return rest.every((it, i) => it === first + i + 1 && rows[rowOf[it]] === row && !row.aisles.includes(it - row.first));
}
