// The service worker: what it keeps, what it answers, and what passes it by.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import vm from 'node:vm';

const SOURCE = readFileSync(new URL('../../Sources/WebClient/Pages/service-worker.js', import.meta.url), 'utf8');
const ORIGIN = 'https://localhost:8080';

/** A worker of a version, with caches and a network that the test sets: path → body, or an Error. */
function worker(version = 'v1', stored = new Map()) {
  const listeners = {}, network = {}, asked = [];
  const fetched = async (given) => {
    const { pathname } = new URL(given.url ?? given, ORIGIN);
    asked.push(pathname);
    const body = network[pathname] ?? new TypeError('Failed to fetch');
    if (body instanceof Promise) return body;
    if (body instanceof Error) throw body;
    return new Response(body, { status: { gone: 404, 'bad gateway': 502 }[body] ?? 200 });
  };
  const path = (given) => new URL(given.url ?? given, ORIGIN).pathname;
  const caches = {
    keys: async () => [...stored.keys()],
    delete: async (name) => stored.delete(name),
    open: async (name) => {
      if (!stored.has(name)) stored.set(name, new Map());
      const files = stored.get(name);
      return {
        keys: async () => [...files.keys()].map((one) => ({ url: ORIGIN + one })),
        match: async (given) => files.get(path(given))?.clone(),
        put: async (given, answer) => void files.set(path(given), answer),
        add: async (one) => {
          const answer = await fetched(one);
          if (!answer.ok) throw new TypeError('Request failed');
          files.set(path(one), answer);
        },
      };
    },
  };
  const timers = [];
  const self = {
    location: new URL('/service-worker.js', ORIGIN), skipWaiting: async () => {}, clients: { claim: async () => {} },
    addEventListener: (type, listener) => { listeners[type] = listener; },
  };
  vm.runInNewContext(SOURCE.replaceAll('{version}', version),
    { self, caches, fetch: fetched, URL, Response, Promise, Set, setTimeout: (run) => timers.push(run) });
  const fire = async (type, more = {}) => {
    const waits = [];
    let answer;
    listeners[type]({ ...more, waitUntil: (work) => waits.push(work), respondWith: (work) => { answer = work; } });
    await Promise.all(waits);
    return answer && (await answer);
  };
  return {
    network, asked, stored, fire, timers,
    kept: (name = `backline-${version}`) => [...(stored.get(name)?.keys() ?? [])].sort(),
    get: (url, { mode = 'cors', method = 'GET' } = {}) => fire('fetch', { request: { url: new URL(url, ORIGIN).href, method, mode } }),
    visit: (url) => fire('fetch', { request: { url: new URL(url, ORIGIN).href, method: 'GET', mode: 'navigate' } }),
  };
}

const PAGE = '<script src="/assets/v1/main.js">';
const settled = () => new Promise(setImmediate);

test('activating deletes other versions and nothing else', async () => {
  const stored = new Map([['backline-v0', new Map()], ['backline-v1', new Map()], ['another', new Map()]]);
  const { fire, asked } = worker('v1', stored);
  await fire('activate');
  assert.deepEqual([[...stored.keys()], asked], [['backline-v1', 'another'], []]);
});

test('installing keeps the page and what it names, whatever is missing', async () => {
  const { fire, network, kept, asked } = worker();
  Object.assign(network, { '/': PAGE, '/assets/v1/main.js': 'm', '/assets/v1/store/saved.js': 's', '/assets/v1/view/link.js': 'gone' });
  await fire('install');
  assert.deepEqual(kept(), ['/', '/assets/v1/main.js', '/assets/v1/store/saved.js']);
  assert.deepEqual(asked.filter((path) => !path.startsWith('/assets/')), ['/']);
});

test('a worker is installed where nothing can be kept', async () => {
  const { fire, kept } = worker();
  await fire('install');
  assert.deepEqual(kept(), []);
});

