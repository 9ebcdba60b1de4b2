// Where the sections of a house stand whose venue has no plan: as houses are. Tiers behind each
// other in gentle arcs, or a bowl around a floor. It gives them shapes, as a plan would.

/** @typedef {import('./house.js').ToldSection} Section */
/** @typedef {import('./house.js').Layout} Layout */

const SEAT = 0.55;
const ROW = 0.9;
const GAP = 1.8;
/** Square metres that the picture gives a standing person. */
const STANDING = 0.4;
/** A bowl is open towards the stage: it is no more than so many radians of a circle. */
const OPEN = 2 * Math.PI - 1.3;

const FLOOR = /floor|pit|stand|field|innenraum|fosse|pista|arena|steh/i;
const BEHIND = /balcon|gal+er|circle|rang|empore|upper|anfiteatro|loge/i;
const SIDE = /\b(left|right|cent(re|er|ro)|middle|links|rechts|mitte|gauche|droite|izquierda|derecha|[lrcm])\b/gi;

/** @param {Section} section */
const rowsOf = ({ rows = [] }) => rows.map(({ seats }) => seats.length);

/**
 * Its rows are arcs about a point, the first with this radius, its middle at this angle.
 * @param {Section} section @param {number} cy @param {number} radius @param {number} angle @param {number} width @param {number} height
 */
function bend(section, cy, radius, angle, width, height) {
  const at = { x: radius * Math.sin(angle), y: cy + radius * Math.cos(angle) };
  section.shape = { ...at, turn: (-angle * 180) / Math.PI, curve: radius, width, height };
}

/** How much room a section takes. @param {Section} section @param {number} [across] the width of a general one */
function extent(section, across) {
  if (section.kind === 'seated')
    return { width: Math.max(...rowsOf(section)) * SEAT, depth: rowsOf(section).length * ROW };
  const width = across ?? Math.sqrt(section.places * STANDING * 1.6);
  return { width, depth: Math.max(3, (section.places * STANDING) / width) };
}

/** Tiers: sections of one name but for their side stand beside each other, the others behind. @param {Section[]} sections */
function tiersOf(sections) {
  /** @type {Map<string, Section[]>} */
  const tiers = new Map();
  /** @param {Section} section */
  const depth = ({ name }) => (FLOOR.test(name) ? 0 : BEHIND.test(name) ? 2 : 1);
  for (const section of [...sections].sort((a, b) => depth(a) - depth(b))) {
    const { name } = section;
    const hundreds = /\b(\d)\d\d\b/.exec(name)?.[1];
    const base = name.replace(SIDE, '').replace(/\d+/g, '').trim();
    const key = hundreds ? `#${hundreds}${base}` : base.length > 1 || base !== name.trim() ? base : name;
    tiers.set(key, [...(tiers.get(key) ?? []), section]);
  }
  return [...tiers.values()];
}

/**
 * Puts sections beside each other on an arc, so far apart.
 * @param {{ section: Section, width: number, depth: number }[]} sized @param {number} cy @param {number} front its radius @param {number} gap
 */
function ring(sized, cy, front, gap) {
  let turn = -sized.reduce((sum, { width }) => sum + width + gap, 0) / front / 2;
  for (const { section, width, depth } of sized) {
    const angle = (width + gap) / front;
    bend(section, cy, front, turn + angle / 2, width, depth);
    turn += angle;
  }
}

/** Tiers in arcs before the stage. @param {Section[][]} tiers */
function theatre(tiers) {
  const seated = tiers.flat().some(({ kind }) => kind === 'seated');
  const widthOf = (/** @type {Section[]} */ tier) =>
    tier.reduce((sum, it) => sum + (it.kind === 'seated' || !seated ? extent(it).width : 0), (tier.length - 1) * GAP);
  const widest = Math.max(...tiers.map(widthOf), 8);
  const radius = Math.max(widest * 0.85, 10);
  let front = radius;
  for (const tier of tiers) {
    const across = (widest - (tier.length - 1) * GAP) / tier.length;
    const sized = tier.map((it) => ({ section: it, ...extent(it, across) }));
    ring(sized, -radius, front, GAP);
    front += Math.max(...sized.map(({ depth }) => depth)) + GAP;
  }
  const width = Math.max(6, widest * 0.6);
  const height = Math.max(2.5, width * 0.2);
  const sagitta = radius - Math.sqrt(radius ** 2 - (width / 2) ** 2);
  return { x: -width / 2, y: -sagitta - 2.2 - height, width, height };
}

/**
 * Blocks of the floor in lines before the stage, those for standing as large as the room for them.
 * @param {Section[]} sections @param {number} room
 */
