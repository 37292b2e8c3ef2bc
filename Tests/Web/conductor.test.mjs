// Between the machine and the world: when a stopped room begins, how often the sound is looked at, and what is heard.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conductor } from '../../Sources/WebClient/Pages/deck/conductor.js';
import { Lacking } from '../../Sources/WebClient/Pages/deck/lacking.js';
import { Sound } from '../../Sources/WebClient/Pages/deck/sound.js';
import { Room } from '../../Sources/WebClient/Pages/room/room.js';
import { Refusal } from '../../Sources/WebClient/Pages/store/store.js';
import { Media, Music, expectFade, expectSmooth } from './fake-media.mjs';
import { RoomModel } from './room-model.mjs';
import { seeded } from './samples.mjs';

const TRACKS = Array.from({ length: 4 }, (_, i) => ({ source: 'local', sourceId: `${i}`, title: `T${i + 1}`, durationMs: 60_000 }));

/**
 * A deck of a room that carries commands out at once; `here` are the tracks with files, `refusals` what comes first. `music`
 * has what is heard of the tracks: one, or what is opened the first time, the second and so on.
 */
function conducting(t, { queueMode = 'votes', settings = {}, here = [1, 2, 3, 4], refusals = [], media = null, music = [], found = {}, levelled = false } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  globalThis.localStorage = { setItem() {}, getItem: () => null };
  const model = new RoomModel({ now: () => Date.now(), settings: { queueMode, ...settings } });
  model.send(1, { type: 'addTracks', tracks: TRACKS });
  const sent = [], lengths = [], failures = [], files = new Set(here);
  const store = {
    room: new Room(model.snapshot()), link: { state: 'live' }, clock: { now: () => Date.now(), errorMs: 0 },
    isPending: () => false, goAhead() {},
    async send(command) {
      if (command.type === 'setDuration') lengths.push([command.track, command.durationMs]);
      if (command.type !== 'setMissing') sent.push(command.type);
      const code = command.type === 'setMissing' ? undefined : refusals.shift();
      if (code) throw new Refusal(code);
      const result = model.send(1, JSON.parse(JSON.stringify(command)));
      for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
      return result.result ?? {};
    },
  };
  const device = {
    store, found: {}, now: () => Date.now(), canPlay: (track) => files.has(track), showPicture() {}, stepped() {}, fadeMs: 4000, levelled,
    get lack() { return { isBare: files.size === 0 }; },
    songOf: (track) => (files.has(track) ? { sourceId: `${track}`, ...found[track] } : undefined),
    library: { file: async ({ sourceId }) => (Array.isArray(music[sourceId - 1]) ? music[sourceId - 1].shift() : music[sourceId - 1]), remember: async (track, said) => { found[track] = { ...found[track], ...said }; } },
  };
  // With media, what is heard is the page's own sound.
  const sound = media ? new Sound(device, {
    ended: (lengthMs) => conductor.ended(lengthMs), paused: () => conductor.stopped(), playing: () => conductor.sounds(), stalled: () => conductor.deck.stalled(),
    failed: (error) => conductor.tryAgain(error) || failures.push(error), refused: (wants) => assert.fail(wants),
  }, media.ports)
    : { fades: Infinity, step() {}, prepare() {}, positionOf: (song) => (song ? conductor.deck.position(Date.now()) : null), fadesIn: () => sound.fades, lengthOf: () => Infinity };
  const conductor = new Conductor(device, sound, null);
  const pass = async (ms, step = 100) => {
    for (let left = ms; left > 0; left -= step) {
      t.mock.timers.tick(step);
      for (let i = 0; i < 6; i++) await new Promise(setImmediate);
      media?.look();
    }
  };
  const vote = (...tracks) => {
    for (const track of tracks) model.send(3, { type: 'vote', track });
    for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
    conductor.changed(true);
  };
  conductor.changed(true);
  t.after(() => assert.deepEqual(failures.splice(0), []));
  return { conductor, store, sent, sound, files, pass, vote, model, lengths, failures };
}

test('a stopped room begins with the most wanted song whose file is here', async (t) => {
  const { vote, pass, store, conductor } = conducting(t, { here: [3] });
  vote(2, 3);
  await pass(1500);
  assert.equal(store.room.playback.track, 3);
  conductor.close();
});

