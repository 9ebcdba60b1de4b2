//! Mails and mailings.

use onsale_domain::account::{Account, Email, Role};
use onsale_domain::announcement::News;
use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::feedback::{Feedback, FeedbackKind};
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::language::Language;
use onsale_domain::mail::{Dropped, Mail, Recipient};
use onsale_domain::mailing::{EventFacts, Mailing, MailingId, MovedShow, Progress};
use onsale_store::{Credentials, List, PasswordHash, Store, Versioned, Written};

use super::{NOW, eventually, fresh};

contract! {
    a_mail_moves_under_its_version_only,
    a_mail_is_listed_from_its_time_on_until_it_is_over,
    a_change_and_its_mailing_are_stored_together_or_not_at_all,
    a_language_is_kept_and_changed,
    what_came_back_of_mails_is_kept_as_long_as_it_counts,
    the_mails_of_a_person_are_listed_until_they_are_forgotten,
    a_parked_mail_is_listed_until_it_is_let_go,
}

fn mail() -> Mail {
    let show_id = ShowId::from_bytes(fresh());
    let news = News::ShowCancelled {
        show_id,
        refunds_due: 1,
    };
    let to = Recipient::Account(AccountId::from_bytes(fresh()));
    let id = format!("ShowCancelled:{show_id}");
    Mail::due(&id, NOW, news, to, NOW, NOW + 1_000_000_000)
}

fn at<T: Clone>(version: u64, value: &T) -> Versioned<T> {
    let value = value.clone();
    Versioned { version, value }
}

async fn a_mail_moves_under_its_version_only(store: &Store) {
    let first = mail();
    assert_eq!(store.read::<Mail>(&first.id).await.unwrap(), None);
    assert_eq!(store.create(&first).await.unwrap(), Written::Done(1));
    let lost = store.create(&first).await.unwrap();
    assert_eq!(lost, Written::Lost(at(1, &first)));
    let dropped = first.dropped(Dropped::TooLate, NOW);
    let moved = store.replace(&at(1, &dropped)).await.unwrap();
    assert_eq!(moved, Written::Done(2));
    let late = first.parked("late".into(), NOW);
    let lost = store.replace(&at(1, &late)).await.unwrap();
    assert_eq!(lost, Written::Lost(at(2, &dropped)));
    assert_eq!(
        store.read::<Mail>(&first.id).await.unwrap(),
        Some(at(2, &dropped))
    );
}

async fn a_mail_is_listed_from_its_time_on_until_it_is_over(store: &Store) {
    let mail = mail();
    let look_at = mail.look_at().unwrap();
    let listed = |by| {
        let id = mail.id.clone();
        async move {
            let found = store.forgotten_mails(by, 10_000).await.unwrap();
            found.contains(&id)
        }
    };
    store.create(&mail).await.unwrap();
    eventually(true, || listed(look_at)).await;
    assert!(!listed(look_at.saturating_sub(1)).await);
    let over = mail.dropped(Dropped::Overtaken, NOW);
    store.replace(&at(1, &over)).await.unwrap();
    eventually(false, || listed(look_at)).await;
}

async fn a_parked_mail_is_listed_until_it_is_let_go(store: &Store) {
    let mail = mail();
    let parked = || async {
        let (mut found, mut after) = (vec![], None);
        loop {
            let page = store.parked_mails(after.as_deref(), 1).await.unwrap();
            found.extend(page.items.into_iter().filter(|m| m.value.id == mail.id));
            after = page.next;
            if after.is_none() {
                return found;
            }
        }
    };
    store.create(&mail).await.unwrap();
    assert_eq!(parked().await, vec![]);
    let given_up = mail.parked("refused".into(), NOW + 1);
    store.replace(&at(1, &given_up)).await.unwrap();
    eventually(vec![at(2, &given_up)], parked).await;
    let again = given_up.resend(NOW + 2).unwrap();
    store.replace(&at(2, &again)).await.unwrap();
    eventually(vec![], parked).await;
    let by = again.look_at().unwrap();
    eventually(true, || async {
        let found = store.forgotten_mails(by, 10_000).await.unwrap();
        found.contains(&mail.id)
    })
    .await;
    // Others of this run need not look at it.
    let over = again.dropped(Dropped::Overtaken, NOW);
    store.replace(&at(3, &over)).await.unwrap();
}

