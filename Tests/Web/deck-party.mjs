// Random evenings: a deck whose link comes and goes, a DJ who uses it, others who touch the room, and at the end the
// comparison of what was heard with the room's log.
import { Clock, Device } from './deck-sim.mjs';
import { Refused, RoomModel } from './room-model.mjs';
import { randomly } from './samples.mjs';

/** Heard and told times may differ by this, beside the clock's error and the network's delay. */
const BOUND_MS = 500;
/** A song that the room began by itself counts as the one that the deck began, if both began within this time. */
const SAME_MS = 10_000;
const TRACKS = 40;
/** Tracks that the DJ here and others enqueue, each once, and tracks that are voted for. */
const MINE = 14, OTHERS = 24;

/**
 * Runs one evening.
 *
 * @param {number} seed
 * @param {{log?: boolean}} options
 * @returns {string[]} what went wrong
 */
export function evening(seed, { log = false } = {}) {
  const random = randomly(seed), clock = new Clock();
  const chance = (percent) => random(100) < percent;
  const start = clock.now;
  const problems = [];
  const say = (...what) => { if (log) console.log(`${((clock.now - start) / 1000).toFixed(3)}s`, ...what.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))); };
  const wrong = (text) => { problems.push(text); say('WRONG', text); };

  // 0: nobody else does anything; 1: others vote and change the queue; 2: others also touch the playback.
  const touch = random(3);
  const queueMode = ['dj', 'votes', 'fair'][random(3)];
  const isSlow = chance(25), maxDelay = isSlow ? 900 : 20 + random(130);
  const errorMs = chance(20) ? 50 + random(350) : random(50);
  const offset = random(2 * errorMs + 1) - errorMs;
  const settings = { queueMode, skipRatio: 0.3 + random(7) / 10, repeatAfterPlays: chance(20) ? random(4) : 0 };
  const model = new RoomModel({ now: () => clock.now, settings });
  const lengths = new Map();
  const tracks = Array.from({ length: TRACKS }, (_, i) => {
    lengths.set(i + 1, 4000 + random(22_000));
    return { source: 'local', sourceId: `${i}`, title: `T${i + 1}`, ...(chance(80) ? { durationMs: lengths.get(i + 1) } : {}) };
  });
  model.send(1, { type: 'addTracks', tracks });
  const missing = new Set(), everMissing = new Set();
  if (chance(25)) for (let i = 0; i < 4; i++) everMissing.add(1 + random(TRACKS));
  for (const track of everMissing) missing.add(track);
  const delay = () => (chance(isSlow ? 10 : 0) ? random(maxDelay) : random(Math.min(maxDelay, 150)));
  const fadeMs = chance(30) ? 300 + random(3000) : 0;
  const device = new Device({ clock, model, random, lengths, offset, errorMs, missing, delay, fadeMs });
  const bound = BOUND_MS + errorMs + 2 * maxDelay + (isSlow ? 1000 : 0);
  say({ seed, touch, queueMode, isSlow, maxDelay, errorMs, offset, fadeMs, settings, missing: [...missing] });

  const free = { mine: [], others: [] };
  for (let track = 1; track <= MINE; track++) free.mine.push(track);
  for (let track = MINE + 1; track <= OTHERS; track++) free.others.push(track);
  const enqueued = new Set(), dequeued = new Set(), removed = new Set(), unsure = new Set();
  // Songs that the room may have left, its answer lost, for one that cannot be played here: the deck goes on with them.
  const left = new Set();
  const outages = [], gone = new Set();
  let isActing = false, seeks = 0, starts = 0, touched = false, reloads = 0, ups = 0, acts = 0, syncs = 0, refusals = 0;
  const told = new Set(), begun = new Set();

  device.onStep = (step) => {
    say('  step', step);
    // Its turn has come.
    if (step.do === 'send' && step.command.type === 'seek' && !isActing) seeks++;
    if (step.do === 'play' || step.do === 'resume') starts++;
    if (step.do === 'missing' || step.do === 'play') dequeued.add(step.track ?? step.song.track);
  };
  device.onRefused = (command, error, one) => {
    say('  refused', error.message, command);
    // The DJ is told.
    if (command.type === 'enqueue') unsure.add(command.track);
    if (command.type !== 'syncDeck') return;
    refusals++;
    // What others did while it was on its way is no fault of it.
    if (error.code === 'bad_request' && one.seen === model.seq) wrong(`syncDeck is refused: ${error.message}`);
  };
  let before = null;
  device.onArrival = (command) => { before = { playback: model.room.playback, queue: model.room.queue.slice(), seq: model.seq }; };
  device.onCarriedOut = (command, one) => {
    say('  server did', command.type, model.events.slice(before.seq).map(({ seq, at, ...event }) => event));
    if (command.type !== 'syncDeck') return;
    const events = model.events.slice(before.seq);
    for (const { type, entry } of events) {
      if (type === 'entryFinished') told.add(entry);
      if (type === 'playbackStarted') begun.add(entry);
    }
    for (const event of events) {
      if (event.type !== 'entryRemoved') continue;
      const was = before.queue.find(({ entry }) => entry === event.entry);
      const track = was?.track ?? event.track;
      const stands = dequeued.has(track) || device.sound.heard.some((one) => one.track === track) || events.some((one) => one.type === 'entryEnqueued' && one.track === track);
      if (!stands) wrong(`entry ${event.entry} of track ${track} is removed by syncDeck`);
    }
    // Votes that come while it is on its way start nothing, as with a room that stops on line.
    if (model.room.playback.status === 'stopped' && before.playback.status !== 'stopped' && one.seen === before.seq) {
      const choice = model.choice();
      // The votes for a song that was played off line may be those that chose it.
      const isFit = choice && !missing.has(choice.track) && !command.played?.some((item) => item.track === choice.track || device.sound.heard.some(({ track }) => track === choice.track));
      if (isFit || model.room.queue.some(({ track }) => !missing.has(track))) wrong('silence while songs wait');
    }
  };
  const other = (by, command) => {
    try {
      model.send(by, command);
      say('other', by, command);
      model.onEvents?.();
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return false;
    }
  };
  const act = (command) => {
    say('act', command);
    acts++;
    if (device.isBusy || device.isAway) unsure.add(command.track);
    isActing = true;
    device.act(command);
    isActing = false;
  };
  const enqueue = () => {
    const track = free.mine.pop();
    if (track === undefined || !device.room?.tracks.has(track)) return;
    enqueued.add(track);
    act({ type: 'enqueue', track, ...(chance(40) ? { at: random(device.deck.queue.length + 1) } : {}) });
  };
  device.onBack = () => say('back');
  device.onLive = () => { for (const outage of outages) outage.to = Math.min(outage.to, clock.now); };

  /** A command for the song that the page shows. */
  const shown = (type) => ({ type, entry: device.room?.playback.entry });
  // What may happen.
  const here = [
    () => act(shown('pause')), () => act(shown('resume')), () => act(shown('resume')), () => act(shown('skip')),
    () => act({ ...shown('seek'), positionMs: random(4000) }), enqueue, enqueue, enqueue,
    () => {
      const item = device.deck.queue[random(device.deck.queue.length)];
      if (!item) return;
      if (missing.has(item.track)) left.add(device.deck.song?.track);
      act({ type: 'play', entry: chance(20) && device.deck.song ? device.deck.song.entry : item.entry });
    },
    () => {
      const item = device.deck.queue[random(device.deck.queue.length)];
      if (!item || !chance(50)) return;
      dequeued.add(item.track);
      gone.add(item.track);
      act({ type: 'dequeue', entry: item.entry });
    },
    () => {
      const item = device.deck.queue[random(device.deck.queue.length)];
      if (item) act({ type: 'move', entry: item.entry, to: random(device.deck.queue.length) });
    },
  ];
  const vote = () => other(2 + random(2), { type: chance(80) ? 'vote' : 'unvote', track: OTHERS + 1 + random(TRACKS - OTHERS) });
  const aside = [
    vote, vote, vote, vote,
    () => {
      const track = free.others.pop();
      if (track !== undefined && other(2, { type: 'enqueue', track, ...(chance(40) ? { at: random(model.room.queue.length + 1) } : {}) })) enqueued.add(track);
    },
    () => {
      const item = model.room.queue[random(model.room.queue.length)];
      if (item && chance(50) && other(2, { type: 'dequeue', entry: item.entry })) removed.add(item.track);
    },
    () => {
      const item = model.room.queue[random(model.room.queue.length)];
      if (item) other(2, { type: 'move', entry: item.entry, to: random(model.room.queue.length) });
    },
    () => {
      const track = 1 + random(TRACKS);
      if (chance(30) && other(2, { type: 'removeTracks', tracks: [track] })) {
        removed.add(track);
        // The deck may be playing it, unheard by the room.
        if (!device.live || !device.isUp || device.deck.leading) touched = true;
      }
    },
  ];
  const onAir = [
    () => other(2, { type: 'pause' }), () => other(2, { type: 'resume' }), () => other(2, { type: 'skip' }), () => other(2, { type: 'seek', positionMs: random(4000) }),
    () => other(2, { type: 'finish', entry: model.room.playback.entry ?? 0 }), () => other(2, { type: 'play' }),
    () => { for (const by of [2, 3]) other(by, { type: 'voteSkip', entry: model.room.playback.entry ?? 0 }); },
  ];
  const connect = () => {
    if (device.hasLine || device.isAway) return;
    ups++;
    say('connect');
    device.connect(chance(30) ? random(1500) : 0);
  };
  const network = [
    () => {
      say('cut');
      outages.push({ from: clock.now - bound, to: Infinity, awayMs: 0 });
      device.cut(chance(50) ? 0 : random(4000));
    },
    connect, connect,
    () => {
      if (!chance(30)) return;
      say('swap');
      ups++;
      outages.push({ from: clock.now - bound, to: Infinity, awayMs: 0 });
      device.swap();
    },
    () => {
      if (!chance(30) || device.isAway || !device.room) return;
      reloads++;
      if (device.isBusy) for (const track of enqueued) unsure.add(track);
      const awayMs = 200 + random(5000);
      say('reload');
      const open = outages.filter(({ to }) => to === Infinity).map(({ from }) => from);
      outages.push({ from: Math.min(clock.now - 1000 - bound, ...open), to: Infinity, awayMs });
      device.reload(awayMs);
    },
    () => {
      const [track] = missing;
      if (track && !device.isAway) { say('found', track); device.found(track); }
    },
  ];

  // The beginning: some songs wait, one plays.
  for (let i = random(5); i >= 0; i--) {
    const track = free.mine.pop();
    enqueued.add(track);
    model.send(1, { type: 'enqueue', track });
  }
  for (let i = 0; i < 6; i++) vote();
  model.send(1, { type: 'play' });
  ups++;
  device.connect();
  do clock.run(1000); while (!device.live);

  const steps = 10 + random(50), pace = [400, 1500, 5000][random(3)];
  for (let i = 0; i < steps; i++) {
    const dice = random(100);
    const list = dice < 30 ? network : dice < 60 || touch === 0 ? here : touch === 2 && dice > 85 ? onAir : aside;
    if (list === onAir) touched = true;
    if (!device.isAway || list === aside || list === onAir) list[random(list.length)]();
    clock.run(random(pace));
  }

  // All settles.
  clock.run(6000);
  for (let i = 0; i < 4 && !device.live; i++) {
    connect();
    clock.run(10_000);
  }
  clock.run(5000);
  const sent = device.sends.length;
  const quiet = device.sends.filter(({ command }) => command.type === 'syncDeck').length;
  clock.run(15_000);
  const late = device.sends.slice(sent).filter(({ command }) => command.type !== 'finish' && command.type !== 'seek');
  // Compared where no command is under way.
  for (let i = 0; i < 50 && (device.isBusy || device.deck.leading); i++) clock.run(97);
  clock.run(300);
  for (let i = 0; i < 50 && device.isBusy; i++) clock.run(97);
  if (late.length > 0 && !isSlow) wrong(`commands without a cause: ${late.map(({ command }) => command.type)}`);

  // Deck and room agree.
  const { deck } = device, { room } = model;
  if (!device.live) wrong('the link is not live');
  if (deck.leading) wrong('the deck still leads');
  const { playback } = room;
  if (playback.status === 'stopped') {
    if (deck.song) wrong('the deck plays, the room does not');
    if (device.sound.track) wrong('something is heard, the room is silent');
  } else if (deck.song?.entry !== playback.entry) {
    wrong(`the deck plays ${deck.song?.entry}, the room ${playback.entry}`);
  } else {
    if (deck.song.playing !== (playback.status === 'playing')) wrong(`the room is ${playback.status}, the deck is not`);
    const length = lengths.get(playback.track);
    const position = Math.min(length, playback.positionMs + (playback.status === 'playing' ? clock.now - playback.atMs : 0));
    const heard = device.sound.positionOf(deck.song);
    if (playback.status === 'playing' && deck.skipAtMs === null) {
      if (heard === null) {
        if (position < length - bound && clock.now - playback.atMs > 1500) wrong(`the room is at ${position} of track ${playback.track}, nothing is heard`);
      } else if (Math.abs(heard - position) > bound) wrong(`the room is at ${position}, the sound at ${heard}`);
    }
  }
  const list = (queue) => queue.map(({ entry, track }) => `${entry}:${track}`).join(' ');
  if (list(deck.queue) !== list(room.queue)) wrong(`the deck's queue is ${list(deck.queue)}, the room's ${list(room.queue)}`);
  try {
    model.check();
  } catch (error) {
    wrong(error.message);
  }
  syncs = device.sends.filter(({ command }) => command.type === 'syncDeck').length;
  if (syncs > 3 * (ups + reloads + refusals) + acts + 2 && !isSlow) wrong(`${syncs} syncs for ${ups} links, ${reloads} reloads and ${acts} acts`);

  if (seeks > starts) wrong(`${seeks} corrections of ${starts} starts`);

  // Nothing waits twice, nothing that waited is lost.
  const hearings = device.sound.settle();
  const played = model.events.filter(({ type }) => type === 'entryFinished' || type === 'playbackStarted').map(({ track }) => track);
  const inLog = new Set([...played, ...hearings.map(({ track }) => track)]);
  for (const track of enqueued) {
    const waits = room.queue.filter((one) => one.track === track).length;
    if (waits > 0 && gone.has(track) && !unsure.has(track)) wrong(`track ${track} was removed here and waits`);
    if (waits > 1) wrong(`track ${track} waits ${waits} times`);
    if (waits === 0 && !inLog.has(track) && !dequeued.has(track) && !removed.has(track) && !unsure.has(track)) wrong(`track ${track} is lost`);
  }

  // The log is what was heard.
  const lines = model.events.filter(({ type }) => type === 'entryFinished')
    .filter((event) => !everMissing.has(event.track))
    .map(({ entry, track, startedAt, playedMs, endedAt, at }) => ({ entry, track, startedAt, endedAt: endedAt ?? at, ms: playedMs, isTold: told.has(entry) }));
  if (playback.status !== 'stopped') lines.push({ entry: playback.entry, track: playback.track, startedAt: playback.startedAt, endedAt: clock.now, ms: null, isOnAir: true });
  const write = () => {
    say('heard', hearings.map(({ track, startedAt, endedAt, ms }) => `${track}@${startedAt - start}-${endedAt - start}(${ms})`).join(' '));
    say('log  ', lines.map(({ entry, track, startedAt, endedAt, ms }) => `${entry}:${track}@${startedAt - start}-${endedAt - start}(${ms})`).join(' '));
  };
  if (log) write();
  if (!touched) {
    // An answer that is lost is waited for: the room may have gone on a second before the deck.
    const waits = outages.length > 0 ? 1000 : 0;
    // Short ones may be on one side only.
    const near = (line, one) => {
      if (line.track !== one.track) return false;
      const late = one.startedAt - line.startedAt;
      // What began just before the page was loaded again, or in the room alone, is heard when the deck is back.
      const within = outages.filter(({ from, to }) => from <= line.startedAt && line.startedAt <= to);
      const away = begun.has(line.entry) ? within.reduce((sum, { awayMs }) => sum + awayMs, 0) : Math.max(0, ...within.map(() => SAME_MS));
      if (late < -bound || late > bound + waits + away) return false;
      return line.ms === null || (line.ms - one.ms <= bound && one.ms - line.ms <= bound + waits);
    };
    let place = 0;
    const rest = [];
    for (const line of lines) {
      if (line.ms === 0) continue;
      const found = hearings.findIndex((one, i) => i >= place && near(line, one));
      if (found < 0) {
        if (line.ms > bound) wrong(`the log has ${line.entry}:${line.track} at ${line.startedAt - start} for ${line.ms}, which was not heard so`);
        continue;
      }
      rest.push(...hearings.slice(place, found));
      place = found + 1;
    }
    rest.push(...hearings.slice(place));
    for (const { track, startedAt, ms } of rest) if (ms > bound + waits && ![everMissing, removed, left].some((set) => set.has(track))) wrong(`track ${track} was heard at ${startedAt - start} for ${ms}, which is not in the log`);
  }
  // One hearing is told once.
  const claimed = new Set();
  for (const line of lines.filter(({ isTold, ms }) => isTold && ms > bound)) {
    const overlap = (one) => Math.min(line.endedAt, one.endedAt) - Math.max(line.startedAt, one.startedAt);
    const same = hearings.filter(({ track }) => track === line.track);
    const free = same.filter((other) => !claimed.has(other));
    const fits = free.filter(({ ms }) => ms >= line.ms - bound);
    const one = fits.find((other) => overlap(other) > 0) ?? fits[0] ?? free.find((other) => overlap(other) > 0) ?? free[0];
    // A song that others put on air earlier was heard from there.
    const isJoined = one && one.startedAt > line.startedAt + bound;
    if (!one && same.length > 0) wrong(`track ${line.track} was heard ${same.length} times and told once more`);
    else if (!one || (!isJoined && one.ms < line.ms - bound)) wrong(`the deck told of ${line.entry}:${line.track} for ${line.ms}, which was not heard so`);
    else claimed.add(one);
  }
  return problems;
}
