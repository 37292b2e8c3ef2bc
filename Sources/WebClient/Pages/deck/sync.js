// The one command that makes a room agree with a deck that went on without it.

/**
 * @typedef {import('./deck.js').Item} Item
 * @typedef {import('./deck.js').Played} Played
 * @typedef {import('./deck.js').Song} Song
 * @typedef {import('../room/room.js').Room} Room
 */

/** The protocol's largest number of songs heard in one command, and of waiting entries. */
const PLAYED = 200;
const QUEUE = 500;
/** A song that the room chose while its answer was lost is the one that the deck chose, if both began within this time. */
const SAME_MS = 10_000;
/** Two starts of one song that the log tells apart. */
const APART_MS = 1000;

/**
 * Whether the room's log has a song as finished.
 *
 * @param {Song} song
 * @param {Room} room
 */
export function isLogged(song, room) {
  return room.history.some(({ entry, track, startedAt }) => entry === song.entry
    || (track === song.track && Math.abs(startedAt - song.startedAtMs) < APART_MS));
}

/**
 * Which of the songs that were heard is the one that the room has on air.
 *
 * @param {Song[]} songs
 * @param {import('../wire/messages').OnAir} onAir
 * @returns {Song|undefined}
 */
export function onAirAmong(songs, { entry, track, startedAt }) {
  const known = songs.find((song) => song.entry === entry);
  if (known) return known;
  const apart = (/** @type {Song} */ song) => Math.abs(song.startedAtMs - startedAt);
  return songs.filter((song) => song.track === track && apart(song) < (song.entry < 0 ? SAME_MS : APART_MS))
    .sort((a, b) => apart(a) - apart(b))[0];
}

/**
 * `syncDeck` for a room as it is now.
 *
 * @param {{song: Song|null, queue: Item[], played: Played[]}} deck  its queue has what others have added, and nothing
 *   that they have removed
 * @param {Room} room
 * @param {number} past        a time that is past for the server, in ms
 * @param {boolean} [isPlain]  leaves out what was heard, where a room has refused it
 * @returns {{command: import('../wire/messages').Command, told: number, isWhole: boolean}}  `told`: so many of `played`
 *   are in it; not the whole where there are more than fit
 */
export function syncCommand({ song, queue, played }, room, past, isPlain = false) {
  const onAir = room.playback.status === 'stopped' ? null : room.playback;
  const isWhole = played.length <= PLAYED;
  const told = isWhole ? played.length : PLAYED - 1;
  // What is on air after this command: the song, or the next one of those that were heard.
  const current = isWhole ? song : played[told].song;
  const later = isWhole ? [] : [...played.slice(told + 1).map((one) => one.song), ...(song ? [song] : [])];
  const there = new Set(room.queue.map(({ entry }) => entry));
  /** @param {Song|Item} one */
  const named = ({ entry, track }) => (there.has(entry) ? { entry } : { track });

  // What was heard, as far as the log can take it: in order, after the song on air began, and not what it has already.
  const begin = onAir ? onAir.startedAt : Math.max(room.createdAt, room.history[0]?.endedAt ?? 0);
  const isUntold = (/** @type {Played} */ one) => room.tracks.has(one.song.track) && !isLogged(one.song, room);
  let heard = played.slice(0, told).filter(isUntold);
  let first = onAir && onAirAmong([...heard.map((one) => one.song), ...(current ? [current] : [])], onAir);
  const place = heard.findIndex((one) => one.song === first);
  const before = heard.slice(0, place < 0 ? undefined : place);
  // It was put on air before it was heard here, after other songs.
  if (before.some((one) => one.endedAtMs > begin + APART_MS)) first = undefined;
  if (first) heard = place < 0 ? [] : heard.slice(place);
  else heard = heard.filter((one) => one.endedAtMs > begin);
  if (isPlain) heard = [];
  let free = begin;
  /** @param {number} ms */
  const inTime = (ms) => Math.max(free, Math.min(past, Math.round(ms)));
  const items = heard.map(({ song: one, endedAtMs, playedMs, reason }) => {
    const startedAtMs = one === first ? begin : inTime(one.startedAtMs);
    free = Math.max(startedAtMs, inTime(endedAtMs));
    const item = one === first ? { entry: onAir?.entry } : named(one);
    return { ...item, startedAtMs, endedAtMs: free, playedMs: Math.min(playedMs, free - startedAtMs), reason };
  });
  if (onAir && !first && !isPlain) {
    // Nobody has heard it.
    items.unshift({ entry: onAir.entry, startedAtMs: begin, endedAtMs: begin, playedMs: 0, reason: 'skipped' });
  }

  const waiting = [...later, ...queue].filter(({ track }) => room.tracks.has(track)).map(named);
  // What others add until the command arrives stays.
  const known = Math.max(0, onAir?.entry ?? 0, ...there);
  const command = { type: 'syncDeck', queue: waiting.slice(0, QUEUE), playback: /** @type {any} */ ({ status: 'stopped' }), known };
  if (items.length > 0) Object.assign(command, { played: items });
  if (current && room.tracks.has(current.track)) {
    const isOnAir = Boolean(first) && current === first && items.length === 0;
    const startedAtMs = isOnAir ? begin : inTime(current.startedAtMs);
    const atMs = Math.max(startedAtMs, Math.min(past, Math.round(current.atMs)));
    const passed = current.playing ? atMs - current.atMs : 0;
    command.playback = {
      status: current.playing ? 'playing' : 'paused', ...(isOnAir ? { entry: onAir?.entry } : named(current)),
      positionMs: Math.round(Math.max(0, current.positionMs + passed)), atMs,
    };
    if (!isPlain) {
      command.playback.startedAtMs = startedAtMs;
      command.playback.playedMs = Math.round(Math.max(0, Math.min(current.playedMs + passed, atMs - startedAtMs)));
    }
  }
  return { command, told, isWhole };
}
