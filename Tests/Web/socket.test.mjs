// The link to a room: handshake, backoff, goaway, dead sockets, the ends, and the session.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '../../Sources/WebClient/Pages/store/store.js';
import { proveSession } from '../../Sources/WebClient/Pages/wire/http.js';
import { RoomLink } from '../../Sources/WebClient/Pages/wire/socket.js';
import { browser } from './fake-browser.mjs';
import { ROOM, golden, snapshot } from './samples.mjs';

const WELCOME = golden('server-welcome');
const problem = (status, code, more = {}) => [status, { type: 'about:blank', title: code, status, code, ...more }];

/** A link, and the browser in which it is. */
async function linked(t, options) {
  proveSession();
  const world = browser(t, options);
  const store = new Store({ frame: () => {}, now: () => Date.now() });
  const link = new RoomLink(store, '7K3M9Q');
  t.after(() => link.close());
  link.open();
  await world.settle();
  return { ...world, store, link, last: () => world.sockets.at(-1) };
}

/** A link that is live; the sockets of before are forgotten. */
async function live(t, options) {
  const world = await linked(t, options);
  world.last().open();
  world.last().say(WELCOME, snapshot());
  assert.equal(world.store.link.state, 'live');
  return world;
}

const now = () => Date.now();

test('the room is asked for by its code, then by its id with the position', async (t) => {
  const { sockets, last, store, pass } = await live(t);
  assert.deepEqual([sockets.length, last().url, last().protocol],
    [1, 'wss://localhost:8080/v1/rooms/7K3M9Q/socket', 'backline.v1.json']);
  last().end(1006);
  assert.equal(store.link.state, 'waiting');
  await pass(250);
  assert.equal(last().url, `wss://localhost:8080/v1/rooms/${ROOM}/socket?epoch=e1&seq=7`);
  assert.equal(store.link.state, 'connecting');
  last().open();
  last().say(WELCOME, golden('server-resumed-watching', { seq: 7 }));
  assert.equal(store.link.state, 'live');
});

test('attempts are spread over twice the time each, up to 20 s, and early again after 30 s', async (t) => {
  const { sockets, last, store, pass } = await live(t);
  t.mock.method(Math, 'random', () => 0.999999);
  const waits = [];
  last().end(1011);
  for (let i = 0; i < 9; i++) {
    const wait = store.link.retryAt - performance.now();
    waits.push(Math.round(wait));
    const count = sockets.length;
    await pass(wait - 20);
    assert.equal(sockets.length, count);
    await pass(40);
    assert.equal(sockets.length, count + 1);
    last().end(1006);
    await pass(0);
  }
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
  await pass(20_000);
  last().open();
  last().say(WELCOME, snapshot());
  await pass(30_000);
  last().end(4408);
  assert.ok(store.link.retryAt - performance.now() <= 251);
});

test('Try now makes an attempt at once, and no second one', async (t) => {
  const { sockets, last, link, pass, settle } = await live(t);
  last().end(1006);
  link.retryNow();
  link.retryNow();
  await settle();
  assert.equal(sockets.length, 2);
  await pass(20_000);
});

test('goaway: the socket is used until it closes; then another one is there at once', async (t) => {
  const { sockets, last, store, settle } = await live(t);
  const [old] = sockets;
  old.say({ type: 'goaway', reason: 'restart', reconnectInMs: 1500 });
  await settle();
  assert.equal(sockets.length, 1);
  store.send({ type: 'vote', track: 1 });
  assert.equal(old.sentOf('command').length, 1);
  old.end(1012);
  await settle();
  assert.deepEqual([sockets.length, store.link.state], [2, 'connecting']);
  last().open();
  last().say(WELCOME, snapshot());
  assert.equal(last().sentOf('command')[0].key, old.sentOf('command')[0].key);
});

test('a server that stops is no reason to wait longer', async (t) => {
  t.mock.method(Math, 'random', () => 0.99);
  const { last, store, pass, settle } = await live(t);
  for (const wait of [250, 500, 1000]) {
    last().end(1006);
    await pass(wait);
  }
  last().open();
  last().say(WELCOME, snapshot(), { type: 'goaway', reason: 'restart', reconnectInMs: 0 });
  last().end(1012);
  await settle();
  last().end(1006);
  await settle();
  assert.ok(store.link.retryAt - performance.now() <= 251);
});

