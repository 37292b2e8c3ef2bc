// The spans of time of which counts are shown, their bars, and the marks of their axes.

/**
 * @typedef {'hour'|'evening'|'week'} SpanName
 * @typedef {{step: 'minute'|'quarter'|'day', barMs: number, bars: number}} Span
 */

export const MINUTE = 60_000;
export const QUARTER = 15 * MINUTE;
export const DAY = 1440 * MINUTE;

/** `step` is the one in which the server is asked; a bar is as long or longer. */
export const SPANS = /** @type {Record<SpanName, Span>} */ ({
  hour: { step: 'minute', barMs: 5 * MINUTE, bars: 12 },
  evening: { step: 'quarter', barMs: QUARTER, bars: 48 },
  week: { step: 'day', barMs: DAY, bars: 7 },
});

/** Bars from one label of the time's axis to the next: a quarter of an hour, three hours, a day. */
const LABEL_MS = { hour: QUARTER, evening: 180 * MINUTE, week: DAY };

/**
 * The offset of local time from UTC, as the server takes it: in quarters of an hour, rounded down.
 *
 * @param {number} minutesWest what `Date.getTimezoneOffset` says
 * @returns {number} minutes
 */
export function offsetOf(minutesWest) {
  const offset = Math.floor(-minutesWest / 15) * 15;
  return Math.min(840, Math.max(-840, offset)) || 0;
}

/**
 * The last multiple of a length of local time.
 *
 * @param {number} at ms since the epoch
 * @param {number} length ms
 * @param {number} offsetMinutes
 */
export function floorTo(at, length, offsetMinutes) {
  const offset = offsetMinutes * MINUTE;
  return Math.floor((at + offset) / length) * length - offset;
}

/**
 * The span that ends with the bar of the present.
 *
 * @param {SpanName} name
 * @param {number} now ms since the epoch
 * @param {number} offsetMinutes
 * @returns {{from: number, to: number}} `to` is the end of the last bar, which is not over
 */
export function rangeOf(name, now, offsetMinutes) {
  const { barMs, bars } = SPANS[name];
  const to = floorTo(now, barMs, offsetMinutes) + barMs;
  return { from: to - bars * barMs, to };
}

/**
 * Whether the time's axis has a label at a bar.
 *
 * @param {SpanName} name
 * @param {number} at the bar's beginning
 * @param {number} offsetMinutes
 */
export function hasLabel(name, at, offsetMinutes) {
  return floorTo(at, LABEL_MS[name], offsetMinutes) === at;
}

/**
 * Marks of an axis of whole numbers, from 0 to at least the largest value, at 1, 2 or 5 times a power of ten.
 *
 * @param {number} largest
 * @param {number} [most] the most marks above 0
 * @returns {number[]} ascending
 */
export function marksOf(largest, most = 3) {
  const least = Math.max(1, largest) / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= least) ?? 10 * power;
  const marks = [0];
  while (marks[marks.length - 1] < Math.max(1, largest)) marks.push(marks[marks.length - 1] + step);
  return marks;
}
