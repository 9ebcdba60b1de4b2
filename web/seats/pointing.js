// What a click would take, while the mouse is over the map. Only who has a mouse loads it, so it
// takes nothing from the modules of the map.

/** From so many pixels a seat on, a mouse points at seats. */
const SEATS = 14;

/**
 * @param {import('./map.js').SeatMap} map @param {PointerEvent} event
 * @param {typeof import('./wording.js').rowLines} lines @param {typeof import('../elements.js').money} money
 */
export function point(map, { type, offsetX: x, offsetY: y }, lines, money) {
  const { above, canvas, choice, house, plan, tip, viewport } = map;
  const [mx, my] = viewport.at(x, y);
  const isOver = type === 'pointermove' && !viewport.fingers.size;
  const section = isOver ? map.sectionAt(mx, my) : undefined;
  const isNear = section?.kind === 'seated' && plan.areas[section.index].seat * viewport.view.scale >= SEATS;
  const place = section && isNear ? map.seatAt(mx, my, section) : -1;
  const pointed = place < 0 ? [] : choice.preview(place);
  canvas.style.cursor = section ? 'pointer' : '';
  if (String(pointed) !== String(above.pointed)) {
    above.pointed = pointed;
    map.picture.ask();
  }
  tip.hidden = !pointed.length;
  if (!pointed.length) return;
  const amount = pointed.reduce((sum, it) => sum + house.sectionOf(it).price.amount, 0);
  tip.textContent = `${lines(house, pointed).join(' · ')} · ${money({ amount, currency: choice.total.currency })}`;
  const aside = x > viewport.width / 2 ? 'calc(-100% - 14px)' : '14px';
  tip.style.transform = `translate(${x}px, ${y}px) translate(${aside}, ${y > 60 ? 'calc(-100% - 10px)' : '18px'})`;
}
