// The link to the rooms near a point: its subscription, and sessions that are over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proveSession } from '../../Sources/WebClient/Pages/wire/http.js';
import { NearbyLink } from '../../Sources/WebClient/Pages/wire/nearby.js';
import { browser } from './fake-browser.mjs';

const CIRCLE = { lat: 41.1, lon: -8.6, radiusMeters: 5000 };
const EXPIRED = [401, { status: 401, code: 'unauthorized' }];
const ANOTHER = [201, { session: { id: 's2', name: 'Ana' }, token: 'bls_x' }];

/** A link in a browser that knows a session, and the states that it told. */
async function linked(t) {
  proveSession();
  const world = browser(t, { path: '/nearby' });
  const states = [];
  const link = new NearbyLink(CIRCLE, (_, { state, code }) => states.push(code ?? state));
  t.after(() => link.close());
  await world.settle();
  return { ...world, link, states, last: () => world.sockets.at(-1), sessions: () => world.requests.filter(([method]) => method === 'POST') };
}

test('the rooms of the circle are asked for, and live when they are here', async (t) => {
  const { last, states } = await linked(t);
  last().open();
  assert.deepEqual(last().sentOf('nearby'), [{ type: 'nearby', id: 1, ...CIRCLE }]);
  last().say({ type: 'nearby', re: 1, rooms: [] });
  assert.equal(states.at(-1), 'live');
});

test('what is played around is asked for beside the rooms, and told when they are here', async (t) => {
  proveSession();
  const { sockets, settle, pass } = browser(t, { path: '/nearby' });
  const told = [];
  const link = new NearbyLink({ ...CIRCLE, radiusMeters: 500 }, (_, { state }, trends) => told.push([state, trends?.tracks.length]));
  t.after(() => link.close());
  await settle();
  sockets[0].open();
  const asked = { type: 'trending', id: 2, window: 'hour', limit: 10, ...CIRCLE, radiusMeters: 1000 };
  assert.deepEqual(sockets[0].sentOf('trending'), [asked]);
  const trends = { window: 'hour', from: 0, to: 1, minimumRooms: 5, tracks: [] };
  sockets[0].say({ type: 'trending', re: 2, ...trends });
  assert.notEqual(told.at(-1)?.[0], 'live');
  sockets[0].say({ type: 'nearby', re: 1, rooms: [] });
  assert.deepEqual(told.at(-1), ['live', 0]);
  sockets[0].say({ type: 'trendingDelta', sub: 2, ...trends, tracks: [{ title: 'One', plays: 2, rooms: 2 }] });
  assert.deepEqual(told.at(-1), ['live', 1]);
  // A refusal leaves what is shown, and is tried again only where the server says when.
  sockets[0].say({ type: 'error', re: 2, code: 'not_found', message: '' });
  await pass(20_000);
  assert.equal(sockets[0].sentOf('trending').length, 1);
  sockets[0].say({ type: 'error', re: 2, code: 'rate_limited', message: '', retryAfterMs: 2000 });
  await pass(2000);
  assert.deepEqual(sockets[0].sentOf('trending'), [asked, asked]);
  assert.deepEqual(told.at(-1), ['live', 1]);
});

test('a session that has expired is replaced by one of the same name, once', async (t) => {
  const { answers, last, pass, sessions, sockets, states } = await linked(t);
  Object.assign(answers, { 'GET /v1/session': EXPIRED, 'POST /v1/sessions': ANOTHER });
  last().end();
  await pass(0);
  await pass(300);
  assert.deepEqual([sessions().map(([, , body]) => body.name), sockets.length], [['Ana'], 2]);
  last().open();
  last().say({ type: 'nearby', re: 1, rooms: [] });
  assert.equal(states.at(-1), 'live');
  last().end();
  await pass(1000);
  last().end();
  await pass(0);
  await pass(60_000);
  assert.deepEqual([sessions().length, sockets.length, states.at(-1)], [1, 3, 'unauthorized']);
});

test('where the cookie of a new session is lost, it is told', async (t) => {
  const { answers, last, pass, states } = await linked(t);
  Object.assign(answers, { 'GET /v1/session': EXPIRED, 'POST /v1/sessions': ANOTHER });
  last().end();
  await pass(0);
  await pass(300);
  last().end();
  await pass(0);
  assert.equal(states.at(-1), 'cookie_lost');
});

test('a page that is not the server’s own hears of it', async (t) => {
  const { last, pass, answers, states } = await linked(t);
  answers['GET /v1/session'] = [200, { session: { id: 's1', name: 'Ana' } }];
  answers['PATCH /v1/session'] = [403, { status: 403, code: 'forbidden' }];
  last().end();
  await pass(0);
  assert.equal(states.at(-1), 'foreign');
});

test('where too many sessions were made, the next attempt waits as long as the server says', async (t) => {
  const { answers, last, pass, sockets } = await linked(t);
  answers['GET /v1/session'] = EXPIRED;
  answers['POST /v1/sessions'] = [429, { status: 429, code: 'rate_limited', retryAfterMs: 9000 }];
  last().end();
  await pass(0);
  await pass(8900);
  assert.equal(sockets.length, 1);
  await pass(400);
  assert.equal(sockets.length, 2);
});

test('a session that ends while rooms are shown is replaced', async (t) => {
  const { answers, last, pass, sessions, sockets } = await linked(t);
  Object.assign(answers, { 'GET /v1/session': EXPIRED, 'POST /v1/sessions': ANOTHER });
  last().open();
  last().end(4401);
  await pass(1000);
  last().end();
  await pass(0);
  await pass(300);
  assert.deepEqual([sessions().length, sockets.length], [1, 3]);
});

test('a link that is closed after its session has ended makes no connection', async (t) => {
  const { link, last, pass, sockets } = await linked(t);
  last().open();
  last().end(4401);
  link.close();
  await pass(60_000);
  assert.equal(sockets.length, 1);
});
