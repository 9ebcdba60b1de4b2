// What the reader has chosen: so many seats, or so many places of a general section.
//
// Best seats are marked until they choose for themselves. When one of theirs goes, others are
// proposed at once.

import { money as price } from '../elements.js';
import { counted, t } from '../words.js';
import { areTogether, bestPlaces, neighbours } from './choose.js';
import { FREE } from './house.js';
import { seatWords } from './wording.js';

/** @typedef {import('./house.js').House} House */
/** @typedef {import('./house.js').Section} Section */

export class Choice {
  /** @param {House} house @param {number} most tickets a person may buy @param {number} quantity @param {(refusal?: string) => void} changed */
  constructor(house, most, quantity, changed) {
    this.house = house;
    this.most = most;
    this.quantity = Math.min(Math.max(1, Math.floor(quantity)), most);
    this.changed = changed;
    /** @type {number[]} */
    this.places = [];
    /** @type {Section | undefined} the general section that was chosen instead of seats */
    this.general = undefined;
    /** Whether these are our proposal, and not what the reader took. */
    this.isOurs = true;
    this.isAccessible = false;
    this.isOneByOne = false;
    /** Amounts of the prices that are shown; none: all. @type {Set<number>} */
    this.prices = new Set();
    /** Why these seats and no others, in words. */
    this.reason = '';
  }

  /** Whether the filter lets a section through. @param {Section} section */
  admits = (section) => !this.prices.size || this.prices.has(section.price.amount);

  /** @param {number} [quantity] @returns {import('./choose.js').Wish} */
  wish(quantity = this.quantity) {
    return { quantity, accessible: this.isAccessible, sections: this.admits };
  }

  get count() {
    return this.general ? this.quantity : this.places.length;
  }

  get total() {
    const { house, general, quantity, places } = this;
    const amount = general
      ? general.price.amount * quantity
      : places.reduce((sum, it) => sum + house.sectionOf(it).price.amount, 0);
    return { amount, currency: house.sections[0].price.currency };
  }

  /** What is asked of the API. */
  get body() {
    if (this.general) return { general: { section: this.general.name, quantity: this.quantity } };
    return { seats: this.places.map((it) => this.house.seat(it).id) };
  }

  /** Marks the best places there are. */
  propose() {
    this.isOurs = true;
    this.reason = '';
    this.general = undefined;
    // Places that are kept for people who ask go last, after those without a number.
    const spared = this.isAccessible ? undefined : bestPlaces(this.house, { ...this.wish(), isSparing: true });
    this.places = spared ?? [];
    if (!spared) this.#proposeGeneral();
    if (!spared && !this.general) this.places = bestPlaces(this.house, this.wish()) ?? [];
    if (this.places.length)
      this.reason = areTogether(this.house, this.places) ? '' : counted('seats.apart', this.quantity);
    this.changed();
  }

  #proposeGeneral() {
    const general = this.house.sections.filter((it) => it.kind === 'general' && this.admits(it));
    this.general = this.isAccessible ? undefined : general.find(({ free }) => free >= this.quantity);
    if (this.general) return;
    const left = this.house.sections.filter(this.admits).reduce((sum, it) => sum + it.free, 0);
    if (left) this.reason = this.isAccessible ? t('seats.none_accessible') : counted('seats.few_left', left);
  }

  /** @param {number} quantity */
  setQuantity(quantity) {
    this.quantity = Math.min(Math.max(1, quantity), this.most);
    this.isOneByOne = false;
    if (this.general && this.general.free >= this.quantity && !this.isOurs) return this.takeGeneral(this.general);
    // Who has chosen seats and wants more of them gets them there, if that can be.
    const [first] = this.places;
    if (!this.isOurs && first !== undefined && !this.general) {
      const found = neighbours(this.house, first, this.wish());
      if ('places' in found) return this.take(found.places, found.reason);
    }
    return this.propose();
  }

  /** @param {number[]} places @param {import('./choose.js').Snap['reason']} [code] why these and not the nearest */
  take(places, code) {
    this.general = undefined;
    this.places = places;
    this.isOurs = false;
    this.reason = !code ? '' : code === 'single_left' ? t('seats.single_left') : t('seats.avoids_single');
    this.changed();
  }

  /** @param {Section} section */
  takeGeneral(section) {
    this.places = [];
    this.general = section;
    this.isOurs = false;
    this.reason = '';
    this.changed();
  }

  /** Why nothing of this section can be taken, if the filter leaves it out. @param {Section} section */
  #filtered(section) {
    if (section === this.general || this.admits(section)) return '';
    return t('seats.filtered', { price: price(section.price) });
  }

  /** A general section was tapped. @param {Section} section */
  tapGeneral(section) {
    const refusal =
      this.#filtered(section) || (section.free < this.quantity && counted('seats.few_left', section.free));
    if (refusal) this.changed(refusal);
    else this.takeGeneral(section);
  }

  /** Why this seat cannot be taken. @param {number} place */
  #refusal(place) {
    if (this.house.state[place] !== FREE) return seatWords(this.house, place, false);
    return this.#filtered(this.house.sectionOf(place));
  }

  /** The places that a tap here would take. @param {number} place @returns {number[]} */
  preview(place) {
    if (this.#refusal(place) || this.places.includes(place)) return [];
    if (this.isOneByOne) return [place];
    const found = neighbours(this.house, place, this.#missing());
    return 'places' in found ? found.places : [];
  }

  /** Who gave one seat back gets one at the next tap; who has all of them moves. */
  #missing() {
    const missing = this.isOurs || this.general ? 0 : this.quantity - this.places.length;
    if (missing <= 0 || missing === this.quantity) return this.wish();
    return { ...this.wish(missing), without: new Set(this.places) };
  }

  /** A seat was tapped. @param {number} place */
  tap(place) {
    if (this.places.includes(place) && !(this.isOurs && !this.isOneByOne)) return this.remove(place);
    const refusal = this.#refusal(place);
    if (refusal) return this.changed(refusal);
    if (this.isOneByOne) return this.#add(place);
    const wish = this.#missing();
    const found = neighbours(this.house, place, wish);
    if ('places' in found)
      return this.take(
        [...(wish.without ?? []), ...found.places].sort((a, b) => a - b),
        found.reason,
      );
    return this.changed('together' in found ? counted('seats.too_few', found.together) : '');
  }

  /** @param {number} place */
  #add(place) {
    const kept = this.isOurs ? [] : this.places;
    if (kept.length >= this.most) return this.changed(counted('seats.limit', this.most));
    this.quantity = kept.length + 1;
    return this.take([...kept, place].sort((a, b) => a - b));
  }

  /** @param {number} place */
  remove(place) {
    const rest = this.places.filter((it) => it !== place);
    if (this.isOneByOne) this.quantity = Math.max(1, rest.length);
    this.take(rest);
  }

  /**
   * Places have changed. Returns how many of the choice others took; then it is another choice.
   * The map is a second old: what the reader has reserved may become held only now.
   * @param {number[]} changed @param {Set<number>} mine
   */
  lose(changed, mine) {
    const gone = this.places.filter((it) => this.house.state[it] !== FREE);
    const missing = Math.max(0, this.general ? this.quantity - this.general.free : 0);
    const isBack = !this.count && this.isOurs && changed.some((it) => this.house.state[it] === FREE);
    if (gone.length || missing || isBack) this.propose();
    return gone.filter((it) => !mine.has(it)).length + missing;
  }
}
