// The CAPTCHA of rooms that have one. Its script is in the head of the page, and shows
// nothing until it is asked.

import { lang } from '../words.js';

const PATIENCE_MS = 20_000;
const LOOK_MS = 100;

/** The service's own object, once its script has run. @returns {Promise<any>} */
function service() {
  const end = Date.now() + PATIENCE_MS;
  return new Promise((resolve, reject) => {
    const look = () => {
      const { turnstile } = /** @type {any} */ (globalThis);
      if (turnstile) resolve(turnstile);
      else if (Date.now() > end) reject(new Error('no CAPTCHA'));
      else setTimeout(look, LOOK_MS);
    };
    look();
  });
}

/**
 * Asks the visitor, below this element, and returns what proves the answer. It serves once.
 * @param {string} sitekey
 * @param {HTMLElement} below
 * @returns {Promise<string>}
 */
export async function captcha(sitekey, below) {
  const turnstile = await service();
  const place = document.createElement('div');
  below.after(place);
  try {
    return await new Promise((resolve, reject) => {
      turnstile.render(place, { sitekey, language: lang, callback: resolve, 'error-callback': reject });
    });
  } finally {
    place.remove();
  }
}