async fn the_mails_of_a_person_are_listed_until_they_are_forgotten(store: &Store) {
    let account = Recipient::Account(AccountId::from_bytes(fresh()));
    let name = AccountId::from_bytes(fresh()).to_string();
    let address = Email::parse(&format!("{name}@example.org")).unwrap();
    let address = Recipient::Address(address);
    for to in [&account, &address] {
        let of = |n: u64| {
            let news = mail().news.unwrap();
            let id = format!("ShowCancelled:{n}:{name}");
            Mail::due(&id, NOW, news, to.clone(), NOW + n, NOW + 1_000_000_000)
        };
        let mails = [of(0), of(1), of(2)];
        for mail in mails.iter().rev() {
            store.create(mail).await.unwrap();
        }
        let listed = |after: Option<String>, limit| async move {
            let page = store.mails_to(to, after.as_deref(), limit).await.unwrap();
            let mails = page.items.into_iter().map(|mail| mail.value);
            (mails.collect::<Vec<_>>(), page.next)
        };
        let all = async || listed(None, 10).await.0;
        eventually(mails.to_vec(), all).await;
        let (first, next) = listed(None, 2).await;
        assert_eq!(first, mails[..2]);
        let (rest, next) = listed(Some(next.unwrap()), 2).await;
        assert_eq!((rest, next), (mails[2..].to_vec(), None));
        let sent = mails[1].sent("digest".into(), NOW);
        store.replace(&at(1, &sent)).await.unwrap();
        let forgotten = sent.forgotten(NOW).unwrap();
        store.replace(&at(2, &forgotten)).await.unwrap();
        let left = vec![mails[0].clone(), mails[2].clone()];
        eventually(left, all).await;
        let stored = store.read::<Mail>(&sent.id).await.unwrap();
        assert_eq!(stored, Some(at(3, &forgotten)), "its id is taken");
    }
    let nobody = store.mails_to(&Recipient::Nobody, None, 10).await.unwrap();
    assert!(nobody.items.is_empty());
}

async fn what_came_back_of_mails_is_kept_as_long_as_it_counts(store: &Store) {
    let name = AccountId::from_bytes(fresh()).to_string();
    let email = Email::parse(&format!("{name}@example.org")).unwrap();
    assert_eq!(store.mail_feedback(&email).await.unwrap(), None);
    let of = |kind, at| Feedback { kind, at };
    let complained = of(FeedbackKind::Complained, NOW);
    for (heard, kept) in [
        (
            of(FeedbackKind::Bounced, NOW),
            of(FeedbackKind::Bounced, NOW),
        ),
        (complained, complained),
        (of(FeedbackKind::Bounced, NOW + 1), complained),
        (complained, complained),
    ] {
        store.put_mail_feedback(&email, &heard).await.unwrap();
        assert_eq!(store.mail_feedback(&email).await.unwrap(), Some(kept));
    }
}

/// Replaces the event and stores the mailing that tells of it.
async fn change_and_tell(store: &Store, event: &Versioned<Event>, mailing: &Mailing) -> bool {
    let mut together = store.together();
    together
        .replace(event)
        .and_then(|t| t.create(mailing))
        .unwrap();
    store.write(&together).await.unwrap()
}

async fn a_change_and_its_mailing_are_stored_together_or_not_at_all(store: &Store) {
    let event = Event {
        id: EventId::from_bytes(fresh()),
        owner: AccountId::from_bytes(fresh()),
        title: "Before".into(),
        description: None,
        category: "test".into(),
        venue_id: VenueId::from_bytes(fresh()),
        venue: "Stage".into(),
        city: "Test".into(),
        location: None,
        timezone: None,
        poster_url: None,
        shows: Vec::<ShowSummary>::new(),
        created: NOW,
    };
    store.create_event(&event, None).await.unwrap();
    let facts = |title: &str| EventFacts {
        title: title.into(),
        venue: "Stage".into(),
        city: "Test".into(),
    };
    let id = MailingId {
        event_id: event.id,
        version: 2,
    };
    let moved = vec![MovedShow {
        show_id: ShowId::from_bytes(fresh()),
        was_at: NOW,
        is_at: NOW,
    }];
    let mailing = Mailing::of_change(id, (facts("Before"), facts("After")), moved, NOW).unwrap();
    let mut changed = at(7, &event);
    changed.value.title = "After".into();
    assert!(!change_and_tell(store, &changed, &mailing).await);
    assert_eq!(store.read::<Mailing>(id).await.unwrap(), None);
    changed.version = 1;
    assert!(change_and_tell(store, &changed, &mailing).await);
    assert_eq!(
        store.read::<Event>(event.id).await.unwrap(),
        Some(at(2, &changed.value))
    );
    assert_eq!(
        store.read::<Mailing>(id).await.unwrap(),
        Some(at(1, &mailing))
    );
    let listed = || async {
        store
            .ids_in::<Mailing>(&List::OpenMailings)
            .await
            .unwrap()
            .contains(&id)
    };
    eventually(true, listed).await;
    let done = mailing.announced(NOW).told(0, None, NOW);
    assert_eq!(done.progress, Progress::Done);
    let written = store.replace(&at(1, &done)).await.unwrap();
    assert_eq!(written, Written::Done(2));
    eventually(false, listed).await;
}

async fn a_language_is_kept_and_changed(store: &Store) {
    let id = AccountId::from_bytes(fresh());
    let new = Credentials {
        account: Account {
            id,
            email: Email::parse(&format!("{id}@example.org")).unwrap(),
            name: "Zoë".into(),
            role: Role::Buyer,
            created: NOW,
            language: None,
            proven: None,
        },
        password: PasswordHash("secret".into()),
        epoch: 0,
        request: None,
    };
    assert_eq!(store.set_language(id, Language::De).await, Ok(false));
    store.register(&new, None).await.unwrap();
    assert_eq!(store.account(id).await.unwrap().unwrap().language, None);
    for language in [Language::De, Language::En] {
        assert_eq!(store.set_language(id, language).await, Ok(true));
        let account = store.account(id).await.unwrap().unwrap();
        assert_eq!(account.language, Some(language));
    }
}
