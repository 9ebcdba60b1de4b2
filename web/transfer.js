// A ticket that somebody offers to the reader: what it is, yes or no, and then the ticket.

import { address, ask, attempt, button, call, card, el, facts, moment, place, press, refusal, row, show, t, titled } from './page.js?v={{version}}';
import { asSomebodyElse, withReader } from './session.js?v={{version}}';
import { about, nothing, ticket, whenAndWhere } from './showing.js?v={{version}}';

const path = `/transfers/${address[0]}`;
const why = t('The ticket is for whoever has the email address that our message came to. Log in with that address, or create an account with it, and you will see what is offered.', 'Das Ticket ist für die Person, an deren E-Mail-Adresse unsere Nachricht ging. Melden Sie sich mit dieser Adresse an oder legen Sie ein Konto damit an, dann sehen Sie das Angebot.');

const over = {
  declined: [t('You have declined this ticket', 'Sie haben dieses Ticket abgelehnt'), t('It stays with whoever offered it to you.', 'Es bleibt bei der Person, die es Ihnen angeboten hat.')],
  withdrawn: [t('This offer was taken back', 'Dieses Angebot wurde zurückgezogen'), t('Whoever offered you the ticket keeps it. Ask them if that is a surprise.', 'Wer Ihnen das Ticket angeboten hat, behält es. Fragen Sie nach, wenn Sie das überrascht.')],
  expired: [t('This offer has expired', 'Dieses Angebot ist abgelaufen'), t('An offer stands for seven days at most, and ends when the show begins. Ask for a new one.', 'Ein Angebot gilt höchstens sieben Tage und endet mit dem Beginn der Vorstellung. Bitten Sie um ein neues.')],
};

const sent = {
  open: t('Your offer stands', 'Ihr Angebot gilt noch'),
  accepted: t('Your ticket was accepted', 'Ihr Ticket wurde angenommen'),
  declined: t('Your ticket was declined; it is still yours', 'Ihr Ticket wurde abgelehnt; es gehört weiter Ihnen'),
  withdrawn: t('You have taken the offer back', 'Sie haben das Angebot zurückgezogen'),
  expired: t('Your offer has expired; the ticket is still yours', 'Ihr Angebot ist abgelaufen; das Ticket gehört weiter Ihnen'),
};

async function look(me, options) {
  const answer = await call('GET', path);
  const { status, body: transfer } = answer;
  if (status === 404 || status === 400) return show(foreign(me), options);
  if (status !== 200) throw refusal(answer);
  const known = await about(transfer.show_id);
  if (known) titled(known.event.title);
  const again = () => attempt(() => look(me, { acted: true }));
  if (transfer.direction === 'out') return show(offeredByMe(transfer, known, again), options);
  if (transfer.status === 'accepted') return show(mine(transfer, known), options);
  if (transfer.status === 'open') return show(offered(transfer, known, again), options);
  const [headline, words] = over[transfer.status] ?? [transfer.status, ''];
  show(card({ headline }, el('p', {}, words), facts(...offer(transfer, known))), options);
}

const offer = (transfer, known) => [
  ...(known ? whenAndWhere(known) : []),
  [t('Place', 'Platz'), place(transfer.seat)],
];

const foreign = (me) =>
  nothing(t('There is no such offer for you', 'Für Sie gibt es dieses Angebot nicht'),
    t(`You are logged in as ${me.email}. The ticket is for the address that our message came to. If that is another one of yours, log in with it.`, `Sie sind als ${me.email} angemeldet. Das Ticket ist für die Adresse, an die unsere Nachricht ging. Wenn das eine andere von Ihren ist, melden Sie sich damit an.`),
    row(asSomebodyElse()));

/** Buttons of which one is pressed, and what is said if that is refused. */
function choices(...buttons) {
  const trouble = el('div', {});
  const made = buttons.map(([label, work, kind]) => button(label, () => press(made, trouble, work), kind));
  return [trouble, row(made)];
}

function offered(transfer, known, again) {
  const answer = (word) => async () => {
    await ask('POST', `${path}/${word}`);
    await again();
  };
  return card({ badge: t('For you', 'Für Sie'), headline: t('Somebody gives you a ticket', 'Ihnen wird ein Ticket geschenkt') },
    el('p', {}, t('Accept it, and it is yours: you get a code of your own, and the old one stops working.', 'Nehmen Sie es an, dann gehört es Ihnen: Sie bekommen einen eigenen Code, und der alte gilt nicht mehr.')),
    facts(...offer(transfer, known), [t('Offered until', 'Angebot gilt bis'), moment(transfer.expires_at, known?.event.timezone)]),
    choices([t('Accept the ticket', 'Ticket annehmen'), answer('accept')], [t('Decline', 'Ablehnen'), answer('decline'), 'plain']));
}

const mine = (transfer, known) => [
  card({ badge: t('Accepted', 'Angenommen'), headline: t('The ticket is yours', 'Das Ticket gehört Ihnen'), kind: 'good' },
    facts(...offer(transfer, known)),
    el('p', {}, t('You find it here whenever you open this page again. Keep the PDF for the day without a network.', 'Sie finden es hier, wann immer Sie diese Seite öffnen. Speichern Sie das PDF für den Fall, dass Sie kein Netz haben.'))),
  ticket({ ticket_id: transfer.ticket_id, seat: transfer.seat }, known?.event.title),
];

function offeredByMe(transfer, known, again) {
  const withdraw = async () => {
    await ask('DELETE', path);
    await again();
  };
  return card({ badge: t('Sent by you', 'Von Ihnen'), headline: sent[transfer.status] ?? transfer.status },
    facts(...offer(transfer, known), transfer.to_email && [t('For', 'Für'), transfer.to_email]),
    transfer.status === 'open' && choices([t('Take the offer back', 'Angebot zurückziehen'), withdraw, 'plain']));
}

withReader(why, look);
