// The poster of an event: the one that its organiser uploaded, or one made of its title.

import { el } from './elements.js';

const LOOKS = 6;

/** @typedef {{ title: string, poster_url?: string }} Titled */

/** A page loads pictures of its own origin only: a poster elsewhere does not count. */
const OWN = /^\/(?!\/)/;

/**
 * The picture that was uploaded, if there is one.
 * @param {Titled} event
 * @param {import('./elements.js').Attributes} [attributes]
 */
export const picture = ({ poster_url: src = '' }, attributes) =>
  OWN.test(src) && el('img', { class: 'poster', src, alt: '', width: 600, height: 400, ...attributes });

/** @param {Titled} event @param {import('./elements.js').Attributes} [attributes] */
export function poster({ title, poster_url }, attributes) {
  const uploaded = picture({ title, poster_url }, attributes);
  if (uploaded) return uploaded;
  let sum = 0;
  for (let i = 0; i < title.length; i++) sum += title.charCodeAt(i);
  return el('span', { class: `poster look-${sum % LOOKS}`, 'aria-hidden': 'true' }, el('span', {}, title));
}