test('a link that is closed while it asks for a session makes no socket', async (t) => {
  const { sockets, link, settle, pass } = await live(t);
  link.close();
  link.open();
  link.close();
  await settle();
  await pass(30_000);
  assert.equal(sockets.length, 1);
});

for (const [code, state] of [
  [1000, 'waiting'], [1001, 'waiting'], [1006, 'waiting'], [1008, 'waiting'], [1009, 'waiting'], [1011, 'waiting'], [1012, 'waiting'],
  [1013, 'waiting'], [4408, 'waiting'], [4429, 'waiting'], [4401, 'ended'], [4403, 'ended'], [4404, 'ended'],
]) {
  test(`after the close code ${code} the link is ${state}`, async (t) => {
    const { sockets, last, store, pass, settle, answers } = await live(t);
    answers[`GET /v1/rooms/7K3M9Q/events`] = problem(403, 'banned', { retryAfterMs: 60_000 });
    last().end(code);
    await settle();
    assert.equal(store.link.state, state);
    await pass(20_000);
    assert.equal(sockets.length, state === 'ended' ? 1 : 2);
    if (state === 'ended') assert.deepEqual([store.link.code, store.room], [code, null]);
    if (code === 4403) assert.equal(store.link.retryAfterMs, 60_000);
  });
}

for (const [status, code] of [[404, 'not_found'], [403, 'banned']]) {
  test(`a handshake that is refused as ${code} ends the link with the reason`, async (t) => {
    const { sockets, last, store, pass, answers, requests } = await linked(t);
    answers['GET /v1/rooms/7K3M9Q/events'] = problem(status, code, { retryAfterMs: 5000 });
    last().end();
    await pass(0);
    assert.deepEqual([store.link.state, store.link.code, store.link.retryAfterMs], ['ended', code, 5000]);
    await pass(60_000);
    assert.deepEqual([sockets.length, requests.length], [1, 1]);
  });
}

test('where too many requests were sent, the next attempt waits as long as the server says', async (t) => {
  const { sockets, last, store, pass, answers } = await linked(t);
  answers['GET /v1/rooms/7K3M9Q/events'] = problem(429, 'rate_limited', { retryAfterMs: 9000 });
  last().end();
  await pass(0);
  assert.equal(store.link.state, 'waiting');
  await pass(8900);
  assert.equal(sockets.length, 1);
  await pass(400);
  assert.equal(sockets.length, 2);
});

test('a first visit makes a session without asking', async (t) => {
  const world = browser(t, { session: null });
  world.answers['POST /v1/sessions'] = [201, { session: { id: 's2', name: 'Guest', createdAt: 1 }, token: 'bls_x' }];
  const store = new Store({ frame: () => {}, now });
  const link = new RoomLink(store, '7K3M9Q');
  t.after(() => link.close());
  link.open();
  await world.settle();
  assert.deepEqual(world.requests, [['POST', '/v1/sessions', { name: 'Guest' }]]);
  assert.deepEqual(store.session, { id: 's2', name: 'Guest' });
  assert.deepEqual(JSON.parse(world.kept.get('backline.session')), { id: 's2', name: 'Guest' });
  assert.equal(world.sockets.length, 1);
});

test('a visitor whose session has expired gets a new one; where its cookie is lost, the link ends', async (t) => {
  const { sockets, last, store, pass, answers, requests, kept } = await linked(t);
  answers['GET /v1/rooms/7K3M9Q/events'] = problem(401, 'unauthorized');
  answers['POST /v1/sessions'] = [201, { session: { id: 's2', name: 'Ana' }, token: 'bls_x' }];
  last().end();
  await pass(0);
  await pass(300);
  assert.deepEqual(requests.slice(1), [['POST', '/v1/sessions', { name: 'Ana' }]]);
  assert.deepEqual([sockets.length, JSON.parse(kept.get('backline.session')).id], [2, 's2']);
  last().end();
  await pass(0);
  assert.deepEqual([store.link.state, store.link.code], ['ended', 'cookie_lost']);
});

