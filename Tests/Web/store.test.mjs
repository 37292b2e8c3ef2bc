// The store: subscriptions, commands and their keys, votes that show at once, and one flush a frame.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PART, WHOLE } from '../../Sources/WebClient/Pages/room/room.js';
import { Refusal, Store } from '../../Sources/WebClient/Pages/store/store.js';
import { ROOM, golden, goldenNames, snapshot } from './samples.mjs';

const YOU = { member: 2, role: 'guest', votes: [2] };

/** A store with a room, a port that notes what is sent, and a clock and frames that the test moves. */
function made(t, { you = YOU, keyed, live = true } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const frames = [], asleep = { ms: 0 };
  const store = new Store({ frame: (run) => frames.push(run), now: () => Date.now() - asleep.ms });
  // The tests look at refusals later than they come.
  for (const name of ['send', 'toggleVote']) {
    const original = store[name].bind(store);
    store[name] = (...given) => {
      const promise = original(...given);
      promise.catch(() => {});
      return promise;
    };
  }
  const world = {
    store, frames,
    /** The machine sleeps: the monotonic clock and the timers stand. */
    sleep(ms) {
      asleep.ms += ms;
      t.mock.timers.setTime(Date.now() + ms);
    },
    draw: () => frames.splice(0).forEach((run) => run()),
    /** Opens a connection; returns the list of what is sent on it. */
    connect() {
      const sent = [];
      store.connected({ send: (message) => sent.push(JSON.parse(JSON.stringify(message))) });
      return sent;
    },
    resume: (more = {}) => store.receive({ type: 'resumed', room: ROOM, epoch: 'e1', seq: store.room.seq, you, keyed, ...more }),
    delta: (...events) => {
      const from = store.room.seq + 1;
      store.receive({ type: 'delta', room: ROOM, from, seq: from + events.length - 1,
        events: events.map((event, i) => ({ seq: from + i, at: 1, ...event })) });
    },
    voted: (track, by = 2, votes = 1) => world.delta({ type: 'voteCast', track, by, votes, requestedSeq: store.room.seq + 1 }),
  };
  if (live) {
    world.sent = world.connect();
    store.receive(snapshot({ you, keyed }));
  }
  return world;
}

/** What became of a promise so far. */
async function outcome(promise) {
  let known = 'waiting';
  promise.then((value) => { known = value ?? null; }, (error) => { known = error.code; });
  await new Promise(setImmediate);
  return known;
}

test('the first snapshot makes the room and the link live; one flush a frame tells what changed', (t) => {
  const { store, connect, frames, draw, delta } = made(t, { live: false });
  const seen = [];
  store.watch(PART.members, (changed) => seen.push(['members', changed]));
  const stop = store.watch(PART.votes, () => seen.push('votes'));
  store.watch(PART.link, () => { throw new Error('a view that fails'); });
  const reported = t.mock.method(console, 'error', () => {});
  assert.deepEqual([store.room, store.link.state, store.position], [null, 'connecting', null]);
  connect();
  store.receive(golden('server-welcome'));
  assert.deepEqual(store.session, { id: '0193503f-0000-7000-8000-000000000001', name: 'Ana' });
  store.receive(snapshot({ you: YOU }));
  assert.equal(store.link.state, 'live');
  assert.deepEqual(store.position, { epoch: 'e1', seq: 7 });
  assert.equal(frames.length, 1);
  draw();
  assert.deepEqual(seen, [['members', WHOLE | PART.link | PART.you], 'votes']);
  assert.equal(reported.mock.callCount(), 1);
  delta({ type: 'memberRenamed', member: 2, name: 'B' });
  delta({ type: 'voteCast', track: 1, by: 1, votes: 1, requestedSeq: 9 });
  assert.equal(frames.length, 1);
  stop();
  draw();
  assert.deepEqual(seen.slice(2), [['members', PART.members | PART.votes]]);
  delta({ type: 'memberBanned', member: 9 });
  assert.equal(frames.length, 0);
});

