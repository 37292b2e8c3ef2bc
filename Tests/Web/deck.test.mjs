// The deck's machine: single situations step by step, and random evenings after which the room's log is what was heard.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deck } from '../../Sources/WebClient/Pages/deck/deck.js';
import { Room } from '../../Sources/WebClient/Pages/room/room.js';
import { evening } from './deck-party.mjs';
import { RoomModel } from './room-model.mjs';
import { seeded } from './samples.mjs';

/** Evenings of one run; one that fails is run again with its number as BACKLINE_SEED. */
const EVENINGS = Number(process.env.BACKLINE_EVENINGS) || 600;
const START = 1_700_000_000_000;

/** A room with a deck; the test carries commands and events over by hand. */
class Bench {
  now = START;
  missing = new Set();
  isBusy = false;
  errorMs = 0;
  /** What the machine has sent and nobody has carried out. */
  sent = [];

  constructor({ tracks = 6, queue = [2, 3], durationMs = 60_000, ...options } = {}) {
    this.model = new RoomModel({ now: () => this.now, ...options });
    this.by(1, { type: 'addTracks', tracks: Array.from({ length: tracks }, (_, i) => ({ source: 'local', sourceId: `${i}`, title: `T${i + 1}`, durationMs })) });
    this.by(1, { type: 'enqueue', track: 1 });
    this.by(1, { type: 'play' });
    for (const track of queue) this.by(1, { type: 'enqueue', track });
    this.room = new Room(this.model.snapshot());
    this.deck = this.machine(null);
  }

  machine(saved) {
    return new Deck({ isHere: (track) => !this.missing.has(track), isBare: () => [...this.room.tracks.keys()].every((track) => this.missing.has(track)), isBusy: () => this.isBusy, errorMs: () => this.errorMs }, saved);
  }

  /** A command of a member, which the room carries out at once. */
  by(member, command) {
    return this.model.send(member, command);
  }

  /** The machine's steps in words; commands are kept. */
  words(steps) {
    return steps.map((step) => {
      if (step.do === 'send') {
        this.sent.push(step.command);
        return step.command.type;
      }
      if (step.do === 'play') return `play T${step.song.track}${step.song.positionMs ? ` at ${step.song.positionMs}` : ''}`;
      if (step.do === 'missing') return `T${step.track} is missing`;
      return step.do === 'seek' ? `seek to ${step.positionMs}` : step.do;
    });
  }

  /** Time passes; the sound is reported where it plays. */
  pass(ms, hears = true) {
    this.now += ms;
    const { deck, now } = this;
    const words = hears && deck.song?.playing && deck.skipAtMs === null ? this.words(deck.report(deck.position(now), now)) : [];
    return [...words, ...this.words(deck.tick(now))];
  }

  act(command) {
    return this.words(this.deck.act(command, this.now));
  }

  ended() {
    return this.words(this.deck.ended(this.now));
  }

  /** The room's events reach the page. */
  hear() {
    for (const event of this.model.events.slice(this.room.seq)) this.room.apply(event);
    return this.words(this.deck.room(this.room, this.now));
  }

  /** The room carries out what was sent first. */
  carry() {
    const command = this.sent.shift();
    assert.ok(command, 'nothing was sent');
    try {
      this.by(1, JSON.parse(JSON.stringify(command)));
      return { command, code: null };
    } catch (error) {
      return { command, code: error.code };
    }
  }

  /** The room carries out what was sent first; the events come, then the answer. */
  answer() {
    const { command, code } = this.carry();
    return [...this.hear(), ...this.words(this.deck.answered(command, code, this.now))];
  }

  on() {
    this.room = new Room(this.model.snapshot());
    return this.words(this.deck.link(true, this.room, this.now));
  }

  off() {
    this.sent = [];
    return this.words(this.deck.link(false, this.room, this.now));
  }

  /** The page is loaded again; `meanwhile` happens at the end of the time away. */
  reload(ms, meanwhile = () => {}) {
    const saved = JSON.parse(JSON.stringify(this.deck.toSaved())), since = this.now;
    this.sent = [];
    this.now += ms;
    meanwhile();
    this.deck = this.machine(saved);
    this.deck.room(this.room, this.now);
    return this.words(this.deck.resume(this.now, since));
  }

  /** The log from its beginning: track, start, time heard, why it ended. */
  get log() {
    return this.model.room.history.slice().reverse()
      .map(({ track, startedAt, playedMs, reason }) => `T${track} at ${startedAt - START} for ${playedMs} ${reason}`);
  }

  get waiting() {
    return this.model.room.queue.map(({ track }) => `T${track}`).join(' ');
  }

  /** What the room has on air, and that the deck plays the same. */
  get onAir() {
    const { playback } = this.model.room, { song } = this.deck;
    if (playback.status === 'stopped') {
      assert.equal(song, null);
      return 'stopped';
    }
    assert.equal(song?.entry, playback.entry);
    assert.equal(song?.playing, playback.status === 'playing');
    return `T${playback.track} ${playback.status} since ${playback.startedAt - START}`;
  }

  get position() {
    const { playback } = this.model.room;
    return playback.positionMs + (playback.status === 'playing' ? this.now - playback.atMs : 0);
  }
}

test('follows the room: what plays, pauses, moves, and what another DJ puts on air', () => {
  const bench = new Bench();
  assert.deepEqual(bench.on(), ['play T1']);
  bench.pass(5000);
  bench.by(2, { type: 'pause' });
  assert.deepEqual(bench.hear(), ['pause']);
  bench.by(2, { type: 'resume' });
  assert.deepEqual(bench.hear(), ['resume']);
  bench.by(2, { type: 'seek', positionMs: 30_000 });
  assert.deepEqual(bench.hear(), ['seek to 30000']);
  bench.by(2, { type: 'seek', positionMs: 30_400 });
  assert.deepEqual(bench.hear(), [], 'a small difference is left alone');
  bench.by(2, { type: 'play', entry: 3 });
  assert.deepEqual(bench.hear(), ['play T3']);
  bench.by(2, { type: 'dequeue', entry: 2 });
  bench.by(2, { type: 'finish', entry: 3 });
  assert.deepEqual(bench.hear(), ['stop']);
  assert.deepEqual(bench.sent, []);
});

