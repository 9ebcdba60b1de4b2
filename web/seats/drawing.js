// The picture of the house on a canvas.
//
// Seats are painted into a bitmap that is somewhat larger than the map. While the map moves,
// only bitmaps are moved; they are painted anew when it rests. What is chosen, focused or
// pointed at, and the names of sections, lie above and are painted with every frame.

import { t } from '../words.js';
import { FREE, NOT_FOR_SALE } from './house.js';
import { paintLabel, placeLabels } from './labels.js';
import { look, paintFocus, paintMine, paintRing, readLook, spriteOf, sprites, write } from './look.js';

/** @typedef {import('./house.js').House} House */
/** @typedef {import('./geometry.js').Plan} Plan */
/** @typedef {import('./viewport.js').View} View */
/** @typedef {{ canvas: HTMLCanvasElement, view: View, isWhole: boolean }} Bitmap */
/** @typedef {import('./house.js').Section} Section */
/**
 * What lies above the bitmaps, and whether a place is one that the reader does not want.
 * @typedef {object} Above
 * @property {Set<number>} chosen
 * @property {number[]} pointed
 * @property {number} focused
 * @property {number} [chosenSection]
 * @property {boolean} isWhole the whole house is in view
 * @property {(place: number, section: Section) => boolean} dims
 */

/** Below so many pixels a seat is no dot but a part of its section. */
const DOTS = 2.4;
/** From so many pixels on, a seat shows its number. */
const NUMBERS = 14;
/** From so many pixels on, rows have their names beside them. */
const ROW_NAMES = 11;
const REST_MS = 90;
/** So much more than the map is painted on each side. */
const MORE = 0.25;
/** So many pixels are left around the house. */
const PAD = 24;

export class Picture {
  /** @type {Bitmap | undefined} */
  layer;
  /** @type {Bitmap | undefined} */
  whole;
  /** @type {ReturnType<typeof placeLabels> | undefined} */
  labels;

  /** @param {HTMLCanvasElement} canvas @param {House} house @param {Plan} plan @param {Above} above */
  constructor(canvas, house, plan, above) {
    this.canvas = canvas;
    this.house = house;
    this.plan = plan;
    this.above = above;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    /** @type {View} */
    this.view = { scale: 1, left: 0, top: 0 };
    this.width = this.height = this.ratio = 1;
    this.due = 0;
    this.rest = 0;
    this.stale = false;
    this.outlines = plan.areas.map(({ outline }) => {
      const path = new Path2D();
      for (const [x, y] of outline) path.lineTo(x, y);
      path.closePath();
      return path;
    });
    readLook();
  }

  /** @param {number} width @param {number} height in CSS pixels */
  resize(width, height) {
    this.ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.refresh();
  }

  /** Everything looks different: colours, filter, size. */
  refresh() {
    readLook();
    sprites.clear();
    this.layer = this.whole = undefined;
    this.ask();
  }

  /** @param {View} view */
  move(view) {
    this.view = view;
    this.#soon();
  }

  /** These places have another state now. @param {number[]} places */
  patch(places) {
    if (places.length > 3_000) {
      this.stale = true;
      return this.ask();
    }
    for (const bitmap of new Set([this.layer, this.whole])) {
      if (!bitmap) continue;
      const context = /** @type {CanvasRenderingContext2D} */ (bitmap.canvas.getContext('2d'));
      for (const place of places) this.#repaint(context, bitmap.view, place);
    }
    this.ask();
  }

  /** Something has changed: a frame is painted soon. */
  ask() {
    this.labels = undefined;
    this.#soon();
  }