test('a result is there when the room has its events: ack and delta in either order', async (t) => {
  const { store, sent, voted } = made(t);
  const [first, second, third] = ['vote', 'vote', 'voteSkip'].map((type, i) => store.send({ type, track: [1, 5][i] }));
  assert.deepEqual(sent.map(({ type, room, command }) => [type, room, command]), [
    ['command', ROOM, { type: 'vote', track: 1 }], ['command', ROOM, { type: 'vote', track: 5 }], ['command', ROOM, { type: 'voteSkip' }]]);
  assert.equal(new Set(sent.map((one) => one.key)).size, 3);
  assert.equal(store.isPending('vote', 'track', 5), true);
  store.receive({ type: 'ack', re: sent[0].id, seq: 8, result: { a: 1 } });
  assert.equal(await outcome(first), 'waiting');
  voted(1);
  assert.deepEqual(await outcome(first), { a: 1 });
  voted(5);
  assert.equal(await outcome(second), 'waiting');
  store.receive({ type: 'ack', re: sent[1].id, seq: 9 });
  assert.equal(await outcome(second), null);
  assert.equal(store.isPending('vote'), false);
  // Nothing was to be done: the room is there already.
  store.receive({ type: 'ack', re: sent[2].id, seq: 9 });
  assert.equal(await outcome(third), null);
});

test('a refusal has the code, the sentence for developers and the time to wait', async (t) => {
  const { store, sent } = made(t);
  const promise = store.send({ type: 'addTracks', tracks: [] });
  store.receive({ type: 'error', re: sent[0].id, code: 'rate_limited', message: 'too many', retryAfterMs: 900 });
  const refusal = await promise.catch((error) => error);
  assert.ok(refusal instanceof Refusal);
  assert.deepEqual([refusal.code, refusal.message, refusal.retryAfterMs], ['rate_limited', 'too many', 900]);
  store.receive({ type: 'error', code: 'bad_request', message: 'whatever' });
});

test('sixteen commands are in flight; the others follow in order', async (t) => {
  const { store, sent } = made(t);
  const all = Array.from({ length: 20 }, (_, i) => store.send({ type: 'dequeue', entry: i }));
  assert.deepEqual(sent.map((one) => one.command.entry), [...Array(16).keys()]);
  store.receive({ type: 'ack', re: sent[3].id, seq: 7 });
  store.receive({ type: 'error', re: sent[0].id, code: 'not_found', message: '' });
  assert.deepEqual(sent.slice(16).map((one) => one.command.entry), [16, 17]);
  assert.equal(await outcome(all[0]), 'not_found');
  assert.equal(await outcome(all[3]), null);
});

test('a command names the one before it that has no answer, so that none overtakes one that is put off', (t) => {
  const { store, sent, connect, resume } = made(t, { keyed: 1 });
  const afterOf = (list) => list.map(({ after }) => after && list.find(({ id }) => id === after).command.type);
  store.send({ type: 'enqueue', track: 1 });
  store.send({ type: 'setWaveform', track: 1, data: '' });
  store.send({ type: 'move', entry: 2, to: 0 });
  store.send({ type: 'unvote', track: 1 });
  assert.deepEqual(afterOf(sent), [undefined, undefined, 'enqueue', 'move']);
  assert.deepEqual(Object.keys(sent[3]), Object.keys(golden('client-command-after')));
  // Answered ones are named no more.
  store.receive({ type: 'error', re: sent[3].id, code: 'rate_limited', message: '' });
  store.send({ type: 'vote', track: 3 });
  assert.equal(sent.at(-1).after, sent[2].id);
  for (const { id } of sent) store.receive({ type: 'ack', re: id, seq: 7 });
  store.send({ type: 'vote', track: 5 });
  assert.equal('after' in sent.at(-1), false);
  // On another connection they name each other anew.
  store.send({ type: 'dequeue', entry: 2 });
  store.disconnected({ retryAt: 5 });
  const again = connect();
  resume({ keyed: 1 });
  assert.deepEqual(afterOf(again), [undefined, 'vote']);
});

test('sixteen commands in flight name each other, and the seventeenth names the sixteenth', (t) => {
  const { store, sent } = made(t);
  for (let entry = 0; entry < 17; entry++) store.send({ type: 'dequeue', entry });
  store.receive({ type: 'ack', re: sent[3].id, seq: 7 });
  assert.deepEqual(sent.map(({ after }) => after), [undefined, ...sent.slice(0, -1).map(({ id }) => id)]);
});

