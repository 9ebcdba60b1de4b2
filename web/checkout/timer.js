// The time that is left to pay, by the server's clock.

import { now } from '../clock.js';
import { left } from '../countdown.js';
import { el, say } from '../page.js';
import { counted, t } from '../words.js';

/** That many minutes before the end it is said aloud; after a sleep, the last that was passed. */
const SAID = [1, 2, 5];

/**
 * A stub that counts down. `over` is called once, at the end; `stop` ends the counting.
 * @param {string} until
 * @param {() => void} over
 */
export function timer(until, over) {
  const end = Date.parse(until);
  const remaining = () => Math.max(0, end - now());
  const shown = el('strong', { role: 'timer', 'aria-labelledby': 'left-label' }, left(remaining()));
  let before = remaining();
  const tick = () => {
    const ms = remaining();
    shown.textContent = left(ms);
    const minutes = SAID.find((it) => before > it * 60_000 && ms <= it * 60_000);
    if (minutes && ms) say(counted('checkout.minutes_left', minutes));
    before = ms;
    if (ms > 0) return;
    stop();
    over();
  };
  const ticking = setInterval(tick, 1_000);
  const stop = () => clearInterval(ticking);
  return { stub: el('div', { class: 'stub' }, el('span', { id: 'left-label' }, t('checkout.time_left')), shown), stop };
}

/** Whether this moment has passed. @param {string} time */
export const isPast = (time) => Date.parse(time) <= now();
