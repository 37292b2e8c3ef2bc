// Keeps the page's own files, so that it opens without a network. Everything else passes by.

const VERSION = '{version}';
const CACHE = `backline-${VERSION}`;
/** A network that says nothing for so long does not answer for a page that is kept. */
const PATIENCE_MS = 4000;

const worker = /** @type {WorkerScope} */ (/** @type {unknown} */ (self));

/** What a page needs without a network beside the files that it names itself; it has loaded them by then. */
const BESIDE = ['room/code.js', 'store/database.js', 'store/saved.js', 'view/link.js', 'view/toast.js'];

// The HTTP cache has these files: the page has loaded them, and they never change. They are not fetched again.
worker.addEventListener('install', (event) => event.waitUntil(
  keep(BESIDE.map((path) => `/assets/${VERSION}/${path}`)).catch(() => {}).then(() => worker.skipWaiting())));

worker.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (name.startsWith('backline-') && name !== CACHE) await caches.delete(name);
  }
  await worker.clients.claim();
})()));

// A page may tell which other files it has loaded.
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
 * Keeps the page, the files that it names, and these.
 *
 * @param {unknown[]} urls  those of other versions and origins do not count
 */
async function keep(urls) {
  const cache = await caches.open(CACHE);
  const answer = await fetch('/');
  const named = (await answer.clone().text()).match(/\/assets\/[^"'\s>]+/g) ?? [];
  const files = new Set();
  for (const url of [...named, ...urls]) {
    const { origin, pathname, search } = new URL(String(url), worker.location.href);
    if (origin === worker.location.origin && isFile(pathname) && !search) files.add(pathname);
  }
  for (const { url } of await cache.keys()) files.delete(new URL(url).pathname);
  // One that is missing does not keep the others from being kept.
  await Promise.all([...files].map((file) => cache.add(file).catch(() => {})));
  await keepPage(answer);
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
 * A page: the network's, else the kept one, which is the same for every path. A failure of a server, or of what stands
 * in front of it, counts as none.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function page(request) {
  const kept = () => caches.open(CACHE).then((cache) => cache.match('/')).catch(() => undefined);
  const network = fetch(request).then(async (answer) => {
    keepPage(answer.clone()).catch(() => {});
    return (answer.status >= 500 && await kept()) || answer;
  });
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
