// The map: the picture, what part of it is seen, and what a tap means.

import { el, money as price } from '../elements.js';
import { t } from '../words.js';
import { Picture } from './drawing.js';
import { signButton } from './sign.js';
import { Viewport } from './viewport.js';
import { rowLines } from './wording.js';

/** A finger hits what is this large; a mouse is finer. */
const FINGER = 44;
const MOUSE = 14;
/** From here on there is a column beside the map, and no sheet. */
const WIDE = 960;

export class SeatMap {
  /**
   * @param {import('./choice.js').Choice} choice
   * @param {() => Promise<typeof import('./pointing.js')>} pointing
   * @param {(section: import('./house.js').Section, place: number) => void} picked
   */
  constructor(choice, pointing, picked) {
    this.choice = choice;
    this.pointing = pointing;
    this.house = choice.house;
    this.picked = picked;
    this.plan = this.house.plan;
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.tip = el('p', { class: 'tip', 'aria-hidden': 'true', hidden: true });
    this.hits = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
    this.above = {
      chosen: new Set(choice.places),
      pointed: /** @type {number[]} */ ([]),
      focused: -1,
      /** @type {number | undefined} */ chosenSection: undefined,
      isWhole: true,
      dims: this.#dims,
    };
    this.picture = new Picture(this.canvas, this.house, this.plan, this.above);
    this.viewport = new Viewport(
      this.canvas,
      this.plan,
      () => {
        this.above.isWhole = this.viewport.isWhole;
        this.picture.move(this.viewport.view);
      },
      (tap) => this.#tap(tap),
    );
    const { viewport } = this;
    this.tools = el(
      'div',
      { class: 'tools' },
      signButton('+', t('seats.zoom_in'), () => viewport.go(viewport.zoomed(1.8))),
      signButton('−', t('seats.zoom_out'), () => viewport.go(viewport.zoomed(1 / 1.8))),
      signButton('⤢', t('seats.whole_house'), () => viewport.go(viewport.fitting(this.plan.box))),
    );
    this.element = el('div', { class: 'map' }, this.canvas, this.tools, this.tip);
    this.#listen();
  }

  /** @param {number} place @param {import('./house.js').Section} section */
  #dims = (place, section) =>
    !this.choice.admits(section) ||
    (this.choice.isAccessible && section.kind === 'seated' && !(this.house.marks[place] & 3));

  #listen() {
    new ResizeObserver(([{ contentRect }]) => {
      if (!contentRect.width) return;
      this.picture.resize(contentRect.width, contentRect.height);
      this.viewport.resize(contentRect.width, contentRect.height);
    }).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.picture.refresh());
    for (const kind of ['pointermove', 'pointerleave', 'pointerdown']) {
      this.canvas.addEventListener(kind, async (event) => {
        // Where the sheet is there is no room for what a mouse is told.
        if (/** @type {PointerEvent} */ (event).pointerType !== 'mouse' || innerWidth < WIDE) return;
        const { point } = await this.pointing();
        point(this, /** @type {PointerEvent} */ (event), rowLines, price);
      });
    }
  }

  /** The section there. @param {number} x @param {number} y of the plan */
  sectionAt(x, y) {
    return this.house.sections.find((_, i) => this.hits.isPointInPath(this.picture.outlines[i], x, y));
  }

  /** The seat there, or -1. @param {number} x @param {number} y of the plan @param {import('./house.js').Section} section */
  seatAt(x, y, section) {
    const { seat, row } = this.plan.areas[section.index];
    let found = -1,
      nearest = Math.max(seat, row) * 0.62;
    for (let place = section.first; place < section.first + section.places; place++) {
      const far = Math.hypot(this.plan.x[place] - x, this.plan.y[place] - y);
      if (far < nearest) [found, nearest] = [place, far];
    }
    return found;
  }

  /** @param {import('./viewport.js').Tap} tap */
  #tap({ x, y, touch }) {
    const [mx, my] = this.viewport.at(x, y);
    const section = this.sectionAt(mx, my);
    if (!section) return;
    if (section.kind === 'general') return this.choice.tapGeneral(section);
    const { seat, box } = this.plan.areas[section.index];
    const { scale } = this.viewport.view;
    const needed = (touch ? FINGER : MOUSE) / seat;
    if (scale < needed * 0.99) {
      // The section first, then the seats: nobody loses the way.
      const whole = this.viewport.fitting(box);
      this.viewport.go(scale < whole.scale * 0.8 ? whole : this.viewport.around(mx, my, needed * 1.04));
      return this.picked(section, -1);
    }
    const place = this.seatAt(mx, my, section);
    if (place < 0) return;
    this.picked(section, place);
    this.choice.tap(place);
  }

  /** Shows a section, or the whole house. @param {number} index */
  showSection(index) {
    this.viewport.go(this.viewport.fitting(index < 0 ? this.plan.box : this.plan.areas[index].box));
  }

  /** Shows where a place is; the keyboard's focus is there. @param {number} place */
  focus(place) {
    this.above.focused = place;
    const { x, y, areas } = this.plan;
    if (place >= 0) this.viewport.reveal(x[place], y[place], 20 / areas[this.house.sectionOf(place).index].seat);
    this.picture.ask();
  }

  /** The choice is another one. */
  choose() {
    this.above.chosen = new Set(this.choice.places);
    this.above.chosenSection = this.choice.general?.index;
    this.above.pointed = [];
    this.tip.hidden = true;
    this.picture.ask();
  }
}
