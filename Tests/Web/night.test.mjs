// A night of forty songs in simulated time: fades, lost links, reloads, a browser that keeps no files, two DJs who press at
// one moment, phones that sleep. Every song is heard once and whole, and no vote is spent on silence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Clock, Device } from './deck-sim.mjs';
import { Refused, RoomModel } from './room-model.mjs';
import { randomly, seeded } from './samples.mjs';

/** Nights of one run; one that fails is run again with its number as BACKLINE_SEED. */
const NIGHTS = Number(process.env.BACKLINE_NIGHTS) || 30;
const SONGS = 40;
/** What is heard of a song may differ from its length by this, beside its fade. */
const NEAR_MS = 1500;
const GUESTS = [3, 4, 5, 6, 7, 8, 9, 10];
/** Songs that two DJs skip at one moment. */
const SKIPS = 3;

/**
 * Runs one night.
 *
 * @param {number} seed
 * @returns {string[]} what went wrong
 */
function night(seed) {
  const random = randomly(seed), clock = new Clock(), problems = [];
  const queueMode = ['votes', 'fair'][random(2)], fadeMs = [0, 4000][random(2)];
  const model = new RoomModel({
    now: () => clock.now, online: 10, settings: { queueMode },
    members: [{ member: 1, role: 'owner' }, { member: 2, role: 'dj' }, ...GUESTS.map((member) => ({ member, role: 'guest' }))],
  });
  const lengths = new Map();
  model.send(1, { type: 'addTracks', tracks: Array.from({ length: SONGS }, (_, i) => {
    lengths.set(i + 1, 20_000 + random(60_000));
    return { source: 'local', sourceId: `${i}`, title: `T${i + 1}`, durationMs: lengths.get(i + 1) };
  }) });
  const missing = new Set();
  const device = new Device({ clock, model, random, lengths, missing, fadeMs, delay: () => random(120) });
  /** A command of somebody else; what the room refuses is nobody's fault here. */
  const by = (member, command) => {
    try {
      model.send(member, command);
      model.onEvents?.();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  };
  // What the room put on air while the deck was off line, and nobody heard, waits again.
  const played = () => model.events.filter(({ type, playedMs }) => type === 'entryFinished' && playedMs > 0);
  /** Somebody wants a song that nobody has heard yet. */
  const vote = () => {
    const track = 1 + random(SONGS);
    if (device.sound.heard.every((one) => one.track !== track)) by(GUESTS[random(GUESTS.length)], { type: 'vote', track });
  };
  const onAir = () => (model.room.playback.status === 'stopped' ? null : model.room.playback);
  const shown = () => device.room.playback.entry;
  let skips = 0;
  /** The deck's DJ presses, and the other one at the same moment: both have seen the same song. */
  const both = (type, entry = shown()) => {
    device.act({ type, entry });
    by(2, { type, entry });
  };
  const events = [
    vote, vote, vote, vote,
    () => {
      // Phones sleep, and wake; not those of the two below, whose votes would count.
      for (const guest of GUESTS.slice(2)) model.presence(guest, random(3) === 0);
      model.onEvents?.();
    },
    () => {
      // Two want another song, and put their phones away; those who stay do not.
      const entry = onAir()?.entry;
      for (const guest of GUESTS.toReversed()) model.presence(guest, true);
      for (const guest of GUESTS.slice(0, 2)) by(guest, { type: 'voteSkip', entry });
      for (const guest of GUESTS.slice(0, 6)) model.presence(guest, false);
      model.onEvents?.();
    },
    () => {
      if (!device.live) return;
      both('pause');
      clock.run(random(3000));
      both('resume');
    },
    () => {
      const entry = shown();
      if (skips >= SKIPS || !device.live || device.deck.leading || device.deck.isEnding || !onAir() || model.room.requests.filter((one) => one.votes > 0).length < 3) return;
      // Nobody skips what is not to be heard yet.
      if (device.deck.song?.entry !== entry || onAir().entry !== entry || device.sound.track !== onAir().track) return;
      skips++;
      both('skip', entry);
    },
    () => {
      // Late: the song that they saw has ended.
      const last = played().at(-1)?.entry;
      if (last !== undefined && device.live) for (const type of ['skip', 'pause', 'seek']) by(2, { type, entry: last, ...type === 'seek' && { positionMs: 0 } });
    },
    () => {
      if (!device.live) return;
      device.cut(random(3000));
      clock.run(3000 + random(30_000));
      device.connect();
    },
    () => {
      if (!device.live || device.deck.leading || device.isBusy || !device.deck.song) return;
      // Half of the browsers keep no files: the person is asked for them, and takes a while.
      const isBare = random(2) === 0;
      if (isBare) for (let track = 1; track <= SONGS; track++) missing.add(track);
      device.reload(500 + random(2000));
      clock.run(3000);
      device.connect();
      if (!isBare) return;
      for (let i = random(6); i >= 0; i--) {
        vote();
        clock.run(5000);
      }
      if (onAir()?.status === 'playing') problems.push('the room plays what nobody hears');
      missing.clear();
      device.found(0, true);
    },
  ];
  device.connect();
  clock.run(1000);
  for (let i = 0; i < 12; i++) vote();
  /** The room's own beginning, as the conductor asks for it. */
  const begin = () => {
    const opening = device.isBusy || device.room.seq < model.seq ? undefined : device.deck.opening(new Set());
    if (!opening) return;
    // An entry is played once the page knows of it.
    if (opening.entry === undefined) by(1, { type: 'enqueue', track: opening.track, at: 0 });
    else device.act({ type: 'play', entry: opening.entry });
  };
  for (let i = 0; i < 4000 && played().length < SONGS; i++) {
    events[random(20) === 0 ? 4 + random(events.length - 4) : random(4)]();
    clock.run(random(4000));
    if (!device.isUp && !device.hasLine) device.connect();
    begin();
  }
  clock.run(5000);

  // Nobody's vote for what nobody heard, nothing twice, nothing cut.
  const heard = device.sound.settle();
  for (let track = 1; track <= SONGS; track++) {
    const lines = heard.filter((one) => one.track === track && one.ms > 0), ms = lines.reduce((sum, one) => sum + one.ms, 0);
    const log = played().filter((one) => one.track === track);
    if (log.length !== 1) problems.push(`track ${track} was on air ${log.length} times`);
    else if (log[0].missing) problems.push(`track ${track} was skipped for want of its file`);
    else if (log[0].reason === 'ended' && (ms < lengths.get(track) - fadeMs - NEAR_MS || ms > lengths.get(track) + NEAR_MS)) {
      problems.push(`track ${track} was heard for ${ms} of ${lengths.get(track)}`);
    }
    if (ms === 0 && model.events.some((one) => one.type === 'votesCleared' && one.track === track)) problems.push(`votes for track ${track} were spent on silence`);
  }
  const skipped = played().filter(({ reason }) => reason !== 'ended');
  if (skipped.length !== skips) problems.push(`${skips} songs were skipped by two DJs at once, ${skipped.length} in the log`);
  return problems;
}

test('a night of forty songs: each is heard once and whole, no vote is spent on silence', (t) => {
  const { seed } = seeded(t);
  for (let i = seed; i < seed + NIGHTS; i++) assert.deepEqual(night(i), [], `night ${i}`);
});