test('begins in the middle of a song that has been on air for a while', () => {
  const bench = new Bench();
  bench.now += 20_000;
  assert.deepEqual(bench.on(), ['play T1 at 20000']);
});

test('carries out what is done here at once, and not again when the event comes', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  for (const [command, step] of [[{ type: 'pause' }, 'pause'], [{ type: 'resume' }, 'resume'], [{ type: 'seek', positionMs: 40_000 }, 'seek to 40000']]) {
    assert.deepEqual(bench.act(command), [step, command.type]);
    bench.now += 120;
    assert.deepEqual(bench.answer(), []);
  }
  assert.deepEqual(bench.act({ type: 'skip' }), ['skip']);
  assert.deepEqual(bench.act({ type: 'skip' }), [], 'a second tap before the next song is no second skip');
  assert.deepEqual(bench.answer(), ['play T2']);
});

test('an own seek over a slow link is heard once', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  bench.act({ type: 'seek', positionMs: 40_000 });
  bench.now += 900;
  assert.deepEqual(bench.answer(), []);
  // Another DJ's seek meanwhile is heard all the same.
  bench.act({ type: 'seek', positionMs: 10_000 });
  bench.carry();
  bench.now += 300;
  bench.by(2, { type: 'seek', positionMs: 50_000 });
  bench.hear();
  assert.deepEqual(bench.words(bench.deck.answered(bench.deck.toSaved().pending[0].command, null, bench.now)), ['seek to 50000']);
});

test('what the room refuses is taken back, and what it cannot do now is done here', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  for (const [code, steps] of [['forbidden', ['resume']], ['unavailable', ['syncDeck']]]) {
    assert.deepEqual(bench.act({ type: 'pause' }), ['pause', 'pause']);
    assert.deepEqual(bench.words(bench.deck.answered(bench.sent.shift(), code, bench.now)), steps);
  }
  bench.answer();
  assert.equal(bench.onAir, 'T1 paused since 0');
});

test('corrects the position once a start', () => {
  const bench = new Bench();
  bench.on();
  const { deck } = bench;
  const report = (lagMs) => bench.words(deck.report(bench.now - START - lagMs, bench.now));
  bench.now += 400;
  assert.deepEqual(report(250), [], 'the sound has not run for long enough');
  bench.now += 600;
  assert.deepEqual(report(250), []);
  bench.now += 500;
  assert.deepEqual(report(250), ['seek']);
  assert.deepEqual(bench.sent[0], { type: 'seek', positionMs: 1250, entry: 1 });
  assert.deepEqual(bench.answer(), []);
  for (const lagMs of [300, 700, 2000]) {
    bench.now += 5000;
    assert.deepEqual(report(lagMs), []);
  }
  // A sound that stood still is compared once more.
  deck.stalled();
  assert.deepEqual(report(2000), []);
  bench.now += 1000;
  assert.deepEqual(report(2000), ['seek']);
});

test('a song that ends: finish, then the room says what comes next', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(60_000);
  assert.deepEqual(bench.ended(), ['finish']);
  assert.deepEqual(bench.ended(), [], 'the end is told once');
  bench.now += 80;
  assert.deepEqual(bench.answer(), ['play T2']);
  assert.deepEqual(bench.pass(2000), []);
  assert.equal(bench.onAir, 'T2 playing since 60080');
  assert.deepEqual(bench.log, ['T1 at 0 for 60080 ended']);
});

test('a song that ends while the room is told of another is asked for once', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(60_000);
  bench.act({ type: 'enqueue', track: 4 });
  assert.deepEqual(bench.ended(), ['finish']);
  assert.deepEqual(bench.answer(), []);
  assert.ok(bench.deck.isEnding);
  assert.deepEqual(bench.answer(), ['play T2']);
});

test('a song that ends while the room is asked for something that changes nothing', () => {
  for (const refused of [false, true]) {
    const bench = new Bench();
    bench.on();
    bench.pass(59_000);
    bench.act(refused ? { type: 'play', entry: 99 } : { type: 'play', entry: 1 });
    bench.pass(500);
    assert.deepEqual(bench.ended(), []);
    assert.deepEqual(bench.answer(), ['finish']);
    assert.deepEqual(bench.answer(), ['play T2']);
  }
  // The same without an answer.
  const bench = new Bench();
  bench.on();
  bench.pass(59_000);
  bench.act({ type: 'play', entry: 99 });
  bench.pass(900);
  assert.deepEqual(bench.ended(), []);
  assert.deepEqual(bench.pass(100), ['play T2']);
});

