// What part of the plan is seen: pan, pinch, wheel, tap and buttons.
//
// A point of the plan is at `x * scale + left`, `y * scale + top` of the map, in CSS pixels.

/** @typedef {import('./geometry.js').Box} Box */
/** @typedef {{ scale: number, left: number, top: number }} View */
/** @typedef {{ x: number, y: number, touch: boolean }} Tap */

const MOVE_MS = 200;
/** A finger that moved less than this has tapped. */
const SLOP = 7;
/** CSS pixels from a seat to the next at the closest: more than a finger needs. */
const CLOSEST = 50;
const MARGIN = 14;
/** On narrow maps the menu and the tools lie over what is at the upper border. */
const ABOVE = 62;
const NARROW = 700;

export class Viewport {
  /**
   * @param {HTMLElement} element @param {import('./geometry.js').Plan} plan @param {() => void} moved
   * @param {(tap: Tap) => void} tapped
   */
  constructor(element, { box, areas }, moved, tapped) {
    this.element = element;
    this.box = box;
    /** CSS pixels a metre: there a finger hits the narrowest seats too. */
    this.closest = CLOSEST / Math.min(0.5, ...areas.map(({ seat }) => seat));
    this.moved = moved;
    this.tapped = tapped;
    this.width = this.height = 1;
    /** @type {View} */
    this.view = { scale: 1, left: 0, top: 0 };
    /** @type {Map<number, { x: number, y: number }>} */
    this.fingers = new Map();
    this.isTap = false;
    this.animation = 0;
    this.#listen();
  }

  /** The view that has this box in its middle, as large as it fits. @param {Box} box @returns {View} */
  fitting({ x0, y0, x1, y1 }) {
    const scale = Math.min(
      (this.width - 2 * MARGIN) / (x1 - x0),
      (this.height - this.above - MARGIN) / (y1 - y0),
      this.closest,
    );
    return {
      scale,
      left: this.width / 2 - ((x0 + x1) / 2) * scale,
      top: (this.height + this.above - MARGIN) / 2 - ((y0 + y1) / 2) * scale,
    };
  }

  /** The view at this scale with a point of the plan in its middle. @param {number} x @param {number} y @param {number} scale */
  around(x, y, scale) {
    return { scale, left: this.width / 2 - x * scale, top: this.height / 2 - y * scale };
  }

  get above() {
    return this.width < NARROW ? ABOVE : MARGIN;
  }

  get isWhole() {
    return this.view.scale <= this.fitting(this.box).scale * 1.02;
  }

  /** The map has this size now; what was in its middle stays there. @param {number} width @param {number} height */
  resize(width, height) {
    const wasWhole = this.width === 1 || this.isWhole;
    const { scale, left, top } = this.view;
    const [x, y] = [(this.width / 2 - left) / scale, (this.height / 2 - top) / scale];
    this.width = width;
    this.height = height;
    this.set(wasWhole ? this.fitting(this.box) : this.around(x, y, scale));
  }

  /** Shows this, but no emptiness beside the house and nothing smaller than the whole. @param {View} view */
  set({ scale, left, top }) {
    const least = this.fitting(this.box).scale;
    const { x0, y0, x1, y1 } = this.box;
    const s = Math.min(Math.max(scale, least), Math.max(this.closest, least));
    /** @param {number} at @param {number} from @param {number} to @param {number} room @param {number} before */
    const held = (at, from, to, room, before) => {
      const low = room - MARGIN - to * s,
        high = before - from * s;
      if (low > high) return (low + high) / 2;
      // A part of the map beyond the border, so that a corner can be brought to the middle.
      const beyond = s > least * 1.1 ? room / 3 : 0;
      return Math.min(Math.max(at, low - beyond), high + beyond);
    };
    this.view = {
      scale: s,
      left: held(left, x0, x1, this.width, MARGIN),
      top: held(top, y0, y1, this.height, this.above),
    };
    this.moved();
  }

  /** Goes there, in a moment that can be followed with the eyes. @param {View} target */
  go(target) {
    cancelAnimationFrame(this.animation);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.set(target);
    const from = this.view;
    const began = performance.now();
    const step = () => {
      const part = Math.min(1, (performance.now() - began) / MOVE_MS);
      const eased = 1 - (1 - part) ** 3;
      // Every point of the plan goes straight to its place.
      const on = (/** @type {keyof View} */ name) => from[name] + (target[name] - from[name]) * eased;
      this.set({ scale: on('scale'), left: on('left'), top: on('top') });
      if (part < 1) this.animation = requestAnimationFrame(step);
    };
    step();
  }

  /** @param {number} factor @param {number} x @param {number} y in the map, which stay where they are */
  zoomed(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.view.scale * factor, this.fitting(this.box).scale), this.closest);
    const by = scale / this.view.scale;
    return { scale, left: x - (x - this.view.left) * by, top: y - (y - this.view.top) * by };
  }

  /** The point of the plan there. @param {number} x @param {number} y @returns {[number, number]} */
  at(x, y) {
    return [(x - this.view.left) / this.view.scale, (y - this.view.top) / this.view.scale];
  }

  /** Moves by no more than is needed to show this point of the plan. @param {number} x @param {number} y @param {number} [scale] at least */
  reveal(x, y, scale = 0) {
    if (this.view.scale < scale) return this.go(this.around(x, y, scale));
    const edge = Math.min(60, this.width / 5, this.height / 5);
    const px = x * this.view.scale + this.view.left,
      py = y * this.view.scale + this.view.top;
    const dx = Math.max(edge - px, 0) + Math.min(this.width - edge - px, 0);
    const dy = Math.max(edge - py, 0) + Math.min(this.height - edge - py, 0);
    if (dx || dy) this.go({ ...this.view, left: this.view.left + dx, top: this.view.top + dy });
  }

  #listen() {
    const { element } = this;
    element.addEventListener('pointerdown', (event) => this.#down(event));
    element.addEventListener('pointermove', (event) => this.#move(event));
    for (const kind of ['pointerup', 'pointercancel'])
      element.addEventListener(kind, (event) => this.#up(/** @type {PointerEvent} */ (event)));
    element.addEventListener(
      'wheel',
      (event) => {
        const target = this.zoomed(
          Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode ? 0.05 : 0.0022)),
          event.offsetX,
          event.offsetY,
        );
        // Whoever has the whole house before them scrolls the page.
        if (target.scale === this.view.scale) return;
        event.preventDefault();
        cancelAnimationFrame(this.animation);
        this.set(target);
      },
      { passive: false },
    );
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button) return;
    cancelAnimationFrame(this.animation);
    this.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.isTap = this.fingers.size === 1;
    this.start = { x: event.offsetX, y: event.offsetY };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before || !this.start) return;
    const now = { x: event.offsetX, y: event.offsetY };
    if (this.isTap && Math.hypot(now.x - this.start.x, now.y - this.start.y) < SLOP) return;
    this.isTap = false;
    const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.fingers.set(event.pointerId, now);
    if (!others.length)
      return this.set({ ...this.view, left: this.view.left + now.x - before.x, top: this.view.top + now.y - before.y });
    const [other] = others;
    const grown =
      Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    const target = this.zoomed(grown, (before.x + other.x) / 2, (before.y + other.y) / 2);
    this.set({
      scale: target.scale,
      left: target.left + (now.x - before.x) / 2,
      top: target.top + (now.y - before.y) / 2,
    });
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (!this.fingers.delete(event.pointerId) || !this.isTap || event.type === 'pointercancel') return;
    this.tapped({ x: event.offsetX, y: event.offsetY, touch: event.pointerType !== 'mouse' });
  }
}
