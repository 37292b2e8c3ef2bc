/** What comes next, and what can be done so that something does: as far as a room's state tells. */

/**
 * @typedef {import('./room.js').Room} Room
 * @typedef {import('./room.js').Track} Track
 */

/**
 * The track that comes on air when the one on air ends: the first waiting one that may be repeated and that the deck has,
 * else what the room chooses. Undefined where there is none, and where it is not known: a `fair` room also goes by whose turn it is.
 *
 * @param {Pick<Room, 'playback' | 'queue' | 'requests' | 'history' | 'settings' | 'tracks'>} room
 * @returns {Track | undefined}
 */
export function nextTrack(room) {
  const [waiting, asked] = playable(room);
  return waiting ?? (room.settings.queueMode === 'votes' ? asked : undefined);
}

/**
 * The first waiting track, and the most wanted one where the room chooses: of those that may be repeated and that the deck has.
 *
 * @param {Parameters<typeof nextTrack>[0]} room
 * @returns {(Track | undefined)[]}
 */
function playable({ playback, queue, requests, history, settings, tracks }) {
  const now = playback.status === 'stopped' ? [] : [playback.track];
  const recent = new Set([...now, ...history.map(({ track }) => track)].slice(0, settings.repeatAfterPlays));
  const comes = (/** @type {Track | undefined} */ track) => track && !track.missing && !recent.has(track.track);
  const chooses = settings.queueMode !== 'dj' && !settings.queueLocked;
  return [queue.map(({ track }) => tracks.get(track)).find(comes), chooses ? requests.find(comes) : undefined];
}

/**
 * What the viewer of a room can do so that music plays, or goes on. Every place that tells it tells the same.
 *
 * - `nothing`: the room is closed
 * - a DJ: `addMusic` where there are no songs; `play` where one waits; `queue` where only DJs choose; and where the room
 *   chooses and nobody has asked, `goesOn` with a device that plays what is asked for, else `queueOrWait`
 * - others: `add` where there are no songs and they may add some, `wait` where they may not; `join` first; `ask` where
 *   votes choose, `askDJ` where a DJ does; `starts` where songs that can be played wait for a DJ who starts the music
 *
 * @typedef {'nothing' | 'addMusic' | 'queue' | 'queueOrWait' | 'goesOn' | 'play' | 'add' | 'wait' | 'join' | 'ask' | 'askDJ' | 'starts'} Step
 */

/**
 * @param {Pick<Room, 'isDJ' | 'you' | 'closedAt' | 'pool' | 'deck'> & Parameters<typeof nextTrack>[0]} room
 * @returns {Step}
 */
export function stepOf(room) {
  const { isDJ, you, closedAt, pool, queue, requests, settings, deck } = room;
  const { queueMode, queueLocked, guestsMayAdd } = settings;
  const chooses = queueMode !== 'dj' && !queueLocked;
  if (closedAt !== undefined) return 'nothing';
  if (isDJ) {
    if (pool.length === 0) return 'addMusic';
    if (queue.length > 0 || (queueMode !== 'dj' && requests.length > 0)) return 'play';
    return !chooses ? 'queue' : deck.member === undefined ? 'queueOrWait' : 'goesOn';
  }
  if (pool.length === 0 && !(you && guestsMayAdd && !queueLocked)) return 'wait';
  if (!you) return 'join';
  if (pool.length === 0) return 'add';
  return playable(room).some(Boolean) ? 'starts' : chooses ? 'ask' : 'askDJ';
}