test('no answer within a second: goes on by itself, and a late answer with the same song needs one sync', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(60_000);
  bench.ended();
  assert.deepEqual(bench.pass(999, false), []);
  assert.deepEqual(bench.pass(1, false), ['play T2']);
  assert.ok(bench.deck.leading);
  bench.pass(500);
  assert.deepEqual(bench.answer(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T2 playing since 61500');
  assert.equal(bench.position, 500);
  assert.deepEqual(bench.pass(30_000), []);
  assert.deepEqual(bench.log, ['T1 at 0 for 61500 ended']);
});

test('no answer within a second: a late answer with another song leaves what is heard, and that song waits', () => {
  const bench = new Bench({ queue: [], settings: { queueMode: 'fair' } });
  for (const [member, track] of [[3, 4], [2, 5], [3, 5]]) bench.by(member, { type: 'vote', track });
  bench.on();
  bench.pass(60_000);
  bench.ended();
  // The most wanted is T5; the room gives T4 its turn.
  assert.deepEqual(bench.pass(1000, false), ['play T5']);
  bench.pass(200);
  assert.deepEqual(bench.answer(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T5 playing since 61200');
  assert.equal(bench.waiting, 'T4');
  assert.deepEqual(bench.log, ['T1 at 0 for 61200 ended', 'T4 at 61200 for 0 skipped']);
});

test('a seek in a song whose end is asked for is none in the next song', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(10_000);
  bench.act({ type: 'play', entry: 2 });
  assert.deepEqual(bench.act({ type: 'seek', positionMs: 30_000 }), []);
  assert.deepEqual(bench.off(), ['play T2']);
});

test('no answer while a song fades out: it is told once, and as long as it was heard', () => {
  const bench = new Bench({ queue: [], settings: { queueMode: 'fair' } });
  for (const [member, track] of [[3, 4], [2, 5], [3, 5]]) bench.by(member, { type: 'vote', track });
  bench.on();
  bench.pass(57_000);
  bench.ended();
  bench.carry();
  assert.deepEqual(bench.pass(1000), ['play T5']);
  bench.pass(3000);
  bench.off();
  bench.on();
  bench.answer();
  assert.equal(bench.onAir, 'T5 playing since 58000');
  assert.equal(bench.waiting, 'T4');
  assert.deepEqual(bench.log, ['T1 at 0 for 57000 ended', 'T4 at 57000 for 0 skipped']);
});

test('a room that begins a song late, after the deck ran out of songs, is followed', () => {
  const bench = new Bench({ queue: [], settings: { queueMode: 'votes' } });
  bench.on();
  bench.pass(60_000);
  bench.ended();
  assert.deepEqual(bench.pass(1000, false), ['stop']);
  bench.by(3, { type: 'vote', track: 4 });
  assert.deepEqual(bench.answer(), ['play T4']);
  assert.deepEqual(bench.sent, []);
});

test('a song that had been paused was heard until its end, however long the room is silent then', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(30_000);
  bench.act({ type: 'pause' });
  bench.answer();
  bench.pass(10_000);
  bench.act({ type: 'resume' });
  bench.answer();
  bench.pass(30_000);
  bench.ended();
  bench.now += 900;
  assert.deepEqual(bench.off(), ['play T2']);
  bench.on();
  bench.answer();
  assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended']);
});

for (const [isDone, what] of [[true, 'was carried out'], [false, 'was lost']]) {
  test(`the link is lost with a finish in flight that ${what}`, () => {
    const bench = new Bench();
    bench.on();
    bench.pass(60_000);
    bench.ended();
    bench.now += 300;
    if (isDone) bench.carry();
    assert.deepEqual(bench.off(), ['play T2']);
    bench.pass(20_000);
    assert.deepEqual(bench.on(), ['syncDeck']);
    assert.deepEqual(bench.answer(), []);
    assert.equal(bench.onAir, 'T2 playing since 60300');
    assert.equal(bench.position, 20_000);
    assert.equal(bench.waiting, 'T3');
    assert.deepEqual(bench.log, [`T1 at 0 for ${isDone ? 60_300 : 60_000} ended`]);
  });

  test(`the link is lost with skip and pause in flight, which ${what}`, () => {
    const bench = new Bench();
    bench.on();
    bench.pass(10_000);
    assert.deepEqual(bench.act({ type: 'skip' }), ['skip']);
    assert.deepEqual(bench.act({ type: 'pause' }), ['pause', 'pause']);
    if (isDone) {
      bench.carry();
      bench.carry();
    }
    assert.deepEqual(bench.off(), ['play T2', 'pause']);
    bench.pass(20_000);
    assert.deepEqual(bench.on(), ['syncDeck']);
    assert.deepEqual(bench.answer(), []);
    assert.equal(bench.onAir, 'T2 paused since 10000');
    assert.deepEqual(bench.log, ['T1 at 0 for 10000 skipped']);
  });

  test(`the link is lost with a song added that ${what}, and it is the only one`, () => {
    const bench = new Bench({ queue: [] });
    bench.on();
    bench.pass(10_000);
    bench.act({ type: 'enqueue', track: 4 });
    const command = bench.sent[0];
    if (isDone) bench.carry();
    bench.isBusy = true;
    assert.deepEqual(bench.off(), []);
    bench.pass(50_000);
    assert.deepEqual(bench.ended(), ['play T4']);
    bench.pass(5000);
    // The store sends the command again with its key.
    assert.deepEqual(bench.on(), []);
    if (!isDone) bench.by(1, command);
    bench.isBusy = false;
    assert.deepEqual([...bench.hear(), ...bench.words(bench.deck.answered(command, null, bench.now))], ['syncDeck']);
    bench.answer();
    assert.equal(bench.onAir, 'T4 playing since 60000');
    assert.equal(bench.waiting, '');
    assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended']);
  });
}

test('whether the end of a song has been asked for', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(60_000);
  assert.equal(bench.deck.isEnding, false);
  bench.ended();
  assert.equal(bench.deck.isEnding, true);
  bench.answer();
  assert.equal(bench.deck.isEnding, false);
});

test('the link is lost with commands in flight that the sound has followed: none is repeated', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(10_000);
  bench.act({ type: 'seek', positionMs: 30_000 });
  bench.pass(3000);
  bench.act({ type: 'pause' });
  bench.act({ type: 'resume' });
  assert.deepEqual(bench.off(), []);
  bench.pass(1000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  bench.answer();
  assert.equal(bench.position, 34_000);
});

test('a connection is replaced unseen: what was on its way is done here, and told a little later', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(10_000);
  bench.act({ type: 'skip' });
  bench.act({ type: 'pause' });
  const lose = () => bench.words(bench.deck.answered(bench.sent.shift(), 'outcome_unknown', bench.now));
  assert.deepEqual(lose(), ['play T2', 'pause']);
  assert.deepEqual(lose(), []);
  assert.deepEqual(bench.hear(), []);
  assert.deepEqual(bench.pass(2000), ['syncDeck']);
  // A sync that is lost in this way is made again.
  assert.deepEqual(lose(), []);
  assert.deepEqual(bench.pass(2000), ['syncDeck']);
  bench.answer();
  assert.equal(bench.onAir, 'T2 paused since 10000');
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 skipped']);
});

test('off line across the end of two songs: one sync tells all of it', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(30_000);
  bench.off();
  bench.pass(30_000);
  assert.deepEqual(bench.ended(), ['play T2']);
  bench.pass(10_000);
  bench.act({ type: 'pause' });
  bench.pass(7000);
  bench.act({ type: 'resume' });
  bench.pass(50_000);
  assert.deepEqual(bench.ended(), ['play T3']);
  bench.pass(10_000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T3 playing since 127000');
  assert.equal(bench.position, 10_000);
  assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended', 'T2 at 60000 for 60000 ended']);
  assert.deepEqual(bench.pass(30_000), []);
  assert.deepEqual(bench.hear(), []);
});

