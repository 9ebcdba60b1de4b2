// The reservation as the reader sees it: what comes of pressing the button, and what to do
// then. It is loaded when it is needed, so it takes nothing from the modules of the map.

import { button, call, el, inWords, link, moment } from './page.js';
import { keepPass } from './seats/pass.js';
import { answered, reserve, unanswered } from './seats/reserve.js';
import { counted, learnFor, t } from './words.js';

/** The worker tries at most so many counters. */
const TRIES = 65_536;
/** So long the page waits to hear whether there is a pass, before it is shown. */
const PASS_MS = 3_000;
/** States of places, as in the house. */
const HELD = 1,
  SOLD = 2;

/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };

/** @typedef {import('./seats/shop.js').Shop} Shop */

export class Booking {
  /** @param {Shop} shop */
  constructor(shop) {
    this.shop = shop;
    this.news = shop.news;
    this.kept = `choice ${shop.show}`;
  }

  /** Goes on where the reader was when they left the page; or says why nothing can be reserved. */
  begin() {
    const { show, told } = this.shop;
    if (told.status === 'cancelled' || told.status === 'completed') return this.#notYet();
    if (told.on_sale_at && Date.parse(told.on_sale_at) > this.shop.now()) return this.#notYet(told.on_sale_at);
    const sent = unanswered(show);
    const kept = JSON.parse(sessionStorage.getItem(this.kept) || 'null');
    sessionStorage.removeItem(this.kept);
    this.#restore(sent ?? kept, Boolean(sent));
    const entered = told.room?.mode !== 'off' && keepPass(show, this.shop.now, (isNew) => this.#passOver(isNew));
    if (sent) this.reserve();
    // A room that does not answer keeps nobody from the map.
    return Promise.race([entered, new Promise((next) => setTimeout(next, PASS_MS))]);
  }

  /** @param {any} body @param {boolean} isSent */
  #restore(body, isSent) {
    const { choice, house } = this.shop;
    /** @type {number[]} */
    const places = (body?.seats ?? []).map((/** @type {string} */ it) => house.find(it));
    const general = house.sections.find(({ name }) => name === body?.general?.section);
    if (places.length && places.every((it) => it >= 0 && (isSent || house.state[it] === 0))) {
      choice.quantity = places.length;
      choice.take(places);
    } else if (general) {
      choice.quantity = body.general.quantity;
      choice.takeGeneral(general);
    }
  }

  /** Seats that the reader holds already, perhaps in another tab. @param {any} hold */
  tellHold(hold) {
    const { show, told } = this.shop;
    const until = moment(hold.expires_at, told.venue?.timezone, CLOCK);
    const forget = () => {
      clearTimeout(timer);
      this.shop.mine.clear();
      this.news.tellHeld();
    };
    const timer = setTimeout(forget, Date.parse(hold.expires_at) - this.shop.now());
    const giveBack = async () => {
      try {
        const { ok, body } = await call('DELETE', `/shows/${show}/holds/${hold.hold_id}`);
        if (!ok) return this.news.tell(inWords(body));
        forget();
        return this.shop.reserving.focus();
      } catch (error) {
        return this.news.tell(/** @type {Error} */ (error).message);
      }
    };
    this.shop.mine = new Set(hold.seats.map((/** @type {any} */ it) => this.shop.house.find(it.seat)));
    this.news.tellHeld(
      counted('seats.held_already', hold.seats.length, { time: until }),
      link(t('seats.to_checkout'), `/shows/${show}/holds/${hold.hold_id}`),
      hold.status === 'held' && button(t('seats.give_back'), giveBack, 'plain'),
    );
  }