test('a stopped room begins when a file comes', async (t) => {
  const { vote, pass, files, store, conductor } = conducting(t, { here: [] });
  vote(2);
  await pass(5000);
  assert.equal(store.room.playback.status, 'stopped');
  files.add(2);
  conductor.found();
  await pass(1500);
  assert.equal(store.room.playback.track, 2);
  conductor.close();
});

/** A deck without files of a room where DJs choose and two songs wait. */
function bare(t, options = {}) {
  const made = conducting(t, { queueMode: 'dj', here: [], ...options }), { model, store, conductor, files } = made;
  const by = (command) => {
    model.send(1, command);
    for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
    conductor.changed(true);
  };
  const pick = (...tracks) => {
    for (const track of tracks) files.add(track);
    conductor.found(true);
    conductor.fulfil();
  };
  for (const track of [2, 3]) by({ type: 'enqueue', track });
  return { ...made, by, pick };
}

test('where DJs choose, files that are picked begin what Play had asked for, once', async (t) => {
  const { by, pick, pass, store, conductor, sent } = bare(t, { refusals: ['conflict'] });
  assert.equal(conductor.promisesMusic, false);
  conductor.wish();
  assert.equal(conductor.promisesMusic, true);
  await pass(5000);
  assert.deepEqual(sent, []);
  pick(2, 3);
  await pass(1500);
  assert.deepEqual(sent, ['play']);
  await pass(5000);
  assert.deepEqual([sent, store.room.playback.track], [['play', 'play'], 3], 'what was refused is passed over');
  for (let left = 2; left > 0; left--) by({ type: 'skip', entry: store.room.playback.entry });
  by({ type: 'enqueue', track: 2 });
  pick(1);
  await pass(1500);
  assert.equal(store.room.playback.status, 'stopped', 'it was asked for once');
  conductor.close();
});

test('what Play had asked for begins also where the link was away, or a command on its way, as the files came', async (t) => {
  const { by, pick, pass, store, conductor } = bare(t);
  const isPending = { now: true };
  store.isPending = (type) => isPending.now && type === 'enqueue';
  conductor.wish();
  pick(2);
  await pass(1500);
  assert.equal(store.room.playback.status, 'stopped');
  isPending.now = false;
  by({ type: 'enqueue', track: 4 });
  store.link.state = 'offline';
  conductor.changed(false);
  await pass(5000);
  assert.equal(store.room.playback.status, 'stopped');
  store.link.state = 'live';
  conductor.changed(true);
  await pass(1500);
  assert.equal(store.room.playback.track, 2);
  conductor.close();
});

test('nothing begins that no DJ has asked for, and a wish ends with what it was for', async (t) => {
  const { by, pick, pass, files, store, conductor } = bare(t);
  const isStopped = async (why) => {
    await pass(7000);
    assert.equal(store.room.playback.status, 'stopped', why);
  };
  pick(2);
  await isStopped('no DJ has asked for it');
  files.clear();
  conductor.wish();
  pick(1);
  await isStopped('no file of what waits');
  pick(2);
  await isStopped('the wish has ended');
  files.clear();
  conductor.wish();
  files.add(1);
  conductor.found();
  pick(2);
  await isStopped('the files had come by another way');
  files.clear();
  conductor.wish();
  store.room.settings = { ...store.room.settings, repeatAfterPlays: 1 };
  conductor.changed(true);
  pick(2);
  await isStopped('the room has other rules');
  conductor.wish();
  for (const { entry } of store.room.queue) by({ type: 'dequeue', entry });
  assert.equal(conductor.promisesMusic, false);
  conductor.close();
});

test('a request that Play named begins also where the room does not choose it', async (t) => {
  const { vote, pass, files, store, conductor } = conducting(t, { settings: { queueLocked: true }, here: [] });
  vote(2);
  assert.equal(conductor.promisesMusic, false);
  conductor.wish(2);
  assert.equal(conductor.promisesMusic, true);
  files.add(2);
  conductor.found(true);
  conductor.fulfil();
  await pass(1500);
  assert.equal(store.room.playback.track, 2);
  conductor.close();
});