function floor(sections, room) {
  if (!sections.length) return { width: 0, depth: 0 };
  const area = sections.reduce((sum, it) => sum + extent(it).width * extent(it).depth, 0);
  const isStanding = sections.every(({ kind }) => kind === 'general');
  const grown = isStanding ? Math.max(1, room / Math.sqrt(area * 2)) : 1;
  /** @param {Section} it */
  const own = (it) => ({ width: extent(it).width * grown, depth: extent(it).depth * grown });
  const across = Math.max(
    Math.sqrt(area * 1.1) * grown,
    ...sections.map((it) => (it.kind === 'seated' ? own(it).width : 0)),
  );
  /** @type {Section[][]} */
  const lines = [];
  let left = 0;
  for (const section of sections) {
    const { width } = own(section);
    if (!lines.length || width > left) {
      lines.push([]);
      left = across + 0.1;
    }
    lines[lines.length - 1].push(section);
    left -= width + GAP;
  }
  let y = 0;
  for (const line of lines) {
    const wanted = line.reduce((sum, it) => sum + own(it).width, 0);
    const wider = line.every(({ kind }) => kind === 'general') ? (across - (line.length - 1) * GAP) / wanted : 1;
    let x = -(wanted * wider + (line.length - 1) * GAP) / 2;
    let deepest = 0;
    for (const section of line) {
      const width = own(section).width * wider,
        depth = own(section).depth / wider;
      section.shape = { x: x + width / 2, y, width, height: depth };
      x += width + GAP;
      deepest = Math.max(deepest, depth);
    }
    y += deepest + GAP;
  }
  return { width: across, depth: Math.max(0, y - GAP) };
}

/** How the rings of a bowl are filled where the innermost has this radius. @param {Section[][]} tiers @param {number} radius */
function ringsOf(tiers, radius) {
  const rings = [];
  let front = radius;
  for (const tier of tiers) {
    const rest = tier.map((section) => ({ section, ...extent(section) }));
    while (rest.length) {
      let angle = 0,
        fits = 0;
      while (fits < rest.length && (!fits || angle + (rest[fits].width + GAP) / front <= OPEN))
        angle += (rest[fits++].width + GAP) / front;
      const sized = rest.splice(0, fits);
      rings.push({ front, sized, angle });
      front += Math.max(...sized.map(({ depth }) => depth)) + GAP;
    }
  }
  return rings;
}

/** Rings around a floor, open towards the stage. @param {Section[][]} tiers @param {Section[]} inside */
function bowl(tiers, inside) {
  const least = floor(inside, 0);
  const widest = Math.max(...tiers.flat().map((it) => extent(it).width));
  // The smallest bowl is the best; but a ring that is nearly empty, or a tier that is torn
  // into two rings, looks like a mistake.
  const cost = (/** @type {number} */ radius) => {
    const rings = ringsOf(tiers, radius);
    const outer = Math.max(...rings.map(({ front, sized }) => front + sized[0].depth));
    const sparse = rings.filter(({ angle }) => angle < OPEN * 0.62 || angle > OPEN).length;
    return outer * 1.15 ** sparse * 1.1 ** (rings.length - tiers.length);
  };
  const narrowest = Math.max(Math.hypot(least.width, least.depth) / 2 + 3, widest * 0.9, 10);
  const radii = Array.from({ length: 40 }, (_, i) => narrowest * 1.05 ** i);
  const radius = radii.reduce((found, it) => (cost(it) < cost(found) ? it : found));
  const { width, depth } = floor(inside, radius * 1.25);
  const middle = depth / 2;
  for (const { front, sized, angle } of ringsOf(tiers, radius)) {
    // A ring may be so empty that its gaps would be doors for giants: it stays together then.
    ring(sized, middle, front, GAP + Math.min((OPEN - angle) / sized.length, 0.12) * front);
  }
  const high = Math.max(3, radius * 0.22);
  const bottom = inside.length ? -Math.max(2, radius * 0.06) : middle - radius * 0.55;
  // As wide as the opening of the innermost ring where the stage begins.
  const wide = Math.min(Math.max(width * 0.85, radius * 0.6), 1.3 * (middle - bottom));
  return { x: -wide / 2, y: bottom - high, width: wide, height: high };
}

/**
 * Puts sections behind those that the venue has drawn.
 * @param {Section[]} sections @param {number} x the middle of the house @param {number} y its end
 */
export function putBehind(sections, x, y) {
  floor(sections, 0);
  for (const { shape } of sections) {
    if (shape) Object.assign(shape, { x: shape.x + x, y: shape.y + y + GAP });
  }
}

/** Gives every section a shape, and the house a stage. @param {Layout} layout */
export function arrange(layout) {
  const { sections } = layout;
  const tiers = tiersOf(sections);
  const isInside = (/** @type {Section} */ it) => it.kind === 'general' || FLOOR.test(it.name);
  const around = tiers.map((tier) => tier.filter((it) => !isInside(it))).filter(({ length }) => length);
  const seated = sections.filter(({ kind }) => kind === 'seated');
  layout.stage = seated.length > 8 && around.length ? bowl(around, sections.filter(isInside)) : theatre(tiers);
  layout.isArranged = true;
}