test('the answer to a sync is lost: nothing is told or added twice', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(10_000);
  bench.off();
  bench.act({ type: 'skip' });
  bench.act({ type: 'enqueue', track: 5 });
  bench.act({ type: 'enqueue', track: 6, at: 0 });
  bench.pass(10_000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  bench.carry();
  bench.off();
  bench.by(2, { type: 'enqueue', track: 4 });
  bench.pass(10_000);
  bench.act({ type: 'skip' });
  bench.pass(5000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T6 playing since 30000');
  assert.equal(bench.waiting, 'T3 T5 T4');
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 skipped', 'T2 at 10000 for 20000 skipped']);
});

test('the answer to a sync is lost that told of songs whose entries others had removed', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.by(2, { type: 'dequeue', entry: 2 });
  bench.by(2, { type: 'dequeue', entry: 3 });
  bench.pass(10_000);
  bench.act({ type: 'skip' });
  bench.pass(10_000);
  bench.act({ type: 'skip' });
  bench.pass(10_000);
  bench.on();
  bench.carry();
  bench.off();
  bench.act({ type: 'pause' });
  bench.on();
  bench.answer();
  assert.equal(bench.onAir, 'T3 paused since 20000');
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 skipped', 'T2 at 10000 for 10000 skipped']);
});

test('the answer to a sync is lost, and others end the song that it told of', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.by(2, { type: 'dequeue', entry: 2 });
  bench.act({ type: 'skip' });
  bench.pass(5000);
  bench.on();
  bench.carry();
  bench.off();
  bench.by(2, { type: 'skip' });
  bench.pass(5000);
  assert.deepEqual(bench.on(), ['play T3 at 5000']);
  assert.deepEqual(bench.log, ['T1 at 0 for 0 skipped', 'T2 at 0 for 5000 skipped']);
});

test('a song that is added and removed here while the room is told of it does not come back', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.act({ type: 'enqueue', track: 5 });
  const { entry } = bench.deck.queue.at(-1);
  bench.on();
  bench.act({ type: 'dequeue', entry });
  assert.deepEqual(bench.answer(), ['syncDeck']);
  bench.answer();
  assert.equal(bench.waiting, 'T2 T3');
});

test('times are told as past by the error of the clock, and the position is that of the told time', () => {
  const bench = new Bench();
  bench.on();
  bench.errorMs = 300;
  bench.pass(10_000);
  bench.off();
  bench.act({ type: 'skip' });
  bench.pass(5000);
  bench.on();
  const { atMs, positionMs, playedMs } = bench.sent[0].playback;
  assert.deepEqual({ atMs, positionMs, playedMs }, { atMs: START + 14_700, positionMs: 4700, playedMs: 4700 });
  bench.answer();
  assert.equal(bench.position, 5000);
});

test('the page is loaded again off line: the music goes on, and the time away was not heard', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(10_000);
  bench.off();
  bench.act({ type: 'skip' });
  bench.act({ type: 'enqueue', track: 5 });
  bench.pass(8000);
  assert.deepEqual(bench.reload(3000), ['play T2 at 8000']);
  bench.act({ type: 'enqueue', track: 6 });
  bench.pass(4000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T2 playing since 10000');
  assert.equal(bench.position, 12_000);
  assert.equal(bench.waiting, 'T3 T5 T6');
  bench.pass(48_000);
  bench.ended();
  bench.answer();
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 skipped', 'T2 at 10000 for 60000 ended']);
});

test('the page is loaded again on line: the room is told where the song is', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(10_000);
  assert.deepEqual(bench.reload(3000), ['play T1 at 10000']);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.position, 10_000);
  // A song that stands paused needs no word.
  bench.act({ type: 'pause' });
  bench.answer();
  assert.deepEqual(bench.reload(3000), ['play T1 at 10000']);
  assert.deepEqual(bench.on(), []);
  assert.equal(bench.onAir, 'T1 paused since 0');
});

test('the page comes back to a room that has done something else meanwhile: the room wins', () => {
  for (const other of [{ type: 'pause' }, { type: 'skip' }]) {
    const bench = new Bench();
    bench.on();
    bench.pass(10_000);
    bench.off();
    bench.now += 1000;
    const since = bench.now;
    bench.now += 3000;
    bench.by(1, other);
    const saved = JSON.parse(JSON.stringify(bench.deck.toSaved()));
    bench.now += 3000;
    bench.deck = bench.machine(saved);
    bench.deck.room(bench.room, bench.now);
    bench.words(bench.deck.resume(bench.now, since));
    assert.ok(!bench.on().includes('syncDeck'));
    assert.equal(bench.onAir, other.type === 'pause' ? 'T1 paused since 0' : 'T2 playing since 14000');
  }
});

test('the page is loaded again with something that the room has not been told: that holds', () => {
  for (const isOff of [true, false]) {
    const bench = new Bench();
    bench.on();
    bench.pass(10_000);
    if (isOff) bench.off();
    bench.act({ type: 'enqueue', track: 5 });
    bench.pass(500);
    bench.reload(3000, () => bench.by(1, { type: 'pause' }));
    assert.deepEqual(bench.on(), ['syncDeck']);
    bench.answer();
    assert.equal(bench.onAir, 'T1 playing since 0');
    assert.equal(bench.waiting, 'T2 T3 T5');
  }
});

test('the page is loaded again while the room is asked for the next song', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(60_000);
  bench.ended();
  assert.deepEqual(bench.reload(2000), ['play T2']);
  bench.pass(1000);
  bench.on();
  bench.answer();
  assert.equal(bench.onAir, 'T2 playing since 62000');
  assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended']);
});

test('a missing file waits for the DJ, and is skipped with a word in time', () => {
  const bench = new Bench();
  bench.missing.add(2);
  bench.on();
  bench.pass(60_000);
  bench.ended();
  assert.deepEqual(bench.answer(), ['T2 is missing']);
  assert.equal(bench.deck.dueAtMs, bench.now + 20_000);
  assert.deepEqual(bench.pass(19_999), []);
  assert.deepEqual(bench.pass(1), ['finish']);
  assert.deepEqual(bench.sent[0], { type: 'finish', entry: 2, missing: true });
  assert.deepEqual(bench.answer(), ['play T3']);
  assert.equal(bench.model.events.find(({ type, entry }) => type === 'entryFinished' && entry === 2).missing, true);
});

