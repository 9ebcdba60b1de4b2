// The key of a request, kept in this tab until the request is answered: whoever reloads the page
// after an answer was lost gets that answer, and not a link that is used up.

import { newKey } from './page.js';

/**
 * The key under which this was sent before and never answered, or a new one. It is kept before
 * anything is sent.
 * @param {string} name of the request
 * @param {string} [body] what tells it from another request of the same name
 */
export function keptKey(name, body = '') {
  const before = JSON.parse(sessionStorage.getItem(name) ?? '{}');
  const key = before.body === body ? before.key : newKey();
  sessionStorage.setItem(name, JSON.stringify({ key, body }));
  return key;
}

/** The request was answered. @param {string} name */
export const answered = (name) => sessionStorage.removeItem(name);
