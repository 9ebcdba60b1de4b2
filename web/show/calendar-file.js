// The beginning of a sale as a file for the reader's calendar (RFC 5545), with an alarm.

/** @param {string} text */
const escaped = (text) => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');

/** `20261217T190000Z` @param {number} time */
const stamp = (time) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');

/** Lines have 75 bytes at most; what is longer goes on after a space. @param {string} line */
function folded(line) {
  const parts = [''];
  let size = 0;
  for (const letter of line) {
    const bytes = new TextEncoder().encode(letter).length;
    if (size + bytes > 74) size = parts.push('') && 0;
    parts[parts.length - 1] += letter;
    size += bytes;
  }
  return parts.join('\r\n ');
}

/**
 * @param {{ id: string, title: string, starts: number, made: number, url: string, minutes?: number, before?: number }} entry
 */
export function calendarFile({ id, title, starts, made, url, minutes = 15, before = 10 }) {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Onsale//EN',
    'BEGIN:VEVENT',
    `UID:${id}-sale@onsale`,
    `DTSTAMP:${stamp(made)}`,
    `DTSTART:${stamp(starts)}`,
    `DTEND:${stamp(starts + minutes * 60_000)}`,
    `SUMMARY:${escaped(title)}`,
    `URL:${url}`,
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escaped(title)}`,
    `TRIGGER:-PT${before}M`,
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ];
  return lines.map(folded).join('\r\n');
}
