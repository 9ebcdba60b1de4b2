// Where everything is, in metres: the stage above, the house below it.

import { putBehind } from './arrange.js';

/** @typedef {import('./house.js').House} House */
/** @typedef {import('./house.js').Section} Section */
/** @typedef {{ x0: number, y0: number, x1: number, y1: number }} Box */
/** @typedef {[number, number]} Point */
/** @typedef {(back: number, aside: number) => Point} Ground from metres behind and right of the middle of the front row */
/**
 * `spots`: in the middle, at the back, in front; `turn` in radians.
 * @typedef {{ outline: Point[], box: Box, spots: Point[], turn: number, row: number, seat: number, width: number, depth: number }} Area
 */
/** @typedef {{ x: Float32Array, y: Float32Array, areas: Area[], stage: import('./house.js').Stage, box: Box }} Plan */

const AISLE = 1.2;

/** Where the points of a section are. `turn` is clockwise, `curve` the radius of the first row. @param {Section} section @returns {Ground} */
function groundOf({ shape }) {
  const { x, y, turn = 0, curve = 0 } = /** @type {import('./house.js').Shape} */ (shape);
  const sin = Math.sin((turn * Math.PI) / 180);
  const cos = Math.cos((turn * Math.PI) / 180);
  return (back, aside) => {
    const radius = curve + back;
    const [across, behind] = curve
      ? [radius * Math.sin(aside / radius), radius * Math.cos(aside / radius) - curve]
      : [aside, back];
    return [x + across * cos - behind * sin, y + across * sin + behind * cos];
  };
}

/** How far a seat is right of the middle of its row. @param {number} at @param {import('./house.js').Row} row @param {number} pitch */
const asideOf = (at, { seats, aisles }, pitch) =>
  (at - (seats.length - 1) / 2) * pitch + (aisles.filter((it) => it <= at).length - aisles.length / 2) * AISLE;

/** @param {Point[]} points @returns {Box} */
function boxOf(points) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
}

/** A section, and its border: along its front, down its right side, back along its end and up. @param {Section} section @param {Ground} ground */
function areaOf({ shape, rows }, ground) {
  const { row_pitch: row = 0.9, seat_pitch: seat = 0.55, width = 0, height = 0 } = shape ?? {};
  const halves = rows.length ? rows.map((it) => asideOf(it.seats.length - 1, it, seat) + seat / 2) : [width / 2];
  const step = rows.length ? row : height;
  const first = rows.length ? -row / 2 : 0;
  const last = first + step * halves.length;
  /** @param {number} back @param {number} half from left to right */
  const along = (back, half) => Array.from({ length: 13 }, (_, i) => ground(back, half * (i / 6 - 1)));
  /** @param {number} way */
  const side = (way) =>
    halves.flatMap((half, i) => [ground(first + i * step, half * way), ground(first + (i + 1) * step, half * way)]);
  const front = along(first, halves[0]);
  const end = along(last, halves[halves.length - 1]).reverse();
  const outline = [...front, ...side(1), ...end, ...side(-1).reverse()];
  const depth = last - first;
  const spots = [0.5, 0.8, 0.2].map((part) => ground(first + part * depth, 0));
  const turn = ((shape?.turn ?? 0) * Math.PI) / 180;
  return { outline, box: boxOf(outline), spots, turn, row, seat, width: 2 * Math.max(...halves), depth };
}

/** @param {House} house some of whose sections have shapes @returns {Plan} */
export function planOf(house) {
  const x = new Float32Array(house.places);
  const y = new Float32Array(house.places);
  /** @param {Section} section */
  const drawn = (section) => {
    const ground = groundOf(section);
    const area = areaOf(section, ground);
    for (const row of section.rows) {
      for (let at = 0; at < row.seats.length; at++) {
        [x[row.first + at], y[row.first + at]] = ground(row.number * area.row, asideOf(at, row, area.seat));
      }
    }
    return area;
  };
  const missing = house.sections.filter(({ shape }) => !shape);
  if (missing.length) {
    const { x0, x1, y1 } = boxOf(house.sections.flatMap((it) => (it.shape ? drawn(it).outline : [])));
    putBehind(missing, (x0 + x1) / 2, y1);
  }
  const areas = house.sections.map(drawn);
  const inner = boxOf(areas.flatMap(({ outline }) => outline));
  const stage = house.stage ?? { x: (inner.x0 + inner.x1) / 2 - 5, y: inner.y0 - 6, width: 10, height: 3 };
  const { x: left, y: top, width, height } = stage;
  const box = boxOf([
    [inner.x0, inner.y0],
    [inner.x1, inner.y1],
    [left, top],
    [left + width, top + height],
  ]);
  return { x, y, areas, stage, box };
}
