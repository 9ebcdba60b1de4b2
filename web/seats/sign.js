// A button that shows a sign; its name is for those who hear it.

import { el } from '../elements.js';

/** @param {string} sign @param {string} words @param {() => void} press @param {string} [kind] */
export const signButton = (sign, words, press, kind) =>
  el('button', { type: 'button', class: kind, 'aria-label': words, click: press }, sign);
