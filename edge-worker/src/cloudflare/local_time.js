// The clocks of venues. The runtime has the database of time zones; the worker has not.

const formats = new Map();
const MAX_KEPT = 200;

const format = (timeZone) => {
  let known = formats.get(timeZone);
  if (!known) {
    known = new Intl.DateTimeFormat('en-CA', {
      timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
    });
    if (formats.size >= MAX_KEPT) formats.clear();
    formats.set(timeZone, known);
  }
  return known;
};

/** `2026-12-17T20:00`, or nothing where the zone is not known. */
export const localTime = (ms, timeZone) => {
  try {
    const part = Object.fromEntries(format(timeZone).formatToParts(new Date(ms)).map(({ type, value }) => [type, value]));
    return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}`;
  } catch {
    return undefined;
  }
};