test('a refused handshake has the page ask once whether it is the server’s own', async (t) => {
  const { last, store, pass, answers, requests } = await linked(t);
  answers['GET /v1/rooms/7K3M9Q/events'] = [200, { events: [], seq: 7 }];
  answers['GET /v1/session'] = answers['PATCH /v1/session'] = [200, { session: { id: 's1', name: 'Ana' } }];
  last().end();
  await pass(0);
  assert.deepEqual([store.link.state, requests.at(-1)], ['waiting', ['PATCH', '/v1/session', { name: 'Ana' }]]);
  await pass(1000);
  last().end();
  await pass(0);
  assert.equal(requests.filter(([method]) => method === 'PATCH').length, 1);
});

test('where the server answers and no socket comes about, the page knows that after some attempts, and goes on trying', async (t) => {
  const { sockets, last, store, pass, answers } = await linked(t);
  const events = answers['GET /v1/rooms/7K3M9Q/events'] = [200, { events: [], seq: 7 }];
  answers['GET /v1/session'] = answers['PATCH /v1/session'] = [200, { session: { id: 's1', name: 'Ana' } }];
  const fail = async () => {
    last().end();
    await pass(0);
    return store.link.isBlocked;
  };
  const told = [];
  for (let i = 0; i < 5; i++) {
    told.push(await fail());
    await pass(20_000);
    assert.equal(sockets.length, i + 2);
  }
  assert.deepEqual([told, store.link.isBlocked], [[false, false, false, true, true], true]);
  answers['GET /v1/rooms/7K3M9Q/events'] = 'offline';
  assert.equal(await fail(), false);
  answers['GET /v1/rooms/7K3M9Q/events'] = events;
  await pass(20_000);
  assert.equal(await fail(), false);
  await pass(20_000);
  last().open();
  last().say(WELCOME, snapshot());
  assert.deepEqual([store.link.state, store.link.isBlocked], ['live', undefined]);
});

test('a page that the server does not take for its own gets no socket at all, and hears why', async (t) => {
  const { last, store, pass, answers } = await linked(t);
  answers['GET /v1/rooms/7K3M9Q/events'] = [200, { events: [], seq: 7 }];
  answers['GET /v1/session'] = [200, { session: { id: 's1', name: 'Ana' } }];
  answers['PATCH /v1/session'] = problem(403, 'forbidden');
  last().end();
  await pass(0);
  assert.deepEqual([store.link.state, store.link.code], ['ended', 'foreign']);
});

test('a page that was live is the server’s own, and goes on trying whatever a proxy does meanwhile', async (t) => {
  const { last, store, pass, answers, requests } = await live(t);
  answers[`GET /v1/rooms/${ROOM}/events`] = [200, { events: [], seq: 7 }];
  last().end(1006);
  await pass(300);
  last().end();
  await pass(0);
  assert.equal(store.link.state, 'waiting');
  assert.deepEqual(requests.filter(([method]) => method !== 'GET'), []);
});

test('a visitor without a session is told at once where the page is not the server’s own', async (t) => {
  const world = browser(t, { session: null });
  world.answers['POST /v1/sessions'] = problem(403, 'forbidden');
  world.answers['GET /v1/rooms/7K3M9Q/events'] = problem(401, 'unauthorized');
  const store = new Store({ frame: () => {}, now: () => Date.now() });
  const link = new RoomLink(store, '7K3M9Q');
  t.after(() => link.close());
  link.open();
  await world.settle();
  assert.deepEqual([store.link.state, store.link.code, world.sockets.length], ['ended', 'foreign', 0]);
});

