// Between the machine and the world: when a stopped room begins, and how often the sound is looked at.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conductor } from '../../Sources/WebClient/Pages/deck/conductor.js';
import { Room } from '../../Sources/WebClient/Pages/room/room.js';
import { Refusal } from '../../Sources/WebClient/Pages/store/store.js';
import { RoomModel } from './room-model.mjs';

const TRACKS = Array.from({ length: 4 }, (_, i) => ({ source: 'local', sourceId: `${i}`, title: `T${i + 1}`, durationMs: 60_000 }));

/** A deck of a room that carries commands out at once; `here` are the tracks with files, `refusals` what comes first. */
function conducting(t, { queueMode = 'votes', settings = {}, here = [1, 2, 3, 4], refusals = [] } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  globalThis.localStorage = { setItem() {}, getItem: () => null };
  const model = new RoomModel({ now: () => Date.now(), settings: { queueMode, ...settings } });
  model.send(1, { type: 'addTracks', tracks: TRACKS });
  const sent = [], files = new Set(here);
  const store = {
    room: new Room(model.snapshot()), link: { state: 'live' }, clock: { now: () => Date.now(), errorMs: 0 },
    isPending: () => false, goAhead() {},
    async send(command) {
      sent.push(command.type);
      const code = refusals.shift();
      if (code) throw new Refusal(code);
      const result = model.send(1, JSON.parse(JSON.stringify(command)));
      for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
      return result.result ?? {};
    },
  };
  const device = { store, found: {}, now: () => Date.now(), songOf: (track) => files.has(track), showPicture() {}, stepped() {} };
  const sound = { fades: Infinity, step() {}, prepare() {}, positionOf: (song) => (song ? conductor.deck.position(Date.now()) : null), fadesIn: () => sound.fades };
  const conductor = new Conductor(device, sound, null);
  const pass = async (ms, step = 100) => {
    for (let left = ms; left > 0; left -= step) {
      t.mock.timers.tick(step);
      for (let i = 0; i < 6; i++) await new Promise(setImmediate);
    }
  };
  const vote = (...tracks) => {
    for (const track of tracks) model.send(3, { type: 'vote', track });
    for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
    conductor.changed(true);
  };
  conductor.changed(true);
  return { conductor, store, sent, sound, files, pass, vote, model };
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

test('an entry without a file goes first where something follows that can be played', async (t) => {
  const { vote, pass, store, conductor, model } = conducting(t, { here: [3] });
  model.send(1, { type: 'enqueue', track: 2 });
  vote();
  await pass(3000);
  assert.equal(store.room.playback.status, 'stopped');
  vote(3);
  await pass(1500);
  assert.equal(store.room.playback.track, 3);
  assert.equal(model.events.find(({ type }) => type === 'entryFinished').missing, true);
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
