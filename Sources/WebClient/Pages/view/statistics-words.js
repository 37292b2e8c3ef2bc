// How times and amounts of the statistics are written. Pure.

/** @typedef {import('../room/spans.js').SpanName} SpanName */

/** @typedef {{locale: string, timeZone?: string}} Writing `timeZone`: else that of the device */

/** @param {{from: number, to: number}} bar */
const middle = ({ from, to }) => (from + to) / 2;

/**
 * The label below a bar. Days are named by their middle: with another offset from UTC a day begins at another time.
 *
 * @param {SpanName} span
 * @param {{from: number, to: number}} bar
 * @param {Writing} writing
 */
export function labelOf(span, bar, { locale, timeZone }) {
  return span === 'week' ? new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone }).format(middle(bar))
    : new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone }).format(bar.from);
}

/**
 * When a bar was, in full: from when to when, or its day.
 *
 * @param {SpanName} span
 * @param {{from: number, to: number}} bar
 * @param {Writing} writing
 */
export function whenOf(span, bar, { locale, timeZone }) {
  return span === 'week'
    ? new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', timeZone }).format(middle(bar))
    : new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit', timeZone }).formatRange(bar.from, bar.to);
}

/**
 * When a song was on air: its time, with its day where the span has several.
 *
 * @param {SpanName} span
 * @param {number} at
 * @param {Writing} writing
 */
export function timeOf(span, at, { locale, timeZone }) {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone }).format(at);
  return span === 'week' ? `${new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone }).format(at)} ${time}` : time;
}

/**
 * A length of time in hours and minutes: `2:05 h`, or in minutes.
 *
 * @param {number} ms
 * @param {{hours: (clock: string) => string, minutes: (n: string) => string}} words
 */
export function lengthOf(ms, words) {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return words.minutes(String(minutes));
  return words.hours(`${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`);
}
