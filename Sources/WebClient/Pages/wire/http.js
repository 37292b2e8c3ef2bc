// Requests of the HTTP API, and the session.

import { Refusal } from '../store/store.js';

/** Where this browser notes that it has a session. The token is in a cookie that no script can read. */
const SESSION = 'backline.session';

/** The name of a session that nobody has named; the server uses it too. */
const UNNAMED = 'Guest';

/**
 * The session of a browser that keeps nothing, until the page is closed.
 *
 * @type {{id: string, name: string}|null}
 */
let unkept = null;

/** @typedef {import('../store/store.js').NoUse} NoUse */

/** A session was made by this page and no answer has shown yet that its cookie was kept. */
let isUnproven = false;

/**
 * One request with JSON both ways.
 *
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {{key?: string, timeoutMs?: number}} options  `key` is an Idempotency-Key
 * @returns {Promise<any>} the answer's JSON; rejects with a Refusal ('offline' where there was no answer)
 */
export async function request(method, path, body, { key, timeoutMs } = {}) {
  const wasUnproven = isUnproven;
  const answer = await send(method, path, body, key, timeoutMs);
  if (answer.ok) {
    if (path !== '/v1/sessions') isUnproven = false;
    return answer.status === 204 ? undefined : parsed(answer);
  }
  throw await refusalOf(answer, wasUnproven, path);
}

/** The requests of a page that are forbidden for one reason only: the page's address is none of the server's. */
const ANYBODYS = new Set(['/v1/sessions', '/v1/session', '/v1/rooms']);

/**
 * @param {Response} answer
 * @param {boolean} wasUnproven  as it was asked: an answer to the session before says nothing about the new one
 * @param {string} [path]
 */
async function refusalOf(answer, wasUnproven, path = '') {
  const problem = await parsed(answer).catch(() => ({}));
  const isLost = answer.status === 401 && isUnproven && wasUnproven;
  let code = isLost ? whyNotKept() : problem.code ?? 'internal';
  if (code === 'forbidden' && ANYBODYS.has(path)) code = 'foreign';
  // The next try begins with another one, whose cookie may be kept.
  if (isLost) forgetSession();
  const { retryAfterMs, reason } = problem;
  return new Refusal(code, problem.detail ?? problem.title, { retryAfterMs, reason, status: answer.status });
}

/**
 * @param {string} code
 * @returns {code is NoUse}
 */
export function isOfNoUse(code) {
  return ['insecure', 'no_cookies', 'cookie_lost', 'foreign'].includes(code);
}

/**
 * Why the cookie of a new session has not come back: the address is not private, this browser keeps no cookies of it, or
 * something between takes the cookie away.
 *
 * @returns {NoUse}
 */
function whyNotKept() {
  if (!isSecureContext) return 'insecure';
  if (keepsCookies('; secure')) return 'cookie_lost';
  // Some browsers keep secure cookies of no http address, not even of one on this machine.
  return location.protocol === 'http:' && keepsCookies('') ? 'insecure' : 'no_cookies';
}

/**
 * Whether this browser keeps a cookie of this page.
 *
 * @param {string} attributes
 */
function keepsCookies(attributes) {
  const probe = 'backline.probe=1';
  try {
    document.cookie = `${probe}; path=/; samesite=lax; max-age=60${attributes}`;
    const isKept = document.cookie.split('; ').includes(probe);
    document.cookie = `${probe}; path=/; samesite=lax; max-age=0${attributes}`;
    return isKept;
  } catch {
    return false;
  }
}

/**
 * The bytes of a resource.
 *
 * @param {string} path
 * @returns {Promise<Uint8Array|null>} null where there are none (404); rejects with a Refusal
 */
export async function bytes(path) {
  const wasUnproven = isUnproven;
  const answer = await send('GET', path);
  if (answer.ok) return new Uint8Array(await answer.arrayBuffer().catch(() => { throw new Refusal('offline'); }));
  if (answer.status === 404) return null;
  throw await refusalOf(answer, wasUnproven);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {string} [key]
 * @param {number} [timeoutMs]
 */
async function send(method, path, body, key, timeoutMs) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (key !== undefined) headers['Idempotency-Key'] = key;
  const giveUp = new AbortController();
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => giveUp.abort(), timeoutMs);
  try {
    return await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: giveUp.signal,
    });
  } catch {
    throw new Refusal('offline');
  } finally {
    clearTimeout(timer);
  }
}

/** @param {Response} answer */
async function parsed(answer) {
  try {
    return await answer.json();
  } catch {
    throw new Refusal(answer.ok ? 'offline' : 'internal', undefined, { status: answer.status });
  }
}

/**
 * Makes a session of this name.
 *
 * @param {string} [name]
 * @returns {Promise<{id: string, name: string}>}
 */
export async function startSession(name = UNNAMED) {
  const { session } = await request('POST', '/v1/sessions', { name });
  isUnproven = true;
  return noted(session);
}

/**
 * Asks whether the server takes this page for its own, which a browser does not tell where it refuses a socket. A request
 * names its page only where it may change something: the session gets the name that it has.
 *
 * @param {{timeoutMs?: number}} options
 * @returns {Promise<void>} rejects with a Refusal: 'foreign' where it does not
 */
export async function provePage(options) {
  const { session } = await request('GET', '/v1/session', undefined, options);
  await request('PATCH', '/v1/session', { name: session.name }, options);
}

/** @returns {{id: string, name: string}|null} the session of this browser, as far as it knows */
export function knownSession() {
  try {
    return JSON.parse(localStorage.getItem(SESSION) ?? 'null') ?? unkept;
  } catch {
    return unkept;
  }
}

/** @type {Promise<{id: string, name: string}>|null} */
let starting = null;

/** The session that this browser has, else a new one without a name; at most one is being made. */
export async function ensureSession() {
  const known = knownSession();
  if (known) return known;
  starting ??= startSession().finally(() => { starting = null; });
  return starting;
}

/** The server has accepted the session's cookie. */
export function proveSession() {
  isUnproven = false;
}

/** The session as the server has it. */
export async function currentSession() {
  return noted((await request('GET', '/v1/session')).session);
}

/** @param {string} name */
export async function renameSession(name) {
  return noted((await request('PATCH', '/v1/session', { name })).session);
}

/** Ends the session, and removes what this browser keeps for it. */
export async function endSession() {
  await request('DELETE', '/v1/session');
  forgetSession();
  await import('../store/saved.js').then((saved) => saved.forgetRooms()).catch(() => {});
}

/** Removes the note of a session that is over. */
export function forgetSession() {
  unkept = null;
  try {
    localStorage.removeItem(SESSION);
  } catch {
    // Nothing was noted there.
  }
}

/** @param {{id: string, name: string}} session */
function noted({ id, name }) {
  try {
    localStorage.setItem(SESSION, JSON.stringify({ id, name }));
  } catch {
    unkept = { id, name };
  }
  return { id, name };
}
