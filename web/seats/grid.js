// The twin of the map in the DOM: the rows and seats of one section as a grid for the keyboard
// and for screen readers. The map shows its focus; the grid itself is not seen.

import { el } from '../elements.js';
import { t } from '../words.js';
import { seatWords, sectionWords } from './wording.js';

/** @typedef {import('./house.js').House} House */
/** @typedef {import('./house.js').Section} Section */

/** A section may have hundreds of rows: as many as this are in the page, around the focus. */
const ROWS = 32,
  PAGE = 8;

export class Grid {
  /** @type {Section | undefined} */
  section;

  /** @param {House} house @param {(place: number) => boolean} isChosen @param {(place: number) => void} pick @param {(place: number) => void} focused */
  constructor(house, isChosen, pick, focused) {
    this.house = house;
    this.isChosen = isChosen;
    this.pick = pick;
    this.focused = focused;
    this.from = 0;
    this.place = -1;
    /** @type {Map<number, HTMLElement>} */
    this.cells = new Map();
    this.element = el('div', {
      class: 'twin',
      role: 'grid',
      'aria-multiselectable': 'true',
      'aria-describedby': 'grid-keys',
    });
    this.element.addEventListener('keydown', (event) => this.#press(event));
    for (const kind of ['click', 'focusin'])
      this.element.addEventListener(kind, ({ target }) => {
        const place = Number(/** @type {HTMLElement} */ (target).dataset.place);
        if (!(place >= 0)) return;
        this.#reach(place);
        if (kind === 'click') pick(place);
        else focused(place);
      });
    this.element.addEventListener('focusout', () => focused(-1));
  }

  /** Shows a section; the focus will come to this place of it. @param {Section} section @param {number} [place] */
  show(section, place = section.rows[0]?.first ?? -1) {
    if (section !== this.section) this.from = -1;
    this.section = section;
    this.element.hidden = place < 0;
    if (place < 0) return;
    this.element.ariaLabel = section.name;
    this.element.ariaRowCount = String(section.rows.length);
    this.#reach(place);
  }

  /** Makes this place the one that has the focus when the grid has it. @param {number} place */
  #reach(place) {
    const section = /** @type {Section} */ (this.section);
    const { number } = this.house.rows[this.house.rowOf[place]];
    const last = Math.max(0, section.rows.length - ROWS);
    if (this.from < 0 || number < this.from || number >= this.from + ROWS) {
      this.from = Math.min(last, Math.max(0, number - ROWS / 2));
      this.#fill();
    }
    this.cells.get(this.place)?.setAttribute('tabindex', '-1');
    this.place = place;
    this.cells.get(place)?.setAttribute('tabindex', '0');
  }

  #fill() {
    const section = /** @type {Section} */ (this.section);
    this.cells.clear();
    const rows = section.rows.slice(this.from, this.from + ROWS).map((row) =>
      el(
        'div',
        { role: 'row', 'aria-rowindex': row.number + 1 },
        row.seats.map((_, at) => {
          const place = row.first + at;
          const cell = el('span', { role: 'gridcell', tabindex: -1, 'data-place': place });
          this.cells.set(place, cell);
          this.#tell(place, cell);
          return cell;
        }),
      ),
    );
    this.element.replaceChildren(...rows);
  }

  /** @param {number} place @param {HTMLElement} cell */
  #tell(place, cell) {
    const isChosen = this.isChosen(place);
    const words = seatWords(this.house, place, isChosen);
    if (cell.ariaLabel !== words) cell.ariaLabel = words;
    cell.ariaSelected = String(isChosen);
  }

  /** These places, or all, are not as they were. @param {Iterable<number>} [places] */
  update(places = this.cells.keys()) {
    for (const place of places) {
      const cell = this.cells.get(place);
      if (cell) this.#tell(place, cell);
    }
  }

  /** @param {number} place */
  focus(place) {
    this.#reach(place);
    this.cells.get(place)?.focus({ preventScroll: true });
    this.focused(place);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const { key } = event;
    if (key === ' ' || key === 'Enter') this.pick(this.place);
    else {
      const next = this.#next(key, event.ctrlKey);
      if (next === undefined) return;
      if (next !== this.place) this.focus(next);
    }
    event.preventDefault();
  }

  /** Where a key leads from here. @param {string} key @param {boolean} far @returns {number | undefined} */
  #next(key, far) {
    const { rows } = /** @type {Section} */ (this.section);
    const row = this.house.rows[this.house.rowOf[this.place]];
    const at = this.place - row.first;
    /** @param {number} by Up and down one stays as far from the middle as one was. */
    const toRow = (by) => {
      const other = rows[Math.min(rows.length - 1, Math.max(0, row.number + by))];
      const shifted = Math.round(at + (other.seats.length - row.seats.length) / 2);
      return other.first + Math.min(other.seats.length - 1, Math.max(0, shifted));
    };
    const end = rows[rows.length - 1];
    switch (key) {
      case 'ArrowLeft':
        return Math.max(row.first, this.place - 1);
      case 'ArrowRight':
        return Math.min(row.first + row.seats.length - 1, this.place + 1);
      case 'ArrowUp':
        return toRow(-1);
      case 'ArrowDown':
        return toRow(1);
      case 'PageUp':
        return toRow(-PAGE);
      case 'PageDown':
        return toRow(PAGE);
      case 'Home':
        return far ? rows[0].first : row.first;
      case 'End':
        return far ? end.first + end.seats.length - 1 : row.first + row.seats.length - 1;
      default:
        return undefined;
    }
  }
}

/** How the grid is used, for those who hear it. */
export const gridKeys = () => el('p', { class: 'unseen', id: 'grid-keys' }, t('seats.grid_keys'));

/**
 * The sections as a menu; the whole house is -1.
 * @param {import('./house.js').House} house @param {string} id @param {string} name @param {(index: number) => void} go
 */
export function sectionMenu(house, id, name, go) {
  const label = (/** @type {import('./house.js').Section} */ it) => `${it.name} · ${sectionWords(it)}`;
  const options = house.sections.map((it) => el('option', { value: it.index }, label(it)));
  const menu = el(
    'select',
    { id, 'aria-label': name, change: () => go(Number(menu.value)) },
    el('option', { value: -1 }, t('seats.whole_house')),
    options,
  );
  return {
    menu,
    update: () =>
      house.sections.forEach((it, i) => {
        const words = label(it);
        if (options[i].textContent !== words) options[i].textContent = words;
      }),
  };
}
