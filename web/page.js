// What most pages share: elements, the API, forms. A page that needs to be small names
// elements.js and api.js by itself.

import { isSettled, spoken, Trouble } from './api.js';
import { el, note, show } from './elements.js';
import { t } from './words.js';

export * from './api.js';
export * from './elements.js';

/** @typedef {import('./elements.js').Attributes} Attributes */
/** @typedef {import('./elements.js').Money} Money */
/** @typedef {import('./api.js').Answer} Answer */

Object.assign(spoken, {
  unauthenticated: () => t('error.unauthenticated'),
  email_taken: () => t('error.email_taken'),
  forbidden: () => t('error.forbidden'),
});

/** The parts of the address after its first word, as they stand in it. */
export const [, ...address] = location.pathname.slice(1).split('/');

/** @param {string} text */
export function titled(text) {
  /** @type {HTMLElement} */ (document.getElementById('title')).textContent = text;
  document.title = text;
}

/**
 * Pairs of a word and what it is.
 * @param {...([Child, Children] | false | undefined)} pairs
 */
export const facts = (...pairs) =>
  el(
    'dl',
    {},
    pairs.map((pair) => pair && [el('dt', {}, pair[0]), el('dd', {}, pair[1])]),
  );

/** While the first answer is on its way. */
export const busy = () => show(el('p', { class: 'quiet' }, t('wait')));

/** A name for something that should happen once, however often it is sent. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((it) => it.toString(16).padStart(2, '0')).join('');

// Forms.

/**
 * A labelled input.
 * @param {Child} label
 * @param {Attributes & { id: string }} attributes
 * @param {Child} [hint]
 */
export function field(label, attributes, hint) {
  const hintId = hint ? `${attributes.id}-hint` : undefined;
  return el(
    'div',
    { class: 'field' },
    el('label', { for: attributes.id }, label),
    el('input', { name: attributes.id, required: true, 'aria-describedby': hintId, ...attributes }),
    hint && el('p', { class: 'hint', id: hintId }, hint),
  );
}

/**
 * A box to tick, and what it stands for.
 * @param {Child} label
 * @param {Attributes & { id: string }} attributes
 */
export const box = (label, attributes) =>
  el(
    'div',
    { class: 'check' },
    el('input', { type: 'checkbox', name: attributes.id, ...attributes }),
    el('label', { for: attributes.id }, label),
  );

/**
 * Does what one of these buttons is for, once at a time, and says in `trouble` what is wrong.
 * A button that is disabled meanwhile would lose the focus.
 * @param {HTMLElement[]} buttons
 * @param {HTMLElement} trouble
 * @param {() => unknown} work
 */
export async function press(buttons, trouble, work) {
  if (buttons.some((it) => it.hasAttribute('aria-disabled'))) return;
  for (const it of buttons) it.setAttribute('aria-disabled', 'true');
  trouble.replaceChildren();
  try {
    await work();
  } catch (error) {
    if (isSettled(error)) return;
    if (!(error instanceof Trouble)) throw error;
    trouble.replaceChildren(note(error.message));
  } finally {
    for (const it of buttons) it.removeAttribute('aria-disabled');
  }
}

/**
 * A form that sends once at a time and says what is wrong where the reader looks.
 * @param {Child} label of its button
 * @param {Children} fields
 * @param {(values: Record<string, string>) => unknown} submit
 * @param {string} [kind]
 */
export function form(label, fields, submit, kind = '') {
  const trouble = el('div');
  const send = el('button', { class: `button ${kind}` }, label);
  const made = el('form', {}, fields, trouble, send);
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    press([send], trouble, () => submit(/** @type {any} */ (Object.fromEntries(new FormData(made)))));
  });
  return made;
}

// Places.

/** A-12-7 as people say it. @param {string} seat */
export function place(seat) {
  const [section, line, number] = seat.split('-');
  return line === 'GA' ? t('place.general', { section }) : t('place.seat', { section, row: line, seat: number });
}

/** One under the other. @param {(string | { seat: string })[]} seats */
export const places = (seats) =>
  el(
    'span',
    {},
    seats.map((it, i) => [i > 0 && el('br'), place(typeof it === 'string' ? it : it.seat)]),
  );
