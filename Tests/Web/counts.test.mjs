// Counts of a room: buckets that were read, and the minutes that are told live above them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counts, sumOf } from '../../Sources/WebClient/Pages/room/counts.js';
import { DAY, MINUTE, QUARTER, floorTo } from '../../Sources/WebClient/Pages/room/spans.js';

/** 21:37:20 on a Wednesday, in UTC. */
const NOW = Date.UTC(2026, 10, 25, 21, 37, 20);
const MINUTE_NOW = floorTo(NOW, MINUTE, 0);
const ago = (minutes) => MINUTE_NOW - minutes * MINUTE;

const told = (minutes, fields = {}) => ({
  type: 'statistics', re: 1, room: 'r', epoch: 'e', seq: 9, minutes, today: { at: floorTo(NOW, DAY, 0) }, ...fields,
});
const delta = (minutes, fields) => ({ ...told(minutes, fields), type: 'statisticsDelta', sub: 1 });
const answer = (step, buckets, fields = {}) => ({ epoch: 'e', seq: 9, step, from: 0, to: NOW + DAY, buckets, observed: [], ...fields });
const plays = (counts, span, now = NOW) => counts.bars(span, now).map((bar) => bar.counts.plays ?? 0);

test('sums leave the time out', () => {
  assert.deepEqual(sumOf([{ at: 1, plays: 2 }, { at: 2, plays: 3, votes: 1 }]), { plays: 5, votes: 1 });
});

test('minutes are summed to bars of five, the present one last', () => {
  const counts = new Counts(0);
  counts.told(told([{ at: ago(3), plays: 1 }, { at: ago(1), plays: 1, votes: 4 }, { at: ago(0), votes: 2 }]), NOW);
  const bars = counts.bars('hour', NOW);
  assert.equal(bars.length, 12);
  assert.deepEqual(bars.slice(-2).map(({ from, to, counts: sums }) => [from, to, sums]), [
    [Date.UTC(2026, 10, 25, 21, 30), Date.UTC(2026, 10, 25, 21, 35), { plays: 1 }],
    [Date.UTC(2026, 10, 25, 21, 35), Date.UTC(2026, 10, 25, 21, 40), { plays: 1, votes: 6 }],
  ]);
});

test('a delta replaces the minutes that it names, and empties one without counts', () => {
  const counts = new Counts(0);
  counts.told(told([{ at: ago(8), plays: 1 }, { at: ago(2), plays: 2 }]), NOW);
  counts.told(delta([{ at: ago(8), plays: 5 }, { at: ago(2) }]), NOW);
  assert.deepEqual(plays(counts, 'hour').slice(-3), [5, 0, 0]);
});

test('a delta that is whole replaces all minutes', () => {
  const counts = new Counts(0);
  counts.told(told([{ at: ago(40), plays: 1 }, { at: ago(2), plays: 2 }]), NOW);
  counts.told(delta([{ at: ago(1), plays: 3 }], { whole: true }), NOW);
  assert.equal(plays(counts, 'hour').reduce((sum, one) => sum + one), 3);
});

test('quarters within the last hour are sums of minutes; others are those that were read', () => {
  const counts = new Counts(0);
  // 20:30 has begun an hour and seven minutes ago.
  const [old, partly, recent] = [Date.UTC(2026, 10, 25, 19), Date.UTC(2026, 10, 25, 20, 30), Date.UTC(2026, 10, 25, 21, 15)];
  counts.read(answer('quarter', [{ at: old, plays: 7 }, { at: partly, plays: 4 }, { at: recent, plays: 1 }]), NOW);
  counts.told(told([{ at: ago(58), plays: 1 }, { at: recent, plays: 2 }, { at: recent + 14 * MINUTE, plays: 1 }]), NOW);
  const of = (at) => counts.bars('evening', NOW).find((bar) => bar.from === at).counts.plays;
  assert.deepEqual([of(old), of(partly), of(recent)], [7, 4, 3]);
  // What was read late does not undo what is told.
  counts.read(answer('quarter', [{ at: old, plays: 8 }, { at: recent, plays: 1 }]), NOW);
  assert.deepEqual([of(old), of(partly), of(recent)], [8, undefined, 3]);
});

test('a quarter keeps its sum when its minutes are older than an hour', () => {
  const counts = new Counts(0);
  counts.told(told([{ at: ago(20), plays: 2 }]), NOW);
  const later = NOW + 70 * MINUTE;
  counts.told(delta([{ at: ago(-65), votes: 1 }]), later);
  const bar = counts.bars('evening', later).find(({ from }) => from === floorTo(ago(20), QUARTER, 0));
  assert.equal(bar.counts.plays, 2);
  assert.equal(plays(counts, 'hour', later).reduce((sum, one) => sum + one), 0);
});

test('today is what is told; earlier days are what was read', () => {
  const counts = new Counts(60), today = floorTo(NOW, DAY, 60);
  counts.read(answer('day', [{ at: today - DAY, plays: 30 }, { at: today, plays: 5 }]), NOW);
  assert.deepEqual(plays(counts, 'week'), [0, 0, 0, 0, 0, 30, 5]);
  counts.told(told([], { today: { at: today, plays: 6 } }), NOW);
  counts.read(answer('day', [{ at: today - DAY, plays: 31 }, { at: today, plays: 5 }]), NOW);
  assert.deepEqual(plays(counts, 'week'), [0, 0, 0, 0, 0, 31, 6]);
  // Another day has begun.
  counts.told(delta([], { today: { at: today + DAY, plays: 1 } }), NOW + DAY);
  assert.deepEqual(plays(counts, 'week', NOW + DAY), [0, 0, 0, 0, 31, 6, 1]);
});

test('of listeners a bar has the most at once, and nothing where nothing was seen', () => {
  const counts = new Counts(0);
  counts.read(answer('minute', [], { observed: [
    { at: ago(9), peakListeners: 3, listenedMs: 1000 }, { at: ago(8), peakListeners: 5, listenedMs: 2000 },
  ] }), NOW);
  assert.deepEqual(counts.bars('hour', NOW).slice(-3).map(({ peak, listenedMs }) => [peak, listenedMs]), [[5, 3000], [null, 0], [null, 0]]);
});

test('counts of another epoch replace all', () => {
  const counts = new Counts(0);
  counts.read(answer('quarter', [{ at: Date.UTC(2026, 10, 25, 15), plays: 7 }]), NOW);
  counts.told(told([{ at: ago(1), plays: 1 }], { epoch: 'f' }), NOW);
  assert.equal(plays(counts, 'evening').reduce((sum, one) => sum + one), 1);
});
