// What is told of a show, and the tickets to it, on every page that has them.

import { call, card, el, link, moment, place, row, t } from './page.js?v={{version}}';

/** A show with its event; nothing while they cannot be read. */
export async function about(showId) {
  const { ok, body: show } = await call('GET', `/shows/${showId}`);
  if (!ok) return undefined;
  const { ok: isKnown, body: event } = await call('GET', `/events/${show.event_id}`);
  return isKnown ? { show, event } : undefined;
}

export const whenAndWhere = ({ show, event }) => [
  [t('When', 'Wann'), moment(show.starts_at, event.timezone)],
  [t('Where', 'Wo'), [...new Set([event.venue, event.address, event.city])].filter(Boolean).join(', ')],
];

const states = {
  valid: t('Valid ticket', 'Gültiges Ticket'),
  used: t('Used', 'Eingelöst'),
  revoked: t('Not valid any more', 'Nicht mehr gültig'),
};

/** A ticket, with its code while it is good. */
export function ticket({ ticket_id, seat, status = 'valid', return: putBack }, title) {
  const path = `/api/v1/tickets/${ticket_id}`;
  const isGood = status === 'valid';
  const isOffered = isGood && /offered|being_bought/.test(putBack?.status ?? '');
  const gone = () => code.replaceChildren(el('p', {}, t('There is no code for this ticket any more.', 'Für dieses Ticket gibt es keinen Code mehr.')));
  const code = el('div', { class: 'code' }, el('img', { src: `${path}/svg`, alt: t(`QR code: ${place(seat)}`, `QR-Code: ${place(seat)}`), width: 240, height: 240, error: gone }));
  return el('section', { class: `ticket admits ${isGood ? 'good' : 'over'}` },
    el('div', { class: 'body' },
      el('p', { class: 'badge' }, states[status] ?? status),
      el('h3', { class: 'seat' }, place(seat)),
      title && el('p', { class: 'quiet' }, title),
      isOffered && el('p', {}, t('You have put it back: whoever waits for such a place may buy it.', 'Sie haben es zurückgegeben: Wer auf so einen Platz wartet, kann es kaufen.')),
      isGood && el('p', { class: 'quiet' }, t('Show this code at the entrance. It lets one person in, once.', 'Zeigen Sie diesen Code am Eingang. Er lässt eine Person einmal ein.')),
      isGood && row(link(t('Ticket as PDF', 'Ticket als PDF'), `${path}/pdf`, 'plain'))),
    isGood && code);
}

/** That there is nothing to see for this reader. */
export const nothing = (headline, words, ...children) => card({ headline, kind: 'bad' }, el('p', {}, words), children);

