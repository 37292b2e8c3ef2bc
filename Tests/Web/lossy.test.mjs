// Random histories over a network that loses, repeats and cuts: the room ends as the server's, and no command is
// carried out twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Room } from '../../Sources/WebClient/Pages/room/room.js';
import { Store } from '../../Sources/WebClient/Pages/store/store.js';
import { ROOM, plain, randomly, seeded, snapshot, title } from './samples.mjs';

/** Keys that the server remembers. */
const REMEMBERED = 1000;

/** A room's server in memory: a log, its fold, and the outcomes of keys. */
class Server {
  events = [];
  keys = new Map();
  keyed = 0;
  nextEntry = 10;
  nextTrack = 10;
  carriedOut = new Map();

  constructor(random) {
    this.random = random;
    this.room = new Room(snapshot({ seq: 0, you: { member: 2, role: 'dj', votes: [] } }));
    this.first = JSON.stringify(snapshot({ seq: 0, you: { member: 2, role: 'dj', votes: [] } }));
  }

  append(event) {
    const whole = { seq: this.events.length + 1, at: this.events.length, ...event };
    this.events.push(whole);
    this.room.apply(structuredClone(whole));
  }

  you() {
    return { member: 2, role: 'dj', votes: [...this.room.you.votes] };
  }

  snapshot(more) {
    return structuredClone({ ...snapshot({ epoch: 'e1', seq: this.events.length, you: this.you(), keyed: this.keyed, ...more }), state: plain(this.room.toState()) });
  }

  delta(from, to = this.events.length) {
    return { type: 'delta', room: ROOM, from, seq: to, events: this.events.slice(from - 1, to) };
  }

  /** Something that another member does. */
  other() {
    const track = 1 + this.random(this.nextTrack - 1);
    const known = this.room.tracks.get(track);
    if (this.random(10) === 0) this.count(this.random(40));
    if (known) this.append({ type: 'voteCast', track, by: 10, votes: known.votes + 1, requestedSeq: known.requestedSeq ?? this.events.length + 1 });
    else this.append({ type: 'memberRenamed', member: 10, name: `N${this.events.length}` });
  }

  /** Others use up keys. */
  count(number) {
    this.keyed += number;
    for (const [key, { place }] of this.keys) if (place <= this.keyed - REMEMBERED) this.keys.delete(key);
  }

  /** Carries a command out, or finds its outcome. */
  command({ id, key, command }) {
    const known = this.keys.get(key);
    if (known) return { type: 'ack', re: id, seq: known.seq, result: known.result, keyed: this.keyed };
    if (this.random(20) === 0) return { type: 'error', re: id, code: 'rate_limited', message: '', retryAfterMs: 1 };
    this.carriedOut.set(key, (this.carriedOut.get(key) ?? 0) + 1);
    const result = this.#decide(command);
    this.count(1);
    this.keys.set(key, { seq: this.events.length, result, place: this.keyed });
    return { type: 'ack', re: id, seq: this.events.length, result, keyed: this.keyed };
  }

  #decide(command) {
    const { type, track } = command;
    const known = this.room.tracks.get(track), { votes } = this.room.you;
    if (type === 'vote' && known && !votes.has(track)) {
      this.append({ type: 'voteCast', track, by: 2, votes: known.votes + 1, requestedSeq: known.requestedSeq ?? this.events.length + 1 });
    } else if (type === 'unvote' && known && votes.has(track)) {
      this.append({ type: 'voteWithdrawn', track, by: 2, votes: known.votes - 1, requestedSeq: known.votes > 1 ? known.requestedSeq : undefined });
    } else if (type === 'enqueue' && known) {
      const entry = this.nextEntry++;
      this.append({ type: 'entryEnqueued', entry, track, index: this.room.queue.length, by: 2 });
      if (known.votes) this.append({ type: 'votesCleared', track });
      return { entry };
    } else if (type === 'addTracks') {
      const tracks = command.tracks.map((one) => ({ ...one, track: this.nextTrack++ }));
      this.append({ type: 'tracksAdded', tracks, by: 2 });
      return { tracks: tracks.map((one) => one.track) };
    }
    return undefined;
  }
}

/** A connection: both ways are queues, whose rest a cut loses. */
class Line {
  up = [];
  down = [];
  told = 0;

  constructor(server, store, resumes) {
    this.server = server;
    this.store = store;
    store.connected({ send: (message) => this.up.push(JSON.stringify(message)) });
    this.begin(resumes ? store.position : null);
  }

