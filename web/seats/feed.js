// The live map: what changed, as it changes, by a WebSocket or else by server-sent events.
//
// A tab that nobody sees does not listen. When it is seen again it reads the whole map first.

/** @typedef {{ version: number, changes?: [number, number][], reset?: boolean }} News */

const FIRST_MS = 1_000,
  LONGEST_MS = 30_000;
/** After so many WebSockets that brought nothing, the other way is tried. */
const SOCKETS = 2;

export class Feed {
  /**
   * @param {string} show
   * @param {() => number} since the version that is known
   * @param {(news: News) => void} heard
   * @param {() => Promise<unknown>} reread reads the whole map
   * @param {(isLive: boolean) => void} linked
   */
  constructor(show, since, heard, reread, linked) {
    this.path = `/feed/${show}`;
    this.since = since;
    this.heard = heard;
    this.reread = reread;
    this.linked = linked;
    this.failures = 0;
    this.sockets = 0;
    this.timer = 0;
    /** @type {WebSocket | EventSource | undefined} */
    this.link = undefined;
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#close() : this.#resume()));
    addEventListener('online', () => this.#resume());
    addEventListener('offline', () => this.#fail());
    this.#open();
  }

  async #resume() {
    this.#close();
    try {
      await this.reread();
      this.#open();
    } catch {
      this.#fail();
    }
  }

  #close() {
    clearTimeout(this.timer);
    const { link } = this;
    this.link = undefined;
    link?.close();
  }

  #open() {
    this.#close();
    if (document.hidden) return;
    const query = `${this.path}?since=${this.since()}`;
    if (this.sockets >= SOCKETS) return this.#listen(new EventSource(query));
    const socket = new WebSocket(new URL(query, location.href.replace(/^http/, 'ws')));
    socket.onclose = () => {
      if (this.link === socket) this.sockets++;
      this.#fail(socket);
    };
    this.#listen(socket);
  }

  /** @param {WebSocket | EventSource} link */
  #listen(link) {
    this.link = link;
    link.onmessage = ({ data }) => this.#hear(link, data);
    link.onerror = () => this.#fail(link);
  }

  /** @param {WebSocket | EventSource} link @param {string} data */
  async #hear(link, data) {
    if (this.link !== link) return;
    try {
      /** @type {News} */
      const news = JSON.parse(data);
      if (news.reset) await this.reread();
      else this.heard(news);
    } catch {
      // The map has gaps until it is read anew: the next link begins with that.
      return this.#fail(link);
    }
    if (this.link !== link) return;
    this.failures = 0;
    this.sockets = link instanceof EventSource ? SOCKETS : 0;
    this.linked(true);
  }

  /** Says that nothing is heard, and opens another link later. @param {WebSocket | EventSource} [link] */
  #fail(link = this.link) {
    if (link !== this.link || document.hidden) return;
    this.#close();
    this.linked(false);
    const wait = Math.min(FIRST_MS * 2 ** this.failures++, LONGEST_MS) * (0.5 + Math.random() / 2);
    this.timer = setTimeout(() => this.#open(), wait);
  }
}
