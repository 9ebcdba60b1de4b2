// The house: its sections, rows and places as flat arrays, and what is free in it.
//
// A place is known by its index, as in the API. Nothing here draws or asks.

import { planOf } from './geometry.js';
import { measureOf } from './measure.js';

/** @typedef {import('../page.js').Money} Money */
/** @typedef {{ row_pitch?: number, seat_pitch?: number, aisles?: number[], width?: number, height?: number }} Sizes */
/** @typedef {{ x: number, y: number, turn?: number, curve?: number } & Sizes} Shape */
/**
 * A section as the API tells it.
 * @typedef {object} ToldSection
 * @property {string} name
 * @property {'seated' | 'general'} kind
 * @property {number} first
 * @property {number} places
 * @property {{ label: string, first: number, seats: number[] }[]} [rows]
 * @property {string[]} accessible
 * @property {Shape} [shape]
 * @property {{ restricted_view?: string[], companion?: string[] }} [attributes]
 */
/** @typedef {{ x: number, y: number, width: number, height: number }} Stage */
/** @typedef {{ section: string, row: string, seat: number }} Focal */
/** @typedef {{ places: number, sections: ToldSection[], stage?: Stage, focal_point?: Focal, isArranged?: boolean }} Layout */
/**
 * An aisle is before the seats at these positions.
 * @typedef {{ section: number, number: number, label: string, first: number, seats: number[], aisles: number[] }} Row
 */
/** @typedef {Omit<ToldSection, 'rows'> & { index: number, rows: Row[], price: Money, colour: number, free: number }} Section */

export const FREE = 0,
  HELD = 1,
  SOLD = 2,
  NOT_FOR_SALE = 3;
export const ACCESSIBLE = 1,
  COMPANION = 2,
  RESTRICTED = 4;
const COLOURS = 6;
/** A whole map may be older than the last changes by far less than this. */
const RECENT_MS = 60_000;

export class House {
  /** @type {import('./geometry.js').Plan | undefined} */
  #plan;
  /** @type {import('./measure.js').Measure | undefined} */
  #measure;
  /** Changes that a whole map may not have yet. @type {{ version: number, changes: [number, number][] }[]} */
  #recent = [];

  /** @param {Layout} layout @param {Record<string, Money>} prices */
  constructor(layout, prices) {
    // The cheapest first; where there are more prices than colours, neighbours share one.
    const amounts = [...new Set(layout.sections.map(({ name }) => prices[name].amount))].sort((a, b) => a - b);
    const share = Math.min(1, COLOURS / amounts.length);
    /** @type {Row[]} */
    this.rows = [];
    this.stage = layout.stage;
    /** The venue has a plan of all its seats: distances are metres. */
    this.isDrawn = !layout.isArranged && layout.sections.every(({ kind, shape }) => kind === 'general' || shape);
    this.places = layout.places;
    this.state = new Uint8Array(layout.places).fill(NOT_FOR_SALE);
    /** The row of a seat; general places have none. */
    this.rowOf = new Int32Array(layout.places).fill(-1);
    this.marks = new Uint8Array(layout.places);
    this.version = 0;
    /** @type {Section[]} */
    this.sections = layout.sections.map((told, index) => {
      const rows = (told.rows ?? []).map(({ label, first, seats }, number) => {
        const after = told.shape?.aisles ?? [];
        const aisles = seats.map((_, at) => at).filter((at) => at > 0 && after.includes(seats[at - 1]));
        const row = { section: index, number, label, first, seats, aisles };
        this.rowOf.fill(this.rows.length, first, first + seats.length);
        this.rows.push(row);
        return row;
      });
      const price = prices[told.name];
      const colour = Math.floor(amounts.indexOf(price.amount) * share);
      return { ...told, index, rows, price, colour, free: 0 };
    });
    for (const { accessible, attributes } of this.sections) {
      this.#mark(accessible, ACCESSIBLE);
      this.#mark(attributes?.companion, COMPANION);
      this.#mark(attributes?.restricted_view, RESTRICTED);
    }
    const point = layout.focal_point;
    this.focal = point ? this.find(`${point.section}-${point.row}-${point.seat}`) : -1;
    this.isNumbered = this.rows.length > 0;
  }