  begin(position, re) {
    const { server } = this;
    if (position) {
      this.down.push({ type: 'resumed', re, room: ROOM, epoch: 'e1', seq: server.events.length, you: server.you(), keyed: server.keyed });
      if (position.seq < server.events.length) this.down.push(server.delta(position.seq + 1));
    } else {
      this.down.push(server.snapshot({ re }));
    }
    this.told = server.events.length;
  }

  /** The server handles one message. */
  serve() {
    const text = this.up.shift();
    if (!text) return;
    const message = JSON.parse(text);
    if (message.type === 'subscribe') return this.begin(message.position, message.id);
    const answer = this.server.command(message);
    if (this.server.random(2)) this.push();
    this.down.push(answer);
  }

  /** The server sends what is new: sometimes twice, sometimes with a hole, sometimes as a whole. */
  push(honest = false) {
    const { server } = this, { random } = server;
    if (this.told >= server.events.length) return;
    const odd = honest ? 9 : random(12);
    if (odd === 0) this.down.push(server.snapshot({ collapsed: { from: this.told + 1, seq: server.events.length } }));
    else if (odd === 1) this.down.push(server.delta(Math.max(1, this.told - 3)));
    else if (odd !== 2) this.down.push(server.delta(this.told + 1));
    this.told = server.events.length;
  }

  /** One message arrives. */
  hear() {
    const message = this.down.shift();
    if (message) this.store.receive(JSON.parse(JSON.stringify(message)));
  }
}

test('what the network loses, repeats and cuts is made good, and nothing is done twice', async (t) => {
  const { seed } = seeded(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let unknown = 0, done = 0, doubled = 0;
  for (let round = 0; round < 60; round++) {
    const random = randomly(seed * 1000 + round);
    const server = new Server(random);
    const store = new Store({ frame: () => {}, now: () => 0 });
    let line = new Line(server, store, false);
    const outcomes = [];
    for (let step = 0; step < 400; step++) {
      const kind = random(20);
      if (kind < 3) server.other();
      else if (kind < 5) {
        const type = ['vote', 'unvote', 'enqueue', 'addTracks'][random(4)];
        const command = type === 'addTracks'
          ? { type, tracks: [{ source: 's', sourceId: 'x', title: title(random) }] } : { type, track: 1 + random(8) };
        const key = `k${round}-${step}`;
        const outcome = { key, type };
        outcomes.push(outcome);
        store.send(command, { key }).then((result) => Object.assign(outcome, { done: true, result }), (error) => Object.assign(outcome, { code: error.code }));
      } else if (kind < 9) line.serve();
      else if (kind < 15) line.hear();
      else if (kind < 18) line.push();
      else if (kind === 18) line.down.push({ type: 'beat', time: 1, rooms: { [ROOM]: line.told } });
      else if (random(3) === 0) {
        store.disconnected({ retryAt: 1 });
        if (random(2)) server.count(random(1500));
        line = new Line(server, store, store.room && random(4) > 0);
      }
      if (step % 10 === 0) await null;
    }
    for (let settled = 0; settled < 3;) {
      line.push(true);
      line.down.push({ type: 'beat', time: 1, rooms: { [ROOM]: line.told } });
      while (line.up.length || line.down.length) {
        line.serve();
        line.hear();
      }
      await new Promise(setImmediate);
      settled += 1;
    }
    assert.equal(store.room.seq, server.events.length);
    assert.deepEqual(plain(store.room.toState()), plain(server.room.toState()), `round ${round}`);
    assert.deepEqual([...store.room.you.votes].sort(), [...server.room.you.votes].sort());
    for (const { key, type, done: isDone, result, code } of outcomes) {
      const times = server.carriedOut.get(key) ?? 0;
      assert.ok(isDone || code, `round ${round}: ${type} ${key} has no outcome`);
      if (type === 'enqueue' || type === 'addTracks') assert.ok(times <= 1, `round ${round}: ${type} ${key} was carried out ${times} times`);
      else if (times > 1) doubled += 1;
      if (isDone) assert.ok(times >= 1, `round ${round}: ${type} ${key} was not carried out`);
      if (code === 'rate_limited' && !['vote', 'unvote'].includes(type)) assert.equal(times, 0, `round ${round}: ${key} was refused`);
      if (isDone && server.keys.has(key)) assert.deepEqual(result, server.keys.get(key).result);
      if (code === 'outcome_unknown') unknown += 1;
      if (isDone) done += 1;
    }
    assert.equal(store.isPending('vote'), false);
  }
  t.diagnostic(`${done} commands were carried out, ${unknown} outcomes are unknown, ${doubled} harmless ones were repeated`);
  assert.ok(done > 1000 && unknown > 0);
});