test('a command with a key that is on its way is not sent twice', (t) => {
  const { store, sent } = made(t);
  const command = { type: 'enqueue', track: 1 };
  assert.equal(store.send(command, { key: 'k' }), store.send(command, { key: 'k' }));
  assert.deepEqual(sent.map((one) => one.key), ['k']);
});

test('after a reconnect unanswered commands are sent again, in order, under their keys, before newer ones', async (t) => {
  const { store, sent, connect, resume } = made(t, { keyed: 100 });
  const first = store.send({ type: 'enqueue', track: 1 });
  store.send({ type: 'vote', track: 5 });
  store.disconnected({ retryAt: 5 });
  assert.equal(store.link.state, 'waiting');
  const late = store.send({ type: 'dequeue', entry: 2 });
  const again = connect();
  assert.deepEqual(again, []);
  resume({ keyed: 600 });
  assert.equal(store.link.state, 'live');
  assert.deepEqual(again.slice(0, 2).map((one) => one.key), sent.map((one) => one.key));
  assert.deepEqual(again.map((one) => one.command.type), ['enqueue', 'vote', 'dequeue']);
  store.receive({ type: 'ack', re: again[0].id, seq: 7, result: { entry: 9 }, keyed: 601 });
  assert.deepEqual(await outcome(first), { entry: 9 });
  assert.equal(await outcome(late), 'waiting');
  assert.equal(store.room.keyed, 601);
});

for (const [title, before, after, epoch] of [
  ['the server cannot tell the count now', 100, undefined, 'e1'], ['the room has counted too many keys', 100, 601, 'e1'], ['the server does not count keys', undefined, undefined, 'e1'],
  ['the room has another epoch', 100, 101, 'e2'],
]) {
  test(`where ${title}, only what is harmless is sent again`, async (t) => {
    const { store, connect } = made(t, { keyed: before });
    const risky = store.send({ type: 'addTracks', tracks: [] });
    const harmless = store.send({ type: 'dequeue', entry: 2 });
    store.disconnected();
    const again = connect();
    store.receive(snapshot({ keyed: after, epoch, you: YOU }));
    assert.deepEqual(again.map((one) => one.command.type), ['dequeue']);
    assert.equal(await outcome(risky), 'outcome_unknown');
    assert.equal(await outcome(harmless), 'waiting');
  });
}

test('a live control that waits for 10 s is given up, others are not', async (t) => {
  const { store, connect, resume } = made(t, { keyed: 1 });
  const pause = store.send({ type: 'pause' });
  store.disconnected({ retryAt: 5 });
  const skip = store.send({ type: 'skip' });
  const enqueue = store.send({ type: 'enqueue', track: 1 });
  t.mock.timers.tick(9_999);
  assert.equal(await outcome(pause), 'waiting');
  t.mock.timers.tick(1);
  assert.equal(await outcome(pause), 'outcome_unknown');
  assert.equal(await outcome(skip), 'offline');
  assert.equal(await outcome(enqueue), 'waiting');
  const again = connect();
  resume();
  assert.deepEqual(again.map((one) => one.command.type), ['enqueue']);
  store.disconnected({ retryAt: 5 });
  t.mock.timers.tick(86_400_000);
  assert.equal(await outcome(enqueue), 'outcome_unknown');
});

for (const [what, type, ms] of [['a live control', 'skip', 3_600_000], ['any command', 'enqueue', 86_400_000]]) {
  test(`${what} that is too old after a sleep is not sent again`, async (t) => {
    const { store, connect, resume, sleep } = made(t, { keyed: 1 });
    const lost = store.send({ type, track: 1 });
    sleep(ms);
    store.disconnected({ retryAt: 5 });
    const again = connect();
    resume();
    assert.deepEqual([again, await outcome(lost)], [[], 'outcome_unknown']);
  });
}

