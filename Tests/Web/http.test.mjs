// Requests and the session: what is sent, and which refusal an answer becomes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../Sources/WebClient/Pages/store/store.js';
import * as http from '../../Sources/WebClient/Pages/wire/http.js';
import { browser } from './fake-browser.mjs';
import { golden } from './samples.mjs';

const refusal = (promise) => promise.then(() => assert.fail('it was not refused'), (error) => {
  assert.ok(error instanceof Refusal);
  return [error.code, error.status, error.retryAfterMs];
});

test('bodies are JSON both ways; nothing is sent where there is none', async (t) => {
  const { answers, requests } = browser(t);
  answers['GET /v1/session/rooms'] = [200, { rooms: [] }];
  answers['DELETE /v1/x'] = [204];
  assert.deepEqual(await http.request('GET', '/v1/session/rooms'), { rooms: [] });
  assert.equal(await http.request('DELETE', '/v1/x'), undefined);
  assert.deepEqual(requests, [['GET', '/v1/session/rooms', undefined], ['DELETE', '/v1/x', undefined]]);
});

test('problems become refusals with code, status and the time to wait', async (t) => {
  const { answers } = browser(t);
  const problem = golden('http-problem-retry');
  answers['POST /v1/rooms'] = [problem.status, problem];
  assert.deepEqual(await refusal(http.request('POST', '/v1/rooms', { name: 'x' }, { key: 'k' })),
    [problem.code, problem.status, problem.retryAfterMs]);
  answers['GET /v1/rooms'] = [502, '<html>'];
  assert.deepEqual(await refusal(http.request('GET', '/v1/rooms')), ['internal', 502, undefined]);
  assert.deepEqual(await refusal(http.request('GET', '/v1/nothing')), ['offline', undefined, undefined]);
});

test('bytes that are not there are null; those that cannot be had now are refused', async (t) => {
  const { answers } = browser(t);
  answers['GET /v1/w/none'] = [404, { status: 404, code: 'not_found' }];
  assert.equal(await http.bytes('/v1/w/none'), null);
  answers['GET /v1/w/busy'] = [429, { status: 429, code: 'rate_limited', retryAfterMs: 900 }];
  assert.deepEqual(await refusal(http.bytes('/v1/w/busy')), ['rate_limited', 429, 900]);
  answers['GET /v1/w/down'] = [503, '<html>'];
  assert.deepEqual(await refusal(http.bytes('/v1/w/down')), ['internal', 503, undefined]);
  assert.deepEqual(await refusal(http.bytes('/v1/w/lost')), ['offline', undefined, undefined]);
});

test('an answer that does not come is given up', async (t) => {
  browser(t);
  globalThis.fetch = (_, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const waiting = refusal(http.request('GET', '/v1/rooms', undefined, { timeoutMs: 5000 }));
  await new Promise(setImmediate);
  t.mock.timers.tick(5000);
  assert.deepEqual(await waiting, ['offline', undefined, undefined]);
});

test('a session is noted without its token, made once, renamed and forgotten', async (t) => {
  const { answers, kept, requests } = browser(t, { session: null });
  const session = { id: 's2', name: 'Guest', createdAt: 1, expiresAt: 2 };
  answers['POST /v1/sessions'] = [201, { session, token: 'bls_secret' }];
  answers['PATCH /v1/session'] = [200, { session: { ...session, name: 'Ines' } }];
  answers['DELETE /v1/session'] = [204];
  assert.equal(http.knownSession(), null);
  const [one, two] = await Promise.all([http.ensureSession(), http.ensureSession()]);
  assert.deepEqual([one, two, requests.length], [{ id: 's2', name: 'Guest' }, one, 1]);
  assert.deepEqual([...kept.values()], ['{"id":"s2","name":"Guest"}']);
  await http.renameSession('Ines');
  assert.deepEqual(http.knownSession(), { id: 's2', name: 'Ines' });
  assert.deepEqual(await http.ensureSession(), { id: 's2', name: 'Ines' });
  await http.endSession();
  assert.equal(kept.size, 0);
});

/** A browser in which a session has just been made, and the server does not know it. */
async function unknown(t, kind) {
  const world = browser(t, { session: null, ...kind });
  world.answers['POST /v1/sessions'] = [201, { session: { id: 's', name: 'Guest' } }];
  world.answers['GET /v1/session'] = [401, { status: 401, code: 'unauthorized' }];
  await http.startSession();
  return world;
}

for (const [what, kind, code] of [
  ['an address that is not private', { origin: 'http://party.test:8080', isSecureContext: false }, 'insecure'],
  ['a browser without secure cookies for this machine', { origin: 'http://localhost:8080', keeps: ['plain'] }, 'insecure'],
  ['a browser that keeps no cookies', { keeps: [] }, 'no_cookies'],
  ['a browser that keeps none for this machine', { origin: 'http://localhost:8080', keeps: [] }, 'no_cookies'],
  ['what takes the cookie away', {}, 'cookie_lost'],
]) {
  test(`a cookie that does not come back is told from ${what}`, async (t) => {
    await unknown(t, kind);
    assert.deepEqual(await refusal(http.currentSession()), [code, 401, undefined]);
    assert.equal(document.cookie, '');
  });
}

test('a session whose cookie did not come back is replaced at the next try', async (t) => {
  const { requests, kept } = await unknown(t);
  await refusal(http.currentSession());
  assert.equal(kept.size, 0);
  await http.ensureSession();
  assert.equal(requests.filter(([, path]) => path === '/v1/sessions').length, 2);
});

test('a session that was in use has ended', async (t) => {
  const { kept } = await unknown(t);
  http.proveSession();
  assert.deepEqual(await refusal(http.currentSession()), ['unauthorized', 401, undefined]);
  assert.equal(kept.size, 1);
});

test('a refusal of the session before says nothing about the one that was made meanwhile', async (t) => {
  const { answers, kept } = browser(t);
  let refuse;
  const { fetch } = globalThis;
  globalThis.fetch = (path, options) => path === '/v1/session/rooms' ? new Promise((resolve) => { refuse = resolve; }) : fetch(path, options);
  answers['POST /v1/sessions'] = [201, { session: { id: 's2', name: 'Guest' }, token: 'x' }];
  const rooms = http.request('GET', '/v1/session/rooms').catch((refusal) => refusal.code);
  await http.startSession();
  refuse(new Response(JSON.stringify({ status: 401, code: 'unauthorized' }), { status: 401 }));
  assert.equal(await rooms, 'unauthorized');
  assert.equal(JSON.parse(kept.get('backline.session')).id, 's2');
});

test('a browser without storage makes a session a visit', async (t) => {
  const { answers, requests } = browser(t);
  globalThis.localStorage = new Proxy({}, { get: () => { throw new DOMException('denied', 'SecurityError'); } });
  answers['POST /v1/sessions'] = [201, { session: { id: 's', name: 'Guest' } }];
  assert.equal(http.knownSession(), null);
  assert.deepEqual(await http.ensureSession(), { id: 's', name: 'Guest' });
  assert.deepEqual([await http.ensureSession(), requests.length], [{ id: 's', name: 'Guest' }, 1]);
  http.forgetSession();
  http.proveSession();
  assert.equal(http.knownSession(), null);
});
