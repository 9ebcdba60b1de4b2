// A question that has to be answered before the page goes on.

import { el, press } from './page.js';
import { t } from './words.js';

/**
 * Asks in a dialog, and does `work` once the reader has said yes. What goes wrong is told there.
 * @param {string} headline
 * @param {Children} words
 * @param {string} yes
 * @param {(values: Record<string, string>) => unknown} work
 */
export function confirm(headline, words, yes, work) {
  const trouble = el('div');
  const keep = el('button', { type: 'button', class: 'button plain', click: () => made.close() }, t('dialog.no'));
  const go = el('button', { class: 'button bad' }, yes);
  const body = el(
    'form',
    {
      class: 'body',
      submit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        press([go, keep], trouble, async () => {
          await work(/** @type {any} */ (Object.fromEntries(new FormData(body))));
          made.close();
          /** @type {HTMLElement | null} */ (document.querySelector('#content h2'))?.focus();
        });
      },
    },
    el('h2', { id: 'asked', tabindex: -1 }, headline),
    words,
    trouble,
    el('div', { class: 'row' }, go, keep),
  );
  const made = el('dialog', { class: 'ticket', 'aria-labelledby': 'asked', close: () => made.remove() }, body);
  document.body.append(made);
  made.showModal();
}