test('a missing file that is found in time is played from its beginning', () => {
  const bench = new Bench();
  bench.missing.add(2);
  bench.on();
  bench.pass(60_000);
  bench.ended();
  bench.answer();
  bench.pass(8000);
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), []);
  bench.missing.clear();
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), ['play T2']);
  assert.equal(bench.deck.dueAtMs, Infinity);
});

for (const queueMode of ['votes', 'fair']) {
  test(`a missing file in a room that orders by ${queueMode} is no silence`, () => {
    const bench = new Bench({ queue: [], settings: { queueMode } });
    for (const track of [2, 3, 4]) bench.by(3, { type: 'vote', track });
    bench.missing.add(2).add(3);
    bench.on();
    bench.pass(60_000);
    bench.ended();
    assert.deepEqual(bench.answer(), ['T2 is missing', 'finish']);
    assert.deepEqual(bench.answer(), ['T3 is missing']);
    assert.deepEqual(bench.pass(1000), ['finish'], 'a library that is away does not empty the room at once');
    assert.deepEqual(bench.answer(), ['play T4']);
  });
}

test('a file that is away is tried again at each change of the library, and does not wait longer for that', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(4000);
  assert.deepEqual(bench.words(bench.deck.gone(bench.now)), ['T1 is missing']);
  const due = bench.deck.dueAtMs;
  bench.pass(5000);
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), ['play T1']);
  bench.deck.gone(bench.now);
  assert.equal(bench.deck.dueAtMs, due);
  bench.pass(14_999);
  bench.deck.found(bench.now);
  bench.now += 5;
  assert.deepEqual(bench.words(bench.deck.gone(bench.now)), ['T1 is missing', 'finish']);
});

test('a file that cannot be played is not tried again at each change of the library', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(4000);
  assert.deepEqual(bench.words(bench.deck.gone(bench.now, true)), ['T1 is missing']);
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), []);
  assert.deepEqual(bench.words(bench.deck.found(bench.now, true)), ['play T1'], 'another file was picked');
  bench.deck.sounds();
  // Once it has played, a file of the next song that is not here is waited for again.
  bench.missing.add(2);
  bench.ended();
  bench.answer();
  bench.missing.clear();
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), ['play T2']);
});

test('a room that has stopped begins with what can be played', () => {
  const bench = new Bench({ queue: [], settings: { queueMode: 'votes' } });
  bench.on();
  assert.equal(bench.deck.opening(new Set()), undefined, 'it plays');
  bench.pass(60_000);
  bench.ended();
  bench.answer();
  assert.equal(bench.onAir, 'stopped');
  assert.equal(bench.deck.opening(new Set()), undefined, 'nobody has asked for anything');
  for (const track of [2, 3]) bench.by(3, { type: 'vote', track });
  bench.by(2, { type: 'vote', track: 2 });
  bench.hear();
  assert.deepEqual(bench.deck.opening(new Set()), { track: 2 });
  bench.missing.add(2);
  assert.deepEqual(bench.deck.opening(new Set()), { track: 3 }, 'the most wanted one is not here');
  bench.missing.add(3);
  assert.equal(bench.deck.opening(new Set()), undefined);
  // What waits goes first, and what is not here waits on.
  for (const track of [2, 4]) bench.by(1, { type: 'enqueue', track });
  bench.hear();
  assert.deepEqual([bench.deck.opening(new Set()).track, bench.deck.opening(new Set()).entry], [4, bench.room.queue[1].entry]);
  bench.off();
  assert.equal(bench.deck.opening(new Set()), undefined);
});

test('where DJs choose, a room begins with what waits, and only where it was asked for', () => {
  const bench = new Bench({ queue: [] });
  bench.on();
  bench.pass(60_000);
  bench.ended();
  bench.answer();
  bench.by(3, { type: 'vote', track: 2 });
  bench.hear();
  assert.equal(bench.deck.opening(new Set(), {}), undefined, 'no request begins by itself');
  for (const track of [2, 4]) bench.by(1, { type: 'enqueue', track });
  bench.hear();
  assert.equal(bench.deck.opening(new Set()), undefined);
  assert.equal(bench.deck.opening(new Set(), {})?.track, 2);
  bench.missing.add(2);
  assert.equal(bench.deck.opening(new Set(), {})?.track, 4);
});

test('a command for a song that is not on air any more changes nothing, here and off line', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(60_000);
  bench.ended();
  // The room has moved on, and the page does not know it yet when somebody taps.
  bench.act({ type: 'skip', entry: 1 });
  assert.deepEqual(bench.answer(), ['play T2']);
  const stale = [{ type: 'skip', entry: 1 }, { type: 'seek', positionMs: 5000, entry: 1 }, { type: 'pause', entry: 1 }, { type: 'resume', entry: 1 }];
  for (const command of stale) assert.deepEqual(bench.act(command), [], command.type);
  assert.deepEqual(bench.act({ type: 'skip', entry: 2 }), ['skip']);
  assert.deepEqual(bench.answer(), ['play T3']);
  bench.off();
  for (const command of stale) assert.deepEqual(bench.act(command), [], command.type);
  assert.equal(bench.deck.leading, false);
  assert.deepEqual(bench.act({ type: 'pause', entry: 3 }), ['pause']);
});

test('a skip whose answer is lost is done once: the room had moved on', () => {
  const bench = new Bench({ queue: [2, 3] });
  bench.on();
  bench.pass(5000);
  bench.act({ type: 'skip', entry: 1 });
  bench.carry();
  // The events are here, the answer is not.
  assert.deepEqual(bench.hear(), ['play T2']);
  assert.deepEqual(bench.off(), []);
  assert.equal(bench.deck.song.track, 2);
  bench.on();
  while (bench.sent.length > 0) bench.answer();
  assert.equal(bench.model.room.playback.track, 2);
});