test('a beginning that is refused is tried again, also where nothing else happens', async (t) => {
  const { vote, pass, sent, store, conductor } = conducting(t, { refusals: ['rate_limited', 'unavailable'] });
  vote(2);
  await pass(1500);
  assert.deepEqual(sent, ['enqueue']);
  await pass(4500);
  assert.deepEqual(sent, ['enqueue', 'enqueue']);
  await pass(5000);
  assert.equal(store.room.playback.track, 2);
  conductor.close();
});

test('what the room refuses to begin with is passed over, until it has played', async (t) => {
  const { vote, pass, sent, store, conductor, model } = conducting(t, { settings: { maxWaitingPerMember: 1 }, refusals: ['conflict'] });
  vote(2, 3);
  await pass(7000);
  assert.deepEqual([sent, store.room.playback.track], [['enqueue', 'enqueue', 'play'], 3]);
  model.send(1, { type: 'finish', entry: store.room.playback.entry });
  for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
  conductor.changed(true);
  assert.equal(store.room.playback.track, 2);
  conductor.close();
});

test('an entry without a file waits on, and the room is told what is not here before anything begins', async (t) => {
  const { vote, pass, store, conductor, model } = conducting(t, { here: [3] });
  model.send(1, { type: 'enqueue', track: 2 });
  vote();
  await pass(3000);
  assert.equal(store.room.playback.status, 'stopped');
  vote(3);
  await pass(1500);
  assert.equal(store.room.playback.track, 3);
  assert.deepEqual(store.room.queue.map(({ track }) => track), [2]);
  assert.deepEqual(model.events.filter(({ type }) => /missing|Finished/.test(type)).map(({ type, tracks }) => [type, tracks]), [['missingSet', [1, 2, 4]]]);
  conductor.close();
});

test('the room is told once what is not here, and again when the pool or the library changes', async (t) => {
  const { pass, files, store, conductor, model } = conducting(t, { here: [1, 3] });
  const told = () => model.events.filter(({ type }) => type === 'missingSet').map(({ tracks }) => tracks.join(' '));
  await pass(2000);
  assert.deepEqual(told(), ['2 4']);
  model.send(2, { type: 'addTracks', tracks: [{ source: 'manual', sourceId: 'x', title: 'By hand' }] });
  for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
  conductor.changed(true);
  await pass(600);
  assert.deepEqual(told(), ['2 4', '2 4 5']);
  // Many files come one after the other.
  for (const track of [2, 4, 5]) {
    files.add(track);
    conductor.found();
  }
  await pass(600);
  assert.deepEqual(told(), ['2 4', '2 4 5', '']);
  conductor.changed(true);
  conductor.found();
  await pass(2000);
  assert.equal(told().length, 3);
  conductor.close();
});

test('a room that does not know the command is not asked again and again', async (t) => {
  const { pass, files, store, conductor } = conducting(t, { here: [1, 3] });
  const { send } = store, asked = [];
  store.send = async (command) => {
    if (command.type !== 'setMissing') return send(command);
    asked.push(String(command.tracks));
    throw new Refusal(asked.length === 1 ? 'rate_limited' : 'bad_request');
  };
  files.delete(3);
  conductor.found();
  await pass(600);
  assert.deepEqual(asked, ['2,3,4']);
  await pass(20_000);
  for (let i = 0; i < 5; i++) {
    conductor.found();
    await pass(1000);
  }
  assert.deepEqual(asked, ['2,3,4', '2,3,4']);
  conductor.close();
});

test('a device that is not the deck any more tells no more what it lacks', async (t) => {
  const { pass, files, store, conductor } = conducting(t, { here: [1, 3] });
  const asked = [], refuse = [];
  await pass(2000);
  store.send = (command) => {
    asked.push(command.type);
    return new Promise((_, reject) => { refuse.push(reject); });
  };
  files.delete(3);
  conductor.found();
  await pass(600);
  conductor.close();
  refuse[0](new Refusal('offline'));
  await pass(20_000);
  assert.deepEqual(asked, ['setMissing']);
});

