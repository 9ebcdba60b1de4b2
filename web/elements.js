// Elements, and values as people read them.
//
// Whatever comes from the API is shown as text, never read as HTML.

import { locale } from './words.js';

/** @typedef {Record<string, string | number | boolean | undefined | ((event: any) => void)>} Attributes */
/** @typedef {{ amount: number, currency: string }} Money */

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {Children[]} children @returns {(Node | string)[]} */
const present = (children) =>
  /** @type {any} */ (children).flat(Infinity).filter((/** @type {Child} */ it) => it || it === '');

/**
 * An element. A function among its attributes listens; what is not there is left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...present(children));
  return made;
}

/**
 * A ticket of paper with a headline. `kind` is `good` or `bad`; `stub` is torn off at the side.
 * @param {{ badge?: Child, headline: Child, kind?: string, stub?: Child }} parts
 * @param {...Children} children
 */
export const card = ({ badge, headline, kind = '', stub }, ...children) =>
  el(
    'section',
    { class: `ticket ${kind}` },
    el(
      'div',
      { class: 'body' },
      badge && el('p', { class: 'badge' }, badge),
      el('h2', { tabindex: -1 }, headline),
      children,
    ),
    stub,
  );

/** @param {Child} label @param {(event: MouseEvent) => void} press @param {string} [kind] */
export const button = (label, press, kind = '') =>
  el('button', { type: 'button', class: `button ${kind}`, click: press }, label);
/** @param {Child} label @param {string} href @param {string} [kind] */
export const link = (label, href, kind = '') => el('a', { class: `button ${kind}`, href }, label);
/** @param {...Children} children */
export const row = (...children) => el('div', { class: 'row' }, children);
/** Something that went wrong. @param {Children} words */
export const note = (words) => el('p', { class: 'notice', role: 'alert' }, words);

/**
 * Shows these, and says what is new. After something that the reader did the focus goes there, and
 * so does one that was in what is shown no more.
 * @param {Children} nodes
 * @param {{ acted?: boolean }} [options]
 */
export function show(nodes, { acted } = {}) {
  const content = byId('content');
  const isLost = content.contains(document.activeElement);
  content.replaceChildren(...present([nodes]));
  const headline = content.querySelector('h2');
  if (acted || isLost) headline?.focus();
  else if (headline) say(headline.textContent ?? '');
}

/** Tells those who listen instead of looking. @param {string} words */
export function say(words) {
  if (byId('said').textContent !== words) byId('said').textContent = words;
}

// Values.

/** @param {number} n */
export const number = (n) => n.toLocaleString(locale);

/** There are few prices, and many places at each. @type {Map<string, string>} */
const sums = new Map();

/** A price as it is read: `€39.00`, or `€39` where it is short and whole. @param {Money} sum @param {boolean} [isShort] */
export function money({ amount, currency }, isShort) {
  const key = `${amount}${currency}${isShort}`;
  /** @type {any} Not in the types yet. */
  const parts = isShort && { trailingZeroDisplay: 'stripIfInteger' };
  if (!sums.has(key)) {
    const format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...parts });
    sums.set(key, format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)));
  }
  return /** @type {string} */ (sums.get(key));
}

/** @type {Intl.DateTimeFormatOptions} */
const WHOLE = {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
};

/**
 * A moment by the clocks of a place, or else by those of the reader.
 * @param {string | number} time
 * @param {string} [timeZone] its IANA name
 * @param {Intl.DateTimeFormatOptions} [parts]
 */
export function moment(time, timeZone, parts = WHOLE) {
  try {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone }).format(new Date(time));
  } catch {
    return new Intl.DateTimeFormat(locale, parts).format(new Date(time));
  }
}
