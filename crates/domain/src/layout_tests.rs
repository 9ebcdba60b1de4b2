use super::*;

fn seated(name: &str, rows: &[(&str, u16)]) -> SectionSpec {
    SectionSpec {
        name: name.into(),
        kind: SectionSpecKind::Seated(
            rows.iter()
                .map(|(label, n)| ((*label).to_owned(), (1..=*n).collect()))
                .collect(),
        ),
        ..SectionSpec::default()
    }
}

fn general(name: &str, capacity: u32) -> SectionSpec {
    SectionSpec {
        name: name.into(),
        kind: SectionSpecKind::General(capacity),
        ..SectionSpec::default()
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

fn drawn(curve: f64, turn: f64, aisles: &[u16]) -> RowsShape {
    let shape = RowsMetres {
        x: 2.0,
        y: 10.0,
        turn,
        curve,
        row_pitch: 1.0,
        seat_pitch: 0.5,
        aisles: aisles.to_vec(),
    };
    shape.try_into().unwrap()
}

fn with_shape(rows: &[(&str, u16)], shape: RowsShape) -> Layout {
    let section = SectionSpec {
        shape: Some(shape),
        ..seated("A", rows)
    };
    Layout::build(vec![section], None).unwrap()
}

fn stands_at(point: Point, x: f64, y: f64) {
    let near = (point.x - x).abs() < 1e-9 && (point.y - y).abs() < 1e-9;
    assert!(near, "{point:?} is not at {x}, {y}");
}

#[test]
fn straight_rows_stand_behind_each_other_about_the_middle_of_the_first() {
    let layout = with_shape(&[("1", 5), ("2", 4)], drawn(0.0, 0.0, &[]));
    let rows = layout.sections()[0].rows();
    let shape = drawn(0.0, 0.0, &[]);
    stands_at(shape.point(0, &rows[0], 0.0), 1.0, 10.0);
    stands_at(shape.point(0, &rows[0], 2.0), 2.0, 10.0);
    stands_at(shape.point(1, &rows[1], 0.0), 1.25, 11.0);
    stands_at(shape.point(1, &rows[1], 1.5), 2.0, 11.0);
    // A quarter turn clockwise: what was right is below, what was behind is left.
    let turned = drawn(0.0, 90.0, &[]);
    stands_at(turned.point(0, &rows[0], 4.0), 2.0, 11.0);
    stands_at(turned.point(1, &rows[1], 1.5), 1.0, 10.0);
}

#[test]
fn curved_rows_are_arcs_about_one_centre_in_front_of_them() {
    let shape = drawn(4.0, 0.0, &[]);
    let layout = with_shape(&[("1", 9), ("2", 9)], shape.clone());
    let rows = layout.sections()[0].rows();
    let centre = Point { x: 2.0, y: 6.0 };
    for (number, row) in rows.iter().enumerate() {
        stands_at(shape.point(number, row, 4.0), 2.0, 10.0 + number as f64);
        for seat in 0..9 {
            let point = shape.point(number, row, f64::from(seat));
            let radius = 4.0 + number as f64;
            assert!((point.distance(centre) - radius).abs() < 1e-9, "{point:?}");
        }
    }
    let end = shape.point(0, &rows[0], 8.0);
    assert!(
        end.x > 2.0 && end.y < 10.0,
        "the ends bend to the front: {end:?}"
    );
}

#[test]
fn an_aisle_adds_room_and_parts_neighbours() {
    let shape = drawn(0.0, 0.0, &[2]);
    let layout = with_shape(&[("1", 4), ("2", 2)], shape.clone());
    let rows = layout.sections()[0].rows();
    assert_eq!(rows[0].aisles, vec![2]);
    assert_eq!(
        rows[1].aisles,
        Vec::<usize>::new(),
        "none after the last seat"
    );
    assert_eq!(rows[0].parts().collect::<Vec<_>>(), vec![0..2, 2..4]);
    assert_eq!(rows[1].parts().collect::<Vec<_>>(), vec![0..2]);
    let (left, right) = (shape.point(0, &rows[0], 1.0), shape.point(0, &rows[0], 2.0));
    assert!((left.distance(right) - 0.5 - AISLE_METRES).abs() < 1e-9);
    assert!(
        (left.x + right.x - 4.0).abs() < 1e-9,
        "the row keeps its middle"
    );
    let at = |ids: [&str; 2]| ids.map(|id| layout.find(id).unwrap());
    assert!(layout.are_together(&at(["A-1-1", "A-1-2"])));
    assert!(!layout.are_together(&at(["A-1-2", "A-1-3"])));
    assert!(layout.are_together(&at(["A-1-3", "A-1-4"])));
}

#[test]
fn no_seat_is_nearer_than_the_least_distance_of_its_row() {
    for shape in [
        drawn(0.0, 0.0, &[]),
        drawn(0.0, 33.0, &[3]),
        drawn(5.0, -70.0, &[4, 9]),
    ] {
        let layout = with_shape(&[("1", 12), ("2", 7), ("3", 20)], shape.clone());
        for from in [(0.0, 0.0), (2.0, 10.5), (30.0, -4.0), (2.0, 40.0)] {
            let from = Point {
                x: from.0,
                y: from.1,
            };
            for (number, row) in layout.sections()[0].rows().iter().enumerate() {
                let least = shape.least_distance(number, row, from);
                let seats = (0..2 * row.seats.len() - 1)
                    .map(|half| shape.point(number, row, half as f64 / 2.0).distance(from));
                let nearest = seats.fold(f64::MAX, f64::min);
                assert!(least <= nearest + 1e-9, "{shape:?} {from:?}");
            }
        }
    }
}

#[test]
fn a_shape_that_no_plan_has_is_refused() {
    let build = |rows: &[(&str, u16)], shape| {
        let section = SectionSpec {
            shape: Some(shape),
            ..seated("A", rows)
        };
        Layout::build(vec![section], None)
    };
    let curve = Err(LayoutError::Curve("A".into()));
    let aisles = Err(LayoutError::Aisles("A".into()));
    assert_eq!(build(&[("1", 60)], drawn(4.0, 0.0, &[])), curve);
    assert!(build(&[("1", 50)], drawn(4.0, 0.0, &[])).is_ok());
    assert_eq!(build(&[("1", 5)], drawn(0.0, 0.0, &[6])), aisles);
    assert_eq!(build(&[("1", 5)], drawn(0.0, 0.0, &[2, 2])), aisles);
    let good = RowsMetres {
        x: 0.0,
        y: 0.0,
        turn: 0.0,
        curve: 0.0,
        row_pitch: 1.0,
        seat_pitch: 1.0,
        aisles: vec![],
    };
    let wrong: [fn(&mut RowsMetres); 6] = [
        |shape| shape.x = f64::NAN,
        |shape| shape.y = f64::INFINITY,
        |shape| shape.turn = -360.1,
        |shape| shape.curve = -0.1,
        |shape| shape.row_pitch = 0.0,
        |shape| shape.seat_pitch = 10.1,
    ];
    assert!(RowsShape::try_from(good.clone()).is_ok());
    for spoil in wrong {
        let mut shape = good.clone();
        spoil(&mut shape);
        assert!(RowsShape::try_from(shape).is_err());
    }
}

#[test]
fn a_show_keeps_the_plan_and_the_marks_of_its_venue() {
    let stage = StageMetres {
        x: 0.0,
        y: 0.0,
        width: 3.0,
        height: 2.0,
    };
    let last = SectionSpec {
        shape: Some(drawn(4.0, 0.0, &[2])),
        companion: vec!["Z-1-1".into()],
        restricted_view: vec!["Z-1-3".into()],
        ..seated("Z", &[("1", 4)])
    };
    let venue = Layout::build(vec![general("Floor", 100), last], None).unwrap();
    let venue = venue.with_stage(Some(stage.try_into().unwrap()));
    let show = venue.for_show(5);
    assert_eq!(show.stage(), venue.stage());
    assert_eq!(show.sections()[1].rows()[0].aisles, vec![2]);
    let at = |id: &str| show.find(id).unwrap();
    assert!(show.has(at("Z-1-1"), Mark::Companion) && show.is_kept(at("Z-1-1")));
    assert!(show.has(at("Z-1-3"), Mark::RestrictedView) && !show.is_kept(at("Z-1-3")));
    assert_eq!(show.marked(0..show.places(), Mark::Companion).count(), 1);
}