test('what the page has loaded is kept, of this version and origin only, and not asked for twice', async () => {
  const { fire, network, kept, asked } = worker();
  Object.assign(network, { '/assets/v1/main.js': 'm', '/assets/v1/text/de.js': 'd', '/': PAGE });
  const urls = [`${ORIGIN}/assets/v1/main.js`, '/assets/v1/text/de.js', '/assets/v0/old.js', 'https://elsewhere/assets/v1/x.js', '/v1/session', '/assets/v1/main.js?x'];
  await fire('message', { data: { type: 'keep', urls } });
  assert.deepEqual(kept(), ['/', '/assets/v1/main.js', '/assets/v1/text/de.js']);
  await fire('message', { data: { type: 'keep', urls } });
  assert.deepEqual(asked.filter((path) => path !== '/'), ['/assets/v1/main.js', '/assets/v1/text/de.js']);
  await fire('message', { data: null });
  await fire('message', { data: { type: 'keep', urls: 'everything' } });
});

test('a page of another version is not kept', async () => {
  const { fire, network, kept, visit } = worker();
  network['/'] = network['/r/ABC'] = '<script src="/assets/v2/main.js">';
  await fire('message', { data: { type: 'keep', urls: [] } });
  assert.equal(await (await visit('/r/ABC')).text(), network['/']);
  await settled();
  assert.deepEqual(kept(), []);
});

test('pages come from the network; without one, from what is kept', async () => {
  const { network, visit } = worker();
  network['/r/ABC'] = PAGE;
  assert.equal(await (await visit('/r/ABC')).text(), PAGE);
  await settled();
  delete network['/r/ABC'];
  for (const path of ['/', '/nearby', '/r/ABC', '/r/OTHER']) assert.equal(await (await visit(path)).text(), PAGE);
});

test('a balancer without a server is no page, where one is kept', async () => {
  const { network, visit, kept } = worker();
  network['/r/ABC'] = 'bad gateway';
  assert.equal((await visit('/r/ABC')).status, 502);
  network['/'] = PAGE;
  await visit('/');
  await settled();
  assert.equal(await (await visit('/r/ABC')).text(), PAGE);
  await settled();
  assert.deepEqual(kept(), ['/']);
});

test('where nothing is kept, the failure of the network is the answer', async () => {
  const { visit, get } = worker();
  await assert.rejects(visit('/'), /Failed to fetch/);
  await assert.rejects(get('/assets/v1/main.js'), /Failed to fetch/);
});

test('a network that says nothing does not keep a kept page from being shown', async () => {
  const { network, visit, timers } = worker();
  network['/'] = PAGE;
  await visit('/');
  await settled();
  network['/'] = new Promise(() => {});
  const shown = visit('/');
  await settled();
  timers.forEach((run) => run());
  assert.equal(await (await shown).text(), PAGE);
});

test('files of this version are asked for once; others, and all of the API, pass by', async () => {
  const { network, get, visit, asked, kept } = worker();
  Object.assign(network, { '/assets/v1/a.js': 'a', '/assets/v1/gone.js': 'gone' });
  assert.equal(await (await get('/assets/v1/a.js')).text(), 'a');
  await settled();
  assert.equal(await (await get('/assets/v1/a.js')).text(), 'a');
  assert.equal((await get('/assets/v1/gone.js')).status, 404);
  await settled();
  assert.deepEqual([asked, kept()], [['/assets/v1/a.js', '/assets/v1/gone.js'], ['/assets/v1/a.js']]);
  for (const path of ['/v1/session', '/v1/rooms/x/socket', '/assets/v0/a.js', '/icon.svg', 'https://elsewhere/', '/healthz', '/openapi.json']) {
    assert.equal(await get(path), undefined, path);
  }
  assert.equal(await get('/assets/v1/a.js', { method: 'POST' }), undefined);
  assert.equal(await get('/assets/v1/a.js?other'), undefined);
  assert.equal(await get('/'), undefined);
  assert.equal(await visit('/metrics'), undefined);
});