test('a song that comes to its end while the next one is opened ends nothing more', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(59_900);
  bench.by(2, { type: 'skip', entry: 1 });
  assert.deepEqual(bench.hear(), ['play T2']);
  // Its file takes a moment: the song before is heard until then, to its end.
  bench.now += 100;
  assert.deepEqual(bench.ended(), []);
  bench.deck.sounds();
  assert.deepEqual(bench.ended(), ['finish']);
  // The same off line.
  assert.deepEqual(bench.off(), ['play T3']);
  assert.deepEqual(bench.ended(), []);
});

test('two DJs who press Next at one moment skip one song', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  bench.act({ type: 'skip', entry: 1 });
  bench.by(2, { type: 'skip', entry: 1 });
  bench.answer();
  assert.equal(bench.onAir, 'T2 playing since 5000');
  assert.deepEqual(bench.log, ['T1 at 0 for 5000 skipped']);
});

test('until the room knows what is heard here, a tap on what the page shows is for what is heard', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.pass(60_000);
  bench.ended();
  bench.isBusy = true;
  bench.on();
  assert.deepEqual([bench.deck.song.track, bench.room.playback.track, bench.deck.leading], [2, 1, true]);
  assert.deepEqual(bench.act({ type: 'pause', entry: bench.room.playback.entry }), ['pause']);
});

for (const queueMode of ['votes', 'fair', 'dj']) {
  test(`a deck without any file waits, paused, in a room that orders by ${queueMode}: nothing is skipped, no vote is spent`, () => {
    const bench = new Bench({ queue: queueMode === 'dj' ? [2, 3] : [], settings: { queueMode } });
    for (const track of [4, 5]) bench.by(3, { type: 'vote', track });
    bench.on();
    bench.pass(20_000);
    for (let track = 1; track <= 6; track++) bench.missing.add(track);
    // The page is loaded again in a browser that keeps no files.
    bench.reload(1500);
    bench.on();
    while (bench.sent.length > 0) bench.answer();
    bench.pass(600_000);
    assert.deepEqual(bench.sent, []);
    assert.equal(bench.onAir, 'T1 paused since 0');
    assert.deepEqual([bench.log, [4, 5].map((track) => bench.model.room.tracks.get(track).votes)], [[], [1, 1]]);
    assert.equal(bench.deck.isWaiting, true);
    // Another DJ who presses Play hears nothing of it.
    bench.by(2, { type: 'resume' });
    bench.hear();
    bench.answer();
    assert.equal(bench.onAir, 'T1 paused since 0');
    assert.deepEqual(bench.act({ type: 'resume', entry: 1 }), []);
    // The files are picked again.
    bench.missing.clear();
    const steps = bench.words(bench.deck.found(bench.now));
    if (queueMode === 'dj') {
      assert.deepEqual(steps, ['play T1 at 20000']);
      assert.deepEqual(bench.act({ type: 'resume', entry: 1 }), ['resume', 'resume'], 'a person decides');
    } else {
      assert.deepEqual(steps, ['resume', 'play T1 at 20000']);
    }
    bench.answer();
    bench.pass(40_000);
    bench.ended();
    bench.answer();
    assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended']);
  });
}

test('files that were picked for a deck that waits make the music go on, also where DJs choose', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(20_000);
  for (let track = 1; track <= 6; track++) bench.missing.add(track);
  bench.deck.gone(bench.now);
  bench.missing.clear();
  assert.deepEqual(bench.words(bench.deck.found(bench.now, true)), ['resume', 'play T1 at 20000']);
});

test('a deck that waits goes on with others where the song on air does not come back', () => {
  const bench = new Bench({ settings: { queueMode: 'votes' } });
  bench.on();
  bench.pass(20_000);
  for (let track = 1; track <= 6; track++) bench.missing.add(track);
  bench.words(bench.deck.gone(bench.now));
  bench.answer();
  for (const track of [2, 3]) bench.missing.delete(track);
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), []);
  assert.deepEqual(bench.pass(19_999), [], 'files come one after the other');
  assert.deepEqual(bench.pass(1), ['finish']);
  assert.deepEqual(bench.answer(), ['play T2']);
});

test('another DJ’s skip while the page was away holds, also where the files are gone', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(20_000);
  for (let track = 1; track <= 6; track++) bench.missing.add(track);
  bench.reload(3000);
  bench.now += 1000;
  bench.by(2, { type: 'skip', entry: 1 });
  bench.on();
  while (bench.sent.length > 0) bench.answer();
  assert.equal(bench.model.room.playback.track, 2);
  assert.equal(bench.onAir, 'T2 paused since 24000');
});

test('three songs in turn that cannot be opened are a drive that is gone: the deck waits, and tries again when it is told', () => {
  const bench = new Bench({ queue: [2, 3, 4, 5], settings: { queueMode: 'votes' } });
  bench.on();
  bench.pass(20_000);
  for (const track of [1, 2]) {
    assert.equal(bench.deck.song.track, track);
    bench.words(bench.deck.gone(bench.now));
    if (bench.sent.length === 0) bench.pass(1000, false);
    bench.answer();
  }
  assert.deepEqual(bench.words(bench.deck.gone(bench.now)), ['T3 is missing', 'pause', 'pause']);
  bench.answer();
  bench.pass(600_000);
  assert.equal(bench.onAir, `T3 paused since ${bench.model.room.playback.startedAt - START}`);
  assert.deepEqual(bench.words(bench.deck.found(bench.now)), [], 'any change of the library is no reason');
  assert.deepEqual(bench.act({ type: 'resume', entry: 3 }).slice(-1), ['play T3']);
  bench.answer();
  assert.equal(bench.model.room.playback.status, 'playing');
});

test('a song that is not here waits, its votes stay, and the deck opens the one that comes', () => {
  const bench = new Bench({ queue: [2, 3], settings: { queueMode: 'votes' } });
  bench.by(3, { type: 'vote', track: 4 });
  bench.missing.add(2).add(4);
  bench.by(1, { type: 'setMissing', tracks: [2, 4] });
  bench.on();
  assert.equal(bench.deck.next, 3);
  bench.pass(60_000);
  bench.ended();
  assert.deepEqual(bench.answer(), ['play T3']);
  bench.pass(60_000);
  bench.ended();
  assert.deepEqual(bench.answer(), ['stop']);
  assert.deepEqual([bench.waiting, bench.model.room.tracks.get(4).votes], ['T2', 1]);
});

