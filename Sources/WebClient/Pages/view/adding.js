// Who may add tracks to a room, and when again.

/** @typedef {import('./dom.js').App} App */

/** The most tracks of one command, and the most bytes of their JSON: below what a message may have. */
export const MOST_TRACKS = 500;
const MOST_BYTES = 180_000;

/** A refusal that says to wait for at most so long, in ms, is waited for, so many times. */
const PATIENCE = 70_000;
const TRIES = 5;

/** The longest wait that a server asks for, in ms. */
const LONGEST = 3_600_000;

/**
 * When a room takes tracks from this page again, by `performance.now()`, for each room.
 *
 * @type {Map<string, number>}
 */
const waits = new Map();

/**
 * Whether the viewer may add tracks: `yes`, `wait` in slow mode, `locked` while requests are closed, else `no`.
 *
 * @param {App} app
 * @returns {{ may: 'yes' | 'wait' | 'locked' | 'no', waitMs: number }}
 */
export function adding(app) {
  const { room } = app.store;
  if (!room || room.closedAt !== undefined) return { may: 'no', waitMs: 0 };
  if (room.isDJ) return { may: 'yes', waitMs: 0 };
  if (room.settings.queueLocked) return { may: 'locked', waitMs: 0 };
  if (!room.settings.guestsMayAdd) return { may: 'no', waitMs: 0 };
  const waitMs = Math.max(0, (waits.get(room.id) ?? 0) - performance.now());
  return { may: waitMs > 0 && room.settings.slowModeMs ? 'wait' : 'yes', waitMs };
}

/**
 * Adds tracks, and remembers the time to wait that slow mode or a refusal brings.
 *
 * @param {App} app
 * @param {import('../wire/messages').TrackInfo[]} tracks 1 to 500
 * @returns {Promise<number[]>} their numbers; rejects with the refusal
 */
export async function addTracks(app, tracks) {
  const room = app.store.room;
  try {
    const result = await app.store.send({ type: 'addTracks', tracks });
    if (room && !room.isDJ && room.settings.slowModeMs) wait(room.id, room.settings.slowModeMs);
    return result.tracks;
  } catch (refusal) {
    const { code, retryAfterMs } = /** @type {{ code?: string, retryAfterMs?: number }} */ (refusal);
    if (room && !room.isDJ && room.settings.slowModeMs && code === 'rate_limited' && retryAfterMs) wait(room.id, retryAfterMs);
    throw refusal;
  }
}

/**
 * Adds any number of tracks, command by command, and waits where the server asks to.
 *
 * @param {App} app
 * @param {import('../wire/messages').TrackInfo[]} tracks
 * @param {(done: number) => boolean} step called before each command and at the end; false: no more of them
 * @param {number} [most] tracks of one command
 * @returns {Promise<void>} rejects with the refusal that ends it
 */
export async function addAll(app, tracks, step, most = MOST_TRACKS) {
  let done = 0;
  while (step(done) && done < tracks.length) {
    const piece = [];
    let bytes = 0;
    for (const track of tracks.slice(done, done + most)) {
      bytes += new TextEncoder().encode(JSON.stringify(track)).length;
      if (piece.length > 0 && bytes > MOST_BYTES) break;
      piece.push(track);
    }
    for (let tries = 0; ; tries += 1) {
      try {
        await addTracks(app, piece);
        break;
      } catch (refusal) {
        const { code, retryAfterMs = 0 } = /** @type {{ code?: string, retryAfterMs?: number }} */ (refusal);
        if (code !== 'rate_limited' || retryAfterMs > PATIENCE || tries >= TRIES) throw refusal;
        await new Promise((resolve) => { setTimeout(resolve, retryAfterMs + 100); });
      }
    }
    done += piece.length;
  }
}

/**
 * @param {string} room
 * @param {number} ms
 */
function wait(room, ms) {
  waits.set(room, performance.now() + Math.min(ms, LONGEST));
  for (const listener of listeners) listener();
}

/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * Calls back when a wait begins, each second while it lasts, and when it is over. Nothing runs otherwise.
 *
 * @param {App} app
 * @param {() => void} callback
 * @returns {() => void} stops it
 */
export function watchWait(app, callback) {
  let timer = 0;
  const tick = () => {
    clearTimeout(timer);
    callback();
    const { waitMs } = adding(app);
    if (waitMs > 0) timer = window.setTimeout(tick, waitMs % 1000 || 1000);
  };
  listeners.add(tick);
  tick();
  return () => {
    clearTimeout(timer);
    listeners.delete(tick);
  };
}
