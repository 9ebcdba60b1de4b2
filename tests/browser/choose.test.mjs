// Which seats the seat page takes, by the vectors that the rule in Rust is tested with; and
// where it puts sections that have no place of their own. Needs no server.
//
//   node --test tests/browser/choose.test.mjs

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { arrange } from '../../web/seats/arrange.js';
import { bestPlaces, neighbours, offers, placesOf, snap } from '../../web/seats/choose.js';
import { House } from '../../web/seats/house.js';
import { Viewport } from '../../web/seats/viewport.js';

// What these say needs a page.
globalThis.document = { documentElement: { lang: 'en' } };
globalThis.navigator ??= { languages: ['en'] };
const { Choice } = await import('../../web/seats/choice.js');
const { paintLabel, placeLabels } = await import('../../web/seats/labels.js');

const vectors = JSON.parse(
  await readFile(new URL('../../crates/domain/tests/vectors/neighbours.json', import.meta.url), 'utf8'),
);
const price = { amount: 3900, currency: 'EUR' };

/** A house of sections: so many seats a row, or a capacity. */
function house(sections, { prices = {}, shapes = {}, accessible = [], companion = [], restricted = [], stage, focal_point } = {}) {
  let first = 0;
  const told = Object.entries(sections).map(([name, rows]) => {
    const begin = first;
    const own = Array.isArray(rows)
      ? rows.map((seats, i) => {
          const row = { label: String(i + 1), first, seats: Array.from({ length: seats }, (_, at) => at + 1) };
          first += seats;
          return row;
        })
      : undefined;
    if (!own) first += rows;
    const of = (seats) => seats.filter((it) => it.startsWith(`${name}-`));
    const attributes = { companion: of(companion), restricted_view: of(restricted) };
    const kind = own ? 'seated' : 'general';
    return { name, kind, first: begin, places: first - begin, rows: own, accessible: of(accessible), attributes, shape: shapes[name] };
  });
  const layout = { places: first, sections: told, stage, focal_point };
  if (!told.some(({ shape }) => shape)) arrange(layout);
  const made = new House(layout, Object.fromEntries(told.map(({ name }) => [name, { ...price, amount: prices[name] ?? price.amount }])));
  made.read(new Uint8Array(Math.ceil(first / 4)), 1);
  return made;
}

const take = (it, ...seats) => it.change(seats.map((seat) => [it.find(seat), 2]), 2);
const wish = (quantity, more) => ({ quantity, accessible: false, sections: () => true, ...more });
const ids = (it, places) => places.map((place) => it.seat(place).id);

test('every vector of the rule is answered as it says', () => {
  assert.ok(vectors.length >= 60);
  for (const { name, row, aisles = [], asked = false, tapped, quantity, expect } of vectors) {
    assert.deepEqual(snap(row, aisles, asked, tapped, quantity), expect, name);
  }
});

test('the best seats are those in the middle of the first row, then of the next', () => {
  const it = house({ A: [8, 8], B: [8] });
  assert.deepEqual(ids(it, bestPlaces(it, wish(2))), ['A-1-4', 'A-1-5']);
  take(it, 'A-1-4', 'A-1-5');
  assert.deepEqual(ids(it, bestPlaces(it, wish(2))), ['A-2-4', 'A-2-5'], 'beside the taken ones two singles would be left');
  assert.deepEqual(ids(it, bestPlaces(it, wish(2, { sections: ({ name }) => name === 'B' }))), ['B-1-4', 'B-1-5']);
});

test('the best of all offers is the best there is', () => {
  const it = house({ A: [9, 7, 8], B: [10, 10] });
  take(it, 'A-1-5', 'A-2-4', 'A-3-1', 'B-1-5');
  for (const quantity of [1, 2, 3, 4, 5]) {
    const [first] = offers(it, wish(quantity));
    assert.deepEqual(placesOf(first, quantity), bestPlaces(it, wish(quantity)));
  }
});