test('an answered command whose events are missing is settled by the resumption', async (t) => {
  const { store, sent, connect, resume, voted } = made(t);
  const vote = store.send({ type: 'vote', track: 1 });
  store.receive({ type: 'ack', re: sent[0].id, seq: 8 });
  store.disconnected();
  const afterwards = connect();
  resume({ seq: 8, you: { ...YOU, votes: [1, 2] } });
  assert.deepEqual([await outcome(vote), afterwards], ['waiting', []]);
  voted(1);
  assert.equal(await outcome(vote), null);
  const other = store.send({ type: 'vote', track: 5 });
  const again = connect();
  store.receive(snapshot({ seq: 8, you: YOU }));
  store.receive({ type: 'ack', re: again[0].id, seq: 900 });
  assert.equal(await outcome(other), 'waiting');
  store.receive(snapshot({ seq: 3, epoch: 'restored', you: YOU }));
  assert.equal(await outcome(other), null);
});

test('a vote shows at once, without a flicker until its event and its ack are here', (t) => {
  const { store, sent, voted } = made(t);
  const track = store.room.tracks.get(1);
  const shown = () => store.votesOf(track);
  assert.deepEqual(shown(), { count: 0, mine: false, pending: false });
  store.toggleVote(track);
  assert.deepEqual(shown(), { count: 1, mine: true, pending: true });
  voted(1, 10);
  assert.deepEqual(shown(), { count: 2, mine: true, pending: true });
  voted(1, 2, 2);
  assert.deepEqual(shown(), { count: 2, mine: true, pending: true });
  store.receive({ type: 'ack', re: sent[0].id, seq: 9 });
  assert.deepEqual(shown(), { count: 2, mine: true, pending: false });
  store.toggleVote(track);
  assert.deepEqual(sent[1].command, { type: 'unvote', track: 1 });
  assert.deepEqual(shown(), { count: 1, mine: false, pending: true });
  store.receive({ type: 'ack', re: sent[1].id, seq: 10 });
  assert.deepEqual(shown(), { count: 1, mine: false, pending: true });
});

test('a refused vote is taken back', async (t) => {
  const { store, sent, draw } = made(t);
  const track = store.room.tracks.get(1);
  draw();
  let drawn = 0;
  store.watch(PART.votes, () => { drawn += 1; });
  const vote = store.toggleVote(track);
  draw();
  store.receive({ type: 'error', re: sent[0].id, code: 'not_member', message: '' });
  draw();
  assert.equal(await outcome(vote), 'not_member');
  assert.deepEqual([store.votesOf(track), drawn], [{ count: 0, mine: false, pending: false }, 2]);
});

test('a second tap before the first is sent sends nothing; in flight it sends the opposite', async (t) => {
  const { store, connect, resume, sent } = made(t);
  const track = store.room.tracks.get(1);
  store.disconnected({ retryAt: 5 });
  const vote = store.toggleVote(track);
  const back = store.toggleVote(track);
  assert.deepEqual(store.votesOf(track), { count: 0, mine: false, pending: false });
  assert.deepEqual([await outcome(vote), await outcome(back)], [null, null]);
  const again = connect();
  resume();
  store.toggleVote(track);
  store.toggleVote(track);
  assert.deepEqual([...sent, ...again].map((one) => one.command.type), ['vote', 'unvote']);
  assert.deepEqual(store.votesOf(track), { count: 0, mine: false, pending: true });
});

test('a hole, and a beat ahead, subscribe again with the position, once', (t) => {
  const { store, sent, resume } = made(t);
  const late = { type: 'delta', room: ROOM, from: 9, seq: 9, events: [golden('event-voteCast', { seq: 9 })] };
  store.receive(late);
  store.receive(late);
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 9 } });
  assert.deepEqual(sent, [{ type: 'subscribe', id: sent[0].id, room: ROOM, position: { epoch: 'e1', seq: 7 } }]);
  resume({ re: sent[0].id, seq: 9 });
  store.receive({ type: 'delta', room: ROOM, from: 8, seq: 9, events: [golden('event-voteCast'), golden('event-memberRenamed', { seq: 9 })] });
  store.receive(late);
  assert.deepEqual([store.room.seq, store.room.tracks.get(1).votes], [9, 1]);
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 9, other: 99 } });
  assert.equal(sent.length, 1);
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 10 } });
  assert.deepEqual(sent[1].position, { epoch: 'e1', seq: 9 });
  store.receive({ type: 'error', re: sent[1].id, code: 'rate_limited', message: '', retryAfterMs: 100 });
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 10 } });
  assert.equal(sent.length, 3);
});

