// A field for a new password, which can be looked at while it is typed.

import { box, field } from './page.js';
import { t } from './words.js';

/** @param {string} label @param {string} [id] */
export function passwordField(label, id = 'password') {
  const made = field(
    label,
    { id, type: 'password', autocomplete: 'new-password', minlength: 8, maxlength: 128 },
    t('password.hint'),
  );
  const input = /** @type {HTMLInputElement} */ (made.querySelector('input'));
  const see = (/** @type {any} */ { target }) => {
    input.type = target.checked ? 'text' : 'password';
  };
  made.append(box(t('password.see'), { id: `${id}-seen`, change: see }));
  return made;
}
