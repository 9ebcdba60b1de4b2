// Sets a password by the link of a mail: a forgotten one, or the first one of staff.

import { address, call, card, el, form, inWords, link, passwordField, row, show, t, Trouble } from './page.js?v={{version}}';
import { linkForm } from './session.js?v={{version}}';

const [token] = address;
const isInvitation = location.pathname.startsWith('/invitation/');

async function set({ password }) {
  const { ok, status, body } = await call('POST', `/password-resets/${token}`, { password });
  if (status === 404) return show(isInvitation ? oldInvitation() : oldLink(), { acted: true });
  if (!ok) throw new Trouble(inWords(body));
  show(isInvitation ? welcome() : done(), { acted: true });
}

const done = () =>
  card({ badge: t('Done', 'Fertig'), headline: t('Your new password is set', 'Ihr neues Passwort gilt'), kind: 'good' },
    el('p', {}, t('You are logged out everywhere else. Log in with the new password from now on.', 'Sie sind überall sonst abgemeldet. Melden Sie sich von jetzt an mit dem neuen Passwort an.')),
    row(link(t('Log in and see my orders', 'Anmelden und Bestellungen ansehen'), '/orders')));

const welcome = () =>
  card({ badge: t('Done', 'Fertig'), headline: t('Welcome to the team', 'Willkommen im Team'), kind: 'good' },
    el('p', {}, t('Your password is set, and your account is ready: with it you check tickets at the entrances of the shows that your organiser chose for you.', 'Ihr Passwort gilt, und Ihr Konto ist bereit: Mit ihm prüfen Sie Tickets an den Eingängen der Vorstellungen, die Ihr Veranstalter für Sie ausgewählt hat.')),
    el('p', {}, t('Log in on the gate’s device with the address that the invitation came to and this password. Your organiser tells you which device that is.', 'Melden Sie sich am Gerät des Eingangs mit der Adresse an, an die die Einladung ging, und mit diesem Passwort. Welches Gerät das ist, sagt Ihnen Ihr Veranstalter.')));

const oldLink = () =>
  card({ headline: t('This link does not work any more', 'Dieser Link gilt nicht mehr'), kind: 'bad' },
    el('p', {}, t('A link works once, for 30 minutes, and an older one dies when a new password is set. Your account is as it was. We gladly send you a new link.', 'Ein Link gilt einmal, 30 Minuten lang, und ein älterer erlischt, sobald ein neues Passwort gesetzt wird. Ihr Konto ist, wie es war. Gern schicken wir Ihnen einen neuen Link.')),
    linkForm());

const oldInvitation = () =>
  card({ headline: t('This invitation does not work any more', 'Diese Einladung gilt nicht mehr'), kind: 'bad' },
    el('p', {}, t('An invitation works once, for seven days. If you have set a password with it, just log in on the gate’s device. Otherwise have a new link sent to the address that the invitation came to, or ask your organiser.', 'Eine Einladung gilt einmal, sieben Tage lang. Wenn Sie damit ein Passwort gesetzt haben, melden Sie sich einfach am Gerät des Eingangs an. Sonst lassen Sie sich einen neuen Link an die Adresse schicken, an die die Einladung ging, oder fragen Sie Ihren Veranstalter.')),
    linkForm());

const words = isInvitation
  ? t('An organiser has made an account for you, with which you check tickets at the entrances. Choose its password.', 'Ein Veranstalter hat für Sie ein Konto angelegt, mit dem Sie an den Eingängen Tickets prüfen. Wählen Sie ein Passwort dafür.')
  : t('It replaces the old one, and every other device is logged out.', 'Es ersetzt das alte, und alle anderen Geräte werden abgemeldet.');
show(card({ headline: t('Choose a password', 'Wählen Sie ein Passwort') },
  el('p', {}, words),
  form(t('Set the password', 'Passwort setzen'), [passwordField(t('New password', 'Neues Passwort'))], set)));
