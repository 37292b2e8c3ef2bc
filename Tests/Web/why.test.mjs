// The reason for the song on air, from the events before its start.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { whyOnAir } from '../../Sources/WebClient/Pages/room/why.js';

/** An event of the golden files, moved to another place in the log. */
const golden = (name, seq, changes = {}) => ({
  ...JSON.parse(readFileSync(new URL(`../RoomWireTests/Fixtures/event-${name}.json`, import.meta.url), 'utf8')),
  seq,
  ...changes,
});
const room = (playback = {}) => ({ playback: { status: 'playing', entry: 1, track: 1, startedSeq: 20, ...playback } });
const started = golden('playbackStarted-server', 20);

test('the top request is on air for its votes', () => {
  const events = [golden('entryEnqueued-votes', 18), golden('votesCleared', 19), started];
  assert.deepEqual(whyOnAir(events, room()), { rule: 'votes', votes: 3, passed: 0 });
});

test('a fair choice names the member and the round', () => {
  const events = [golden('entryEnqueued-fair', 18), golden('votesCleared', 19), started];
  assert.deepEqual(whyOnAir(events, room()), { rule: 'fair', member: 2, round: 2, passed: 0 });
});

test('a fair choice on nobody’s turn has no member', () => {
  const why = { rule: 'fair', rank: [1, 1, 5] };
  assert.deepEqual(whyOnAir([golden('entryEnqueued-fair', 19, { why }), started], room()),
    { rule: 'fair', member: null, round: 1, passed: 0 });
});

test('entries that were passed over are told where nothing was chosen', () => {
  const events = [golden('entryRemoved-repeat', 18, { entry: 5 }), golden('entryRemoved-repeat', 19, { entry: 6 }), started];
  assert.deepEqual(whyOnAir(events, room()), { rule: 'repeatAfterPlays', since: 1, needed: 10, passed: 2 });
});

test('a choice after an entry that was passed over is told as the choice', () => {
  const events = [golden('entryRemoved-repeat', 17, { entry: 5 }), golden('entryEnqueued-votes', 18), golden('votesCleared', 19), started];
  assert.deepEqual(whyOnAir(events, room()), { rule: 'votes', votes: 3, passed: 1 });
});

test('there is no reason for what a member started, for a stopped deck, or in an older log', () => {
  const events = [golden('entryEnqueued-votes', 18), golden('votesCleared', 19), started];
  assert.equal(whyOnAir(events, room({ startedBy: 1 })), null);
  assert.equal(whyOnAir(events, { playback: { status: 'stopped' } }), null);
  assert.equal(whyOnAir([golden('entryEnqueued-server', 18), started], room()), null);
  assert.equal(whyOnAir([], room()), null);
});

test('events of another entry, of other members, or out of reach do not count', () => {
  assert.equal(whyOnAir([golden('entryEnqueued-votes', 18, { entry: 9 }), started], room()), null);
  assert.equal(whyOnAir([golden('entryRemoved-repeat', 18, { by: 1 }), started], room()), null);
  assert.equal(whyOnAir([golden('entryEnqueued-votes', 16), started], room()), null);
  assert.equal(whyOnAir([started, golden('entryEnqueued-votes', 21)], room()), null);
});
