// How seats look: filled in the colour of their price, striped, hollow, with a sign or a tick.
// Never by colour alone. The colours are those of the page, so that they follow its scheme.

import { ACCESSIBLE, COMPANION, FREE, HELD, RESTRICTED } from './house.js';

/** @typedef {{ state: number, marks: number, dim: boolean, colour: number, size: number, ratio: number }} Seat */

const NAMES = /** @type {const} */ (['room', 'card', 'ink', 'quiet', 'line', 'accent', 'stub', 'on-stub', 'text']);

/** The colours and the type of the page. @typedef {Record<typeof NAMES[number], string> & { prices: string[], onPrices: string[] }} Look */

export const look = /** @type {Look} */ ({});

export function readLook() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  for (const name of NAMES) look[name] = value(name);
  look.prices = [1, 2, 3, 4, 5, 6].map((i) => value(`price-${i}`));
  look.onPrices = look.prices.map((_, i) => value(`on-price-${i + 1}`));
}

/**
 * Writes words around a point. `font` is a weight and a size.
 * @param {CanvasRenderingContext2D} context @param {string} words @param {number} x @param {number} y
 * @param {string} font @param {string} colour
 */
export function write(context, words, x, y, font, colour) {
  context.font = `${font}px ${look.text}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colour;
  context.fillText(words, x, y);
}

/** Seats that look alike are painted once and copied. @type {Map<string, HTMLCanvasElement>} */
export const sprites = new Map();

/** @param {Seat} seat */
export function spriteOf(seat) {
  const { state, marks, dim, colour, size, ratio } = seat;
  const isFree = state === FREE;
  const key = `${state} ${isFree ? marks : marks & ACCESSIBLE} ${dim} ${isFree ? colour : ''} ${size.toFixed(2)}`;
  let made = sprites.get(key);
  if (!made) {
    if (sprites.size > 300) sprites.clear();
    made = document.createElement('canvas');
    made.width = made.height = Math.ceil((size + 2) * ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (made.getContext('2d'));
    context.scale(ratio, ratio);
    context.translate(made.width / ratio / 2, made.height / ratio / 2);
    paint(context, seat);
    sprites.set(key, made);
  }
  return made;
}

/** A seat of the reader's: dark, with a tick. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
export function paintMine(context, x, y, size) {
  const r = Math.max(size / 2 + 1, 5);
  disc(context, x, y, r + 2, look.card);
  disc(context, x, y, r, look.ink);
  context.strokeStyle = look.card;
  context.lineWidth = Math.max(1.5, r * 0.26);
  context.lineCap = context.lineJoin = 'round';
  context.beginPath();
  context.moveTo(x - r * 0.45, y + r * 0.05);
  context.lineTo(x - r * 0.1, y + r * 0.4);
  context.lineTo(x + r * 0.48, y - r * 0.35);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size @param {string} colour */
export function paintRing(context, x, y, size, colour, more = 2, width = 2.5) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, size / 2 + more, 0, 7);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
export function paintFocus(context, x, y, size) {
  paintRing(context, x, y, Math.max(size, 8), look.card, 4, 6);
  paintRing(context, x, y, Math.max(size, 8), look.accent, 4, 3);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} r @param {string} colour */
function disc(context, x, y, r, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, r, 0, 7);
  context.fill();
}

/** One seat around the origin. @param {CanvasRenderingContext2D} context @param {Seat} seat */
function paint(context, { state, marks, dim, colour, size }) {
  const r = size / 2;
  const outline = new Path2D();
  // Accessible places are square, the others round: that is seen when a sign is too small.
  if (marks & ACCESSIBLE) outline.roundRect(-r, -r, size, size, r * 0.35);
  else outline.arc(0, 0, r, 0, 7);
  context.lineWidth = Math.max(1, r * 0.14);
  context.strokeStyle = look.quiet;
  if (state === FREE && !dim) {
    context.fillStyle = look.prices[colour];
    context.fill(outline);
    paintMarks(context, marks, r, look.onPrices[colour]);
    return;
  }
  context.save();
  context.clip(outline);
  if (state === HELD) {
    context.globalAlpha = 0.75;
    context.beginPath();
    for (let x = -2 * size; x < 2 * size; x += Math.max(3, r * 0.55)) {
      context.moveTo(x, r);
      context.lineTo(x + size, -r);
    }
    context.stroke();
  } else if (dim) {
    context.globalAlpha = 0.28;
    context.fillStyle = look.prices[colour];
    context.fill(outline);
  }
  context.restore();
  if (dim) return;
  context.globalAlpha = state === HELD ? 0.9 : 0.55;
  context.lineWidth = 1;
  context.stroke(outline);
  if (marks & ACCESSIBLE) paintMarks(context, ACCESSIBLE, r, look.quiet);
}

/** @param {CanvasRenderingContext2D} context @param {number} marks @param {number} r @param {string} colour */
function paintMarks(context, marks, r, colour) {
  if (r < 4 || !marks) return;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = Math.max(1, r * 0.16);
  context.lineCap = context.lineJoin = 'round';
  const small = r >= 13 ? 0.62 : 1;
  const up = r >= 13 ? -r * 0.3 : 0;
  /** @param {[number, number][]} points */
  const line = (points) => {
    context.beginPath();
    for (const [x, y] of points) context.lineTo(x * r * small, up + y * r * small);
    context.stroke();
  };
  if (marks & ACCESSIBLE) {
    context.beginPath();
    context.arc(-0.08 * r * small, up - 0.62 * r * small, 0.13 * r * small, 0, 7);
    context.fill();
    line([
      [-0.08, -0.42],
      [-0.05, 0.05],
      [0.32, 0.05],
      [0.5, 0.5],
    ]);
    context.beginPath();
    context.arc(-0.1 * r * small, up + 0.28 * r * small, 0.36 * r * small, -2.2, 0.5, true);
    context.stroke();
  } else if (marks & COMPANION) {
    line([
      [-0.4, 0],
      [0.4, 0],
    ]);
    line([
      [0, -0.4],
      [0, 0.4],
    ]);
  } else if (marks & RESTRICTED) {
    line([
      [-0.5, 0.5],
      [0.5, -0.5],
    ]);
  }
}
