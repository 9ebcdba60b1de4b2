//! Español.

use onsale_domain::language::Language;
use onsale_domain::order::Why;

use super::{Labels, Texts, Words, plural};

pub(crate) struct Spanish;

impl Texts for Spanish {
    const LANGUAGE: Language = Language::Es;
    const LABELS: Labels = Labels {
        event: "Evento",
        when: "Cuándo",
        venue: "Dónde",
        places: "Localidades",
        order: "Pedido",
        total: "Total",
        refund: "Reembolso",
        until: "Reservado para usted hasta",
        reason: "Motivo indicado",
        before: "antes",
    };

    fn greeting(name: &str) -> String {
        format!("Hola, {name}:")
    }

    fn footer() -> &'static str {
        "Recibe este mensaje por una compra o una solicitud que hizo en Onsale. \
         No contiene imágenes ni comprueba si usted lo lee."
    }

    fn confirmation(title: &str, tickets: usize) -> Words {
        let them = plural(tickets, "su entrada", "sus # entradas, una en cada página");
        Words {
            subject: format!("Sus entradas: {title}"),
            heading: "¡Nos vemos allí!".to_owned(),
            paragraphs: vec![
                "Gracias por su pedido. Está pagado y confirmado.".to_owned(),
                format!(
                    "El PDF adjunto contiene {them}. \
                     Muestre el código en el acceso, impreso o en el teléfono."
                ),
            ],
            button: Some("Ver sus entradas".to_owned()),
            notes: vec![
                "Cada código permite la entrada de una sola persona, una sola vez. \
                 No lo comparta."
                    .to_owned(),
            ],
        }
    }

    fn decline(title: &str) -> Words {
        Words {
            subject: format!("Pago rechazado: {title}"),
            heading: "Su pago ha sido rechazado".to_owned(),
            paragraphs: vec![
                "No se ha cobrado nada. Sus localidades siguen reservadas para usted por poco \
                 tiempo: pague con otro medio antes de que pasen a otras personas."
                    .to_owned(),
            ],
            button: Some("Intentarlo de nuevo".to_owned()),
            notes: vec![],
        }
    }

    fn cancellation(title: &str, why: Why, refund: Option<&str>) -> Words {
        let (subject, heading, happened) = ended(why);
        let money = match (refund, why) {
            (Some(refund), _) => format!(
                "Hemos devuelto {refund} a su medio de pago. \
                 Su banco puede tardar unos días en mostrarlo."
            ),
            (None, Why::Buyer) => {
                "Según las condiciones de esta función, no se devuelve nada.".to_owned()
            }
            (None, Why::ChargedBack) => "No tiene que hacer nada más.".to_owned(),
            (None, _) => "No se ha cobrado nada.".to_owned(),
        };
        Words {
            subject: format!("{subject}: {title}"),
            heading: heading.to_owned(),
            paragraphs: vec![happened.to_owned(), money],
            button: Some("Ver su pedido".to_owned()),
            notes: vec![],
        }
    }

    fn offer(title: &str, places: usize) -> Words {
        let them = plural(places, "una localidad", "# localidades");
        Words {
            subject: format!("Su turno en la lista de espera: {title}"),
            heading: format!("Le reservamos {them}"),
            paragraphs: vec![
                "Se han devuelto entradas y usted es la siguiente persona de la lista de espera. \
                 Cómprelas antes de la hora indicada abajo; después pasarán a la persona siguiente."
                    .to_owned(),
            ],
            button: Some("Comprar ahora".to_owned()),
            notes: vec![],
        }
    }

    fn offer_lapsed(title: &str) -> Words {
        Words {
            subject: format!("Oferta caducada: {title}"),
            heading: "Su oferta ha caducado".to_owned(),
            paragraphs: vec![
                "Las localidades que le reservamos no se compraron a tiempo \
                 y han pasado a la persona siguiente."
                    .to_owned(),
            ],
            button: Some("Ver la lista de espera".to_owned()),
            notes: vec![],
        }
    }

    fn resold(title: &str, refund: &str) -> Words {
        Words {
            subject: format!("Su entrada se ha revendido: {title}"),
            heading: "Su entrada tiene un nuevo titular".to_owned(),
            paragraphs: vec![
                "Una persona de la lista de espera ha comprado la entrada que usted devolvió. \
                 Su código ya no es válido."
                    .to_owned(),
                format!(
                    "Hemos devuelto {refund} al medio de pago con el que se compró. \
                     El banco puede tardar unos días en mostrarlo."
                ),
            ],
            button: Some("Ver sus pedidos".to_owned()),
            notes: vec![],
        }
    }

    fn show_changed(title: &str) -> Words {
        Words {
            subject: format!("Cambio: {title}"),
            heading: "Su función ha cambiado".to_owned(),
            paragraphs: vec![
                "La organización ha cambiado una función para la que usted tiene entradas. \
                 Sus entradas siguen siendo válidas."
                    .to_owned(),
            ],
            button: Some("Ver la función".to_owned()),
            notes: vec![
                "Si ya no puede asistir, puede cancelar desde sus pedidos, \
                 según las condiciones de la función."
                    .to_owned(),
            ],
        }
    }

    fn show_cancelled(title: &str) -> Words {
        Words {
            subject: format!("Cancelado: {title}"),
            heading: "Esta función se ha cancelado".to_owned(),
            paragraphs: vec![
                "Lo sentimos: la organización ha cancelado una función para la que usted tiene \
                 entradas. Por favor, no acuda al recinto."
                    .to_owned(),
                "Quien compró las entradas recibe el importe íntegro. Si fue usted, no tiene que \
                 hacer nada; le escribiremos en cuanto se haga el reembolso. Si le regalaron la \
                 entrada, el reembolso es para quien la pagó."
                    .to_owned(),
            ],
            button: Some("Ver sus pedidos".to_owned()),
            notes: vec![],
        }
    }

    fn transfer(title: &str, from: Option<&str>) -> Words {
        let from = from.unwrap_or("Alguien");
        Words {
            subject: format!("Una entrada para usted: {title}"),
            heading: "Le regalan una entrada".to_owned(),
            paragraphs: vec![format!(
                "{from} quiere darle una entrada. Acéptela y será suya."
            )],
            button: Some("Aceptar la entrada".to_owned()),
            notes: vec![
                "Si no conoce a quien la envía, ignore este mensaje: no ocurrirá nada.".to_owned(),
            ],
        }
    }

    fn ticket_lost(title: &str, tickets: usize) -> Words {
        Words {
            subject: format!("Ya no es válida: {title}"),
            heading: plural(
                tickets,
                "Su entrada ya no es válida",
                "Sus # entradas ya no son válidas",
            ),
            paragraphs: vec![
                "Lo que le dieron se compró con un pedido que ahora está cancelado. \
                 Los códigos de las localidades de abajo ya no permiten la entrada."
                    .to_owned(),
                "La persona que se las dio puede decirle por qué. Usted no pagó nada aquí, \
                 por lo que no se le devuelve nada."
                    .to_owned(),
            ],
            button: Some("Ver la función".to_owned()),
            notes: vec![],
        }
    }

    fn password_reset(minutes: u64) -> Words {
        Words {
            subject: "Elija una contraseña nueva".to_owned(),
            heading: "Elija una contraseña nueva".to_owned(),
            paragraphs: vec![format!(
                "Se ha pedido una contraseña nueva para su cuenta. \
                 El enlace funciona una sola vez, durante {minutes} minutos."
            )],
            button: Some("Elegir una contraseña".to_owned()),
            notes: vec![
                "Si no fue usted, ignore este mensaje: su contraseña no cambia. \
                 No dé nunca este enlace a nadie."
                    .to_owned(),
            ],
        }
    }

    fn invitation() -> Words {
        Words {
            subject: "Su cuenta de personal en Onsale".to_owned(),
            heading: "Le damos la bienvenida al equipo".to_owned(),
            paragraphs: vec![
                "Una organización ha creado una cuenta para usted, para que controle las entradas \
                 en los accesos de sus funciones. Elija una contraseña para usarla. \
                 El enlace funciona una sola vez."
                    .to_owned(),
            ],
            button: Some("Elegir una contraseña".to_owned()),
            notes: vec![
                "Si no esperaba ninguna invitación, ignore este mensaje. \
                 No dé nunca este enlace a nadie."
                    .to_owned(),
            ],
        }
    }

    fn log_in_link(minutes: u64) -> Words {
        Words {
            subject: "Acceder a Onsale".to_owned(),
            heading: "Acceder a Onsale".to_owned(),
            paragraphs: vec![format!(
                "Con este enlace inicia sesión. Funciona una sola vez, durante {minutes} \
                 minutos."
            )],
            button: Some("Acceder".to_owned()),
            notes: vec![
                "Si no lo ha pedido, ignore este mensaje: sin el enlace nadie inicia \
                 sesión. No dé nunca este enlace a nadie."
                    .to_owned(),
            ],
        }
    }

    fn address_proof(minutes: u64) -> Words {
        Words {
            subject: "Confirme su dirección".to_owned(),
            heading: "Confirme su dirección".to_owned(),
            paragraphs: vec![format!(
                "Confirme que esta dirección es suya. El enlace funciona durante \
                 {minutes} minutos."
            )],
            button: Some("Confirmar la dirección".to_owned()),
            notes: vec![
                "Si no tiene una cuenta en Onsale, ignore este mensaje: no ocurrirá nada."
                    .to_owned(),
            ],
        }
    }

    fn your_turn(title: &str) -> Words {
        Words {
            subject: format!("El siguiente turno es el suyo: {title}"),
            heading: "El siguiente turno es el suyo".to_owned(),
            paragraphs: vec![
                "La cola ha llegado hasta usted. Abra la sala de espera antes de la hora indicada \
                 abajo: le deja pasar en cuanto haya sitio."
                    .to_owned(),
            ],
            button: Some("Entrar".to_owned()),
            notes: vec!["Use el navegador con el que se unió a la sala de espera.".to_owned()],
        }
    }
}