test('a group that fits into no row is seated in halves, or not at all', () => {
  const it = house({ A: [3, 3] });
  assert.deepEqual(ids(it, bestPlaces(it, wish(4))), ['A-1-1', 'A-1-2', 'A-2-1', 'A-2-2']);
  assert.equal(bestPlaces(it, wish(7)), undefined);
});

test('accessible places are the last to go, and the first for people who ask', () => {
  const it = house({ A: [6] }, { accessible: ['A-1-3'], companion: ['A-1-4'] });
  assert.deepEqual(ids(it, bestPlaces(it, wish(2))), ['A-1-1', 'A-1-2']);
  const asked = ids(it, bestPlaces(it, wish(2, { accessible: true })));
  assert.ok(asked.includes('A-1-3'), asked.join());
  take(it, 'A-1-3');
  assert.equal(bestPlaces(it, wish(2, { accessible: true })), undefined);
});

test('one accessible place with companions is better than two accessible ones', () => {
  const it = house({ A: [8] }, { accessible: ['A-1-3', 'A-1-4'], companion: ['A-1-5'] });
  assert.deepEqual(ids(it, bestPlaces(it, wish(2, { accessible: true }))), ['A-1-4', 'A-1-5']);
});

test('a restricted view is worse than a row further back', () => {
  const it = house({ A: [4, 4] }, { restricted: ['A-1-2', 'A-1-3'] });
  assert.deepEqual(ids(it, bestPlaces(it, wish(2))), ['A-2-1', 'A-2-2']);
});

test('with a focal point the best seats are around it', () => {
  const it = house({ A: [6, 6, 6, 6] }, { focal_point: { section: 'A', row: '3', seat: 2 } });
  assert.deepEqual(ids(it, bestPlaces(it, wish(1))), ['A-3-1'], 'seat 2 would leave seat 1 alone');
  assert.deepEqual(ids(it, bestPlaces(it, wish(3))), ['A-3-1', 'A-3-2', 'A-3-3']);
});

test('on a plan the best seats are the nearest to the stage, whichever section they are in', () => {
  const shapes = { A: { x: 20, y: 30 }, B: { x: 0, y: 10 } };
  const it = house({ A: [4], B: [4, 4] }, { shapes, stage: { x: -4, y: 0, width: 8, height: 4 } });
  assert.deepEqual(ids(it, bestPlaces(it, wish(2))), ['B-1-1', 'B-1-2'], 'the middle would leave two singles');
  assert.deepEqual(ids(it, bestPlaces(it, wish(4))), ['B-1-1', 'B-1-2', 'B-1-3', 'B-1-4']);
});

test('a tap takes neighbours on its side of the aisle', () => {
  const it = house({ A: [8] }, { shapes: { A: { x: 0, y: 0, aisles: [4] } } });
  const { places } = neighbours(it, it.find('A-1-4'), wish(2));
  assert.deepEqual(ids(it, places), ['A-1-3', 'A-1-4']);
});

/** No two seats of different sections touch, and none is on the stage. */
function assertApart(it, name) {
  const { x, y, stage } = it.plan;
  const cells = new Map();
  for (const row of it.rows) {
    for (let place = row.first; place < row.first + row.seats.length; place++) {
      const isOnStage = x[place] > stage.x && x[place] < stage.x + stage.width && y[place] > stage.y && y[place] < stage.y + stage.height;
      assert.ok(!isOnStage, `${name}: ${it.seat(place).id} is on the stage`);
      const [cx, cy] = [Math.floor(x[place]), Math.floor(y[place])];
      for (let dx = -1; dx <= 1; dx++) {
        for (let dy = -1; dy <= 1; dy++) {
          for (const other of cells.get(`${cx + dx} ${cy + dy}`) ?? []) {
            const far = Math.hypot(x[place] - x[other], y[place] - y[other]);
            const ids = `${it.seat(place).id} and ${it.seat(other).id}`;
            assert.ok(far > 0.5, `${name}: ${ids} are ${far.toFixed(2)} m apart`);
          }
        }
      }
      cells.set(`${cx} ${cy}`, [...(cells.get(`${cx} ${cy}`) ?? []), place]);
    }
  }
}

