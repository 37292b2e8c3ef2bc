// A deck that plays, kept for when its page is loaded again; and what it plays off line, as the room shows it.

/**
 * @typedef {{room: string, at: number, offset: number, found: Record<string, string>, deck: import('./deck.js').Saved}} Kept
 *   `at`: this machine's time in ms; `offset`: the server's time less this machine's; `found`: files by track
 */

/** `main.js` looks here whether a deck goes on. */
const KEY = 'backline.deck';
/** A page that is loaded again within this time goes on where it was. */
const RETURN_MS = 30 * 60_000;
/** Another tab has kept its deck this long after it lost the room to this one. */
const ELSEWHERE_MS = 500;
/** Finished songs that a room shows. */
const HISTORY = 50;

/**
 * The deck of a room that was kept a short time ago, or null.
 *
 * @param {string} room  its id
 * @returns {Kept|null}
 */
export function savedDeck(room) {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return kept?.room === room && Math.abs(Date.now() - kept.at) < RETURN_MS ? kept : null;
  } catch {
    return null;
  }
}

/** @param {Kept} kept */
export function saveDeck(kept) {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing: a reload ends the deck.
  }
}

/** Resolves once another tab has kept its deck, or a short time later. */
export function savedElsewhere() {
  return new Promise((resolve) => {
    const end = () => {
      removeEventListener('storage', look);
      resolve(undefined);
    };
    const look = (/** @type {StorageEvent} */ { key }) => { if (key === KEY) end(); };
    addEventListener('storage', look);
    setTimeout(end, ELSEWHERE_MS);
  });
}

export function forgetDeck() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing.
  }
}

/**
 * Playback, queue and history as a deck has them that went on without the room.
 *
 * @param {import('./deck.js').Deck} deck
 * @param {import('../room/room.js').Room} room
 * @returns {Pick<import('../room/room.js').Room, 'playback'|'queue'|'history'>}
 */
export function shownBy({ song, queue, played }, room) {
  const heard = played.slice(-HISTORY).reverse().map(({ song: one, endedAtMs, playedMs, reason }) => {
    const { title = '', artist } = room.tracks.get(one.track) ?? {};
    return { entry: one.entry, track: one.track, title, artist, startedAt: one.startedAtMs, endedAt: endedAtMs, reason, playedMs };
  });
  const told = room.history.filter(({ entry }) => !heard.some((one) => one.entry === entry));
  return {
    queue: queue.map((item) => ({ ...item })),
    history: [...heard, ...told].slice(0, HISTORY),
    playback: song ? {
      status: song.playing ? 'playing' : 'paused', entry: song.entry, track: song.track, startedBy: room.you?.member,
      startedAt: song.startedAtMs, startedSeq: room.seq, positionMs: song.positionMs, atMs: song.atMs, skipVotes: 0,
    } : { status: 'stopped' },
  };
}
