// The server's time: bursts of exchanges, the one with the least delay, and when the next burst is due.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PART } from '../../Sources/WebClient/Pages/room/room.js';
import { Store } from '../../Sources/WebClient/Pages/store/store.js';
import { Clock } from '../../Sources/WebClient/Pages/wire/socket.js';
import { golden, seeded, snapshot } from './samples.mjs';

/** A clock, its store, and a server that is `ahead` ms ahead; `answer` takes the delays of both ways. */
function made(t, { playing = true, ahead = 5000 } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  t.mock.timers.tick(1_000_000);
  globalThis.document = { visibilityState: 'visible' };
  t.after(() => { delete globalThis.document; });
  let now = 0;
  const frames = [];
  const store = new Store({ frame: (run) => frames.push(run), now: () => now });
  store.connected({ send: () => {} });
  store.receive(snapshot({}, playing ? {} : { playback: { status: 'stopped' } }));
  const sent = [];
  const clock = new Clock(store, (message) => sent.push(message));
  t.after(() => clock.stop());
  return {
    store, clock, sent,
    draw: () => frames.splice(0).forEach((run) => run()),
    /** Answers the last question: `there` ms on the way to the server, `within` at it, `back` on the way back. */
    answer(there, back, within = 0) {
      const { id, t1 } = sent.at(-1);
      const t2 = now + there + ahead;
      now += there + within + back;
      clock.take({ re: id, t1, t2, t3: t2 + within });
    },
    pass(ms) {
      now += ms;
      t.mock.timers.tick(ms);
    },
    /** The machine sleeps: this browser's monotonic clock stands, the wall clock goes on. */
    sleep(ms) {
      t.mock.timers.setTime(Date.now() + ms);
    },
  };
}

test('the exchange with the least delay counts, not the mean', (t) => {
  const { store, clock, sent, answer } = made(t);
  clock.start();
  for (const [there, back] of [[40, 5], [80, 4], [3, 5], [200, 300], [9, 90], [50, 50], [30, 1], [20, 20]]) answer(there, back, 2);
  assert.equal(sent.length, 8);
  assert.deepEqual(sent.map((message) => Object.keys(message).sort().join()), Array(8).fill('id,t1,type'));
  assert.equal(store.clock.offset, 5000 - 1);
  assert.equal(store.clock.errorMs, 4);
  assert.equal(store.clock.now(), store.monotonic() + 4999);
});

test('the error is never more than half of the least delay', (t) => {
  const { random } = seeded(t);
  const { store, clock, answer, pass } = made(t);
  for (let i = 0; i < 200; i++) {
    if (i) pass(10_000);
    else clock.start();
    for (let exchange = 0; exchange < 8; exchange++) answer(random(100), random(100), random(20));
    assert.ok(Math.abs(store.clock.offset - 5000) <= store.clock.errorMs + 1e-6);
  }
});

test('bursts are 10 s apart while something plays, 60 s else', (t) => {
  for (const [playing, apart] of [[true, 10_000], [false, 60_000]]) {
    const world = made(t, { playing });
    world.clock.start();
    for (let i = 0; i < 8; i++) world.answer(1, 1);
    world.pass(apart - 100);
    assert.equal(world.sent.length, 8);
    world.pass(100);
    assert.equal(world.sent.length, 9);
    world.clock.stop();
    t.mock.timers.reset();
  }
});

test('when something begins to play, the next burst is due earlier', (t) => {
  const { store, clock, sent, answer, pass } = made(t, { playing: false });
  clock.start();
  for (let i = 0; i < 8; i++) answer(0, 0);
  pass(15_000);
  store.receive({ type: 'delta', room: store.room.id, from: 8, seq: 8, events: [golden('event-playbackStarted')] });
  clock.playbackChanged();
  pass(1);
  assert.equal(sent.length, 9);
});

test('a hidden page measures nothing; it does at once when it is seen', (t) => {
  const { clock, sent, answer, pass } = made(t);
  document.visibilityState = 'hidden';
  clock.start();
  pass(100_000);
  assert.equal(sent.length, 0);
  document.visibilityState = 'visible';
  clock.start();
  assert.equal(sent.length, 1);
  answer(1, 1);
  document.visibilityState = 'hidden';
  clock.stop();
  pass(100_000);
  assert.equal(sent.length, 2);
});

test('a burst whose answer is lost is made again; late answers of it do not count', (t) => {
  const { clock, store, sent, answer, pass } = made(t);
  clock.start();
  const lost = sent[0];
  pass(10_000);
  assert.equal(sent.length, 2);
  clock.take({ re: lost.id, t1: lost.t1, t2: 0, t3: 0 });
  assert.equal(sent.length, 2);
  for (let i = 0; i < 8; i++) answer(2, 2);
  assert.equal(store.clock.offset, 5000);
});

test('the time of a snapshot serves until the first burst, a shift that shows draws positions again', (t) => {
  const { store, clock, answer, draw, pass } = made(t);
  clock.hint(7000);
  assert.equal(store.clock.now(), 7000);
  draw();
  const drawn = [];
  store.watch(PART.playback, () => drawn.push(store.clock.offset));
  clock.start();
  for (let i = 0; i < 8; i++) answer(1, 1);
  clock.hint(1);
  draw();
  pass(10_000);
  for (let i = 0; i < 8; i++) answer(4, 2);
  draw();
  assert.deepEqual([drawn, store.clock.offset], [[5000], 5001]);
});

test('after a sleep in which the monotonic clock stood, the time is right before the first answer', (t) => {
  const { store, clock, answer, sleep } = made(t);
  clock.start();
  for (let i = 0; i < 8; i++) answer(1, 1);
  const before = store.clock.now();
  sleep(600_000);
  clock.start();
  assert.ok(Math.abs(store.clock.now() - before - 600_000) < 20);
});
