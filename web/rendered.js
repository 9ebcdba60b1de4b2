// The content that the edge has rendered, while its module brings it up to date: it stays
// when the API does not answer, and so does the focus when newer content takes its place.

import { show } from './elements.js';

/** @type {Element | undefined} */
let notice;

const content = () => /** @type {HTMLElement} */ (document.getElementById('content'));

/** By what the same control is found in newer content. @param {Element | null} it */
const nameOf = (it) => it && it.tagName + (it.getAttribute('href') ?? it.textContent);

/** Shows newer content. @param {Children} nodes */
export function renew(nodes) {
  const held = document.activeElement;
  const wasIn = content().contains(held);
  show(nodes);
  if (!wasIn) return;
  const same = [...content().querySelectorAll('a, button, summary')].find((it) => nameOf(it) === nameOf(held));
  /** @type {HTMLElement | undefined} */ (same)?.focus({ preventScroll: true });
}

/** Shows what went wrong, below the content, which does not move. @param {Children} trouble */
export function below(trouble) {
  notice?.remove();
  notice = /** @type {Element} */ (trouble);
  notice.classList.add('afloat');
  content().append(notice);
}
