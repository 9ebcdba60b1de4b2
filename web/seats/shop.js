// The seat page as a whole: puts its parts together and tells each of them what has changed.

import { now } from '../clock.js';
import { button, el, moment, money as price, show as showContent } from '../elements.js';
import { counted, t } from '../words.js';
import { Choice } from './choice.js';
import { Feed } from './feed.js';
import { Grid, gridKeys, sectionMenu } from './grid.js';
import { List } from './list.js';
import { SeatMap } from './map.js';
import { News } from './news.js';
import { bill, howMany, legend, priceChips, summary, wishes } from './panel.js';
import { signButton } from './sign.js';
import { steppers } from './standing.js';

/** @typedef {import('./house.js').House} House */

const MANY = 'tickets';

/** How many tickets were wanted last time, or by the address of the page. */
function remembered() {
  const asked = Number(new URLSearchParams(location.search).get('n'));
  return asked || Number(localStorage.getItem(MANY)) || 2;
}

/**
 * What is loaded when it is needed.
 * @typedef {object} Later
 * @property {() => Promise<typeof import('../booking.js')>} booking
 * @property {() => Promise<typeof import('./pointing.js')>} pointing
 * @property {() => Promise<typeof import('./sheet.js')>} sheet
 */

export class Shop {
  /** @type {Promise<import('../booking.js').Booking> | undefined} */
  desk;
  /** @type {import('./sheet.js').Sheet | undefined} */
  drawer;
  /** @type {SeatMap | undefined} */
  map;
  /** @type {Grid | undefined} */
  grid;

  /**
   * @param {string} show @param {any} told @param {House} house @param {() => Promise<number[]>} readMap
   * @param {Later} later
   */
  constructor(show, told, house, readMap, later) {
    this.show = show;
    this.told = told;
    this.house = house;
    this.readMap = readMap;
    this.later = later;
    /** What is loaded later has not heard the server's clock. */
    this.now = now;
    this.isReady = false;
    this.isBusy = false;
    /** Nothing can be reserved here (any more). */
    this.isOver = false;
    /** As in the house: nothing is left to choose, because it is held or sold. */
    this.gone = 0;
    /** The reader has done something, and waits for the answer. */
    this.isAnswer = true;
    /** Whether the seats are ours we have not heard. */
    this.isUncertain = false;
    const choice = new Choice(house, told.max_tickets_per_buyer, remembered(), (refusal) => this.#chosen(refusal));
    this.choice = choice;
    this.news = new News();
    this.many = howMany(choice, (n) => {
      localStorage.setItem(MANY, String(n));
      choice.setQuantity(n);
    });
    this.chips = priceChips(choice, () => this.#filtered());
    this.headline = el('h2', { tabindex: -1 });
    this.bill = bill(choice, this.headline);
    this.steppers = steppers(choice);
    this.wishes = wishes(choice, () => this.map?.picture.refresh());
    this.list = new List(choice);
    this.line = el('p', { class: 'line' });
    this.why = el('p', { class: 'why' });
    this.reserving = button('', () => this.#reserve(), 'reserve');
    this.listing = button(t('seats.choose_from_list'), () => this.#toggleList(), 'plain');
    this.listing.ariaExpanded = 'false';
    this.listing.hidden = !house.isNumbered;
    this.sheet = this.#sheet();
    /** The places that the reader has reserved already. @type {Set<number>} */
    this.mine = new Set();
  }

  #sheet() {
    const peek = [this.headline, this.line, this.news.told, this.reserving];
    const beyond = [this.why, this.bill.element, this.steppers.element, this.listing, this.list.element];
    return el(
      'section',
      { class: 'sheet', 'data-step': 'peek', 'aria-label': t('seats.your_choice') },
      el('div', { class: 'peek' }, peek),
      el('div', { class: 'beyond' }, beyond, this.wishes.element, legend(this.choice)),
    );
  }

  /** Shows the page, with what is to be said of it already, so that nothing moves. @param {any} hold of the reader, perhaps in another tab */
  async open(hold) {
    const { house } = this;
    this.#title();
    this.choice.propose();
    await this.#begin(hold);
    const asked = el('div', { class: 'ask' }, this.#when(), this.many.element, house.isNumbered && this.chips.element);
    if (house.isNumbered) this.#openMap(asked);
    else showContent(el('div', { class: 'shop general' }, asked, this.news.offline, this.sheet));
    this.feed = new Feed(
      this.show,
      () => house.version,
      ({ version, changes = [] }) => this.changed(house.change(changes, version)),
      async () => this.changed(await this.readMap()),
      (isLive) => this.news.link(isLive),
    );
    addEventListener('pageshow', ({ persisted }) => {
      if (persisted) location.reload();
    });
  }

  /** Lets the desk do this. It is loaded first; where that fails, the reader can try again. @param {(desk: import('../booking.js').Booking) => unknown} work */
  async #booking(work) {
    this.desk ??= this.later.booking().then(({ Booking }) => new Booking(this));
    const desk = await this.desk.catch(() => undefined);
    if (desk) return work(desk);
    this.desk = undefined;
    return this.news.tell(
      t('error.offline'),
      button(t('try_again'), () => this.#booking(work), 'plain'),
    );
  }

  /** @param {any} hold */
  async #begin(hold) {
    const { show, told } = this;
    const isKept = sessionStorage.getItem(`reserve ${show}`) || sessionStorage.getItem(`choice ${show}`);
    const isOnSale = told.status === 'on_sale' && !told.on_sale_at && told.room?.mode === 'off';
    if (isKept || !isOnSale) await this.#booking((desk) => desk.begin());
    if (hold && !this.isBusy) await this.#booking((desk) => desk.tellHold(hold));
    return this.#checkGone();
  }

  #reserve() {
    if (!this.isBusy && !this.isOver && this.choice.count) this.#booking((desk) => desk.reserve());
  }

  #checkGone() {
    return this.house.gone !== this.gone && !this.isBusy && this.#booking((desk) => desk.tellGone());
  }

  #title() {
    const title = document.getElementById('title');
    const words = this.told.event?.title;
    if (title && words) title.textContent = document.title = words;
  }

