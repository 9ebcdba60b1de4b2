// A ticket on paper: the seat, and its code while it is good.

import { el, link, place, row } from './page.js';
import { t } from './words.js';

/** @type {Record<string, () => string>} */
const states = {
  valid: () => t('ticket.valid'),
  used: () => t('ticket.used'),
  revoked: () => t('ticket.revoked'),
};

/** The QR of a ticket. A scanner wants black on white, whatever the page is. @param {string} id @param {string} seat */
export function code(id, seat) {
  const gone = () => made.replaceChildren(el('p', {}, t('ticket.no_code')));
  const made = el(
    'div',
    { class: 'code' },
    el('img', {
      src: `/api/v1/tickets/${id}/svg`,
      alt: t('ticket.qr', { place: place(seat) }),
      width: 240,
      height: 240,
      error: gone,
    }),
  );
  return made;
}

/**
 * @param {{ ticket_id: string, seat: string, status?: string }} ticket
 * @param {...Children} children what can be done with it
 */
export function ticketCard({ ticket_id, seat, status = 'valid' }, ...children) {
  const isGood = status === 'valid';
  return el(
    'section',
    { class: `ticket admits ${isGood ? 'good' : 'over'}` },
    el(
      'div',
      { class: 'body' },
      el('p', { class: 'badge' }, (states[status] ?? states.revoked)()),
      el('h3', { class: 'seat' }, place(seat)),
      isGood && el('p', { class: 'quiet' }, t('ticket.show_it')),
      isGood &&
        row(
          link(t('ticket.full_screen'), `/tickets/${ticket_id}`),
          link(t('ticket.pdf'), `/api/v1/tickets/${ticket_id}/pdf`, 'plain'),
        ),
      children,
    ),
    isGood && code(ticket_id, seat),
  );
}
