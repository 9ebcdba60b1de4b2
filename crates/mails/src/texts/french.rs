//! Français.

use onsale_domain::language::Language;
use onsale_domain::order::Why;

use super::{Labels, Texts, Words, plural};

pub(crate) struct French;

impl Texts for French {
    const LANGUAGE: Language = Language::Fr;
    const LABELS: Labels = Labels {
        event: "Événement",
        when: "Date",
        venue: "Lieu",
        places: "Places",
        order: "Commande",
        total: "Total",
        refund: "Remboursement",
        until: "Réservé pour vous jusqu’au",
        reason: "Motif indiqué",
        before: "auparavant",
    };

    fn greeting(name: &str) -> String {
        format!("Bonjour {name},")
    }

    fn footer() -> &'static str {
        "Vous recevez ce message à la suite d’un achat ou d’une demande de votre part chez Onsale. \
         Il ne contient aucune image et ne vérifie pas si vous le lisez."
    }

    fn confirmation(title: &str, tickets: usize) -> Words {
        let them = plural(tickets, "votre billet", "vos # billets, un par page");
        Words {
            subject: format!("Vos billets\u{a0}: {title}"),
            heading: "Vous y serez\u{a0}!".to_owned(),
            paragraphs: vec![
                "Merci pour votre commande. Elle est payée et confirmée.".to_owned(),
                format!(
                    "Le PDF joint contient {them}. \
                     Présentez le code à l’entrée, imprimé ou sur votre téléphone."
                ),
            ],
            button: Some("Voir vos billets".to_owned()),
            notes: vec![
                "Chaque code laisse entrer une seule personne, une seule fois. \
                 Ne le communiquez à personne."
                    .to_owned(),
            ],
        }
    }

    fn decline(title: &str) -> Words {
        Words {
            subject: format!("Paiement refusé\u{a0}: {title}"),
            heading: "Votre paiement a été refusé".to_owned(),
            paragraphs: vec![
                "Rien n’a été débité. Vos places vous restent réservées encore un court moment\u{a0}: \
                 payez avec un autre moyen de paiement avant qu’elles ne soient proposées \
                 à d’autres."
                    .to_owned(),
            ],
            button: Some("Réessayer".to_owned()),
            notes: vec![],
        }
    }

    fn cancellation(title: &str, why: Why, refund: Option<&str>) -> Words {
        let (subject, heading, happened) = ended(why);
        let money = match (refund, why) {
            (Some(refund), _) => format!(
                "Nous avons remboursé {refund} sur votre moyen de paiement. \
                 Votre banque peut mettre quelques jours à l’afficher."
            ),
            (None, Why::Buyer) => {
                "Selon les conditions de cette représentation, rien n’est remboursé.".to_owned()
            }
            (None, Why::ChargedBack) => "Vous n’avez rien d’autre à faire.".to_owned(),
            (None, _) => "Rien n’a été débité.".to_owned(),
        };
        Words {
            subject: format!("{subject}\u{a0}: {title}"),
            heading: heading.to_owned(),
            paragraphs: vec![happened.to_owned(), money],
            button: Some("Voir votre commande".to_owned()),
            notes: vec![],
        }
    }

    fn offer(title: &str, places: usize) -> Words {
        let them = plural(places, "une place", "# places");
        Words {
            subject: format!("C’est votre tour sur la liste d’attente\u{a0}: {title}"),
            heading: format!("Nous vous réservons {them}"),
            paragraphs: vec![
                "Des billets ont été remis en vente, et vous êtes la première personne de la \
                 liste d’attente. Achetez avant l’heure indiquée ci-dessous\u{a0}; ensuite, ils seront \
                 proposés à la personne suivante."
                    .to_owned(),
            ],
            button: Some("Acheter maintenant".to_owned()),
            notes: vec![],
        }
    }

    fn offer_lapsed(title: &str) -> Words {
        Words {
            subject: format!("Offre expirée\u{a0}: {title}"),
            heading: "Votre offre a expiré".to_owned(),
            paragraphs: vec![
                "Les places que nous vous réservions n’ont pas été achetées à temps \
                 et ont été proposées à la personne suivante."
                    .to_owned(),
            ],
            button: Some("Voir la liste d’attente".to_owned()),
            notes: vec![],
        }
    }

    fn resold(title: &str, refund: &str) -> Words {
        Words {
            subject: format!("Votre billet a été revendu\u{a0}: {title}"),
            heading: "Votre billet a changé de titulaire".to_owned(),
            paragraphs: vec![
                "Une personne de la liste d’attente a acheté le billet que vous aviez remis \
                 en vente. Son code n’est plus valable."
                    .to_owned(),
                format!(
                    "Nous avons remboursé {refund} sur le moyen de paiement utilisé pour l’achat. \
                     La banque peut mettre quelques jours à l’afficher."
                ),
            ],
            button: Some("Voir vos commandes".to_owned()),
            notes: vec![],
        }
    }

    fn show_changed(title: &str) -> Words {
        Words {
            subject: format!("Changement\u{a0}: {title}"),
            heading: "Votre représentation a changé".to_owned(),
            paragraphs: vec![
                "L’organisateur a modifié une représentation pour laquelle vous avez des billets. \
                 Vos billets restent valables."
                    .to_owned(),
            ],
            button: Some("Voir la représentation".to_owned()),
            notes: vec![
                "Si vous ne pouvez plus venir, vous pouvez annuler depuis vos commandes, \
                 selon les conditions de la représentation."
                    .to_owned(),
            ],
        }
    }

    fn show_cancelled(title: &str) -> Words {
        Words {
            subject: format!("Annulé\u{a0}: {title}"),
            heading: "Cette représentation est annulée".to_owned(),
            paragraphs: vec![
                "Nous sommes désolés\u{a0}: l’organisateur a annulé une représentation pour laquelle \
                 vous avez des billets. Merci de ne pas vous rendre sur place."
                    .to_owned(),
                "La personne qui a acheté les billets est intégralement remboursée. Si c’est vous, \
                 vous n’avez rien à faire\u{a0}; nous vous écrirons dès que le remboursement sera \
                 effectué. Si le billet vous a été offert, le remboursement revient à la personne \
                 qui l’a payé."
                    .to_owned(),
            ],
            button: Some("Voir vos commandes".to_owned()),
            notes: vec![],
        }
    }

    fn transfer(title: &str, from: Option<&str>) -> Words {
        let from = from.unwrap_or("Quelqu’un");
        Words {
            subject: format!("Un billet pour vous\u{a0}: {title}"),
            heading: "On vous offre un billet".to_owned(),
            paragraphs: vec![format!(
                "{from} souhaite vous donner un billet. Acceptez-le, et il est à vous."
            )],
            button: Some("Accepter le billet".to_owned()),
            notes: vec![
                "Si vous ne connaissez pas cette personne, ignorez ce message\u{a0}: \
                 il ne se passera rien."
                    .to_owned(),
            ],
        }
    }

    fn ticket_lost(title: &str, tickets: usize) -> Words {
        Words {
            subject: format!("Plus valable\u{a0}: {title}"),
            heading: plural(
                tickets,
                "Votre billet n’est plus valable",
                "Vos # billets ne sont plus valables",
            ),
            paragraphs: vec![
                "Ce que l’on vous avait donné provenait d’une commande qui est maintenant annulée. \
                 Les codes des places ci-dessous ne donnent plus accès à la salle."
                    .to_owned(),
                "La personne qui vous les a donnés peut vous dire pourquoi. Vous n’avez rien payé \
                 ici\u{a0}; rien ne vous est donc remboursé."
                    .to_owned(),
            ],
            button: Some("Voir la représentation".to_owned()),
            notes: vec![],
        }
    }

    fn password_reset(minutes: u64) -> Words {
        Words {
            subject: "Choisissez un nouveau mot de passe".to_owned(),
            heading: "Choisissez un nouveau mot de passe".to_owned(),
            paragraphs: vec![format!(
                "Un nouveau mot de passe a été demandé pour votre compte. \
                 Le lien fonctionne une seule fois, pendant {minutes} minutes."
            )],
            button: Some("Choisir un mot de passe".to_owned()),
            notes: vec![
                "Si ce n’était pas vous, ignorez ce message\u{a0}: votre mot de passe reste inchangé. \
                 Ne donnez jamais ce lien à personne."
                    .to_owned(),
            ],
        }
    }

    fn invitation() -> Words {
        Words {
            subject: "Votre compte d’équipe chez Onsale".to_owned(),
            heading: "Bienvenue dans l’équipe".to_owned(),
            paragraphs: vec![
                "Un organisateur a créé un compte pour vous, afin que vous contrôliez les billets \
                 aux entrées de ses représentations. Choisissez un mot de passe pour l’utiliser. \
                 Le lien fonctionne une seule fois."
                    .to_owned(),
            ],
            button: Some("Choisir un mot de passe".to_owned()),
            notes: vec![
                "Si vous n’attendiez pas d’invitation, ignorez ce message. \
                 Ne donnez jamais ce lien à personne."
                    .to_owned(),
            ],
        }
    }

    fn log_in_link(minutes: u64) -> Words {
        Words {
            subject: "Connexion à Onsale".to_owned(),
            heading: "Connexion à Onsale".to_owned(),
            paragraphs: vec![format!(
                "Ce lien vous connecte. Il fonctionne une seule fois, pendant {minutes} \
                 minutes."
            )],
            button: Some("Se connecter".to_owned()),
            notes: vec![
                "Si vous n’avez rien demandé, ignorez ce message\u{a0}: sans ce lien, \
                 personne ne se connecte. Ne donnez jamais ce lien à personne."
                    .to_owned(),
            ],
        }
    }

    fn address_proof(minutes: u64) -> Words {
        Words {
            subject: "Confirmez votre adresse".to_owned(),
            heading: "Confirmez votre adresse".to_owned(),
            paragraphs: vec![format!(
                "Confirmez que cette adresse est bien la vôtre. Le lien fonctionne \
                 pendant {minutes} minutes."
            )],
            button: Some("Confirmer l’adresse".to_owned()),
            notes: vec![
                "Si vous n’avez pas de compte chez Onsale, ignorez ce message\u{a0}: il \
                 ne se passera rien."
                    .to_owned(),
            ],
        }
    }

    fn your_turn(title: &str) -> Words {
        Words {
            subject: format!("C’est bientôt à vous\u{a0}: {title}"),
            heading: "C’est bientôt à vous".to_owned(),
            paragraphs: vec![
                "La file est arrivée jusqu’à vous. Ouvrez la salle d’attente avant l’heure indiquée \
                 ci-dessous\u{a0}: elle vous laisse entrer dès qu’il y a de la place."
                    .to_owned(),
            ],
            button: Some("Entrer".to_owned()),
            notes: vec![
                "Utilisez le navigateur avec lequel vous avez rejoint la salle d’attente."
                    .to_owned(),
            ],
        }
    }
}

