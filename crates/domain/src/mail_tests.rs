use super::*;
use crate::ids::ShowId;
use crate::language::Language;
use crate::letter::{Letter, ShowLine, TEMPLATES};

const NOW: Millis = Millis(1_800_000_000_000);

fn news() -> News {
    News::ShowCancelled {
        show_id: ShowId::from_bytes([1; 16]),
        refunds_due: 3,
    }
}

fn mail() -> Mail {
    let to = Recipient::Account(AccountId::from_bytes([2; 16]));
    Mail::due("ShowCancelled:x", NOW, news(), to, NOW, NOW + 1_000)
}

fn composed() -> Composed {
    let show = ShowLine {
        show_id: ShowId::from_bytes([1; 16]),
        title: "Rehearsal".into(),
        venue: "Stage".into(),
        city: "Test".into(),
        timezone: "UTC".into(),
        starts_at: NOW,
    };
    Composed {
        to: Email::parse("ana@example.org").unwrap(),
        language: Language::En,
        letter: Letter::ShowCancelled {
            name: "Ana".into(),
            show,
        },
        templates: TEMPLATES,
        at: NOW,
        head: None,
    }
}

#[test]
fn an_id_names_news_and_recipient_and_no_address() {
    let ana = Recipient::Address(Email::parse("ana@example.org").unwrap());
    let bo = Recipient::Address(Email::parse("bo@example.org").unwrap());
    let of = |to: &Recipient| MailId::of("TransferOffered:x", to);
    assert_ne!(of(&ana), of(&bo));
    assert!(!of(&ana).as_str().contains("ana"));
    assert_ne!(of(&ana), MailId::of("TransferOffered:y", &ana));
}

#[test]
fn a_mail_is_sent_by_one_worker_and_again_only_when_that_one_must_be_dead() {
    let due = mail();
    assert_eq!(due.take(NOW), Take::Now);
    let sending = due.sending(composed(), NOW);
    assert_eq!(sending.take(NOW + (SENDING_MS - 1)), Take::Later);
    assert_eq!(sending.take(NOW + SENDING_MS), Take::Now);
    assert_eq!(sending.look_at(), Some(NOW + SENDING_MS));
    for over in [
        sending.sent("d".into(), NOW),
        sending.parked("r".into(), NOW),
        due.dropped(Dropped::TooLate, NOW),
    ] {
        assert_eq!(over.take(Millis(u64::MAX)), Take::Over);
        assert_eq!(over.look_at(), None);
    }
}

#[test]
fn pauses_grow_up_to_a_quarter_of_an_hour_and_end() {
    let mut mail = mail();
    let mut waited_s = 0;
    let mut last = 0;
    while let Some((next, pause_s)) = mail.sending(composed(), NOW).put_off(NOW) {
        assert!(pause_s >= last && pause_s <= 900, "{pause_s}");
        // A clock that is behind by the skew has a part of the first pause behind it.
        let early = NOW.saturating_sub(CLOCK_SKEW_MS + 1);
        assert_eq!(next.take(early), Take::Later);
        assert_eq!(next.take(NOW + u64::from(pause_s) * 1_000), Take::Now);
        (last, waited_s, mail) = (pause_s, waited_s + pause_s, next);
    }
    assert_eq!(last, 900);
    assert!((8 * 3_600..16 * 3_600).contains(&waited_s), "{waited_s}");
}

#[test]
fn a_mail_is_stored_with_every_value_and_read_back() {
    let sending = mail().sending(composed(), NOW);
    let json = serde_json::to_string(&sending).unwrap();
    assert_eq!(serde_json::from_str::<Mail>(&json).unwrap(), sending);
}

#[test]
fn a_mail_forgets_its_person_and_never_becomes_another() {
    let email = Email::parse("ana@example.org").unwrap();
    let news = News::TurnCame {
        show_id: crate::ids::ShowId::from_bytes([1; 16]),
        lot: crate::room::opaque::Lot([2; 16]),
        to_email: email.clone(),
        language: None,
        enter_by: NOW + 1,
    };
    let late = NOW + 1_000 * TOLD_AGAIN_MS;
    let due = Mail::due("x", NOW, news, Recipient::Address(email), NOW, late);
    let names = |mail: &Mail| serde_json::to_string(mail).unwrap().contains("ana@");
    assert!(names(&due));
    let parked = due.parked("ana@example.org bounced".into(), NOW);
    for mail in [&due, &parked, &due.sent("d".into(), NOW)] {
        let forgotten = mail.forgotten(NOW).unwrap();
        assert!(!names(&forgotten), "{forgotten:?}");
        assert_eq!(forgotten.id, due.id);
        assert_eq!(forgotten.take(NOW), Take::Over);
        assert_eq!(forgotten.look_at(), None);
        assert_eq!(forgotten.forget_at, NOW + TOLD_AGAIN_MS);
        assert_eq!(forgotten.forgotten(NOW), None, "once");
    }
    // Nobody was written to, so nobody is known.
    let dropped = due.dropped(Dropped::TooLate, NOW);
    assert!(!names(&dropped));
    let state = MailState::Dropped {
        at: NOW,
        why: Dropped::TooLate,
    };
    assert_eq!(dropped.state, state);
}

#[test]
fn only_a_parked_mail_is_due_once_more() {
    let due = mail();
    let parked = due.parked("away".into(), NOW);
    assert_eq!((parked.parked_since(), parked.look_at()), (Some(NOW), None));
    let again = parked.resend(NOW + 7).unwrap();
    assert_eq!((again.take(NOW + 7), again.tries()), (Take::Now, 0));
    assert_eq!(
        (again.parked_since(), again.composed.as_ref()),
        (None, None)
    );
    assert_eq!(
        (&again.id, &again.news, &again.to),
        (&due.id, &due.news, &due.to)
    );
    let over = due.dropped(Dropped::TooLate, NOW);
    for other in [&again, &due, &due.sent("d".into(), NOW), &over] {
        assert_eq!(other.resend(NOW), None, "{:?}", other.state);
    }
}
