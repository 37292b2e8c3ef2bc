// What comes next in a room, and what its viewer can do about it: one rule for all that the page says of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTrack, stepOf } from '../../Sources/WebClient/Pages/room/next.js';
import { t } from '../../Sources/WebClient/Pages/text/en-more.js';
import { de } from '../../Sources/WebClient/Pages/text/de.js';

const tracks = new Map([1, 2, 3].map((track) => [track, { track, title: `Song ${track}` }]));
const room = ({ settings, ...more } = {}) => ({
  isDJ: false, you: { member: 1 }, closedAt: undefined, pool: [...tracks.values()], queue: [], requests: [], history: [], tracks,
  playback: { status: 'stopped' }, deck: {}, settings: { queueMode: 'votes', repeatAfterPlays: 0, ...settings }, ...more,
});
const next = (more) => nextTrack(room(more))?.track;
const one = tracks.get(1), two = tracks.get(2);

test('the next song is the first one that waits, else the most wanted one where votes choose', () => {
  assert.equal(next({ queue: [{ entry: 1, track: 3 }], requests: [one] }), 3);
  assert.equal(next({ requests: [two, one] }), 2);
  assert.equal(next({}), undefined);
});

test('the next song is not known where DJs or turns choose, and where requests are closed', () => {
  for (const settings of [{ queueMode: 'dj' }, { queueMode: 'fair' }, { queueLocked: true }]) assert.equal(next({ requests: [one], settings }), undefined);
});

test('a song that was played too recently does not come next', () => {
  const settings = { repeatAfterPlays: 2 };
  const playback = { status: 'playing', track: 1 }, history = [{ track: 2 }, { track: 3 }];
  assert.equal(next({ settings, playback, history, queue: [{ entry: 1, track: 2 }], requests: [one, tracks.get(3)] }), 3);
  assert.equal(next({ settings, playback, history, requests: [one, two] }), undefined);
});

test('a song that the deck lacks does not come next', () => {
  const lost = { track: 4, title: 'Song 4', missing: true }, known = new Map([...tracks, [4, lost]]);
  assert.equal(next({ tracks: known, queue: [{ entry: 1, track: 4 }, { entry: 2, track: 2 }] }), 2);
  assert.equal(next({ tracks: known, requests: [lost, one] }), 1);
  assert.equal(next({ tracks: known, requests: [lost] }), undefined);
});

test('what a viewer can do depends on the role, the songs, the mode, the settings and the deck', () => {
  const dj = { isDJ: true };
  for (const [more, step] of [
    [{ pool: [] }, 'wait'],
    [{ pool: [], settings: { guestsMayAdd: true } }, 'add'],
    [{ pool: [], settings: { guestsMayAdd: true, queueLocked: true } }, 'wait'],
    [{ pool: [], settings: { guestsMayAdd: true }, you: null }, 'wait'],
    [{ you: null }, 'join'],
    [{}, 'ask'],
    [{ settings: { queueMode: 'fair' } }, 'ask'],
    [{ settings: { queueMode: 'dj' } }, 'askDJ'],
    [{ settings: { queueLocked: true } }, 'askDJ'],
    [{ requests: [one] }, 'starts'],
    [{ requests: [one], you: null }, 'join'],
    [{ requests: [one], settings: { queueMode: 'dj' } }, 'askDJ'],
    [{ queue: [{ entry: 1, track: 1 }], settings: { queueMode: 'dj' } }, 'starts'],
    // What waits cannot be played: another song is wanted.
    [{ requests: [{ ...one, missing: true }] }, 'ask'],
    [{ requests: [one], settings: { repeatAfterPlays: 1 }, history: [{ track: 1 }] }, 'ask'],
    [{ requests: [{ ...one, missing: true }, two], settings: { queueMode: 'fair' } }, 'starts'],
    [{ queue: [{ entry: 1, track: 1 }], settings: { queueMode: 'dj', repeatAfterPlays: 1 }, history: [{ track: 1 }] }, 'askDJ'],
    [{ ...dj, pool: [] }, 'addMusic'],
    [{ ...dj }, 'queueOrWait'],
    [{ ...dj, deck: { member: 1 } }, 'goesOn'],
    [{ ...dj, settings: { queueMode: 'dj' }, requests: [one] }, 'queue'],
    [{ ...dj, settings: { queueLocked: true } }, 'queue'],
    [{ ...dj, requests: [one] }, 'play'],
    [{ ...dj, queue: [{ entry: 1, track: 1 }] }, 'play'],
    [{ ...dj, closedAt: 5 }, 'nothing'],
    [{ closedAt: 5 }, 'nothing'],
  ]) assert.equal(stepOf(room(more)), step, JSON.stringify(more));
});

test('each step but those that need no words has words in both languages', () => {
  for (const words of [t, de]) {
    assert.deepEqual(Object.keys(words.onAir.steps).sort(), ['add', 'ask', 'askDJ', 'join', 'starts', 'wait']);
    assert.deepEqual(Object.keys(words.dj.steps).sort(), ['addMusic', 'goesOn', 'queue', 'queueOrWait']);
  }
});
