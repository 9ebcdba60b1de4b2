use super::*;

fn seated(name: &str, rows: &[(&str, u16)]) -> SectionSpec {
    SectionSpec {
        name: name.into(),
        kind: SectionSpecKind::Seated(
            rows.iter()
                .map(|(label, n)| ((*label).to_owned(), (1..=*n).collect()))
                .collect(),
        ),
        not_for_sale: vec![],
        accessible: vec![],
    }
}

fn general(name: &str, capacity: u32) -> SectionSpec {
    SectionSpec {
        name: name.into(),
        kind: SectionSpecKind::General(capacity),
        not_for_sale: vec![],
        accessible: vec![],
    }
}

#[test]
fn every_place_has_one_id_and_one_slot() {
    let specs = vec![
        general("Floor", 70),
        seated("A", &[("1", 20), ("2", 40)]),
        seated("B 2", &[("x", 5)]),
    ];
    let layout = Layout::build(specs, Some("A-2-20")).unwrap();
    assert_eq!(layout.places(), 135);
    for place in (0..layout.places()).map(PlaceIndex) {
        assert_eq!(layout.find(&layout.seat_id(place)), Some(place));
        let (block, slot) = layout.locate(place);
        assert_eq!(layout.place_of(block, slot), place);
        assert!(slot.0 < layout.blocks()[block.0 as usize].len);
    }
    assert!(
        layout
            .blocks()
            .iter()
            .all(|b| u32::from(b.len) <= MAX_BLOCK_PLACES)
    );
    // Floor 70 → 3 blocks, row 1 → 1, row 2 → 2 even ones, row x → 1.
    assert_eq!(layout.blocks().len(), 7);
    assert_eq!(layout.blocks()[4].len, 20);
}

#[test]
fn a_seat_id_has_one_spelling() {
    let layout = Layout::build(vec![seated("A", &[("1", 20)]), general("F", 5)], None).unwrap();
    for wrong in [
        "A-1-0",
        "A-1-01",
        "A-1-21",
        "A-1-+1",
        "a-1-1",
        "A-GA-1",
        "F-GA-6",
        "F-1-1",
        "A-1",
        "A-1-1-1",
        "",
        "--",
        "A-1-99999999999",
    ] {
        assert_eq!(layout.find(wrong), None, "{wrong}");
    }
}

#[test]
fn a_row_may_have_as_many_seats_as_there_are_numbers() {
    let venue = Layout::build(vec![seated("A", &[("1", MAX_SEAT_NUMBER)])], None).unwrap();
    assert_eq!(venue.places(), 9_999);
    assert_eq!(venue.find("A-1-9999"), Some(PlaceIndex(9_998)));
    assert_eq!(venue.blocks().len(), 313);
    assert!(venue.blocks().iter().all(|block| block.len <= 32));
}

#[test]
fn a_bad_layout_is_refused_with_its_reason() {
    let twice = vec![seated("A", &[("1", 2)]), seated("A", &[("1", 2)])];
    assert_eq!(
        Layout::build(twice, None),
        Err(LayoutError::DuplicateSection("A".into()))
    );
    assert_eq!(Layout::build(vec![], None), Err(LayoutError::SectionCount));
    let reserved = vec![seated("A", &[("GA", 2)])];
    assert_eq!(
        Layout::build(reserved, None),
        Err(LayoutError::RowLabel("GA".into()))
    );
    let dash = vec![seated("A-B", &[("1", 2)])];
    assert_eq!(
        Layout::build(dash, None),
        Err(LayoutError::SectionName("A-B".into()))
    );
    assert_eq!(
        Layout::build(vec![general("F", 100_001)], None),
        Err(LayoutError::TooManyPlaces)
    );
    assert_eq!(
        Layout::build(vec![general("F", 0)], None),
        Err(LayoutError::EmptySection("F".into()))
    );
    let halves = vec![general("F", 60_000), general("G", 60_000)];
    assert_eq!(Layout::build(halves, None), Err(LayoutError::TooManyPlaces));
    let mut foreign = seated("A", &[("1", 2)]);
    foreign.not_for_sale = vec!["B-1-1".into()];
    assert!(matches!(
        Layout::build(vec![foreign], None),
        Err(LayoutError::UnknownSeat(..))
    ));
    assert_eq!(
        Layout::build(vec![seated("A", &[("1", 2)])], Some("A-1-3")),
        Err(LayoutError::FocalPoint)
    );
}

#[test]
fn overbooking_adds_general_places_and_moves_the_rest() {
    let mut last = seated("Z", &[("1", 4)]);
    last.not_for_sale = vec!["Z-1-2".into()];
    last.accessible = vec!["Z-1-4".into()];
    let venue = Layout::build(vec![general("Floor", 100), last], Some("Z-1-3")).unwrap();
    let show = venue.for_show(5);
    assert_eq!(show.places(), 109);
    assert!(show.find("Floor-GA-105").is_some());
    assert_eq!(show.find("Floor-GA-106"), None);
    let not_sold = show.find("Z-1-2").unwrap();
    assert!(!show.is_for_sale(not_sold));
    assert_eq!(
        (0..109)
            .filter(|p| !show.is_for_sale(PlaceIndex(*p)))
            .count(),
        1
    );
    assert!(show.is_accessible(show.find("Z-1-4").unwrap()));
    assert_eq!(show.focal(), show.find("Z-1-3"));
}

#[test]
fn together_means_side_by_side_in_one_row() {
    let layout = Layout::build(
        vec![seated("A", &[("1", 4), ("2", 4)]), general("F", 5)],
        None,
    )
    .unwrap();
    let at = |ids: &[&str]| {
        ids.iter()
            .map(|s| layout.find(s).unwrap())
            .collect::<Vec<_>>()
    };
    assert!(layout.are_together(&at(&["A-1-3", "A-1-2"])));
    assert!(!layout.are_together(&at(&["A-1-1", "A-1-3"])));
    assert!(!layout.are_together(&at(&["A-1-4", "A-2-1"])));
    assert!(layout.are_together(&at(&["F-GA-1", "F-GA-5"])));
    assert!(!layout.are_together(&at(&["A-2-4", "F-GA-1"])));
}