test('while the files of a large pool come one after the other, the whole list is told rarely, and its end is told', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const room = { pool: Array.from({ length: 10_000 }, (_, i) => ({ track: i + 1 })) }, lists = [];
  const store = {
    room,
    async send({ tracks }) {
      lists.push(tracks.length);
      const missing = new Set(tracks);
      for (const track of room.pool) track.missing = missing.has(track.track) || undefined;
    },
  };
  let here = 0;
  const lacking = new Lacking(store, { isHere: (track) => track <= here, isDeck: () => true });
  lacking.tell();
  for (let second = 0; second < 180; second++) {
    here = Math.min(10_000, here + 100);
    lacking.look();
    for (let i = 0; i < 5; i++) await null;
    t.mock.timers.tick(1000);
  }
  assert.ok(lists.length < 20, `${lists.length} lists`);
  assert.equal(lists.at(-1), 0);
  lacking.close();
});

test('while nothing is here the music waits, and begins again by itself with the files', async (t) => {
  const { vote, pass, files, store, conductor, model, sent } = conducting(t);
  vote(2, 3);
  await pass(1500);
  assert.equal(store.room.playback.track, 2);
  const all = [...files];
  files.clear();
  conductor.do((now) => conductor.deck.gone(now));
  await pass(60_000);
  assert.deepEqual([store.room.playback.status, store.room.playback.track, store.room.tracks.get(3).votes], ['paused', 2, 1]);
  for (const track of all) files.add(track);
  conductor.found();
  await pass(600);
  assert.deepEqual([store.room.playback.status, store.room.playback.track], ['playing', 2]);
  assert.deepEqual([sent, model.events.some(({ type }) => type === 'entryFinished')], [['enqueue', 'play', 'pause', 'resume'], false]);
  conductor.close();
});

test('a room that somebody begins is not begun twice', async (t) => {
  const { vote, pass, sent, store, conductor, model } = conducting(t);
  const { send } = store;
  // Another DJ begins it while the entry is on its way.
  store.send = async (command) => {
    const result = await send(command);
    if (command.type === 'enqueue') {
      model.send(1, { type: 'play', entry: result.entry });
      for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
    }
    return result;
  };
  vote(2);
  await pass(1500);
  assert.deepEqual(sent, ['enqueue']);
  conductor.close();
});

test('where DJs choose, nothing begins by itself', async (t) => {
  const { vote, pass, sent, conductor } = conducting(t, { queueMode: 'dj' });
  vote(2);
  await pass(10_000);
  assert.deepEqual(sent, []);
  conductor.close();
});

test('while the answer to the end of a song is waited for, the sound is not looked at without pause', async (t) => {
  const { vote, pass, sound, store, conductor } = conducting(t);
  vote(2);
  await pass(1500);
  vote(3);
  // No answer comes any more.
  let looks = 0;
  store.send = () => new Promise(() => {});
  const tick = conductor.deck.tick.bind(conductor.deck);
  conductor.deck.tick = (now) => { looks++; return tick(now); };
  sound.fades = 0;
  conductor.look();
  await pass(600, 10);
  assert.ok(conductor.deck.isEnding);
  assert.ok(looks <= 3, `${looks} looks`);
  // The deck goes on by itself in time.
  sound.fades = Infinity;
  await pass(600, 10);
  assert.deepEqual([conductor.deck.song?.track, conductor.deck.leading], [3, true]);
  conductor.close();
});

// What is heard

/** A browser's elements on the mocked clock. */
const mediaOf = (options = {}) => new Media({ ...options, clock: { get now() { return Date.now(); }, after: (run, ms) => setTimeout(run, ms), cancel: (timer) => clearTimeout(timer) } });

/** When a song was heard, from the first moment to the last one, and how far it went, in s. */
function heardOf(media, name) {
  const own = media.heard.filter(({ sounds }) => sounds.some((one) => one.name === name));
  return { from: own[0]?.now, to: own.at(-1)?.now, at: own.at(-1)?.sounds.find((one) => one.name === name).at };
}