  /** @param {HTMLElement} asked */
  #openMap(asked) {
    const { choice, house } = this;
    const map = new SeatMap(choice, this.later.pointing, (section, place) => {
      this.grid?.show(section, place < 0 ? undefined : place);
      if (this.menu) this.menu.menu.value = String(section.index);
    });
    const isChosen = (/** @type {number} */ place) => choice.places.includes(place);
    const grid = new Grid(
      house,
      isChosen,
      (place) => choice.tap(place),
      (place) => map.focus(place),
    );
    this.menu = sectionMenu(house, 'section', t('seats.go_to_section'), (index) => {
      map.showSection(index);
      if (index >= 0) grid.show(house.sections[index]);
    });
    map.element.prepend(el('div', { class: 'where' }, this.menu.menu), gridKeys(), grid.element);
    map.element.append(this.news.offline);
    showContent(el('div', { class: 'shop' }, asked, map.element, this.sheet));
    this.#drawSheet();
    this.map = map;
    // The map is drawn first; nobody can have reached the grid before.
    setTimeout(() => {
      this.grid = grid;
      this.#showInGrid();
    }, 50);
    this.#measure(map.element);
  }

  /** On phones what was chosen is a sheet below the map. */
  async #drawSheet() {
    const narrow = matchMedia('(max-width: 959px)');
    narrow.onchange = () => this.#drawSheet();
    if (!narrow.matches || this.drawer) return;
    const { Sheet } = await this.later.sheet();
    const handle = signButton('', t('seats.sheet'), () => {}, 'handle');
    this.drawer ??= new Sheet(this.sheet, handle);
  }

  /** On phones the map reaches from here to the sheet. @param {HTMLElement} map */
  #measure(map) {
    const measure = () =>
      map.style.setProperty('--above', `${Math.round(map.getBoundingClientRect().top + scrollY)}px`);
    addEventListener('resize', measure);
    measure();
  }

  /** The evening and the house in a line. */
  #when() {
    const { starts_at, venue } = this.told;
    /** @type {Intl.DateTimeFormatOptions} */
    const parts = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' };
    const words = [moment(starts_at, venue?.timezone, parts), venue && `${venue.name}, ${venue.city}`];
    const back = el('a', { href: `/shows/${this.show}` }, words.filter(Boolean).join(' · '));
    return el('p', { class: 'quiet when' }, back);
  }

  // What changes.

  /**
   * Places are not as they were. While the reader's are being reserved, they stay chosen.
   * Returns how many of them others took; where that is the answer to what the reader did, the
   * caller tells it.
   * @param {number[]} changed @param {boolean} [isAnswer]
   */
  changed(changed, isAnswer = false) {
    if (!changed.length && !isAnswer) return 0;
    this.map?.picture.patch(changed);
    this.grid?.update(changed);
    this.isAnswer = false;
    const lost = this.isBusy || this.isUncertain ? 0 : this.choice.lose(changed, this.mine);
    this.isAnswer = true;
    if (lost && !isAnswer) this.#booking((desk) => desk.tellLost(lost, false));
    this.#checkGone();
    this.render();
    return lost;
  }

  /** The choice is another one; or it is not, for a reason. @param {string} [refusal] */
  #chosen(refusal) {
    const { choice } = this;
    if (this.isReady && !this.isOver && !this.isBusy) this.news.tell(refusal);
    if (refusal) return;
    this.isUncertain = false;
    if (this.isReady) this.#keep();
    this.map?.choose();
    this.grid?.update();
    this.#showInGrid();
    this.render();
    const words = [summary(choice), choice.count && price(choice.total), choice.reason];
    if (this.isReady) this.news.say(words.filter(Boolean).join('. '), this.isAnswer);
    this.isReady = true;
  }

  /** A page that is loaded again finds what the reader has chosen; what was proposed is proposed again. */
  #keep() {
    const { choice } = this;
    const isTheirs = choice.count && !choice.isOurs;
    sessionStorage.setItem(`choice ${this.show}`, isTheirs ? JSON.stringify(choice.body) : '');
  }

  /** The focus comes to the chosen seats first, unless it is in the grid already. */
  #showInGrid() {
    const [place] = this.choice.places;
    const { grid } = this;
    if (!grid || grid.element.contains(document.activeElement)) return;
    const seated = this.house.sections.find(({ kind }) => kind === 'seated');
    if (place !== undefined) grid.show(this.house.sectionOf(place), place);
    else if (!grid.section && seated) grid.show(seated);
  }

  #filtered() {
    this.map?.picture.refresh();
    if (this.choice.isOurs || !this.choice.count) this.choice.propose();
    else this.#chosen();
  }

  #toggleList() {
    const isOpen = this.list.toggle();
    this.listing.ariaExpanded = String(isOpen);
    if (isOpen) this.drawer?.go(2);
  }

  #headline() {
    const { count, general, isOurs } = this.choice;
    if (!count) return t('seats.choose');
    if (general) return t('seats.your_tickets');
    return isOurs ? t('seats.best') : t('seats.your_seats');
  }

  #reserveWords() {
    const { count, general, total } = this.choice;
    if (this.isBusy) return t('seats.reserving');
    if (!count) return t('seats.reserve_none');
    const values = { price: price(total) };
    return general ? counted('seats.reserve_tickets', count, values) : counted('seats.reserve', count, values);
  }

  render() {
    const { choice } = this;
    for (const part of [this.many, this.chips, this.bill, this.steppers, this.wishes, this.menu, this.list])
      part?.update();
    this.headline.textContent = this.#headline();
    this.line.textContent = this.gone ? '' : summary(choice);
    const missing = choice.quantity - choice.count;
    this.why.textContent = choice.reason || (choice.count && missing > 0 ? counted('seats.missing', missing) : '');
    this.reserving.textContent = this.#reserveWords();
    this.reserving.ariaDisabled = this.isBusy || !choice.count ? 'true' : null;
    this.reserving.hidden = this.isOver;
  }
}
