// The sheet below the map on phones: a peek, half of the page, or nearly all of it. It is
// drawn by a finger or pressed with its handle. On wide pages it is a column, and this rests.

const STEPS = /** @type {const} */ (['peek', 'half', 'full']);
const PEEK = 96;

export class Sheet {
  /** @param {HTMLElement} element @param {HTMLElement} handle */
  constructor(element, handle) {
    this.element = element;
    this.step = 0;
    this.handle = handle;
    handle.onclick = () => this.#press();
    element.prepend(handle);
    this.drag = { from: 0, height: 0, moved: false };
    this.handle.addEventListener('pointerdown', (event) => this.#down(event));
    this.handle.addEventListener('pointermove', (event) => this.#move(event));
    this.handle.addEventListener('pointerup', () => this.#up());
    // What is below the border of the page comes up when the focus comes to it.
    element.addEventListener('focusin', ({ target }) => {
      if (this.step === 0 && target instanceof Element && target.closest('.beyond')) this.go(1);
    });
    this.go(0);
  }

  /** @param {number} step */
  go(step) {
    this.step = step;
    this.element.dataset.step = STEPS[step];
    this.element.style.height = '';
    this.handle.ariaExpanded = String(step > 0);
  }

  #press() {
    if (!this.drag.moved) this.go((this.step + 1) % STEPS.length);
    this.drag.moved = false;
  }

  /** @param {PointerEvent} event */
  #down(event) {
    this.handle.setPointerCapture(event.pointerId);
    this.drag = { from: event.clientY, height: this.element.offsetHeight, moved: false };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!event.buttons) return;
    const by = this.drag.from - event.clientY;
    if (!this.drag.moved && Math.abs(by) < 6) return;
    this.drag.moved = true;
    this.element.dataset.step = 'drawn';
    this.element.style.height = `${Math.min(Math.max(this.drag.height + by, PEEK), innerHeight - 60)}px`;
  }

  #up() {
    if (!this.drag.moved) return;
    // A peek below 0.27 of the page, all of it from 0.66 on.
    this.go(Math.floor((this.element.offsetHeight / innerHeight) * 2.6 + 0.3));
  }
}