  /** Nothing can be reserved here any more, or just now. @param {string} words @param {Node | false} way */
  #end(words, way) {
    this.shop.isOver = true;
    this.news.tell(words, way);
    this.shop.render();
  }

  /** The last place has gone, or one has come back. Only what is sold does not come back by itself. */
  tellGone() {
    const { shop } = this;
    const { gone } = shop.house;
    const wasGone = shop.gone > 0;
    if (shop.isOver !== wasGone || gone === shop.gone) return;
    shop.gone = gone;
    shop.isOver = gone > 0;
    if (!gone) return shop.choice.propose();
    const isSold = gone === SOLD;
    const words = isSold ? t('seats.sold_out') : t('seats.all_held');
    this.#end(words, isSold && link(t('seats.to_waitlist'), `/shows/${shop.show}`));
    this.news.say(words);
  }

  /** Others were faster, and something else was proposed. @param {number} lost @param {boolean} isAnswer to what the reader did */
  tellLost(lost, isAnswer) {
    const { choice, map, line } = this.shop;
    // What was said then has the way on.
    if (this.shop.isOver) return;
    const words = choice.count ? counted('seats.faster', lost) : counted('seats.faster_none', lost);
    if (isAnswer) this.news.tell(words);
    // What nobody asked for is said once in a while, so it is no alert.
    else this.news.put(el('p', { class: 'notice' }, words));
    this.news.say(`${words} ${line.textContent}`, isAnswer);
    const [place] = choice.places;
    if (place === undefined || !map || map.viewport.isWhole) return;
    map.viewport.reveal(map.plan.x[place], map.plan.y[place]);
  }

  /** @param {string} [at] */
  #notYet(at) {
    const { show, told } = this.shop;
    const words = at ? t('seats.not_yet', { time: moment(at, told.venue?.timezone) }) : t('seats.no_sale');
    this.#end(words, link(t('seats.to_show'), `/shows/${show}`));
  }

  /** The choice is there again when the reader comes back. @param {boolean} [isNew] they never had a pass */
  #passOver(isNew) {
    const { choice, show, isBusy, isOver } = this.shop;
    if (isOver || isBusy) return;
    if (choice.count) sessionStorage.setItem(this.kept, JSON.stringify(choice.body));
    answered(show);
    const words = isNew ? t('seats.room_first') : t('seats.pass_over');
    this.#end(words, link(isNew ? t('show.room') : t('seats.to_room'), `/room/${show}`));
  }

  async reserve() {
    const { choice, show } = this.shop;
    this.shop.isBusy = true;
    this.news.tell();
    this.shop.render();
    const bar = el('progress', { max: TRIES, value: 0, 'aria-label': t('seats.work') });
    /** @type {import('./seats/reserve.js').Outcome} */
    const outcome = await reserve(show, choice.body, {
      working: (tried) => {
        if (!bar.isConnected) this.news.put(el('p', { role: 'status' }, t('seats.work')), bar);
        bar.value = tried;
      },
      waiting: (seconds) =>
        this.news.put(el('p', { class: 'notice', role: 'status' }, counted('seats.waiting', Math.ceil(seconds)))),
    }).catch(() => ({ kind: 'lost' }));
    this.news.tell();
    this.shop.isBusy = outcome.kind === 'held';
    this.shop.isUncertain = outcome.kind === 'lost';
    // What others took meanwhile was not told: that was for this answer.
    const lost = outcome.kind === 'taken' ? 0 : this.shop.changed([], true);
    if (lost) this.tellLost(lost, true);
    await this.#settle(outcome);
    this.shop.render();
  }

  /** @param {import('./seats/reserve.js').Outcome} outcome */
  #settle(outcome) {
    const { choice, show } = this.shop;
    switch (outcome.kind) {
      case 'held':
        sessionStorage.removeItem(this.kept);
        return location.assign(`/shows/${show}/holds/${outcome.hold}${this.#was(outcome.amount)}`);
      case 'taken':
        return this.#taken(outcome.taken);
      case 'limit':
        return this.news.tell(
          counted('seats.limit', outcome.limit ?? choice.most),
          link(t('seats.to_orders'), '/orders', 'plain'),
        );
      case 'session':
        return this.#askWho();
      case 'pass':
        return this.#passOver();
      case 'not_on_sale':
        return this.#notYet(outcome.at);
      case 'refused':
        return this.news.tell(inWords(outcome.problem));
      case 'busy':
        return this.news.tell(t('error.rate_limited'));
      default:
        return this.news.tell(t('seats.lost'));
    }
  }

  /** Prices follow demand: the checkout says so where the reader was told another one. @param {number} [amount] */
  #was(amount) {
    const told = this.shop.choice.total.amount;
    return amount === told || amount === undefined ? '' : `?was=${told}`;
  }

  /** Somebody was faster: repairs the map, proposes as many elsewhere, and says why. @param {string[]} taken */
  async #taken(taken) {
    const { choice, house } = this.shop;
    const wanted = choice.count;
    const places = taken.map((it) => house.find(it)).filter((it) => it >= 0);
    /** @type {[number, number][]} */
    const changes = places.map((it) => [it, HELD]);
    const changed = places.length
      ? house.change(changes, house.version)
      : await this.shop.readMap().catch(() => /** @type {number[]} */ ([]));
    // The feed may have told of them already, while the answer was on its way.
    const lost = this.shop.changed(changed, true);
    if (!lost) choice.propose();
    this.tellLost(lost || places.length || wanted, true);
    this.shop.reserving.focus();
  }

  /** In place: a name and an address are enough. Then the reservation goes on by itself, if it is still the one that was wanted. */
  async #askWho() {
    const { choice } = this.shop;
    const wanted = JSON.stringify(choice.body);
    const [{ whoAreYou }] = await Promise.all([import('./session.js'), learnFor('session')]);
    const dialog = el('dialog', { class: 'who-dialog', 'aria-label': t('seats.who') });
    const done = () => {
      dialog.close();
      if (JSON.stringify(choice.body) === wanted) return this.reserve();
      this.news.tell(t('seats.others_now'));
      return this.shop.reserving.focus();
    };
    dialog.append(
      el(
        'button',
        { type: 'button', class: 'remove', 'aria-label': t('seats.close'), click: () => dialog.close() },
        '×',
      ),
      whoAreYou({ why: t('seats.who'), done }),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (!this.shop.isBusy) answered(this.shop.show);
    });
    document.body.append(dialog);
    dialog.showModal();
  }
}
