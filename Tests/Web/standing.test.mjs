// What rows and the vote to skip say, from the room.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Room, standingOf } from '../../Sources/WebClient/Pages/room/room.js';
import { skipState } from '../../Sources/WebClient/Pages/view/reactions.js';
import { snapshot } from './samples.mjs';

/** Votes to skip, and what comes of them: the tests in Swift have the same. */
const table = JSON.parse(readFileSync(new URL('../Tables/skip-votes.json', import.meta.url), 'utf8'));

test('a song on air or in the queue has a place there, others may be asked for', () => {
  const room = new Room(snapshot());
  const playing = { status: 'playing', entry: 1, track: 5 };
  Object.assign(room, { playback: playing, queue: [{ entry: 2, track: 7 }, { entry: 3, track: 8 }, { entry: 4, track: 7 }, { entry: 5, track: 5 }] });
  assert.deepEqual([5, 7, 8, 9].map((track) => standingOf(room, track)), [0, 1, 2, null]);
  room.playback = { ...playing, status: 'paused' };
  assert.equal(standingOf(room, 5), 0);
  room.playback = { status: 'stopped' };
  assert.equal(standingOf(room, 5), 4);
  // A queue that has changed is another array, which the fold sees to.
  room.apply({ seq: room.seq + 1, type: 'entryRemoved', entry: 2 });
  assert.deepEqual([7, 8, 5].map((track) => standingOf(room, track)), [2, 1, 3]);
  room.apply({ seq: room.seq + 1, type: 'entryMoved', entry: 5, index: 0 });
  assert.equal(standingOf(room, 5), 1);
  room.apply({ seq: room.seq + 1, type: 'entryEnqueued', entry: 6, track: 9, index: 1 });
  assert.equal(standingOf(room, 9), 2);
});

test('votes to skip count while their voters are here, and the own one can be taken back', () => {
  const of = (playback, more = {}, ...rest) => skipState({
    playback: { status: 'playing', entry: 1, ...playback }, you: { member: 3 }, online: 6, present: new Set([1, 2, 3, 4, 5, 6]), settings: { skipRatio: 0.5 }, ...more,
  }, ...rest);
  assert.deepEqual(of({ skipVotes: 0 }, {}, false), { mine: false, votes: 0, needed: 3 });
  assert.deepEqual(of({ skipVotes: 2, skipVoters: [2, 9] }, {}, false), { mine: false, votes: 1, needed: 3 });
  assert.deepEqual(of({ skipVotes: 2, skipVoters: [2, 3] }, {}, false), { mine: true, votes: 2, needed: 3 });
  // Nobody knows who is here: all count.
  assert.deepEqual(of({ skipVotes: 2, skipVoters: [2, 9] }, { present: null }, false), { mine: false, votes: 2, needed: 3 });
  // A command is on its way.
  assert.deepEqual(of({ skipVotes: 1, skipVoters: [2] }, {}, true, true), { mine: true, votes: 2, needed: 3 });
  assert.deepEqual(of({ skipVotes: 2, skipVoters: [2, 3] }, {}, false, false), { mine: false, votes: 1, needed: 3 });
  // Taken back in another tab.
  assert.deepEqual(of({ skipVotes: 1, skipVoters: [2] }, {}, true), { mine: false, votes: 1, needed: 3 });
  for (const row of table) {
    const room = { you: row.me && { member: row.me }, online: row.here?.length ?? row.online, present: row.here && new Set(row.here), settings: { skipRatio: row.ratio } };
    const { votes, needed } = of({ skipVotes: row.voters.length, ...(row.voters.length > 0 && { skipVoters: row.voters }) }, room, false);
    assert.deepEqual({ votes, needed }, { votes: row.counted, needed: row.needed }, JSON.stringify(row));
  }
  // A server that tells only how many: the page knows what it has done.
  assert.deepEqual(of({ skipVotes: 2 }, {}, true), { mine: true, votes: 2, needed: 3 });
  assert.deepEqual(of({ skipVotes: 2 }, {}, false), { mine: false, votes: 2, needed: 3 });
});
