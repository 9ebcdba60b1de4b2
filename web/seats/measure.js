// How far seats are from where one would like to sit: in metres where the venue has a plan of
// all its seats, in rows and seats otherwise. As crates/domain/src/best_available/distance.rs.

/** @typedef {import('./house.js').House} House */
/** @typedef {import('./house.js').Row} Row */
/**
 * No window of a row is nearer than `least`; `of` is the distance of so many seats from a position on.
 * @typedef {{ least: (row: Row) => number, of: (row: Row, first: number, quantity: number) => number }} Measure
 */

/** Two neighbours in a row are two apart, two rows four, two sections more than any of that. */
const ROW_DISTANCE = 4;
const SECTION_DISTANCE = 100_000;

/** Twice how far the middle of some seats is right of the middle of their row. @param {Row} row @param {number} first @param {number} quantity */
const side = ({ seats }, first, quantity) => 2 * first + quantity - seats.length;

/** @param {House} house @returns {Measure} */
export function measureOf(house) {
  const { focal } = house;
  const row = focal >= 0 ? house.rows[house.rowOf[focal]] : house.rows[0];
  if (!row) return { least: () => 0, of: () => 0 };
  if (house.isDrawn) return inMetres(house, house.sections[house.rows[0].section]);
  const aside = focal >= 0 ? side(row, focal - row.first, 1) : 0;
  /** @param {Row} it */
  const least = (it) =>
    Math.abs(it.section - row.section) * SECTION_DISTANCE + Math.abs(it.number - row.number) * ROW_DISTANCE;
  return { least, of: (it, first, quantity) => least(it) + Math.abs(side(it, first, quantity) - aside) };
}

/** @param {House} house @param {import('./house.js').Section} section the first with seats @returns {Measure} */
function inMetres({ focal, stage, plan: { x, y } }, { shape }) {
  const [fx, fy] =
    focal >= 0
      ? [x[focal], y[focal]]
      : stage
        ? [stage.x + stage.width / 2, stage.y + stage.height / 2]
        : [shape?.x ?? 0, shape?.y ?? 0];
  return {
    least: () => 0,
    of: (row, first, quantity) => {
      const left = row.first + first + Math.floor((quantity - 1) / 2);
      const right = row.first + first + Math.ceil((quantity - 1) / 2);
      return Math.round(Math.hypot((x[left] + x[right]) / 2 - fx, (y[left] + y[right]) / 2 - fy) * 1_000);
    },
  };
}
