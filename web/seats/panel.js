// What is beside the map: how many, the prices, the bill, places by number, the legend.

import { el, number, money as price } from '../elements.js';
import { t } from '../words.js';
import { ACCESSIBLE, COMPANION, RESTRICTED } from './house.js';
import { signButton } from './sign.js';
import { rowLines } from './wording.js';

/** @typedef {import('./choice.js').Choice} Choice */

/** How many tickets. @param {Choice} choice @param {(quantity: number) => void} set */
export function howMany(choice, set) {
  const radios = Array.from({ length: choice.most }, (_, i) =>
    el('input', { type: 'radio', name: 'many', value: i + 1, change: () => set(i + 1) }),
  );
  const element = el(
    'fieldset',
    { class: 'many' },
    el('legend', {}, t('seats.many')),
    el(
      'div',
      { class: 'strip' },
      radios.map((it, i) => el('label', { class: 'chip' }, it, String(i + 1))),
    ),
  );
  return {
    element,
    update: () =>
      radios.forEach((it, i) => {
        it.checked = choice.quantity === i + 1;
      }),
  };
}

/** Prices that filter, with what there is of each. @param {Choice} choice @param {() => void} filtered */
export function priceChips(choice, filtered) {
  const chips = choice.house.offers.map(({ price: money, colour }) => {
    const free = el('small');
    const chip = el(
      'button',
      {
        type: 'button',
        class: 'chip',
        'aria-pressed': 'false',
        click: () => {
          if (!choice.prices.delete(money.amount)) choice.prices.add(money.amount);
          filtered();
        },
      },
      el('span', { class: `swatch price-${colour + 1}` }),
      price(money, true),
      free,
    );
    return { chip, free, amount: money.amount };
  });
  const element = el(
    'div',
    { class: 'strip prices', role: 'group', 'aria-label': t('seats.prices'), hidden: chips.length < 2 },
    chips.map(({ chip }) => chip),
  );
  return {
    element,
    update: () => {
      const offers = choice.house.offers;
      chips.forEach(({ chip, free, amount }, i) => {
        free.textContent = t('seats.free_n', { n: number(offers[i].free) });
        chip.ariaPressed = String(choice.prices.has(amount));
      });
    },
  };
}

/** The chosen places, one a line, each of which can be given back. @param {Choice} choice @param {HTMLElement} headline has the focus when no line is left */
export function bill(choice, headline) {
  const element = el('ul', { class: 'bill' });
  let shown = '';
  return {
    element,
    update: () => {
      const { house, places, general, quantity, isOurs } = choice;
      const key = JSON.stringify([places, general?.name, quantity, isOurs, choice.total]);
      if (key === shown) return;
      shown = key;
      if (general) {
        element.replaceChildren(
          el('li', {}, el('span', {}, summary(choice)), el('span', { class: 'price' }, price(choice.total))),
        );
        return;
      }
      const hadFocus = element.contains(document.activeElement);
      element.replaceChildren(
        ...places.map((place) => {
          const { row, seat, section } = house.seat(place);
          const words = t('place.seat', { section: section.name, row, seat });
          return el(
            'li',
            {},
            el('span', {}, words),
            el('span', { class: 'price' }, price(section.price)),
            signButton('×', t('seats.remove', { place: words }), () => choice.remove(place), 'remove'),
          );
        }),
      );
      if (hadFocus) (element.querySelector('button') ?? headline).focus();
    },
  };
}

/** The choice in a line or two. @param {Choice} choice */
export function summary({ general, places, quantity, house }) {
  if (general) return t('seats.times', { n: quantity, section: general.name });
  return places.length ? rowLines(house, places).join(' · ') : t('seats.none_chosen');
}

/** A box to tick. @param {string} id @param {string} words @param {(isTicked: boolean) => void} ticked */
const tickBox = (id, words, ticked) =>
  el(
    'div',
    { class: 'check' },
    el('input', { type: 'checkbox', id, change: (event) => ticked(event.target.checked) }),
    el('label', { for: id }, words),
  );

/** What else can be wished for. @param {Choice} choice @param {() => void} changed */
export function wishes(choice, changed) {
  const hasAccessible = choice.house.sections.some(({ accessible }) => accessible.length);
  const accessible = tickBox('accessible', t('seats.need_accessible'), (isTicked) => {
    choice.isAccessible = isTicked;
    choice.propose();
    changed();
  });
  const single = tickBox('one-by-one', t('seats.one_by_one'), (isTicked) => {
    choice.isOneByOne = isTicked;
  });
  const [ticked] = single.getElementsByTagName('input');
  return {
    element: el('div', { class: 'wishes', hidden: !choice.house.isNumbered }, hasAccessible && accessible, single),
    update: () => {
      ticked.checked = choice.isOneByOne;
    },
  };
}

/** What the seats on the map mean. @param {Choice} choice */
export function legend({ house }) {
  const marks = house.marks.reduce((all, it) => all | it, 0);
  /** @type {[string, string, number?][]} */
  const signs = [
    ['free', t('seats.legend_free')],
    ['mine', t('seats.your_choice')],
    ['held', t('seats.legend_held')],
    ['sold', t('seats.legend_sold')],
    ['wheels', t('seats.accessible_place'), ACCESSIBLE],
    ['companion', t('seats.companion'), COMPANION],
    ['restricted', t('seats.restricted'), RESTRICTED],
  ];
  const items = signs.map(
    ([kind, words, mark]) =>
      (!mark || (marks & mark) > 0) && el('li', {}, el('span', { class: `seat ${kind}` }), el('span', {}, words)),
  );
  return el('ul', { class: 'legend', 'aria-label': t('seats.legend'), hidden: !house.isNumbered }, items);
}