test('snapshots replace the room: collapsed ones, and those of another epoch', (t) => {
  const { store } = made(t);
  let taken = 0;
  store.on('snapshot', () => { taken += 1; });
  store.receive(snapshot({ seq: 131, collapsed: { from: 8, seq: 131 } }, { name: 'Cellar' }));
  assert.deepEqual([store.room.name, store.room.seq, store.room.you], ['Cellar', 131, null]);
  store.receive(snapshot({ seq: 3, epoch: 'e2', you: YOU }));
  assert.deepEqual([store.position, taken], [{ epoch: 'e2', seq: 3 }, 2]);
  store.receive({ type: 'delta', room: ROOM, from: 4, seq: 4, events: [golden('event-voteCast', { seq: 4 })] });
  assert.equal(store.room.seq, 4);
});

test('a resumption that does not fit asks for a whole snapshot', (t) => {
  const { store, connect } = made(t);
  const sent = connect();
  store.receive({ type: 'resumed', room: ROOM, epoch: 'other', seq: 9 });
  assert.deepEqual(sent, [{ type: 'subscribe', id: sent[0].id, room: ROOM }]);
});

test('what is live reaches the room and its listeners', (t) => {
  const { store, sent } = made(t);
  const heard = [];
  const stop = store.on('reaction', (message) => heard.push(message.emoji));
  store.on('event', (event) => heard.push(event.type));
  store.receive(golden('server-reaction'));
  store.receive(golden('server-reaction', { room: 'another' }));
  stop();
  store.receive(golden('server-reaction'));
  store.receive({ type: 'delta', room: ROOM, from: 7, seq: 8, events: [{ seq: 7, at: 1, type: 'old' }, golden('event-voteCast')] });
  assert.deepEqual(heard, ['👍', 'voteCast']);
  store.receive(golden('server-presence'));
  store.receive({ type: 'deck', room: ROOM, member: 1, here: true });
  assert.deepEqual([store.room.online, store.room.deck], [3, { member: 1, here: true }]);
  store.post({ type: 'react', emoji: '🔥' });
  assert.deepEqual(sent, [{ type: 'react', emoji: '🔥', room: ROOM }]);
  store.receive({ type: 'message of a later release', room: ROOM });
});

test('every golden message of the server is taken, in a room and without one', (t) => {
  const names = goldenNames('server-');
  assert.ok(names.length > 25);
  for (const live of [true, false]) {
    for (const name of names) {
      const { store, connect } = made(t, { live });
      if (!live) connect();
      const message = golden(name);
      store.receive(message);
      if (message.type === 'snapshot') assert.deepEqual([store.room.seq, store.link.state], [message.seq, 'live'], name);
      if (message.type === 'deck' && live) assert.deepEqual(store.room.deck, message.member ? { member: message.member, ...(message.here && { here: true }) } : {}, name);
      if (message.type === 'snapshot' && message.deck) assert.deepEqual(store.room.deck.member, message.deck, name);
      t.mock.timers.reset();
    }
  }
});

test('joining tells which member the viewer is, before its event', async (t) => {
  const { store, sent, delta } = made(t, { you: undefined });
  const join = store.send({ type: 'join', name: 'Ines' });
  store.receive({ type: 'ack', re: sent[0].id, seq: 8, result: { member: 11 } });
  assert.equal(store.room.you.member, 11);
  delta({ type: 'memberJoined', member: 11, name: 'Ines', role: 'guest' });
  assert.deepEqual(await outcome(join), { member: 11 });
});