test('where too many sessions were made, the next attempt waits, and the session has the same name', async (t) => {
  const { sockets, last, pass, answers, requests } = await linked(t);
  answers['GET /v1/rooms/7K3M9Q/events'] = problem(401, 'unauthorized');
  answers['POST /v1/sessions'] = problem(429, 'rate_limited', { retryAfterMs: 9000 });
  last().end();
  await pass(0);
  await pass(8900);
  assert.equal(sockets.length, 1);
  await pass(400);
  answers['POST /v1/sessions'] = [201, { session: { id: 's2', name: 'Ana' }, token: 'bls_x' }];
  last().end();
  await pass(0);
  await pass(1000);
  assert.deepEqual(requests.filter(([method]) => method === 'POST').map(([, , body]) => body.name), ['Ana', 'Ana']);
  assert.equal(sockets.length, 3);
});

test('a session that ends while the room is shown is not replaced by itself', async (t) => {
  const { last, store, pass, answers, kept, link, settle, sockets } = await live(t);
  answers[`GET /v1/rooms/${ROOM}/events`] = problem(401, 'unauthorized');
  last().end(1006);
  await pass(300);
  last().end();
  await pass(0);
  assert.deepEqual([store.link.state, store.link.code, kept.size], ['ended', 'unauthorized', 0]);
  answers['POST /v1/sessions'] = [201, { session: { id: 's3', name: 'Guest' }, token: 'x' }];
  link.retryNow();
  await settle();
  assert.deepEqual([sockets.length, sockets.at(-1).url.endsWith('/v1/rooms/7K3M9Q/socket')], [3, true]);
});

test('the session that another tab has made is not forgotten', async (t) => {
  const { last, kept, store, settle } = await live(t);
  kept.set('backline.session', '{"id":"s9","name":"Other"}');
  last().end(4401);
  await settle();
  assert.deepEqual([store.link.code, kept.size], [4401, 1]);
});

test('a page that is seen again asks; a socket that answers stays', async (t) => {
  const { sockets, last, pass, visibility, event } = await live(t);
  const asked = last().sentOf('time').length;
  await visibility('hidden');
  await pass(5000);
  await visibility('visible');
  await event('pageshow');
  await event('online');
  assert.ok(last().sentOf('time').length > asked);
  last().say({ type: 'time', re: 0, t1: 0, t2: 0, t3: 0 });
  await pass(1500);
  assert.equal(sockets.length, 1);
});

test('a socket that does not answer for a second is replaced, and closed when the new one is open', async (t) => {
  const { sockets, last, pass, event, store } = await live(t);
  await pass(3000);
  await event('online');
  await pass(999);
  assert.equal(sockets.length, 1);
  await pass(2);
  assert.equal(sockets.length, 2);
  assert.equal(store.link.state, 'live');
  last().open();
  last().say(WELCOME, golden('server-resumed-watching', { seq: 7 }));
  assert.deepEqual([sockets[0].wasClosed, store.link.state], [true, 'live']);
  await pass(5000);
  assert.equal(sockets.length, 2);
});

test('after ten minutes frozen one new socket is made at once, whatever events come', async (t) => {
  const { sockets, last, visibility, event, pass, store } = await live(t);
  await visibility('hidden');
  t.mock.timers.setTime(Date.now() + 600_000);
  await event('resume', 'document');
  await visibility('visible');
  await event('pageshow');
  await event('online');
  await pass(0);
  assert.equal(sockets.length, 2);
  last().open();
  last().say(WELCOME, golden('server-resumed-watching', { seq: 8 }),
    { type: 'delta', room: ROOM, from: 8, seq: 8, events: [golden('event-voteCast')] });
  assert.deepEqual([sockets[0].wasClosed, store.room.seq, store.link.state], [true, 8, 'live']);
  await pass(10_000);
  assert.equal(sockets.length, 2);
});

test('a frozen page whose socket is alive keeps it, and the new one is closed without a sound', async (t) => {
  const { sockets, visibility, pass, store } = await live(t);
  await visibility('hidden');
  t.mock.timers.setTime(Date.now() + 100_000);
  await visibility('visible');
  assert.equal(sockets.length, 2);
  sockets[0].say({ type: 'beat', time: 1, rooms: { [ROOM]: 7 } });
  sockets[1].open();
  assert.deepEqual([sockets[0].wasClosed, sockets[1].wasClosed, store.link.state], [undefined, true, 'live']);
  sockets[0].say({ type: 'delta', room: ROOM, from: 8, seq: 8, events: [golden('event-voteCast')] });
  assert.equal(store.room.seq, 8);
  await pass(60_200);
  assert.equal(sockets.length, 3);
});

