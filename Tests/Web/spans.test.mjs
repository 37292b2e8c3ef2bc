// Spans of time, the marks of axes, and how times are written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, MINUTE, QUARTER, floorTo, hasLabel, marksOf, offsetOf, rangeOf } from '../../Sources/WebClient/Pages/room/spans.js';
import { labelOf, lengthOf, timeOf, whenOf } from '../../Sources/WebClient/Pages/view/statistics-words.js';

const NOW = Date.UTC(2026, 10, 25, 21, 37, 20);

test('an offset is rounded down to a quarter of an hour, and never beyond 14 hours', () => {
  assert.deepEqual([0, -60, 300, -345, -571, 52, 900, -900].map(offsetOf), [0, 60, -300, 345, 570, -60, -840, 840]);
});

test('a span ends with the bar of the present', () => {
  const time = (span, offset = 0) => Object.values(rangeOf(span, NOW, offset)).map((at) => new Date(at).toISOString().slice(5, 16));
  assert.deepEqual(time('hour'), ['11-25T20:40', '11-25T21:40']);
  assert.deepEqual(time('evening'), ['11-25T09:45', '11-25T21:45']);
  assert.deepEqual(time('week'), ['11-19T00:00', '11-26T00:00']);
  assert.deepEqual(time('week', 345), ['11-19T18:15', '11-26T18:15']);
  // Exactly at its end, a bar is over.
  assert.deepEqual(rangeOf('hour', NOW - NOW % QUARTER, 0).to, NOW - NOW % QUARTER + 5 * MINUTE);
});

test('days begin at local midnight', () => {
  for (const offset of [0, 345, -840, 840]) {
    const at = floorTo(NOW, DAY, offset);
    assert.equal((at + offset * MINUTE) % DAY, 0);
    assert.ok(at <= NOW && NOW < at + DAY);
  }
});

test('the axis of time has labels at quarters, at every third local hour, at days', () => {
  const labels = (span, offset) => {
    const { from, to } = rangeOf(span, NOW, offset);
    const bar = { hour: 5 * MINUTE, evening: QUARTER, week: DAY }[span];
    return Array.from({ length: (to - from) / bar }, (_, i) => from + i * bar).filter((at) => hasLabel(span, at, offset));
  };
  assert.equal(labels('hour', 0).length, 4);
  assert.deepEqual(labels('evening', 345).map((at) => new Date(at + 345 * MINUTE).getUTCHours()), [18, 21, 0, 3]);
  assert.equal(labels('week', -300).length, 7);
});

test('the axis of values has at most a few marks, at round numbers, and none between whole ones', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 6, 7, 12, 30, 31, 100, 149, 151, 9999].map((largest) => marksOf(largest)), [
    [0, 1], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 2, 4], [0, 2, 4, 6], [0, 5, 10], [0, 5, 10, 15], [0, 10, 20, 30], [0, 20, 40],
    [0, 50, 100], [0, 50, 100, 150], [0, 100, 200], [0, 5000, 10_000],
  ]);
});

test('times and lengths are written in the language of the page', () => {
  const bar = { from: Date.UTC(2026, 10, 25, 21), to: Date.UTC(2026, 10, 25, 21, 15) };
  const [en, de] = ['en-GB', 'de-DE'].map((locale) => ({ locale, timeZone: 'Europe/Berlin' }));
  const plain = (text) => text.replace(/[\u2009\u202f\u00a0]/g, ' ').replace(/\s*–\s*/, '–');
  assert.deepEqual([labelOf('evening', bar, en), plain(whenOf('evening', bar, en))], ['22:00', '22:00–22:15']);
  assert.equal(plain(whenOf('evening', bar, de)), '22:00–22:15 Uhr');
  assert.deepEqual([timeOf('hour', bar.from, en), timeOf('week', bar.from, de)], ['22:00', 'Mi 22:00']);
  const words = { hours: (clock) => `${clock} h`, minutes: (n) => `${n} min` };
  assert.deepEqual([0, 59.4, 60, 125].map((minutes) => lengthOf(minutes * MINUTE, words)), ['0 min', '59 min', '1:00 h', '2:05 h']);
});

test('a day keeps its name where the clock was changed within the week', () => {
  // Summer time ended on 25 October: by the offset of now, the days before begin at one o'clock.
  const now = Date.UTC(2026, 9, 28, 12), zone = { locale: 'en-GB', timeZone: 'Europe/Lisbon' };
  const { from } = rangeOf('week', now, 0);
  const names = Array.from({ length: 7 }, (_, i) => labelOf('week', { from: from + i * DAY, to: from + (i + 1) * DAY }, zone));
  assert.deepEqual(names, ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed']);
});