test('what is shown from before a join, after its answer, makes the page ask once who the viewer is', (t) => {
  const { store, sent, connect } = made(t, { you: undefined });
  store.send({ type: 'join', name: 'Ines' });
  store.receive({ type: 'ack', re: sent[0].id, seq: 8, result: { member: 11 } });
  // The join may be of an epoch whose beginning comes later.
  store.receive(snapshot({ epoch: 'e2', seq: 3 }));
  assert.equal(store.room.you, null);
  assert.deepEqual(sent[1], { type: 'subscribe', id: sent[1].id, room: ROOM, position: { epoch: 'e2', seq: 3 } });
  store.receive({ type: 'resumed', re: sent[1].id, room: ROOM, epoch: 'e2', seq: 8, you: { member: 11, role: 'guest', votes: [] } });
  assert.equal(store.room.you.member, 11);
  // Who is no member any more has been told so.
  store.receive(snapshot({ epoch: 'e2', seq: 9 }));
  store.receive(snapshot({ epoch: 'e2', seq: 10 }));
  assert.equal(sent.length, 2);
  // A question that was open is answered from before the join, too.
  const again = connect();
  store.receive(snapshot({ epoch: 'e2', seq: 10 }));
  store.send({ type: 'join', name: 'Ines' });
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 11 } });
  store.receive({ type: 'ack', re: again[0].id, seq: 11, result: { member: 12 } });
  store.receive({ type: 'resumed', re: again[1].id, room: ROOM, epoch: 'e2', seq: 10 });
  assert.deepEqual(again.map((one) => one.type), ['command', 'subscribe', 'subscribe']);
});

test('the question who the viewer is is asked again with a beat where it was refused', (t) => {
  const { store, sent } = made(t, { you: undefined });
  store.send({ type: 'join', name: 'Ines' });
  store.receive({ type: 'ack', re: sent[0].id, seq: 8, result: { member: 11 } });
  store.receive(snapshot({ epoch: 'e2', seq: 3 }));
  store.receive({ type: 'error', re: sent[1].id, code: 'rate_limited', message: '', retryAfterMs: 100 });
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 3 } });
  assert.deepEqual([sent.length, sent[2].type], [3, 'subscribe']);
  store.receive({ type: 'resumed', re: sent[2].id, room: ROOM, epoch: 'e2', seq: 3, you: { member: 11, role: 'guest', votes: [] } });
  store.receive({ type: 'beat', time: 1, rooms: { [ROOM]: 3 } });
  assert.deepEqual([sent.length, store.room.you.member], [3, 11]);
});

test('a join whose events came before its answer makes the page ask for the votes since', (t) => {
  const { store, sent, delta } = made(t, { you: undefined });
  store.send({ type: 'join', name: 'Ines' });
  delta({ type: 'memberJoined', member: 11, name: 'Ines', role: 'guest' }, { type: 'voteCast', track: 1, by: 11, votes: 1, requestedSeq: 9 });
  store.receive({ type: 'ack', re: sent[0].id, seq: 8, result: { member: 11 } });
  assert.equal(sent[1].type, 'subscribe');
  store.receive({ type: 'resumed', re: sent[1].id, room: ROOM, epoch: 'e1', seq: 9, you: { member: 11, role: 'guest', votes: [1] } });
  assert.deepEqual([store.room.you.member, [...store.room.you.votes]], [11, [1]]);
});

test('while nothing is live, the time since stays; the end empties the store', async (t) => {
  const { store } = made(t);
  const vote = store.send({ type: 'vote', track: 1 });
  t.mock.timers.tick(500);
  store.disconnected({ retryAt: 900 });
  t.mock.timers.tick(500);
  store.disconnected();
  assert.deepEqual([store.link.state, store.link.since, store.room !== null], ['connecting', 500, true]);
  const rooms = [];
  store.on('change', () => rooms.push(store.room?.name ?? null));
  store.disconnected({ code: 4403, retryAfterMs: 60_000 });
  assert.equal(rooms.at(-1), null, 'a deck hears that there is no room');
  assert.deepEqual([store.link.state, store.link.code, store.link.retryAfterMs, store.room], ['ended', 4403, 60_000, null]);
  assert.equal(await outcome(vote), 'banned');
  const refused = await store.send({ type: 'vote', track: 1 }).catch((error) => error);
  assert.deepEqual([refused.code, refused.retryAfterMs], ['banned', 60_000]);
});

test('a saved room is shown until the server’s is here', (t) => {
  const { store, connect } = made(t, { live: false });
  store.restore(snapshot({ seq: 5 }));
  assert.deepEqual([store.position, store.link.state], [{ epoch: 'e1', seq: 5 }, 'connecting']);
  connect();
  store.receive({ type: 'resumed', room: ROOM, epoch: 'e1', seq: 5 });
  assert.equal(store.link.state, 'live');
  store.restore(snapshot({ seq: 1 }));
  assert.equal(store.room.seq, 5);
});