test('where neither the old socket nor a new one works, the link waits', async (t) => {
  const { sockets, last, visibility, pass, store } = await live(t);
  await visibility('hidden');
  t.mock.timers.setTime(Date.now() + 100_000);
  await visibility('visible');
  last().end(1006);
  await pass(0);
  assert.deepEqual([store.link.state, sockets[0].wasClosed], ['waiting', true]);
});

test('a tap on a socket that is dead finds it in 4 s; the command is sent again', async (t) => {
  const { sockets, last, pass, store } = await live(t);
  sockets[0].say({ type: 'beat', time: 1, rooms: {} });
  await pass(5000);
  const count = sockets.length;
  store.send({ type: 'vote', track: 1 }).catch(() => {});
  await pass(3000);
  assert.deepEqual([sockets.length, last().sent.at(-1).type], [count, 'time']);
  await pass(1000);
  assert.equal(sockets.length, count + 1);
  last().open();
  last().say(WELCOME, golden('server-resumed-watching', { seq: 7 }));
  assert.equal(last().sentOf('command')[0].key, sockets[0].sentOf('command')[0].key);
});

test('a server that is slow with a command keeps its connection', async (t) => {
  const { sockets, pass, store } = await live(t);
  await pass(5000);
  store.send({ type: 'vote', track: 1 }).catch(() => {});
  for (let i = 0; i < 10; i++) {
    await pass(1000);
    for (const { id, t1 } of sockets[0].sent.filter((one) => one.type === 'time').slice(-1)) sockets[0].say({ type: 'time', re: id, t1, t2: 0, t3: 0 });
  }
  assert.equal(sockets.length, 1);
});

test('a silent socket is found by the watchdog after two beats and 10 s', async (t) => {
  const { sockets, last, pass } = await live(t);
  await pass(40_000);
  last().say({ type: 'beat', time: 1, rooms: {} });
  await pass(59_900);
  assert.equal(sockets.length, 1);
  await pass(300);
  assert.equal(sockets.length, 2);
});

test('a watchdog that was wrong goes on watching', async (t) => {
  const { sockets, pass } = await live(t);
  await pass(60_100);
  assert.equal(sockets.length, 2);
  sockets[0].say({ type: 'beat', time: 1, rooms: {} });
  sockets[1].open();
  assert.deepEqual([sockets[0].wasClosed, sockets[1].wasClosed], [undefined, true]);
  await pass(60_100);
  assert.equal(sockets.length, 3);
});

test('an attempt that hangs is given up after 10 s', async (t) => {
  const { sockets, pass, store } = await linked(t);
  await pass(10_000);
  await pass(300);
  assert.equal(sockets.length, 2);
  assert.equal(store.link.state, 'connecting');
});

test('a handshake that is given up does not hold up the next one: browsers make one at a time', async (t) => {
  const { sockets, pass } = await linked(t);
  await pass(10_000);
  assert.equal(sockets[0].wasClosed, true);
});

test('a young handshake that is given up may still end by itself for a second', async (t) => {
  const { sockets, link, pass } = await linked(t);
  link.close();
  await pass(999);
  assert.equal(sockets[0].wasClosed, undefined);
  await pass(1);
  assert.equal(sockets[0].wasClosed, true);
});

test('waiting ends when the network is back', async (t) => {
  t.mock.method(Math, 'random', () => 0.99);
  const { sockets, last, pass, event } = await live(t);
  for (let i = 0; i < 7; i++) {
    last().end(1006);
    await pass(16_000);
  }
  last().end(1006);
  await pass(2000);
  const count = sockets.length;
  await event('online');
  assert.equal(sockets.length, count + 1);
});

test('a closed link does nothing any more', async (t) => {
  const { sockets, link, event, pass } = await live(t);
  link.close();
  await event('online');
  await pass(100_000);
  assert.deepEqual([sockets.length, sockets[0].wasClosed], [1, true]);
});