for (const [what, queue, votes] of [['the next song alone', [2], []], ['the next song and one more', [2, 3], []], ['the next song and one that is asked for', [2], [3]]]) {
  test(`where ${what} is known, songs fade into each other, and the last one is heard whole`, async (t) => {
    const media = mediaOf(), music = [1, 2, 3, 4].map((track) => new Music(`${track}`, 12, { openMs: 80 }));
    const { conductor, model, vote, pass, store } = conducting(t, { media, music });
    for (const track of [1, ...queue]) model.send(1, { type: 'enqueue', track });
    model.send(1, { type: 'play' });
    vote(...votes);
    await pass(50_000, 20);
    const order = [1, ...queue, ...votes].map(String);
    order.slice(1).forEach((name, place) => expectFade(media, order[place], name, 3900, 150));
    expectSmooth(media.heard, { mayStop: (_, { name, at }) => name === order.at(-1) && at > 11.7 });
    for (const name of order) assert.ok(heardOf(media, name).at > 11.7, `${name} is heard to ${heardOf(media, name).at}`);
    assert.deepEqual([store.room.playback.status, store.room.history.length], ['stopped', order.length]);
    conductor.close();
    conductor.sound.close();
  });
}

for (const isWebKit of [false, true]) {
  test(`songs fade after a seek to near the end, where the browser ${isWebKit ? 'says nothing then' : 'says that it plays on'}`, async (t) => {
    const media = mediaOf({ isWebKit }), music = [1, 2].map((track) => new Music(`${track}`, 60));
    const { conductor, model, vote, pass, store } = conducting(t, { media, music });
    for (const track of [1, 2]) model.send(1, { type: 'enqueue', track });
    model.send(1, { type: 'play' });
    vote();
    await pass(10_000, 20);
    await conductor.act({ type: 'seek', positionMs: 54_500, entry: store.room.playback.entry });
    await pass(9000, 20);
    expectFade(media, '1', '2', 3900, 150);
    conductor.close();
    conductor.sound.close();
  });
}

for (const isWebKit of [false, true]) {
  test(`the room learns that a seek took its time, where the browser says ${isWebKit ? 'nothing' : 'that it waits'}`, async (t) => {
    const media = mediaOf({ isWebKit }), { conductor, vote, pass, store, sent } = conducting(t, { media, music: [new Music('1', 60, { seekMs: 800 })], here: [1] });
    vote(1);
    await pass(10_000, 20);
    await conductor.act({ type: 'seek', positionMs: 30_000, entry: store.room.playback.entry });
    await pass(12_000, 20);
    const { positionMs, atMs } = store.room.playback, [{ at }] = media.sounds;
    assert.ok(Math.abs(at * 1000 - positionMs - Date.now() + atMs) < 100, `${at} s is heard`);
    assert.deepEqual(sent.filter((type) => type === 'seek').length, 2);
    conductor.close();
    conductor.sound.close();
  });
}

test('a song after which only one without a file waits is heard whole', async (t) => {
  const media = mediaOf(), music = [1, 2].map((track) => new Music(`${track}`, 12));
  const { conductor, model, vote, pass } = conducting(t, { media, music, here: [1] });
  for (const track of [1, 2]) model.send(1, { type: 'enqueue', track });
  model.send(1, { type: 'play' });
  vote();
  await pass(30_000, 20);
  assert.ok(heardOf(media, '1').at > 11.7, `to ${heardOf(media, '1').at}`);
  expectSmooth(media.heard, { mayStop: (_, { at }) => at > 11.7 });
  conductor.close();
  conductor.sound.close();
});

test('the length of a song that was heard to its end reaches the room, once, and is remembered', async (t) => {
  const media = mediaOf(), music = [new Music('1', 12, { claims: 18_006 }), new Music('2', 12)], found = { 2: { durationMs: 12_000 } };
  const { conductor, model, vote, pass, lengths, store } = conducting(t, { media, music, found });
  for (const track of [1, 2, 1]) model.send(1, { type: 'enqueue', track });
  model.send(1, { type: 'play' });
  vote();
  await pass(45_000, 20);
  assert.deepEqual(lengths.map(([track, ms]) => [track, Math.round(ms / 100)]), [[1, 120], [2, 120]]);
  assert.deepEqual([1, 2].map((track) => Math.round(store.room.tracks.get(track).durationMs / 1000)), [12, 12]);
  assert.equal(Math.round(found[1].durationMs / 100), 120);
  conductor.close();
  conductor.sound.close();
});