const many = (count, name, rows) => Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), rows]));
const rows = (count, seats) => Array(count).fill(seats);

test('sections without a shape are arranged so that nothing overlaps', () => {
  const houses = {
    theatre: { Stalls: rows(14, 22), Circle: rows(7, 30), Balcony: rows(5, 36) },
    sides: { 'Stalls Left': rows(8, 10), 'Stalls Centre': rows(9, 14), 'Stalls Right': rows(8, 10), Gallery: rows(4, 30) },
    mixed: { Standing: 400, Stalls: rows(10, 20), Balcony: rows(3, 40) },
    arena: { Floor: 2600, ...many(24, (i) => String(101 + i), rows(18, 20)), ...many(28, (i) => String(201 + i), rows(16, 20)) },
    stadium: many(50, (i) => `Block ${i + 1}`, rows(25, 40)),
    letters: many(12, (i) => 'ABCDEFGHIJKL'[i], rows(20, 15)),
    lopsided: { Small: [1], Wide: rows(2, 120), Deep: rows(60, 4) },
    'one section': { Bowl: rows(250, 200) },
    'one seat': { A: [1] },
  };
  for (const [name, sections] of Object.entries(houses)) assertApart(house(sections), name);
});

test('a shape puts its seats where the venue says', () => {
  const shapes = {
    A: { x: 0, y: 5, turn: 0, curve: 0, row_pitch: 1, seat_pitch: 0.5, aisles: [2] },
    B: { x: 10, y: 0, turn: 90, curve: 0, row_pitch: 1, seat_pitch: 0.5, aisles: [] },
    C: { x: 0, y: 20, turn: 0, curve: 20, row_pitch: 1, seat_pitch: 1, aisles: [] },
  };
  const it = house({ A: [4, 4], B: [3, 3], C: [3] }, { shapes });
  const { x, y } = it.plan;
  const at = (seat) => [x[it.find(seat)], y[it.find(seat)]].map((metres) => Number(metres.toFixed(2)));
  assert.deepEqual(at('A-1-1'), [-1.35, 5]);
  assert.deepEqual(at('A-1-4'), [1.35, 5], 'an aisle is 1.2 m wide');
  assert.deepEqual(at('A-2-1'), [-1.35, 6], 'each row is further down');
  assert.deepEqual(at('B-1-2'), [10, 0]);
  assert.deepEqual(at('B-2-2'), [9, 0], 'turned clockwise, it looks to the right');
  assert.deepEqual(at('B-1-3'), [10, 0.5]);
  assert.deepEqual(at('C-1-2'), [0, 20]);
  const [left, height] = at('C-1-1');
  assert.ok(Math.abs(Math.hypot(left, height) - 20) < 0.01 && height < 20, 'an arc about a centre in front of it');
});

test('a venue that has drawn some of its sections keeps them; the others stand behind', () => {
  const shapes = { A: { x: 0, y: 5 }, B: { x: 10, y: 5, turn: 20 } };
  const whole = house({ A: [6, 6], B: [4] }, { shapes });
  const it = house({ A: [6, 6], B: [4], C: [8, 8], D: 300 }, { shapes });
  for (const seat of ['A-1-1', 'A-2-6', 'B-1-4']) {
    assert.equal(it.plan.x[it.find(seat)], whole.plan.x[whole.find(seat)], seat);
    assert.equal(it.plan.y[it.find(seat)], whole.plan.y[whole.find(seat)], seat);
  }
  for (const [i] of [[2], [3]]) assert.ok(it.plan.areas[i].box.y0 > whole.plan.box.y1, it.sections[i].name);
  assertApart(it, 'partly drawn');
});