test('off line, what is not here waits on behind what is, and a person cannot put it on air', () => {
  const bench = new Bench({ queue: [2, 3, 4] });
  bench.on();
  bench.off();
  bench.missing.add(2).add(3);
  bench.pass(60_000);
  assert.deepEqual(bench.ended(), ['play T4']);
  assert.deepEqual(bench.act({ type: 'play', entry: 2 }), []);
  bench.on();
  bench.answer();
  assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended']);
  assert.equal(bench.onAir, 'T4 playing since 60000');
  assert.equal(bench.waiting, 'T2 T3');
});

test('a file that fails while it plays: what was heard of it counts', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.pass(4000);
  assert.deepEqual(bench.words(bench.deck.gone(bench.now)), ['T1 is missing']);
  bench.pass(20_000);
  bench.on();
  bench.answer();
  assert.deepEqual(bench.log, ['T1 at 0 for 4000 skipped']);
});

test('more songs off line than one sync takes are told in order', () => {
  const songs = 430;
  const bench = new Bench({ queue: [] });
  bench.on();
  bench.off();
  const heard = [];
  for (let i = 0; i < songs; i++) {
    bench.act({ type: 'enqueue', track: 1 + (i % 5) });
    heard.push(`T${i === 0 ? 1 : 1 + ((i - 1) % 5)} at ${i * 60_000} for 60000 ended`);
    bench.pass(60_000);
    bench.ended();
  }
  bench.act({ type: 'enqueue', track: 6 });
  assert.deepEqual(bench.on(), ['syncDeck']);
  const sizes = [];
  while (bench.sent.length > 0) {
    sizes.push(bench.sent[0].played.length);
    bench.answer();
  }
  assert.deepEqual(sizes, [199, 199, 32]);
  const finished = bench.model.events.filter(({ type }) => type === 'entryFinished');
  assert.deepEqual(finished.map(({ track, startedAt, playedMs, reason }) => `T${track} at ${startedAt - START} for ${playedMs} ${reason}`), heard);
  assert.equal(bench.waiting, 'T6');
  assert.equal(bench.onAir, `T${1 + ((songs - 1) % 5)} playing since ${songs * 60_000}`);
  bench.model.check();
});

test('entries that wait in the room keep their numbers in a sync of several parts', () => {
  const queue = Array.from({ length: 300 }, (_, i) => 1 + (i % 5));
  const bench = new Bench({ queue });
  bench.on();
  bench.off();
  for (let i = 0; i < 250; i++) {
    bench.pass(60_000);
    bench.ended();
  }
  bench.on();
  while (bench.sent.length > 0) bench.answer();
  const started = bench.model.events.filter(({ type }) => type === 'playbackStarted').map(({ entry }) => entry);
  assert.deepEqual(started.slice(0, 2), [1, 2]);
  assert.deepEqual([...new Set(started)], Array.from({ length: 251 }, (_, i) => 1 + i));
  assert.equal(bench.model.room.queue.length, 50);
  assert.equal(bench.model.events.some(({ type }) => type === 'entryRemoved'), false);
});

test('what others change in the queue meanwhile stays', () => {
  const bench = new Bench({ queue: [2, 3, 4], tracks: 9 });
  bench.on();
  bench.off();
  bench.act({ type: 'enqueue', track: 5, at: 1 });
  bench.act({ type: 'dequeue', entry: 4 });
  bench.act({ type: 'move', entry: 3, to: 0 });
  bench.by(2, { type: 'enqueue', track: 6, at: 0 });
  bench.by(2, { type: 'dequeue', entry: 2 });
  bench.by(2, { type: 'move', entry: 3, to: 2 });
  bench.by(2, { type: 'enqueue', track: 7 });
  bench.by(2, { type: 'removeTracks', tracks: [9] });
  bench.by(3, { type: 'vote', track: 8 });
  bench.pass(5000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.waiting, 'T3 T5 T6 T7');
  assert.equal(bench.model.room.requests.length, 1);
});

test('what others add while the sync is on its way stays', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.act({ type: 'skip' });
  bench.on();
  bench.by(2, { type: 'enqueue', track: 4 });
  bench.hear();
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.waiting, 'T3 T4');
});

test('others end the song for the room meanwhile: the deck plays what the room plays, and keeps what was added here', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  bench.off();
  bench.act({ type: 'enqueue', track: 5 });
  bench.act({ type: 'dequeue', entry: 3 });
  bench.pass(5000);
  bench.by(2, { type: 'skip' });
  bench.now += 1000;
  assert.deepEqual(bench.on(), ['play T2', 'dequeue', 'enqueue']);
  bench.answer();
  bench.answer();
  assert.equal(bench.onAir, 'T2 playing since 10000');
  assert.equal(bench.waiting, 'T5');
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 skipped']);
});

test('others put a song on air that nobody has heard: what is heard here counts, and that song waits again', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  bench.off();
  bench.act({ type: 'skip' });
  bench.pass(5000);
  bench.by(2, { type: 'play', entry: 3 });
  bench.pass(5000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T2 playing since 10000');
  assert.equal(bench.waiting, 'T3');
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 replaced', 'T3 at 10000 for 0 skipped']);
});

test('a song that the room chose, unheard, and that the deck chose later by itself does not wait again', () => {
  const bench = new Bench({ queue: [], settings: { queueMode: 'fair' } });
  for (const [member, track] of [[3, 4], [2, 5], [3, 5]]) bench.by(member, { type: 'vote', track });
  bench.on();
  bench.pass(60_000);
  bench.ended();
  // The room gives T4 its turn, and nobody learns it.
  bench.carry();
  assert.deepEqual(bench.off(), ['play T5']);
  bench.pass(60_000);
  assert.deepEqual(bench.ended(), ['play T4']);
  bench.pass(10_000);
  assert.deepEqual(bench.on(), ['syncDeck']);
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T4 playing since 120000');
  assert.equal(bench.waiting, '');
  assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended', 'T4 at 60000 for 0 skipped', 'T5 at 60000 for 60000 ended']);
});