for (const claims of [3, 40]) {
  test(`a song of 12 s whose header claims ${claims} s fades at its measured end, and the room learns its length at once`, async (t) => {
    const media = mediaOf(), music = [new Music('1', 12, { claims }), new Music('2', 12)], measured = { waveform: new Uint8Array(1), durationMs: 12_000 };
    const { conductor, model, vote, pass, lengths, sent } = conducting(t, { media, music, found: { 1: measured, 2: measured } });
    for (const track of [1, 2]) model.send(1, { type: 'enqueue', track });
    model.send(1, { type: 'play' });
    vote();
    await pass(9000, 20);
    assert.deepEqual(lengths, [[1, 12_000], [2, 12_000]]);
    await pass(30_000, 20);
    expectFade(media, '1', '2', 3900, 150);
    assert.ok(heardOf(media, '1').at > 11.7);
    assert.ok(!sent.includes('seek'), `${sent}`);
    assert.equal(lengths.length, 2);
    conductor.close();
    conductor.sound.close();
  });
}

test('a song that goes on beyond the length that is claimed is heard whole without a measured one', async (t) => {
  // The first one's file says more than its element; the second one's element finds more as it plays.
  const media = mediaOf(), music = [new Music('1', 12, { claims: 8, stays: true }), new Music('2', 12, { claims: 2 })];
  const { conductor, model, vote, pass, sent } = conducting(t, { media, music, found: { 1: { durationMs: 12_000 } } });
  for (const track of [1, 2, 1]) model.send(1, { type: 'enqueue', track });
  model.send(1, { type: 'play' });
  vote();
  await pass(50_000, 20);
  assert.deepEqual(['1', '2'].map((name) => heardOf(media, name).at > 11.7), [true, true]);
  assert.ok(!sent.includes('seek'), `${sent}`);
  conductor.close();
  conductor.sound.close();
});

test('a song that is paused before it sounds is compared with the room soon after it goes on', async (t) => {
  const media = mediaOf(), { conductor, vote, pass, store } = conducting(t, { media, music: [new Music('1', 60, { openMs: 3000 })], here: [1] });
  vote(1);
  await pass(2400, 20);
  const { entry } = store.room.playback;
  await conductor.act({ type: 'pause', entry });
  await pass(10_000, 20);
  await conductor.act({ type: 'resume', entry });
  await pass(3000, 20);
  const { positionMs, atMs } = store.room.playback, [{ at }] = media.sounds;
  assert.ok(Math.abs(at * 1000 - positionMs - Date.now() + atMs) < 100, `${at} s is heard`);
  conductor.close();
  conductor.sound.close();
});

for (const [when, first] of [['as it is opened', { isBroken: true }], ['as it begins', { isCorrupt: true }]]) {
  test(`a file that fails ${when} is opened anew, once`, async (t) => {
    const media = mediaOf(), bad = () => new Music('1', 60, first);
    const { conductor, model, pass, vote, store, failures } = conducting(t, { media, music: [[bad(), new Music('1', 60)], [bad(), bad()]] });
    for (const track of [1, 2]) model.send(1, { type: 'enqueue', track });
    model.send(1, { type: 'play' });
    vote();
    await pass(10_000, 20);
    const { positionMs, atMs } = store.room.playback, [{ at }] = media.sounds;
    assert.ok(Math.abs(at * 1000 - positionMs - Date.now() + atMs) < 200, `${at} s is heard`);
    assert.deepEqual(failures, []);
    await conductor.act({ type: 'skip', entry: store.room.playback.entry });
    await pass(5000, 20);
    assert.equal(failures.splice(0).length, 1);
    conductor.close();
    conductor.sound.close();
  });
}

test('a file that neither opens nor fails is not waited for twice', async (t) => {
  const media = mediaOf();
  const { conductor, model, pass, vote, failures } = conducting(t, { media, music: [new Music('1', 60, { openMs: 60_000 }), new Music('2', 60)] });
  for (const track of [1, 2]) model.send(1, { type: 'enqueue', track });
  model.send(1, { type: 'play' });
  // It is to begin somewhere in the song.
  await pass(5000, 20);
  vote();
  await pass(15_000, 20);
  assert.equal(failures.splice(0).length, 1);
  conductor.close();
  conductor.sound.close();
});