test('distances are metres where every seat is drawn, whether standing room is or not', () => {
  const shapes = { A: { x: 20, y: 30 }, B: { x: 0, y: 10 } };
  const stage = { x: -4, y: 0, width: 8, height: 4 };
  assert.equal(house({ A: [4], B: [4], Floor: 50 }, { shapes, stage }).isDrawn, true);
  assert.equal(house({ A: [4], B: [4], C: [4] }, { shapes, stage }).isDrawn, false);
  assert.equal(house({ A: [4] }).isDrawn, false);
});

test('a map from a cache does not undo what the feed has told since', () => {
  const it = house({ A: [4] });
  it.change([[0, 1]], 50);
  it.change([[1, 2]], 60);
  assert.deepEqual(it.read(new Uint8Array([0]), 55), [0], 'place 0 was free again at 55');
  assert.deepEqual([...it.state], [0, 2, 0, 0]);
  assert.equal(it.version, 60);
  assert.equal(it.free, 3);
  assert.deepEqual(it.read(new Uint8Array([0b1000]), 70), []);
  assert.equal(it.version, 70);
});

test('nothing is left where all is sold; what is held may come back', () => {
  const it = house({ A: [2] });
  assert.equal(it.gone, 0);
  it.change([[0, 2], [1, 1]], 2);
  assert.equal(it.gone, 1);
  it.change([[1, 2]], 3);
  assert.equal(it.gone, 2);
});

/** A choice that records what it is told. */
function chooser(it, quantity = 2) {
  const refusals = [];
  const made = new Choice(it, 6, quantity, (refusal) => refusals.push(refusal));
  return Object.assign(made, { refusals });
}

test('the number of tickets is whole, whatever the address says', () => {
  assert.deepEqual([2.5, 0.3, -4, 99].map((n) => chooser(house({ A: [9] }), n).quantity), [2, 1, 1, 6]);
});

test('a seat at a price that is filtered out is not taken, and neither is standing room; the reason is told', () => {
  const it = house({ A: [8], B: [8], Floor: 50 }, { prices: { B: 2500 } });
  const choice = chooser(it);
  choice.prices.add(2500);
  choice.propose();
  const before = choice.places;
  choice.tap(it.find('A-1-4'));
  choice.isOneByOne = true;
  choice.tap(it.find('A-1-5'));
  choice.tapGeneral(it.sections[2]);
  assert.deepEqual(choice.refusals.slice(1), Array(3).fill('seats.filtered'));
  assert.deepEqual(choice.preview(it.find('A-1-4')), []);
  assert.deepEqual(choice.places, before);
  assert.equal(choice.general, undefined);
  choice.prices.clear();
  choice.tap(it.find('A-1-5'));
  assert.deepEqual(ids(it, choice.places), ['A-1-5']);
});

test('a tap on a seat that is sold says so and changes nothing', () => {
  const it = house({ A: [8] });
  take(it, 'A-1-4');
  const choice = chooser(it);
  choice.tap(it.find('A-1-4'));
  assert.deepEqual(choice.refusals, ['seats.cell_sold']);
});

test('chosen places without numbers that go are counted as lost', () => {
  const it = house({ Floor: 4, A: [8] });
  const choice = chooser(it, 3);
  choice.takeGeneral(it.sections[0]);
  assert.equal(choice.lose(it.change([[0, 1]], 2), new Set()), 0, 'three are left');
  assert.equal(choice.lose(it.change([[1, 1], [2, 2]], 3), new Set()), 2);
  assert.equal(choice.general, undefined);
  assert.equal(choice.places.length, 3, 'as many are proposed elsewhere');
});

test('seats that go are lost to others, unless the reader has reserved them', () => {
  const it = house({ A: [8] });
  const choice = chooser(it);
  choice.take([2, 3]);
  assert.equal(choice.lose(it.change([[2, 1]], 2), new Set([2])), 0);
  choice.take([4, 5]);
  assert.equal(choice.lose(it.change([[4, 1], [5, 1]], 3), new Set()), 2);
  assert.equal(choice.lose([], new Set()), 0, 'those that are proposed then are free');
});

