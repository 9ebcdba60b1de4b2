//! Deutsch.

use onsale_domain::language::Language;
use onsale_domain::order::Why;

use super::{Labels, Texts, Words, plural};

pub(crate) struct German;

impl Texts for German {
    const LANGUAGE: Language = Language::De;
    const LABELS: Labels = Labels {
        event: "Veranstaltung",
        when: "Wann",
        venue: "Wo",
        places: "Plätze",
        order: "Bestellung",
        total: "Summe",
        refund: "Erstattung",
        until: "Für Sie reserviert bis",
        reason: "Angegebener Grund",
        before: "bisher",
    };

    fn greeting(name: &str) -> String {
        format!("Guten Tag {name},")
    }

    fn footer() -> &'static str {
        "Sie erhalten diese Nachricht, weil Sie bei Onsale etwas gekauft oder angefordert haben. \
         Sie enthält keine Bilder und verfolgt nicht, ob Sie sie lesen."
    }

    fn confirmation(title: &str, tickets: usize) -> Words {
        let them = plural(
            tickets,
            "Ihr Ticket",
            "Ihre # Tickets, eines auf jeder Seite",
        );
        Words {
            subject: format!("Ihre Tickets: {title}"),
            heading: "Sie sind dabei!".to_owned(),
            paragraphs: vec![
                "Vielen Dank für Ihre Bestellung. Sie ist bezahlt und bestätigt.".to_owned(),
                format!(
                    "Das angehängte PDF enthält {them}. \
                     Zeigen Sie den Code am Eingang, gedruckt oder auf dem Telefon."
                ),
            ],
            button: Some("Tickets ansehen".to_owned()),
            notes: vec![
                "Jeder Code lässt eine Person ein einziges Mal ein. Geben Sie ihn nicht weiter."
                    .to_owned(),
            ],
        }
    }

    fn decline(title: &str) -> Words {
        Words {
            subject: format!("Zahlung abgelehnt: {title}"),
            heading: "Ihre Zahlung wurde abgelehnt".to_owned(),
            paragraphs: vec![
                "Es wurde nichts abgebucht. Ihre Plätze sind noch für kurze Zeit für Sie \
                 reserviert: Zahlen Sie auf einem anderen Weg, bevor sie an andere gehen."
                    .to_owned(),
            ],
            button: Some("Noch einmal versuchen".to_owned()),
            notes: vec![],
        }
    }

    fn cancellation(title: &str, why: Why, refund: Option<&str>) -> Words {
        let (subject, heading, happened) = match why {
            Why::Buyer => (
                "Bestellung storniert",
                "Ihre Bestellung ist storniert",
                "Sie haben Ihre Bestellung storniert. Ihre Tickets sind nicht mehr gültig.",
            ),
            Why::ShowCancelled => (
                "Erstattung für eine abgesagte Vorstellung",
                "Ihre Erstattung ist unterwegs",
                "Die Vorstellung wurde abgesagt. Ihre Tickets sind nicht mehr gültig.",
            ),
            Why::ChargedBack => (
                "Tickets nicht mehr gültig",
                "Ihre Tickets sind nicht mehr gültig",
                "Ihre Bank hat die Zahlung zurückgeholt, deshalb ist die Bestellung storniert.",
            ),
            Why::HoldExpired => (
                "Bestellung nicht abgeschlossen",
                "Ihre Bestellung wurde nicht abgeschlossen",
                "Die Zeit zum Bezahlen war um, bevor die Zahlung bestätigt wurde.",
            ),
            Why::SeatsLost => (
                "Bestellung nicht abgeschlossen",
                "Ihre Bestellung wurde nicht abgeschlossen",
                "Als die Zahlung eintraf, konnten wir Ihnen die Plätze nicht mehr verkaufen. \
                 Das tut uns leid.",
            ),
            Why::CaptureRefused => (
                "Bestellung nicht abgeschlossen",
                "Ihre Bestellung wurde nicht abgeschlossen",
                "Ihre Bank hat die Abbuchung am Ende doch nicht zugelassen.",
            ),
        };
        let money = match (refund, why) {
            (Some(refund), _) => format!(
                "Wir haben {refund} auf Ihr Zahlungsmittel zurückgebucht. \
                 Bis Ihre Bank es anzeigt, können einige Tage vergehen."
            ),
            (None, Why::Buyer) => {
                "Nach den Bedingungen dieser Vorstellung wird nichts erstattet.".to_owned()
            }
            (None, Why::ChargedBack) => "Sie müssen nichts weiter tun.".to_owned(),
            (None, _) => "Es wurde nichts abgebucht.".to_owned(),
        };
        Words {
            subject: format!("{subject}: {title}"),
            heading: heading.to_owned(),
            paragraphs: vec![happened.to_owned(), money],
            button: Some("Bestellung ansehen".to_owned()),
            notes: vec![],
        }
    }

    fn offer(title: &str, places: usize) -> Words {
        let them = plural(places, "einen Platz", "# Plätze");
        Words {
            subject: format!("Sie sind dran auf der Warteliste: {title}"),
            heading: format!("Wir halten {them} für Sie frei"),
            paragraphs: vec![
                "Tickets sind zurückgekommen, und Sie sind die nächste Person auf der Warteliste. \
                 Kaufen Sie vor der unten genannten Zeit, danach gehen sie weiter."
                    .to_owned(),
            ],
            button: Some("Jetzt kaufen".to_owned()),
            notes: vec![],
        }
    }

    fn offer_lapsed(title: &str) -> Words {
        Words {
            subject: format!("Angebot abgelaufen: {title}"),
            heading: "Ihr Angebot ist abgelaufen".to_owned(),
            paragraphs: vec![
                "Die für Sie reservierten Plätze wurden nicht rechtzeitig gekauft \
                 und sind weitergegeben worden."
                    .to_owned(),
            ],
            button: Some("Warteliste ansehen".to_owned()),
            notes: vec![],
        }
    }

    fn resold(title: &str, refund: &str) -> Words {
        Words {
            subject: format!("Ihr Ticket wurde weiterverkauft: {title}"),
            heading: "Ihr Ticket hat einen neuen Besitzer".to_owned(),
            paragraphs: vec![
                "Jemand von der Warteliste hat das Ticket gekauft, das Sie zurückgegeben haben. \
                 Sein Code gilt nicht mehr."
                    .to_owned(),
                format!(
                    "Wir haben {refund} auf das Zahlungsmittel zurückgebucht, mit dem es gekauft \
                     wurde. Bis die Bank es anzeigt, können einige Tage vergehen."
                ),
            ],
            button: Some("Bestellungen ansehen".to_owned()),
            notes: vec![],
        }
    }

    fn show_changed(title: &str) -> Words {
        Words {
            subject: format!("Geändert: {title}"),
            heading: "Ihre Vorstellung wurde geändert".to_owned(),
            paragraphs: vec![
                "Eine Vorstellung, für die Sie Tickets haben, wurde geändert. \
                 Ihre Tickets bleiben gültig."
                    .to_owned(),
            ],
            button: Some("Vorstellung ansehen".to_owned()),
            notes: vec![
                "Wenn Sie nicht mehr kommen können: In Ihren Bestellungen können Sie \
                 nach den Bedingungen der Vorstellung stornieren."
                    .to_owned(),
            ],
        }
    }

    fn show_cancelled(title: &str) -> Words {
        Words {
            subject: format!("Abgesagt: {title}"),
            heading: "Diese Vorstellung ist abgesagt".to_owned(),
            paragraphs: vec![
                "Es tut uns leid: Eine Vorstellung, für die Sie Tickets haben, wurde abgesagt. \
                 Bitte kommen Sie nicht zum Veranstaltungsort."
                    .to_owned(),
                "Wer die Tickets gekauft hat, bekommt das Geld vollständig zurück. Waren Sie das, \
                 müssen Sie nichts tun; wir schreiben Ihnen, sobald es zurückgebucht ist. Wurde \
                 Ihnen das Ticket geschenkt, geht das Geld an den, der es gekauft hat."
                    .to_owned(),
            ],
            button: Some("Bestellungen ansehen".to_owned()),
            notes: vec![],
        }
    }

    fn transfer(title: &str, from: Option<&str>) -> Words {
        let from = from.unwrap_or("Jemand");
        Words {
            subject: format!("Ein Ticket für Sie: {title}"),
            heading: "Ihnen wird ein Ticket geschenkt".to_owned(),
            paragraphs: vec![format!(
                "{from} möchte Ihnen ein Ticket geben. Nehmen Sie es an, dann gehört es Ihnen."
            )],
            button: Some("Ticket annehmen".to_owned()),
            notes: vec![
                "Wenn Sie den Absender nicht kennen, beachten Sie diese Nachricht nicht: \
                 Dann geschieht nichts."
                    .to_owned(),
            ],
        }
    }

    fn ticket_lost(title: &str, tickets: usize) -> Words {
        Words {
            subject: format!("Nicht mehr gültig: {title}"),
            heading: plural(
                tickets,
                "Ihr Ticket ist nicht mehr gültig",
                "Ihre # Tickets sind nicht mehr gültig",
            ),
            paragraphs: vec![
                "Die Bestellung, aus der Ihnen jemand Tickets gegeben hat, ist storniert. \
                 Die Codes der unten genannten Plätze lassen niemanden mehr ein."
                    .to_owned(),
                "Warum, weiß die Person, von der Sie sie haben. Sie haben hier nichts bezahlt, \
                 deshalb wird Ihnen nichts erstattet."
                    .to_owned(),
            ],
            button: Some("Vorstellung ansehen".to_owned()),
            notes: vec![],
        }
    }

    fn password_reset(minutes: u64) -> Words {
        Words {
            subject: "Neues Passwort wählen".to_owned(),
            heading: "Neues Passwort wählen".to_owned(),
            paragraphs: vec![format!(
                "Für Ihr Konto wurde ein neues Passwort angefordert. \
                 Der Link gilt einmal, {minutes} Minuten lang."
            )],
            button: Some("Passwort wählen".to_owned()),
            notes: vec![
                "Wenn Sie das nicht waren, beachten Sie diese Nachricht nicht: Ihr Passwort \
                 bleibt, wie es ist. Geben Sie den Link nie weiter."
                    .to_owned(),
            ],
        }
    }

    fn invitation() -> Words {
        Words {
            subject: "Ihr Mitarbeiterkonto bei Onsale".to_owned(),
            heading: "Willkommen im Team".to_owned(),
            paragraphs: vec![
                "Ein Veranstalter hat für Sie ein Konto angelegt, mit dem Sie an den Eingängen \
                 Tickets prüfen. Wählen Sie ein Passwort. Der Link gilt einmal."
                    .to_owned(),
            ],
            button: Some("Passwort wählen".to_owned()),
            notes: vec![
                "Wenn Sie keine Einladung erwarten, beachten Sie diese Nachricht nicht. \
                 Geben Sie den Link nie weiter."
                    .to_owned(),
            ],
        }
    }

    fn log_in_link(minutes: u64) -> Words {
        Words {
            subject: "Anmelden bei Onsale".to_owned(),
            heading: "Anmelden bei Onsale".to_owned(),
            paragraphs: vec![format!(
                "Mit diesem Link melden Sie sich an. Er gilt einmal, {minutes} Minuten \
                 lang."
            )],
            button: Some("Anmelden".to_owned()),
            notes: vec![
                "Wenn Sie ihn nicht angefordert haben, beachten Sie diese Nachricht \
                 nicht: Ohne den Link meldet sich niemand an. Geben Sie den Link nie \
                 weiter."
                    .to_owned(),
            ],
        }
    }

    fn address_proof(minutes: u64) -> Words {
        Words {
            subject: "Bestätigen Sie Ihre Adresse".to_owned(),
            heading: "Bestätigen Sie Ihre Adresse".to_owned(),
            paragraphs: vec![format!(
                "Bestätigen Sie, dass diese Adresse Ihnen gehört. Der Link gilt {minutes} \
                 Minuten lang."
            )],
            button: Some("Adresse bestätigen".to_owned()),
            notes: vec![
                "Wenn Sie kein Konto bei Onsale haben, beachten Sie diese Nachricht \
                 nicht: Dann geschieht nichts."
                    .to_owned(),
            ],
        }
    }

    fn your_turn(title: &str) -> Words {
        Words {
            subject: format!("Sie sind als Nächstes dran: {title}"),
            heading: "Sie sind als Nächstes dran".to_owned(),
            paragraphs: vec![
                "Die Schlange ist bei Ihnen angekommen. Öffnen Sie den Warteraum vor der unten \
                 genannten Zeit: Er lässt Sie ein, sobald Platz ist."
                    .to_owned(),
            ],
            button: Some("Eintreten".to_owned()),
            notes: vec!["Nehmen Sie den Browser, in dem Sie sich angestellt haben.".to_owned()],
        }
    }
}