/// Subject, heading and what happened to an order that ended.
fn ended(why: Why) -> (&'static str, &'static str, &'static str) {
    let (not_completed, was_not_completed) =
        ("Commande non aboutie", "Votre commande n’a pas abouti");
    match why {
        Why::Buyer => (
            "Commande annulée",
            "Votre commande est annulée",
            "Vous avez annulé votre commande. Ses billets ne sont plus valables.",
        ),
        Why::ShowCancelled => (
            "Remboursement d’une représentation annulée",
            "Votre remboursement est en route",
            "L’organisateur a annulé la représentation. Vos billets ne sont plus valables.",
        ),
        Why::ChargedBack => (
            "Billets plus valables",
            "Vos billets ne sont plus valables",
            "Votre banque a repris le paiement\u{a0}; la commande est donc annulée.",
        ),
        Why::HoldExpired => (
            not_completed,
            was_not_completed,
            "Le délai de paiement était écoulé avant que le paiement ne soit confirmé.",
        ),
        Why::SeatsLost => (
            not_completed,
            was_not_completed,
            "À l’arrivée du paiement, vos places ne pouvaient plus vous être vendues. \
             Nous en sommes désolés.",
        ),
        Why::CaptureRefused => (
            not_completed,
            was_not_completed,
            "Votre banque n’a finalement pas autorisé le débit.",
        ),
    }
}
