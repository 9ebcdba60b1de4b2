// The form by which one is told before a sale begins. Until then the organiser of a show takes
// addresses, and writes to them.

import { call, el, field, form, refusal } from './page.js';
import { t } from './words.js';

/** @param {string} id the show's */
export function remindForm(id) {
  const place = el('details', {}, el('summary', {}, t('show.remind')));
  /** @param {Record<string, string>} values */
  const send = async ({ email }) => {
    const answer = await call('POST', `/shows/${id}/fans`, { email });
    if (!answer.ok) throw refusal(answer);
    const done = el('p', { tabindex: -1 }, t('show.remind.done', { email }));
    place.replaceWith(done);
    done.focus();
  };
  const email = field(t('show.remind.email'), { id: 'email', type: 'email', autocomplete: 'email', maxlength: 254 });
  place.append(
    el('div', { class: 'body' }, el('p', {}, t('show.remind.what')), form(t('show.remind.send'), email, send, 'plain')),
  );
  return place;
}
