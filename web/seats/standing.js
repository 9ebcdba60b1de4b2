// Places of general sections by number.

import { el } from '../elements.js';
import { t } from '../words.js';
import { signButton } from './sign.js';
import { sectionWords } from './wording.js';

/** Places of general sections by number. @param {import('./choice.js').Choice} choice */
export function steppers(choice) {
  const sections = choice.house.sections.filter(({ kind }) => kind === 'general');
  const rows = sections.map((section) => {
    const count = el('output', { class: 'count' }, '0');
    const told = el('span', { class: 'quiet' });
    const step = (/** @type {number} */ by) => {
      const next = (choice.general === section ? choice.quantity : 0) + by;
      if (next < 1) return choice.take([]);
      if (next > choice.most) return undefined;
      choice.quantity = Math.min(next, section.free);
      return choice.tapGeneral(section);
    };
    const named = { section: section.name };
    const less = signButton('−', t('seats.less', named), () => step(-1), 'step');
    // The first tap takes as many as were asked for.
    const first = () => (choice.general === section ? 1 : choice.quantity);
    const more = signButton('+', t('seats.more', named), () => step(first()), 'step');
    const element = el(
      'li',
      { class: 'stepper' },
      el('div', {}, el('strong', {}, section.name), el('br'), told),
      el('div', { class: 'steps' }, less, count, more),
    );
    return { section, count, told, less, more, element };
  });
  return {
    element: el(
      'ul',
      { class: 'steppers', hidden: !rows.length },
      rows.map(({ element }) => element),
    ),
    update: () =>
      rows.forEach(({ section, count, told, less, more, element }) => {
        const own = choice.general === section ? choice.quantity : 0;
        count.textContent = String(own);
        told.textContent = sectionWords(section);
        less.disabled = own === 0;
        more.disabled = own >= Math.min(choice.most, section.free);
        element.classList.toggle('chosen', own > 0);
      }),
  };
}