  /** @param {string[] | undefined} seats @param {number} mark */
  #mark(seats = [], mark) {
    for (const seat of seats) this.marks[this.find(seat)] |= mark;
  }

  /** Where everything is. */
  get plan() {
    this.#plan ??= planOf(this);
    return this.#plan;
  }

  /** How far seats are from where one would like to sit. */
  get measure() {
    this.#measure ??= measureOf(this);
    return this.#measure;
  }

  /** @param {number} place */
  sectionOf(place) {
    const row = this.rowOf[place];
    if (row >= 0) return this.sections[this.rows[row].section];
    return /** @type {Section} */ (this.sections.findLast(({ kind, first }) => kind === 'general' && first <= place));
  }

  /** Which seat of which row: what the cells of the grid and the bill say. @param {number} place */
  seat(place) {
    const row = this.rows[this.rowOf[place]];
    const section = this.sections[row.section];
    const number = row.seats[place - row.first];
    return { row: row.label, seat: number, section, id: `${section.name}-${row.label}-${number}` };
  }

  /** The place with this id, or -1. @param {string} id */
  find(id) {
    const [name, label, number] = id.split('-');
    const row = this.sections.find((it) => it.name === name)?.rows.find((it) => it.label === label);
    const at = row?.seats.indexOf(Number(number)) ?? -1;
    return row && at >= 0 ? row.first + at : -1;
  }

  /** Reads a whole map of two bits a place. Returns the places that changed. @param {Uint8Array} bits @param {number} version */
  read(bits, version) {
    const before = this.state.slice();
    for (let place = 0; place < this.places; place++) this.state[place] = (bits[place >> 2] >> (2 * (place & 3))) & 3;
    this.version = version;
    // The map comes from a cache: what the feed has told since then is newer.
    for (const { version: at, changes } of this.#recent) {
      if (at <= version) continue;
      for (const [place, state] of changes) this.state[place] = state;
      this.version = at;
    }
    this.#count();
    return [...before.keys()].filter((place) => before[place] !== this.state[place]);
  }

  /** Takes changes of the feed. Returns the places that are not as they were. @param {[number, number][]} changes @param {number} version */
  change(changes, version) {
    this.#recent = [...this.#recent.filter((it) => it.version > version - RECENT_MS), { version, changes }];
    const changed = [];
    for (const [place, state] of changes) {
      if (place >= this.places || state === this.state[place]) continue;
      const section = this.sectionOf(place);
      section.free += Number(state === FREE) - Number(this.state[place] === FREE);
      this.state[place] = state;
      changed.push(place);
    }
    this.version = Math.max(version, this.version);
    return changed;
  }

  #count() {
    for (const section of this.sections) {
      section.free = 0;
      for (let place = section.first; place < section.first + section.places; place++)
        section.free += Number(this.state[place] === FREE);
    }
  }

  get free() {
    return this.sections.reduce((sum, { free }) => sum + free, 0);
  }

  /** Why there is nothing to choose: all is sold, or reserved just now; or there is something. */
  get gone() {
    return this.free ? FREE : this.state.includes(HELD) ? HELD : SOLD;
  }

  /** What there is at each price, the cheapest first. */
  get offers() {
    /** @type {Map<number, { price: Money, colour: number, free: number }>} */
    const offers = new Map();
    for (const { price, colour, free } of this.sections) {
      const offer = offers.get(price.amount) ?? { price, colour, free: 0 };
      offer.free += free;
      offers.set(price.amount, offer);
    }
    return [...offers.values()].sort((a, b) => a.price.amount - b.price.amount);
  }
}
