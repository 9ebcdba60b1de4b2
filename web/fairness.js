// How the order of a waiting room was drawn, in words, and the visitor's own draw
// recomputed in their browser from what was published before and after it.

import { hear } from './clock.js';
import { commitmentOf, drawOf, inHex, readTicket, seedFor, shareOfBand } from './fairness/draw.js';
import {
  address,
  attempt,
  busy,
  card,
  el,
  facts,
  field,
  form,
  link,
  moment,
  note,
  number,
  row,
  show,
  Trouble,
} from './page.js';
import { counted, t } from './words.js';

/** @typedef {Api['RoomFairness']} Fairness */

const [id] = address;

/** @returns {Promise<Fairness | undefined>} */
async function published() {
  const asked = Date.now();
  const response = await fetch(`/room/${id}/fairness`, {
    headers: { Accept: 'application/json' },
    cache: 'no-store',
  }).catch(() => {
    throw new Trouble(t('error.offline'));
  });
  hear(response, asked);
  if (response.status === 404 || response.status === 400) return undefined;
  if (!response.ok) throw new Trouble(t('error.server'));
  return response.json();
}

/** A line that is true or not, told by a word and a sign. @param {boolean} isTrue @param {string} words */
const checked = (isTrue, words) =>
  el('li', { class: isTrue ? 'true' : 'false' }, el('strong', {}, isTrue ? '✓ ' : '✗ '), words);

/**
 * Recomputes a draw and says whether it is what was told.
 * @param {Fairness} fairness
 * @param {string} text of the ticket
 * @param {string} [told] the draw
 */
async function check(fairness, text, told) {
  const ticket = readTicket(text);
  if (!ticket) throw new Trouble(t('fairness.no_ticket'));
  if (ticket.show !== fairness.show_id) throw new Trouble(t('fairness.other_show'));
  const { commitment, seed } = seedFor(ticket, fairness);
  if (!seed) {
    const when = ticket.bucket === 0 ? t('fairness.when_drawn') : t('fairness.when_begun');
    return card({ headline: t('fairness.not_yet') }, el('p', {}, when));
  }
  const draw = await drawOf(seed, fairness.beacon.value ?? '', ticket);
  const isCommitted = (await commitmentOf(seed)) === commitment;
  const isSame = told === undefined || told === inHex(draw);
  const isGood = isCommitted && isSame;
  const percent = number(Math.round(shareOfBand(draw) * 1e6) / 1e4);
  return card(
    {
      badge: t('fairness.mine'),
      headline: isGood ? t('fairness.good') : t('fairness.bad'),
      kind: isGood ? 'good' : 'bad',
    },
    el(
      'ul',
      { class: 'checks' },
      checked(isCommitted, isCommitted ? t('fairness.committed') : t('fairness.not_committed')),
      told !== undefined &&
        checked(
          isSame,
          isSame ? t('fairness.same', { draw: told }) : t('fairness.not_same', { draw: told, other: inHex(draw) }),
        ),
    ),
    el('p', {}, ticket.isFan ? t('fairness.share_of_fans', { percent }) : t('fairness.share', { percent })),
    facts(
      [t('fairness.seed'), el('code', {}, seed)],
      [t('fairness.commitment'), el('code', {}, commitment)],
      [t('fairness.draw'), el('code', {}, inHex(draw))],
    ),
  );
}

/** @param {Fairness} fairness */
async function own(fairness) {
  const { yours } = fairness;
  if (yours) return check(fairness, yours.ticket, yours.draw);
  const place = el('div', { class: 'stack' });
  const ticket = field(
    t('fairness.ticket'),
    { id: 'ticket', autocomplete: 'off', spellcheck: 'false', minlength: 127, maxlength: 127 },
    t('fairness.ticket.hint'),
  );
  const submit = async (/** @type {Record<string, string>} */ values) => {
    place.replaceChildren(await check(fairness, values.ticket.trim()));
    place.querySelector('h2')?.focus();
  };
  return [
    card(
      { headline: t('fairness.mine') },
      el('p', {}, t('fairness.none')),
      form(t('fairness.check'), ticket, submit, 'plain'),
    ),
    place,
  ];
}

/** @param {Fairness} fairness */
function how({ order, opening, later, beacon, opens_at }) {
  const steps =
    order === 'fifo'
      ? [t('fairness.fifo')]
      : [t('fairness.step.commit'), t('fairness.step.draw'), t('fairness.step.reveal')];
  return card(
    { headline: t('fairness.how') },
    el(
      'ol',
      { class: 'steps' },
      steps.map((it) => el('li', {}, it)),
    ),
    beacon.name && el('p', {}, t('fairness.beacon', { name: beacon.name })),
    order === 'lottery' && !beacon.name && el('p', { class: 'quiet' }, t('fairness.no_beacon')),
    facts(
      opens_at ? [t('fairness.opens'), moment(opens_at)] : undefined,
      [t('fairness.opening'), el('code', {}, opening.commitment)],
      opening.seed ? [t('fairness.opening_seed'), el('code', {}, opening.seed)] : undefined,
      [t('fairness.later'), el('code', {}, later.commitment)],
      later.seed ? [t('fairness.later_seed'), el('code', {}, later.seed)] : undefined,
    ),
  );
}

/** How true the promises about waiting were. @param {Fairness} fairness */
function promises({ waits: { p50, p90 } }) {
  if (p90.kept === null || p50.kept === null) return undefined;
  const percent = (/** @type {number} */ share) => number(Math.round(share * 100));
  return card(
    { headline: t('fairness.waits') },
    el('p', {}, counted('fairness.waits.what', p90.promises, { half: percent(p50.kept), most: percent(p90.kept) })),
  );
}

async function look() {
  const fairness = await published();
  if (!fairness) return show(card({ headline: t('show.lost'), kind: 'bad' }, el('p', {}, t('show.lost.what'))));
  const mine = await own(fairness).catch((error) => note(error.message));
  show([
    mine,
    how(fairness),
    promises(fairness),
    row(link(t('fairness.to_room'), `/room/${id}`, 'plain'), link(t('fairness.json'), `/room/${id}/fairness`, 'plain')),
  ]);
}

busy();
attempt(look);
