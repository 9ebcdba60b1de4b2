// Keeps the reader's tickets on this device, for the day without a network.
//
// tickets-offline.js does the work: it is the service worker of /tickets/, and of /orders, which
// leads to the tickets when there is no network. Logging out, or logging in as another account,
// removes what was kept (own.js).

import { el } from './page.js';
import { t } from './words.js';

/**
 * Keeps these tickets, their codes, and what is told of their show. The answer is a line that
 * says so, once it is done; its place is there before.
 * @param {string} account
 * @param {{ ticket_id: string, show_id: string }[]} tickets
 */
export function keepOffline(account, tickets) {
  const line = el('p', { class: 'quiet kept' }, t('ticket.kept'));
  const pages = tickets.map(({ ticket_id, show_id }) => ({ ticket: ticket_id, show: show_id }));
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => line.classList.add('now');
  const register = (/** @type {string} */ scope) => navigator.serviceWorker?.register('/tickets-offline.js', { scope });
  // A browser that keeps nothing still shows tickets while there is a network.
  register('/orders')?.catch(() => undefined);
  register('/tickets/')
    ?.then((it) => (it.active ?? it.waiting ?? it.installing)?.postMessage({ account, pages }, [port2]))
    .catch(() => undefined);
  return line;
}