test('others put a song on air before it is heard here, after another one', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.pass(10_000);
  bench.by(2, { type: 'play', entry: 3 });
  bench.pass(2000);
  bench.act({ type: 'skip' });
  bench.pass(8000);
  bench.act({ type: 'skip' });
  bench.pass(4000);
  bench.on();
  bench.answer();
  assert.equal(bench.onAir, 'T3 playing since 20000');
  assert.equal(bench.waiting, '');
  assert.deepEqual(bench.log, ['T1 at 0 for 10000 replaced', 'T3 at 10000 for 0 skipped', 'T2 at 12000 for 8000 skipped']);
});

test('others put a song on air that was removed here: it does not come back', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.act({ type: 'dequeue', entry: 2 });
  bench.act({ type: 'skip' });
  bench.by(2, { type: 'skip' });
  bench.pass(5000);
  bench.on();
  bench.answer();
  assert.equal(bench.onAir, 'T3 playing since 0');
  assert.equal(bench.waiting, '');
});

test('others remove the track that plays here: the next song follows', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.act({ type: 'skip' });
  bench.by(2, { type: 'removeTracks', tracks: [2] });
  bench.pass(5000);
  assert.deepEqual(bench.on(), ['play T3', 'syncDeck']);
  bench.answer();
  assert.equal(bench.onAir, 'T3 playing since 5000');
});

test('a deck that has run out of songs off line plays what others have added meanwhile', () => {
  const bench = new Bench({ queue: [] });
  bench.on();
  bench.off();
  bench.pass(60_000);
  assert.deepEqual(bench.ended(), ['stop']);
  bench.by(2, { type: 'enqueue', track: 4 });
  bench.pass(30_000);
  assert.deepEqual(bench.on(), ['play T4', 'syncDeck']);
  bench.answer();
  assert.equal(bench.onAir, 'T4 playing since 90000');
  assert.deepEqual(bench.log, ['T1 at 0 for 60000 ended']);
});

test('off line the room’s rule holds: most votes first, none within its rest, none twice', () => {
  const bench = new Bench({ queue: [], settings: { queueMode: 'votes', repeatAfterPlays: 1 } });
  for (const [member, track] of [[2, 3], [3, 3], [3, 4], [2, 2]]) bench.by(member, { type: 'vote', track });
  bench.on();
  bench.off();
  const heard = [];
  for (let i = 0; i < 4; i++) {
    bench.pass(60_000);
    heard.push(...bench.ended());
  }
  assert.deepEqual(heard, ['play T3', 'play T4', 'play T2', 'stop']);
});

test('without the claim nothing is told: no command, no sync', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  bench.act({ type: 'seek', positionMs: 20_000 });
  // The room is heard, but somebody else is the deck.
  bench.off();
  bench.by(2, { type: 'play', entry: 3 });
  assert.deepEqual(bench.hear(), []);
  assert.deepEqual(bench.pass(60_000), []);
  assert.deepEqual(bench.ended(), ['play T2']);
  assert.deepEqual(bench.hear(), []);
  assert.deepEqual(bench.words(bench.deck.answered({ type: 'syncDeck' }, null, bench.now)), []);
});

test('a sync waits for commands that are on their way, and is one', () => {
  const bench = new Bench();
  bench.on();
  bench.off();
  bench.act({ type: 'skip' });
  bench.isBusy = true;
  assert.deepEqual(bench.on(), []);
  bench.by(3, { type: 'vote', track: 5 });
  assert.deepEqual(bench.hear(), []);
  bench.isBusy = false;
  assert.deepEqual(bench.hear(), ['syncDeck']);
  bench.by(3, { type: 'vote', track: 6 });
  assert.deepEqual(bench.hear(), []);
  assert.deepEqual(bench.act({ type: 'pause' }), ['pause'], 'what is done while it is on its way');
  assert.deepEqual(bench.answer(), ['syncDeck'], 'is told after it');
  assert.deepEqual(bench.answer(), []);
  assert.equal(bench.onAir, 'T2 paused since 0');
});

test('a sync that is refused is made again, without what was heard, and then the room wins; one that cannot be taken waits', () => {
  const bench = new Bench();
  bench.on();
  bench.pass(5000);
  bench.off();
  bench.act({ type: 'skip' });
  bench.act({ type: 'enqueue', track: 5 });
  assert.deepEqual(bench.on(), ['syncDeck']);
  const refuse = (code) => bench.words(bench.deck.answered(bench.sent.shift(), code, bench.now));
  for (let i = 0; i < 10; i++) {
    assert.deepEqual(refuse('unavailable'), []);
    assert.deepEqual(bench.hear(), []);
    assert.deepEqual(bench.pass(1999), []);
    assert.deepEqual(bench.pass(1), ['syncDeck']);
  }
  assert.ok(bench.sent[0].played);
  assert.deepEqual(refuse('bad_request'), ['syncDeck']);
  assert.deepEqual(refuse('bad_request'), ['syncDeck']);
  assert.equal(bench.sent[0].played, undefined);
  assert.deepEqual(refuse('bad_request'), ['syncDeck']);
  assert.deepEqual(refuse('bad_request'), ['play T1 at 25000', 'enqueue']);
  assert.equal(bench.deck.leading, false);
});

test('a sync that is refused for what others did meanwhile still tells what was heard', () => {
  const bench = new Bench({ queue: [2, 3, 4, 5] });
  bench.on();
  bench.off();
  bench.act({ type: 'skip' });
  bench.pass(5000);
  bench.on();
  for (const entry of [3, 4, 5]) {
    bench.by(2, { type: 'dequeue', entry });
    assert.ok(bench.answer().includes('syncDeck'));
  }
  bench.answer();
  assert.equal(bench.onAir, 'T2 playing since 0');
  assert.deepEqual(bench.log, ['T1 at 0 for 0 skipped']);
});

test(`${EVENINGS} random evenings`, (t) => {
  const { seed } = seeded(t);
  for (let i = seed; i < seed + EVENINGS; i++) assert.deepEqual(evening(i), [], `evening ${i}`);
});