/// Subject, heading and what happened to an order that ended.
fn ended(why: Why) -> (&'static str, &'static str, &'static str) {
    let (not_completed, was_not_completed) = ("Pedido no completado", "Su pedido no se completó");
    match why {
        Why::Buyer => (
            "Pedido cancelado",
            "Su pedido está cancelado",
            "Usted ha cancelado su pedido. Sus entradas ya no son válidas.",
        ),
        Why::ShowCancelled => (
            "Reembolso de una función cancelada",
            "Su reembolso está en camino",
            "La organización ha cancelado la función. Sus entradas ya no son válidas.",
        ),
        Why::ChargedBack => (
            "Entradas ya no válidas",
            "Sus entradas ya no son válidas",
            "Su banco ha recuperado el pago, por lo que el pedido está cancelado.",
        ),
        Why::HoldExpired => (
            not_completed,
            was_not_completed,
            "El plazo de pago terminó antes de que se confirmara el pago.",
        ),
        Why::SeatsLost => (
            not_completed,
            was_not_completed,
            "Cuando llegó el pago ya no podíamos venderle las localidades. Lo sentimos.",
        ),
        Why::CaptureRefused => (
            not_completed,
            was_not_completed,
            "Finalmente, su banco no permitió el cobro.",
        ),
    }
}
