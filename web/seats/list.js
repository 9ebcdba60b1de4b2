// The list: rows that have so many seats together, the best first. It does what the map does,
// for those who would rather read.

import { el, money as price } from '../elements.js';
import { counted, t } from '../words.js';
import { offers, placesOf } from './choose.js';
import { sectionMenu } from './grid.js';
import { rowLines } from './wording.js';

const MORE_ROWS = 12;

/** Words that are there already are not put there again. @param {Element} element @param {string} words */
const put = (element, words) => {
  if (element.textContent !== words) element.textContent = words;
};

export class List {
  /** The elements of rows and of general sections. @type {WeakMap<object, HTMLLIElement>} */
  #made = new WeakMap();

  /** @param {import('./choice.js').Choice} choice */
  constructor(choice) {
    this.choice = choice;
    this.shown = MORE_ROWS;
    this.isOpen = false;
    this.where = sectionMenu(choice.house, 'list-section', t('seats.section'), () => this.#anew());
    this.items = el('ul', { class: 'rows' });
    this.more = el('button', { type: 'button', class: 'switch', click: () => this.#further() }, t('seats.list_more'));
    this.told = el('p', { class: 'quiet', id: 'list-told' });
    this.element = el('div', { class: 'listing', hidden: true }, this.where.menu, this.told, this.items, this.more);
  }

  toggle() {
    this.isOpen = !this.isOpen;
    this.element.hidden = !this.isOpen;
    this.#anew();
    if (this.isOpen) this.element.scrollIntoView({ block: 'nearest' });
    return this.isOpen;
  }

  #anew() {
    this.shown = MORE_ROWS;
    this.update();
  }

  #further() {
    const next = this.shown;
    this.shown += MORE_ROWS;
    this.update();
    this.items.querySelectorAll('button')[next]?.focus();
  }

  /** Brings the list up to date. A row that stays keeps its element, and so the focus and a press. */
  update() {
    if (!this.isOpen) return;
    const { choice } = this;
    const { house, quantity } = choice;
    const index = Number(this.where.menu.value);
    this.where.update();
    const isWanted = (/** @type {import('./house.js').Section} */ it) =>
      choice.admits(it) && (index < 0 || it.index === index);
    const windows = offers(house, { ...choice.wish(), sections: isWanted });
    const general = choice.isAccessible
      ? []
      : house.sections.filter((it) => it.kind === 'general' && it.free >= quantity && isWanted(it));
    const made = [
      ...windows.slice(0, this.shown).map((window) => {
        const places = placesOf(window, quantity);
        const { section } = house.seat(places[0]);
        const isChosen = places.every((it) => choice.places.includes(it));
        return this.#item(window.row, rowLines(house, places)[0], section, isChosen, () => choice.take(places));
      }),
      ...general.map((it) =>
        this.#item(it, t('place.general', { section: it.name }), it, choice.general === it, () =>
          choice.takeGeneral(it),
        ),
      ),
    ];
    const shown = /** @type {HTMLLIElement[]} */ ([...this.items.children]);
    const at = shown.findIndex((it) => it.contains(document.activeElement));
    for (const it of shown) if (!made.includes(it)) it.remove();
    made.forEach((it, i) => {
      if (this.items.children[i] !== it) this.items.insertBefore(it, this.items.children[i]);
    });
    if (at >= 0) {
      const next = made.includes(shown[at]) ? shown[at] : made[Math.min(at, made.length - 1)];
      next?.querySelector('button')?.focus({ preventScroll: true });
    }
    this.more.hidden = windows.length <= this.shown;
    this.told.textContent = made.length ? counted('seats.list_told', quantity) : counted('seats.list_none', quantity);
  }

  /**
   * The element of a row or of a general section.
   * @param {object} key @param {string} words @param {import('./house.js').Section} section
   * @param {boolean} isChosen @param {() => void} take
   */
  #item(key, words, section, isChosen, take) {
    let item = this.#made.get(key);
    if (!item) {
      item = el('li', {}, el('button', { type: 'button', class: 'offer' }, el('span'), el('span', { class: 'price' })));
      this.#made.set(key, item);
    }
    const [button, own, each] = item.querySelectorAll('*');
    const sum = price(section.price);
    /** @type {HTMLElement} */ (button).onclick = take;
    button.ariaPressed = String(isChosen);
    put(own, words);
    put(each, this.choice.quantity > 1 ? t('seats.each', { price: sum }) : sum);
    return item;
  }
}
