// Keeps the page's own files, so that it opens without a network. Everything else passes by.

const VERSION = '{version}';
const CACHE = `backline-${VERSION}`;
/** A network that says nothing for so long does not answer for a page that is kept. */
const PATIENCE_MS = 4000;

const worker = /** @type {WorkerScope} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));

worker.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (name.startsWith('backline-') && name !== CACHE) await caches.delete(name);
  }
  await worker.clients.claim();
})()));

// A page tells which files it has loaded: the HTTP cache has them, so that they are not fetched again.
worker.addEventListener('message', (event) => {
  if (event.data?.type === 'keep' && Array.isArray(event.data.urls)) event.waitUntil(keep(event.data.urls).catch(() => {}));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== worker.location.origin || url.search) return;
  if (isFile(url.pathname)) event.respondWith(file(request));
  else if (request.mode === 'navigate' && isPage(url.pathname)) event.respondWith(page(request));
});

/** @param {string} path */
function isFile(path) {
  return path.startsWith(`/assets/${VERSION}/`);
}

/** @param {string} path */
function isPage(path) {
  return path === '/' || path === '/nearby' || path.startsWith('/r/');
}

/**
 * Keeps the page and these files of its version.
 *
 * @param {unknown[]} urls
 */
async function keep(urls) {
  const cache = await caches.open(CACHE);
  const files = new Set();
  for (const url of urls) {
    const { origin, pathname, search } = new URL(String(url), worker.location.href);
    if (origin === worker.location.origin && isFile(pathname) && !search) files.add(pathname);
  }
  for (const { url } of await cache.keys()) files.delete(new URL(url).pathname);
  await cache.addAll([...files]);
  await keepPage(await fetch('/'));
}

/**
 * Keeps a page, which is the same for every path, if it is of this version: another server may serve another one.
 *
 * @param {Response} answer
 */
async function keepPage(answer) {
  if (answer.status !== 200 || answer.redirected || !(await answer.clone().text()).includes(`/assets/${VERSION}/`)) return;
  await (await caches.open(CACHE)).put('/', answer);
}

/**
 * A file of this version never changes: the kept one, else the network's, which is kept.
 *
 * @param {Request} request
 */
async function file(request) {
  const cache = await caches.open(CACHE).catch(() => undefined);
  const kept = await cache?.match(request).catch(() => undefined);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.status === 200) cache?.put(request, answer.clone()).catch(() => {});
  return answer;
}

/**
 * A page: the network's, else the kept one, which is the same for every path.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function page(request) {
  const network = fetch(request).then((answer) => {
    keepPage(answer.clone()).catch(() => {});
    return answer;
  });
  const kept = () => caches.open(CACHE).then((cache) => cache.match('/')).catch(() => undefined);
  const late = new Promise((resolve) => { setTimeout(resolve, PATIENCE_MS); });
  try {
    const first = await Promise.race([network, late.then(kept)]);
    return first ?? await network;
  } catch (error) {
    const answer = await kept();
    if (answer) return answer;
    throw error;
  }
}
