// What the waiting page shows of a view, and what it tells those who listen.
//
// "It is your turn" is said to a visitor who has a pass, and to nobody else.

import { now } from '../clock.js';
import { left } from '../countdown.js';
import { counted, learnFor, locale, t } from '../words.js';

/**
 * What is known of a visitor. Times are the server's, but for `due`.
 * @typedef {{
 *   state: string, due: number, seats: string, placed?: boolean, first?: number, code?: string,
 *   note?: string, detail?: string, trouble?: string, lost?: boolean, tried?: number,
 *   opens?: number, expires?: number, used?: boolean, told?: any
 * }} View
 */
/** @typedef {[text: string, value: any]} Pressed */
/**
 * @typedef {{
 *   badge?: string, headline: string, lead?: string, next?: string, bar?: [string, number, number],
 *   stub?: [string, string], link?: [string, string], button?: Pressed, fan?: boolean, waits?: boolean
 * }} Face
 */

const TRIES = 65_536;
const DAY_MS = 86_400_000;
const title = document.title;
const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

/** @type {Record<string, any>} */
export const ui = Object.fromEntries([...document.querySelectorAll('[id]')].map((it) => [it.id, it]));
const { show } = ui.room.dataset;
const { facts, message, who } = ui;

/** @param {number} n */
const number = (n) => n.toLocaleString(locale);

