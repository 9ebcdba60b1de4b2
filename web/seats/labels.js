// The names of sections on the map, with what they cost and how much of them is free: as much
// of that as there is room for, in the section or else beside it.
//
// They are placed when the map rests, and keep their places in the house while it moves.

import { number, money as price } from '../elements.js';
import { look, write } from './look.js';
import { sectionWords } from './wording.js';

/** @typedef {import('./house.js').Section} Section */
/** What a label covers: its middle and its size. @typedef {{ x: number, y: number, width: number, height: number }} Cover */
/** @typedef {{ lines: string[], size: number, width: number, height: number }} Label */

/** Names lie over the seats until seats are this large; over larger ones in view of the whole house. */
const SEATS = 8;
/** A name covers no more than this share of a section whose seats are half as large or more. */
const SHARE = 0.25;

/** A label in full, and shorter ones. @param {CanvasRenderingContext2D} context @param {Section} section @returns {Label[]} */
function labelsOf(context, section) {
  const { name, free } = section;
  const short = free ? [price(section.price, true), number(free)] : ['–'];
  // A number is enough where all are called alike.
  const brief = /\d+$/.exec(name)?.[0] ?? name;
  /** @type {[number, ...string[]][]} */
  const forms = [
    [13, name, sectionWords(section)],
    [11, name, short.join(' · ')],
    [9, name, short.join(' · ')],
    [8, brief, short.join('·')],
    [8, brief, ...short],
  ];
  return forms.map(([size, ...lines]) => {
    context.font = `650 ${size}px ${look.text}`;
    const width = Math.max(...lines.map((it) => context.measureText(it).width)) + size / 2;
    return { lines, size, width, height: lines.length * (size + 2) + size / 3 };
  });
}

/** @param {Cover} a @param {Cover[]} others */
const covers = (a, others) =>
  others.some((b) => Math.abs(a.x - b.x) * 2 < a.width + b.width && Math.abs(a.y - b.y) * 2 < a.height + b.height);

/** The labels, with the points of the plan that they are around. @param {import('./drawing.js').Picture} picture */
export function placeLabels({ context, house, plan, view: { scale, left, top }, width, above }) {
  /** @param {number} x @param {number} y @param {number} wide @param {number} high @returns {Cover} */
  const at = (x, y, wide, high) => ({ x: x * scale + left, y: y * scale + top, width: wide, height: high });
  const boxes = plan.areas.map(({ box: { x0, y0, x1, y1 } }) =>
    at((x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) * scale, (y1 - y0) * scale),
  );
  const taken = [...above.chosen].map((it) => at(plan.x[it], plan.y[it], 14, 14));
  return house.sections.flatMap((section) => {
    const { seat, spots, width: across, depth, turn } = plan.areas[section.index];
    const pitch = section.kind === 'seated' ? seat * scale : 0;
    const own = boxes[section.index];
    if (pitch >= SEATS && !above.isWhole) return [];
    const [sin, cos] = [Math.abs(Math.sin(turn)), Math.abs(Math.cos(turn))];
    const room = Math.min(across / cos, depth / sin) * scale,
      high = Math.min(across / sin, depth / cos) * scale;
    const labels = labelsOf(context, section);
    /** @param {Label} it */
    const fits = (it) =>
      it.width < room + 4 && it.height < high + 4 && (pitch < SEATS / 2 || it.width * it.height < SHARE * room * high);
    /** @param {Label} it */
    const inside = (it) => spots.map(([x, y]) => ({ ...it, ...at(x, y, it.width, it.height) }));
    const aside = labels[2];
    // On the side away from the middle.
    const x = own.x + ((own.width + aside.width) / 2) * Math.sign(own.x - width / 2);
    const beside = [{ ...aside, x, y: own.y }].filter(
      (it) => Math.abs(x - width / 2) < (width - it.width) / 2 && !covers(it, boxes.toSpliced(section.index, 1)),
    );
    const ways = [...labels.filter(fits).flatMap(inside), ...beside, ...labels.slice(3).flatMap(inside)];
    // Where everything is crowded, one at the back that covers something is better than none.
    const label = ways.find((it) => !covers(it, taken)) ?? ways[ways.length - 2];
    taken.push(label);
    return [{ ...label, section, x: (label.x - left) / scale, y: (label.y - top) / scale }];
  });
}

/** @param {import('./drawing.js').Picture} picture @param {ReturnType<typeof placeLabels>[0]} label */
export function paintLabel({ context, view, above }, { lines, size, width, height, section, ...at }) {
  const isChosen = above.chosenSection === section.index;
  const x = at.x * view.scale + view.left,
    y = at.y * view.scale + view.top;
  context.fillStyle = isChosen ? look.ink : look.card;
  context.globalAlpha = 0.9;
  context.beginPath();
  context.roundRect(x - width / 2, y - height / 2, width, height, size * 0.7);
  context.fill();
  context.globalAlpha = 1;
  lines.forEach((words, i) => {
    const colour = isChosen ? look.card : section.free && !i ? look.ink : look.quiet;
    write(context, words, x, y + (i - (lines.length - 1) / 2) * (size + 2), `${i ? 400 : 650} ${size}`, colour);
  });
}