/** A song that is heard for 10 s, until the system stops it. */
async function stopped(t) {
  const media = mediaOf(), made = conducting(t, { media, music: [new Music('1', 120), new Music('2', 120, { openMs: 15_000 })] });
  made.vote(1);
  await made.pass(11_000, 20);
  const [{ element, at }] = media.sounds, { entry } = made.store.room.playback;
  element.interrupt();
  await made.pass(20, 20);
  made.sent.length = 0;
  /** How far the room is from where the sound stopped, in ms. */
  const off = () => {
    const { status, positionMs, atMs } = made.store.room.playback;
    return Math.abs(positionMs + (status === 'playing' ? Date.now() - atMs : 0) - element.currentTime * 1000);
  };
  t.after(() => {
    made.conductor.close();
    made.conductor.sound.close();
  });
  return { ...made, media, element, at, entry, off };
}

test('what the system has stopped and lets go on by itself pauses nothing, and the room learns where it is', async (t) => {
  const { element, pass, sent, store, off, media } = await stopped(t);
  await pass(8000, 20);
  assert.deepEqual([sent, store.room.playback.status], [[], 'playing']);
  element.play();
  await pass(30_000, 20);
  assert.deepEqual([sent, store.room.playback.status, media.sounds.length], [['seek'], 'playing', 1]);
  assert.ok(off() < 100, `${off()} ms off`);
});

test('what the system has stopped for good is paused for the room, where it stopped', async (t) => {
  const { pass, sent, store, off, conductor, entry, media } = await stopped(t);
  await pass(11_000, 20);
  assert.deepEqual([sent, store.room.playback.status], [['seek', 'pause'], 'paused']);
  assert.ok(off() < 100, `${off()} ms off`);
  await pass(30_000, 20);
  await conductor.act({ type: 'resume', entry });
  await pass(5000, 20);
  assert.deepEqual([sent, media.sounds.length], [['seek', 'pause', 'resume'], 1]);
  assert.ok(off() < 100, `${off()} ms off`);
});

test('a person goes on at once with what the system has stopped, or pauses it', async (t) => {
  const { element, pass, store, off, conductor, entry, media, sent } = await stopped(t);
  await pass(3000, 20);
  await conductor.act({ type: 'resume', entry });
  await pass(3000, 20);
  assert.deepEqual([store.room.playback.status, media.sounds.length], ['playing', 1]);
  assert.ok(off() < 100, `${off()} ms off`);
  element.interrupt();
  await pass(3000, 20);
  await conductor.act({ type: 'pause', entry });
  await pass(20_000, 20);
  assert.deepEqual([sent.slice(-2), store.room.playback.status], [['seek', 'pause'], 'paused']);
  assert.ok(off() < 100, `${off()} ms off`);
});

for (const [what, type, ms] of [['that is paused by the deck', null, 12_000], ['that is paused by a person', 'pause', 4000], ['that is skipped', 'skip', 4000]]) {
  test(`off line a song that the system has stopped, and ${what}, was heard until then`, async (t) => {
    const { pass, store, conductor, at, entry, vote } = await stopped(t);
    vote(2);
    store.link.state = 'offline';
    conductor.changed(false);
    await pass(ms, 20);
    if (type) await conductor.act({ type, entry });
    const { song, played: [one = { song, playedMs: song.playedMs }] } = conductor.deck;
    assert.deepEqual([one.song.entry, song.playing], [entry, type === 'skip']);
    assert.ok(Math.abs(one.playedMs - at * 1000) < 200, `${one.playedMs} ms of ${at} s`);
  });
}

test('what the system has stopped is paused for the room where another DJ has put it meanwhile, if it does not go on', async (t) => {
  const { element, model, pass, vote, store, sent, entry, off, media } = await stopped(t);
  await pass(3000, 20);
  model.send(1, { type: 'seek', positionMs: 60_000, entry });
  vote();
  await pass(5000, 20);
  assert.deepEqual([sent, store.room.playback.status, element.currentTime, media.sounds], [[], 'playing', 60, []]);
  await pass(7000, 20);
  const { status, positionMs } = store.room.playback;
  assert.deepEqual([sent, status, positionMs], [['seek', 'pause'], 'paused', 60_000]);
  assert.ok(off() < 100, `${off()} ms off`);
});

