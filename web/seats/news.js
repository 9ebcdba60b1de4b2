// What the reader is told: above the button, in the live region, and whether the map is live.

import { el, say } from '../elements.js';
import { t } from '../words.js';

/** Between two sentences that nobody asked for. */
const QUIET_MS = 5_000;

export class News {
  constructor() {
    this.spoken = 0;
    this.later = 0;
    this.element = el('div', { class: 'news' });
    // What the reader has reserved already. It stays while other news come and go.
    this.held = el('div', { class: 'news' });
    this.told = el('div', { class: 'told' }, this.held, this.element);
    this.offline = el('p', { class: 'notice offline', role: 'status', hidden: true });
  }

  /** To those who listen. @param {string} words @param {boolean} [isOwn] the reader did something and waits for the answer */
  say(words, isOwn = false) {
    clearTimeout(this.later);
    const wait = this.spoken + QUIET_MS - Date.now();
    if (!isOwn && wait > 0) {
      this.later = setTimeout(() => this.say(words), wait);
      return;
    }
    this.spoken = Date.now();
    say(words);
  }

  /** News above the button, with what can be done; or none. @param {string} [words] @param {...(Node | false)} ways */
  tell(words, ...ways) {
    this.put(...this.#notice(words, ways));
  }

  /** @param {...Node} nodes */
  put(...nodes) {
    this.element.replaceChildren(...nodes);
  }

  /** Like `tell`, for what is reserved already. @param {string} [words] @param {...(Node | false)} ways */
  tellHeld(words, ...ways) {
    this.held.replaceChildren(...this.#notice(words, ways));
  }

  /** @param {string | undefined} words @param {(Node | false)[]} ways */
  #notice(words, ways) {
    return words ? [el('p', { class: 'notice', role: 'alert' }, words), el('div', { class: 'row' }, ways)] : [];
  }

  /** @param {boolean} isLive */
  link(isLive) {
    if (this.offline.hidden === isLive) return;
    this.offline.hidden = isLive;
    this.offline.textContent = isLive ? '' : t('seats.offline');
  }
}
