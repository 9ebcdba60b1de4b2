//! Writes tickets to look at, in a language:
//! `cargo run -p onsale-tickets --example ticket -- de > tickets.pdf`.

use onsale_domain::language::Language;
use onsale_tickets::{TicketPage, pdf};
use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let language: Language = std::env::args()
        .nth(1)
        .map_or(Ok(Language::En), |tag| tag.parse())?;
    let seated = TicketPage {
        event: "The Night Trains: Farewell Tour".into(),
        venue: "Harbour Hall".into(),
        city: "Hamburg".into(),
        starts_at_text: "Saturday, 14 November 2026, 20:00".into(),
        section: "Balcony".into(),
        row: Some("12".into()),
        seat: Some("34".into()),
        price_text: "€45.00".into(),
        holder: "Zoë Müller-Łukaszewicz".into(),
        ticket_id: "tkt_0192f3a4b5c67d8e9fa0b1c2d3e4f506".into(),
        code: "AE2HKD4YUWS2LJNFUWS2LJNFUWS2LJNFUU6DYPB4HQ6DYPB4HQ6DYPB4HQ6AAAIROEBJOZLIZ54E66RTH6\
               KYIDXTB33H7YQQ55QO7WDYQQOFHOVO7E3Q75OPE4FPTAI54KKPOMUZUPSNEKMW5RWATNIJAM3XDTQCBMQHJW4OBI"
            .into(),
    };
    let standing = TicketPage {
        event: "上海之夜 Shanghai Nights – 방탄 & друзья".into(),
        venue: "上海音乐厅".into(),
        city: "上海".into(),
        section: "Floor".into(),
        row: None,
        seat: None,
        price_text: "¥380.00".into(),
        holder: "张伟 / Ζωή Παππά / Щедрик Олена".into(),
        ..seated.clone()
    };
    let from_right_to_left = TicketPage {
        event: "مهرجان الموسيقى 2026 – The Night Trains".into(),
        venue: "היכל התרבות (אולם לואי)".into(),
        city: "תל אביב".into(),
        section: "יציע".into(),
        price_text: "₪180.00".into(),
        holder: "محمد علی‌رضا / שָׁלוֹם 12 ABC".into(),
        ..seated.clone()
    };
    let south_and_south_east = TicketPage {
        event: "संगीत संध्या, রবীন্দ্রনাথ ঠাকুর, கச்சேரி, ดนตรีไทย".into(),
        venue: "ಬೆಂಗಳೂರು, తెలుగు, മലയാളം, ગુજરાતી, ਪੰਜਾਬੀ, සිංහල".into(),
        city: "ភ្នំពេញ, မြန်မာ, ວຽງຈັນ, አዲስ አበባ".into(),
        section: "ชั้นบน".into(),
        price_text: "₹1,800".into(),
        holder: "श्री राजेन्द्र क्षीरसागर / თბილისი / Երևան".into(),
        ..seated.clone()
    };
    let crowded = TicketPage {
        event: "An Extraordinarily Long Evening of Chamber Music, Improvised Poetry and \
                Donaudampfschifffahrtsgesellschaftskapitänsmützen, with an Intermission and \
                Several Encores That Nobody Asked For"
            .into(),
        venue: "The Grand Old Municipal Concert House on the Other Side of the River".into(),
        city: "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch".into(),
        starts_at_text: "Wednesday, 30 September 2026, 19:30, doors open at 18:45 (Europe/London)"
            .into(),
        section: "Parterre rechts 1234".into(),
        row: Some("ABCDEFGHIJ".into()),
        seat: Some("10000".into()),
        price_text: "1.234.567,89 HUF".into(),
        holder: "Her Excellency Doña María del Carmen Fernández de Córdoba y Álvarez".into(),
        ..seated.clone()
    };
    let pages = [
        seated,
        standing,
        from_right_to_left,
        south_and_south_east,
        crowded,
    ];
    let bytes = pdf(&pages, language)?;
    std::io::stdout().write_all(&bytes)?;
    Ok(())
}