/** @param {{ amount: number, currency: string }} sum */
function money({ amount, currency }) {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** "about 3 to 6 minutes" @param {{ p50: number, p90: number }} wait */
function waitInWords({ p50, p90 }) {
  const isLong = p90 > 5_400;
  const step = isLong ? 1_800 : 60;
  const unit = isLong ? 2 : 1;
  const from = Math.round(p50 / step) / unit;
  const to = Math.ceil(p90 / step) / unit;
  const values = { from: number(from), to: number(to) };
  if (to <= 1) return t('room.wait.moment');
  if (from < 1) return isLong ? t('room.wait.below_hours', values) : t('room.wait.below', values);
  if (from < to) return isLong ? t('room.wait.hours', values) : t('room.wait.minutes', values);
  return isLong ? t('room.wait.about_hours', values) : t('room.wait.about', values);
}

/** @param {number} ms */
const clock = (ms) => (ms > 2 * DAY_MS ? counted('room.days', Math.floor(ms / DAY_MS)) : left(ms));
/** By the reader's time zone. @param {number} ms @param {'medium'} [dateStyle] */
const moment = (ms, dateStyle) => new Date(ms).toLocaleString(locale, { dateStyle, timeStyle: 'short' });

/** @returns {Face} */
const atTheDoor = () => ({
  badge: t('room.in_line'),
  headline: t('room.next'),
  lead: t('room.door'),
  waits: true,
});

/** @type {Record<string, (view: View) => Face>} */
const faces = {
  looking: () => ({ headline: t('room.looking'), lead: t('room.looking.what') }),
  working: ({ tried = 0 }) => ({
    badge: t('room.working.badge'),
    headline: t('room.working'),
    lead: t('room.working.what'),
    bar: [t('room.working.bar'), tried, TRIES],
    fan: true,
  }),
  refused: ({ detail }) => ({
    headline: t('room.refused.headline'),
    lead: detail,
    button: [t('try_again'), {}],
    fan: true,
  }),
  prequeue({ opens = 0, told: { position }, code }) {
    const wait = opens - now();
    return {
      badge: t('room.here.badge'),
      headline: wait <= 0 ? t('room.opening') : t('room.here'),
      lead: opens ? t('room.opens_at', { time: moment(opens, 'medium') }) : t('room.opens_later'),
      next: position ? t('room.number', { n: number(position) }) : t('room.lottery'),
      stub: opens ? [t('room.opens_in'), clock(wait)] : undefined,
      fan: !code,
      waits: true,
    };
  },
  waiting({ first = 0, told: { position, ahead, wait_seconds: wait } }) {
    const isKnown = ahead !== undefined;
    return {
      badge: t('room.in_line'),
      headline: isKnown ? (ahead ? counted('room.ahead', ahead) : t('room.next')) : t('room.drawing'),
      lead: wait
        ? t('room.wait', { wait: waitInWords(wait) })
        : isKnown
          ? ahead
            ? t('room.still')
            : t('room.door')
          : t('room.drawing.what'),
      bar: isKnown ? [t('room.way'), first - ahead, first || 1] : undefined,
      next: t('room.no_reload'),
      stub: position && [t('room.place'), number(position)],
      waits: true,
    };
  },
  door: atTheDoor,
  admitted: atTheDoor,
  turn: ({ seats }) => ({
    badge: t('room.in'),
    headline: t('room.turn'),
    lead: t('room.turn.what'),
    link: [t('room.go_on'), seats],
    button: [t('room.leave'), { leave: true }],
  }),
  inside: ({ seats, expires = 0 }) => ({
    badge: t('room.in'),
    headline: t('room.inside'),
    lead: t('room.inside.what', { time: moment(expires) }),
    stub: [t('room.left'), left(expires - now())],
    link: [t('room.go_on'), seats],
    button: [t('room.leave'), { leave: true }],
  }),
  left: () => ({ headline: t('room.gone'), lead: t('room.gone.what'), button: [t('room.join_again'), {}] }),
  sold_out: ({ told: { waitlist } }) => ({
    headline: t('state.sold_out'),
    lead: waitlist ? t('room.sold_out.waitlist') : t('room.sold_out'),
    link: waitlist && [t('room.waitlist'), `/shows/${show}`],
  }),
  closed: () => ({ headline: t('room.closed'), lead: t('room.closed.what') }),
};

/** What regulators want to be told to those who wait. @param {any} [told] */
function renderFacts({ total_waiting, prices, sold_out_sections = [], message: words } = {}) {
  const { from, to } = prices ?? {};
  const pairs = [
    total_waiting > 1 && [t('room.total'), number(total_waiting)],
    from && [t('room.prices'), to && to.amount !== from.amount ? `${money(from)} – ${money(to)}` : money(from)],
    sold_out_sections.length > 0 && [t('state.sold_out'), sold_out_sections.join(', ')],
  ].filter(Boolean);
  const key = pairs.join('|');
  if (facts.dataset.key !== key) {
    facts.replaceChildren();
    for (const [name, value] of /** @type {[string, string][]} */ (pairs)) {
      facts.append(document.createElement('dt'), document.createElement('dd'));
      [facts.lastChild.previousSibling.textContent, facts.lastChild.textContent] = [name, value];
    }
  }
  facts.dataset.key = key;
  facts.hidden = pairs.length === 0;
  message.hidden = !words;
  text(message, words);
}

let state = '';
/** @type {any} */
let pressed = {};

/** @param {HTMLElement} element @param {string} [value] */
function text(element, value = '') {
  if (element.textContent !== value) element.textContent = value;
}

/** Shows a view. Returns whether its state is a new one. @param {View} view */
export function render(view) {
  const { badge, headline, lead, next, bar, stub, link, button, fan, waits } = faces[view.state](view);
  const isNew = state !== view.state;
  state = view.state;
  ui.room.dataset.state = state;
  ui.card.hidden = false;
  text(ui.badge, badge);
  text(ui.headline, headline);
  text(ui.lead, lead);
  text(ui.next, next);
  renderFacts(waits ? view.told : undefined);
  ui.meter.hidden = !bar;
  if (bar) [ui.label.textContent, ui.bar.value, ui.bar.max] = bar;
  ui.stub.hidden = !stub;
  if (stub) [ui.what.textContent, ui.number.textContent] = stub;
  ui.link.hidden = !link;
  if (link) [ui.link.textContent, ui.link.href] = link;
  const hadFocus = document.activeElement === ui.button;
  ui.button.hidden = !button;
  if (button) [ui.button.textContent, pressed] = button;
  ui.button.classList.toggle('plain', Boolean(link));
  ui.fan.hidden = !fan;
  who.hidden = !waits && state !== 'refused' && state !== 'working';
  const { trouble, note, due } = view;
  ui.notice.hidden = !trouble && !note;
  text(ui.notice, trouble ? `${trouble} ${t('room.retry', { time: left(due - Date.now()) })}` : note);
  document.title = [titleOf(headline, stub), title].filter(Boolean).join(' · ');
  announce(view, headline, lead);
  if (isNew && (state === 'turn' || hadFocus) && !document.hidden) ui.headline.focus();
  return isNew;
}

/** What somebody in another tab sees. It blinks when they are wanted here. @param {string} headline @param {[string, string]} [stub] */
function titleOf(headline, stub) {
  if (state === 'prequeue' || state === 'waiting') return stub?.join(' ') ?? headline;
  const isDark = /door|admitted|turn/.test(state) && document.hidden && !calm && Date.now() % 2_000 < 1_000;
  return /door|admitted|turn|inside|sold_out/.test(state) && !isDark && headline;
}

let said = { key: '', lead: '', at: 0 };

/** Tells listeners another state, half as many ahead, or another wait after a minute. @param {View} view @param {string} headline @param {string} [lead] */
function announce({ told, trouble, note }, headline, lead = '') {
  // The door and a slot at it are one and the same to a visitor.
  const key = [
    state.replace('admitted', 'door'),
    told?.ahead && Math.floor(Math.log2(told.ahead)),
    trouble,
    note,
  ].join();
  const isNews = state === 'waiting' && lead !== said.lead && Date.now() - said.at > 60_000;
  if ((state === 'looking' && !trouble) || (key === said.key && !isNews)) return;
  said = { key, lead, at: Date.now() };
  text(ui.said, [`${headline}.`, lead, trouble ?? note].join(' '));
}

/** What can be pressed. @param {{ act: (wanted: any) => void, code: string }} page */
export function buttons({ act, code }) {
  ui.code.value = code;
  if (code) ui.summary.append(`: ${code}`);
  ui.form.addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const value = ui.code.value.trim();
    if (value) act({ code: value });
    ui.fan.open = false;
  });
  ui.button.addEventListener('click', () => act(pressed));
  who.addEventListener('toggle', () => logIn(who.open));
}

let isAsked = false;

/** Who the visitor is can be said while they wait; it saves time at the seats. @param {boolean} open */
export async function logIn(open) {
  who.open = open;
  if (!open || isAsked) return;
  isAsked = true;
  try {
    const [{ reader, whoAreYou }] = await Promise.all([import('../session.js'), learnFor('session')]);
    const known = (/** @type {{ email: string }} */ { email }) => text(ui.asks, t('room.logged_in', { email }));
    const me = await reader();
    if (me) known(me);
    else ui.asks.append(whoAreYou({ why: t('room.log_in.why'), known: true, done: known }));
  } catch {
    isAsked = false;
    who.open = false;
  }
}