test('a song that follows one that the system has stopped is not paused in its place', async (t) => {
  const { pass, vote, store, conductor, entry, sent } = await stopped(t);
  vote(2);
  await conductor.act({ type: 'skip', entry });
  await pass(12_000, 20);
  assert.deepEqual([sent, store.room.playback.status, store.room.playback.track], [['skip'], 'playing', 2]);
});

test('evenings with fades by chance: what is heard is what the room plays, and nothing cracks', async (t) => {
  const { random } = seeded(t);
  const media = mediaOf(), music = [1, 2, 3, 4].map((track) => new Music(`${track}`, 14, { openMs: [5, 80, 400, 1500][random(4)] }));
  const { conductor, model, vote, pass, store } = conducting(t, { media, music });
  for (const track of [1, 2, 3, 4, 1]) model.send(1, { type: 'enqueue', track });
  model.send(1, { type: 'play' });
  vote();
  const stops = [];
  for (let i = 0; i < 25; i++) {
    await pass(20 * (1 + random(150)), 20);
    const { playback } = store.room;
    const entry = playback.entry, type = ['skip', 'skip', 'pause', 'resume', 'seek', 'enqueue', 'enqueue', 'vote'][random(8)];
    if (type === 'pause' || type === 'seek') stops.push(Date.now());
    if (type === 'enqueue') model.send(1, { type, track: 1 + random(4) });
    else if (type === 'vote') try { model.send(3, { type, track: 1 + random(4) }); } catch { /* It plays, or waits. */ }
    else if (playback.status !== 'stopped') await conductor.act({ type, entry, ...(type === 'seek' ? { positionMs: 1000 * random(12) } : {}) });
    vote();
  }
  await pass(20, 20);
  if (store.room.playback.status === 'paused') await conductor.act({ type: 'resume', entry: store.room.playback.entry });
  // A song whose file opens slowly is heard late, and the room is told of it a little later.
  let entry;
  do {
    ({ entry } = store.room.playback);
    await pass(4000, 20);
  } while (entry !== store.room.playback.entry);
  const isNear = (now) => stops.some((at) => now >= at && now <= at + 40);
  expectSmooth(media.heard, { mayStop: (now, { at }) => at > 13.7 || isNear(now) });
  const { playback } = store.room, { song } = conductor.deck;
  assert.equal(playback.status === 'stopped' ? undefined : playback.entry, song?.entry);
  const loudest = media.sounds.sort((a, b) => b.at - a.at).filter(({ name }) => name === String(song?.track)).pop();
  if (song) assert.ok(Math.abs(loudest.at * 1000 - (playback.positionMs + Date.now() - playback.atMs)) < 700, `${loudest.at} of ${JSON.stringify(playback)}`);
  else assert.deepEqual(media.sounds, []);
  conductor.close();
  conductor.sound.close();
});

for (const [levelled, level, file] of [
  [true, 10 ** (-15 / 20), { lufs: -8 }], [true, 1, { lufs: -23 }], [true, 1, { lufs: -40 }],
  // What a tag says stands in for what was measured, and the usual loudness for both.
  [true, 10 ** (-3 / 20), { gainDb: 2 }], [true, 10 ** (-15 / 20), { lufs: -8, gainDb: 2 }], [true, 10 ** (-9 / 20), {}],
  [false, 1, { lufs: -8 }],
]) {
  test(`a song of ${JSON.stringify(file)} is heard at ${level.toFixed(2)} where levels are ${levelled ? 'on' : 'off'}`, async (t) => {
    const media = mediaOf();
    const { conductor, vote, pass } = conducting(t, { media, levelled, music: [new Music('1', 12)], here: [1], found: { 1: file } });
    vote(1);
    await pass(4000);
    const [{ volume }] = media.sounds;
    assert.ok(Math.abs(volume - level) < 1e-6, `${volume} is not ${level}`);
    conductor.close();
  });
}