test('a finger can be brought to hit the narrowest seats', () => {
  for (const seat_pitch of [0.2, 0.3, 0.55, 1]) {
    const it = house({ A: [9], B: [9] }, { shapes: { A: { x: 0, y: 5 }, B: { x: 0, y: 9, seat_pitch } } });
    const viewport = new Viewport({ addEventListener() {} }, it.plan, () => {}, () => {});
    viewport.resize(320, 400);
    assert.ok(viewport.zoomed(1_000).scale * Math.min(seat_pitch, 0.55) >= 44 * 1.04, `${seat_pitch} m`);
  }
});

/** What is written on a map of this size when the whole house is in view. */
function labelsOn(it, width, height) {
  const written = [];
  const context = { beginPath() {}, roundRect() {}, fill() {}, fillText: (words, x, y) => written.push({ words, x, y }) };
  context.measureText = (words) => ({ width: words.length * Number(/(\d+)px/.exec(context.font)[1]) * 0.6 });
  const viewport = new Viewport({ addEventListener() {} }, it.plan, () => {}, () => {});
  viewport.resize(width, height);
  const above = { chosen: new Set(bestPlaces(it, wish(2))), isWhole: true };
  const picture = { context, house: it, plan: it.plan, view: viewport.view, width, above };
  for (const label of placeLabels(picture)) paintLabel(picture, label);
  return written;
}

test('in view of the whole house every section has its name and its price', () => {
  const box = (x, y, turn) => ({ x, y, turn, seat_pitch: 1, row_pitch: 1 });
  const houses = {
    arena: house({ Floor: 4000, ...many(20, (i) => `Block ${101 + i}`, rows(14, 17)), ...many(24, (i) => `Block ${201 + i}`, rows(18, 22)) }),
    hall: house({ Stalls: rows(14, 22), Circle: rows(7, 30), Balcony: rows(5, 36) }),
    theatre: house(
      { 'Box 1': rows(3, 2), 'Box 2': rows(3, 2), Stalls: rows(16, 30), Circle: rows(6, 40) },
      { shapes: { 'Box 1': box(-14, 4, -30), 'Box 2': box(14, 4, 30), Stalls: { x: 0, y: 4, curve: 18 }, Circle: { x: 0, y: 22, curve: 36 } } },
    ),
  };
  for (const [name, it] of Object.entries(houses)) {
    for (const [width, height] of [[390, 470], [896, 686]]) {
      const written = labelsOn(it, width, height);
      for (const section of it.sections) {
        const short = section.name.replace(/^(Block|Box) /, '');
        const isNamed = written.some(({ words }) => words === section.name || words === short);
        assert.ok(isNamed, `${section.name} of the ${name} on ${width} px`);
      }
      const priced = written.filter(({ words }) => /^(€39|seats.from_free$)/.test(words)).length;
      assert.equal(priced, it.sections.length, `${name} on ${width} px`);
    }
  }
});

test('the six prices have 3:1 against paper and card, in light and dark', async () => {
  const css = await readFile(new URL('../../web/tokens.css', import.meta.url), 'utf8');
  const luminance = (hex) => {
    const parts = hex.match(/\w\w/g).map((it) => Number.parseInt(it, 16) / 255);
    const [r, g, b] = parts.map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const [light, dark] = css.split('@media (prefers-color-scheme: dark)');
  for (const [scheme, text] of Object.entries({ light, dark })) {
    const colour = (name) => new RegExp(`--${name}: #(\\w{6});`).exec(text)[1];
    for (let price = 1; price <= 6; price++) {
      for (const ground of ['room', 'card']) {
        const found = contrast(colour(`price-${price}`), colour(ground));
        assert.ok(found >= 3, `price ${price} on ${ground} in ${scheme}: ${found.toFixed(2)}`);
      }
    }
  }
});