  #soon() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.#frame();
    });
  }

  /** @param {Bitmap | undefined} bitmap */
  #covers(bitmap) {
    if (!bitmap || bitmap.view.scale !== this.view.scale) return false;
    if (bitmap.isWhole) return true;
    const dx = this.view.left - bitmap.view.left,
      dy = this.view.top - bitmap.view.top;
    const wide = bitmap.canvas.width / this.ratio,
      high = bitmap.canvas.height / this.ratio;
    return dx <= 0 && dy <= 0 && dx + wide >= this.width && dy + high >= this.height;
  }

  #frame() {
    if (!this.layer) this.#paint();
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = look.room;
    context.fillRect(0, 0, this.width, this.height);
    const isSharp = this.#covers(this.layer);
    if (!isSharp && this.whole !== this.layer) this.#show(this.whole);
    this.#show(this.layer);
    this.#paintAbove();
    clearTimeout(this.rest);
    if (!isSharp || this.stale)
      this.rest = setTimeout(() => {
        this.#paint();
        this.ask();
      }, REST_MS);
  }

  /** On a whole pixel of the screen, so that nothing is blurred. @param {number} at */
  #snap = (at) => Math.round(at * this.ratio) / this.ratio;

  /** @param {Bitmap | undefined} bitmap */
  #show(bitmap) {
    if (!bitmap) return;
    const by = this.view.scale / bitmap.view.scale;
    const x = this.view.left - bitmap.view.left * by,
      y = this.view.top - bitmap.view.top * by;
    const snap = (/** @type {number} */ at) => (by === 1 ? this.#snap(at) : at);
    this.context.drawImage(
      bitmap.canvas,
      snap(x),
      snap(y),
      (bitmap.canvas.width / this.ratio) * by,
      (bitmap.canvas.height / this.ratio) * by,
    );
  }

  /** Paints the bitmap for what is seen now and a little around it. */
  #paint() {
    const { scale } = this.view;
    const { box } = this.plan;
    const left = Math.max(-this.width * MORE, this.view.left + box.x0 * scale - PAD);
    const top = Math.max(-this.height * MORE, this.view.top + box.y0 * scale - PAD);
    const right = Math.min(this.width * (1 + MORE), this.view.left + box.x1 * scale + PAD);
    const bottom = Math.min(this.height * (1 + MORE), this.view.top + box.y1 * scale + PAD);
    const isWhole =
      left > -this.width * MORE &&
      top > -this.height * MORE &&
      right < this.width * (1 + MORE) &&
      bottom < this.height * (1 + MORE);
    const canvas = this.layer && this.layer !== this.whole ? this.layer.canvas : document.createElement('canvas');
    canvas.width = Math.max(1, Math.ceil((right - left) * this.ratio));
    canvas.height = Math.max(1, Math.ceil((bottom - top) * this.ratio));
    const view = { scale, left: this.view.left - left, top: this.view.top - top };
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = look.room;
    context.fillRect(0, 0, right - left + 1, bottom - top + 1);
    this.#paintHouse(context, view, right - left, bottom - top);
    this.layer = { canvas, view, isWhole };
    if (isWhole && (!this.whole || this.stale || scale >= this.whole.view.scale)) this.whole = this.layer;
    this.stale = false;
  }

  /** @param {CanvasRenderingContext2D} context @param {View} view @param {number} width @param {number} height */
  #paintHouse(context, view, width, height) {
    this.#paintStage(context, view);
    const { scale, left, top } = view;
    this.house.sections.forEach((section, i) => {
      const { box, seat } = this.plan.areas[i];
      if (
        box.x1 * scale + left < -30 ||
        box.x0 * scale + left > width + 30 ||
        box.y1 * scale + top < -30 ||
        box.y0 * scale + top > height + 30
      )
        return;
      this.#paintSection(context, view, i);
      if (section.kind === 'general' || seat * scale < DOTS) return;
      const reach = seat * scale;
      for (const row of section.rows) {
        for (let place = row.first; place < row.first + row.seats.length; place++) {
          const x = this.plan.x[place] * scale + left,
            y = this.plan.y[place] * scale + top;
          if (x > -reach && x < width + reach && y > -reach && y < height + reach)
            this.#paintSeat(context, x, y, reach, place, section);
        }
      }
      if (reach >= ROW_NAMES) this.#paintRows(context, view, i);
    });
  }

  /** @param {CanvasRenderingContext2D} context @param {View} view */
  #paintStage(context, { scale, left, top }) {
    const { stage } = this.plan;
    const [x, y, width, height] = [
      stage.x * scale + left,
      stage.y * scale + top,
      stage.width * scale,
      stage.height * scale,
    ];
    context.fillStyle = look.stub;
    context.beginPath();
    context.roundRect(x, y, width, height, [
      Math.min(8, height / 3),
      Math.min(8, height / 3),
      height * 0.45,
      height * 0.45,
    ]);
    context.fill();
    const size = Math.min(height * 0.5, 18, width / 5);
    if (size < 7) return;
    write(context, t('seats.stage'), x + width / 2, y + height / 2, `600 ${size}`, look['on-stub']);
  }

  /** @param {CanvasRenderingContext2D} context @param {View} view @param {number} index */
  #paintSection(context, { scale, left, top }, index) {
    const section = this.house.sections[index];
    const { seat } = this.plan.areas[index];
    const isSolid = section.kind === 'general' || seat * scale < DOTS;
    context.save();
    context.translate(left, top);
    context.scale(scale, scale);
    context.lineJoin = 'round';
    context.lineWidth = Math.min(0.7, 6 / scale);
    context.strokeStyle = context.fillStyle = look.card;
    context.stroke(this.outlines[index]);
    context.fill(this.outlines[index]);
    if (isSolid && section.free) {
      context.globalAlpha = this.above.dims(section.first, section)
        ? 0.08
        : 0.22 + 0.5 * (section.free / section.places);
      context.fillStyle = look.prices[section.colour];
      context.fill(this.outlines[index]);
      context.globalAlpha = 1;
    }
    context.lineWidth = 1 / scale;
    context.strokeStyle = look.line;
    context.stroke(this.outlines[index]);
    context.restore();
  }

  /** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} pitch @param {number} place @param {Section} section */
  #paintSeat(context, x, y, pitch, place, section) {
    const state = this.house.state[place];
    if (state === NOT_FOR_SALE) return;
    const marks = this.house.marks[place];
    const dim = state === FREE && this.above.dims(place, section);
    const size = pitch * 0.84;
    if (size < 5) {
      context.fillStyle = state === FREE && !dim ? look.prices[section.colour] : look.line;
      const side = state === FREE ? size : size * 0.6;
      context.fillRect(x - side / 2, y - side / 2, side, side);
      return;
    }
    const sprite = spriteOf({ state, marks, dim, colour: section.colour, size, ratio: this.ratio });
    const half = sprite.width / this.ratio / 2;
    context.drawImage(sprite, this.#snap(x - half), this.#snap(y - half), half * 2, half * 2);
    if (pitch < NUMBERS || dim || state !== FREE || (marks && size < 26)) return;
    const { rows, rowOf } = this.house;
    const row = rows[rowOf[place]];
    const number = String(row.seats[place - row.first]);
    const font = `600 ${Math.min(size * 0.46, 15)}`;
    write(context, number, x, y + (marks ? size * 0.26 : 0.5), font, look.onPrices[section.colour]);
  }

  /** @param {CanvasRenderingContext2D} context @param {View} view @param {number} place */
  #repaint(context, { scale, left, top }, place) {
    const section = this.house.sectionOf(place);
    const pitch = this.plan.areas[section.index].seat * scale;
    if (section.kind === 'general' || pitch < DOTS) {
      this.stale = true;
      return;
    }
    const x = this.plan.x[place] * scale + left,
      y = this.plan.y[place] * scale + top;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = look.card;
    context.fillRect(x - pitch * 0.47, y - pitch * 0.47, pitch * 0.94, pitch * 0.94);
    this.#paintSeat(context, x, y, pitch, place, section);
  }

  /** The names of the rows beside their ends. @param {CanvasRenderingContext2D} context @param {View} view @param {number} index */
  #paintRows(context, { scale, left, top }, index) {
    const { seat } = this.plan.areas[index];
    const { x, y } = this.plan;
    for (const { label, first, seats } of this.house.sections[index].rows) {
      const last = first + seats.length - 1;
      /** Beyond this seat, as seen from the next one. @param {number} place @param {number} next @param {number} way */
      const beside = (place, next, way) => {
        const [dx, dy] = last > first ? [x[place] - x[next], y[place] - y[next]] : [way * seat, 0];
        const font = String(Math.min(seat * scale * 0.6, 14));
        write(context, label, (x[place] + dx) * scale + left, (y[place] + dy) * scale + top, font, look.quiet);
      };
      beside(first, first + 1, -1);
      beside(last, last - 1, 1);
    }
  }

  #paintAbove() {
    const { context, plan, above } = this;
    const { scale, left, top } = this.view;
    /** @param {number} place @param {(x: number, y: number, size: number) => void} paint */
    const at = (place, paint) => {
      const size = plan.areas[this.house.sectionOf(place).index].seat * scale * 0.84;
      paint(plan.x[place] * scale + left, plan.y[place] * scale + top, size);
    };
    this.labels ??= placeLabels(this);
    for (const label of this.labels) paintLabel(this, label);
    for (const place of above.pointed) at(place, (x, y, size) => paintRing(context, x, y, size, look.accent));
    for (const place of above.chosen) at(place, (x, y, size) => paintMine(context, x, y, size));
    if (above.focused >= 0) at(above.focused, (x, y, size) => paintFocus(context, x, y, size));
  }
}
