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
    || (song.entry < 0 && track === song.track && Math.abs(startedAt - song.startedAtMs) < APART_MS));
}

/**
 * `syncDeck` for a room as it is now.
 *
 * Entries that others added meanwhile stay, behind those of the deck; entries that they removed stay removed. A song
 * that the room put on air meanwhile, and that nobody heard, is logged as such and waits again.
 *
 * @param {{song: Song|null, queue: Item[], played: Played[], known: Set<number>}} deck  `known`: the entries that the
 *   room had when the deck heard it last
 * @param {Room} room
 * @param {number} now         the server's time in ms
 * @param {boolean} [isPlain]  leaves out what was heard, where a room has refused it
 * @returns {{command: import('../wire/messages').Command, told: number, isWhole: boolean}}  `told`: so many of `played`
 *   are in it; not the whole where there are more than fit
 */
export function syncCommand({ song, queue, played, known }, room, now, isPlain = false) {
  const { playback } = room;
  const onAir = playback.status === 'stopped' ? null : playback;
  const isWhole = played.length <= PLAYED;
  const told = isWhole ? played.length : PLAYED - 1;
  // What is on air after this command: the song, or the next one of those that were heard.
  const current = isWhole ? song : played[told].song;
  const there = new Set(room.queue.map(({ entry }) => entry));
  /** @param {Song|Item} one */
  const named = ({ entry, track }) => (there.has(entry) || entry === onAir?.entry ? { entry } : { track });

  // What was heard, as far as the log can take it: in order, after the song on air began, and not what it has already.
  let heard = played.slice(0, told).filter((one) => !isLogged(one.song, room) && room.tracks.has(one.song.track));
  let floor = onAir ? onAir.startedAt : Math.max(room.createdAt, room.history[0]?.endedAt ?? 0);
  const isOnAir = (/** @type {Song|null} */ one) => onAir !== null && one !== null
    && (one.entry === onAir.entry || (one.entry < 0 && one.track === onAir.track && Math.abs(one.startedAtMs - onAir.startedAt) < SAME_MS));
  const first = heard.findIndex((one) => isOnAir(one.song));
  heard = first >= 0 ? heard.slice(first) : isOnAir(current) ? [] : heard.filter((one) => one.endedAtMs > floor);
  const items = heard.map(({ song: one, endedAtMs, playedMs, reason }, place) => {
    const startedAtMs = isOnAir(one) && place === 0 ? floor : Math.min(now, Math.max(one.startedAtMs, floor));
    floor = Math.min(now, Math.max(endedAtMs, startedAtMs));
    const item = place === 0 && first >= 0 ? { entry: onAir?.entry } : named(one);
    return { ...item, startedAtMs, endedAtMs: floor, playedMs: Math.min(playedMs, floor - startedAtMs), reason };
  });
  const waiting = queue.filter(({ entry, track }) => room.tracks.has(track) && (entry < 0 || there.has(entry))).map(named);
  const mine = new Set(queue.map(({ entry }) => entry));
  // Nobody has heard what the room put on air: it waits again.
  if (onAir && first < 0 && !isOnAir(current)) {
    items.unshift({ entry: onAir.entry, startedAtMs: onAir.startedAt, endedAtMs: onAir.startedAt, playedMs: 0, reason: 'skipped' });
    if (!known.has(onAir.entry) || mine.has(onAir.entry)) waiting.unshift({ track: onAir.track });
  }
  const heardEntries = new Set([...played.map((one) => one.song.entry), song?.entry]);
  for (const { entry } of room.queue) {
    if (!known.has(entry) && !mine.has(entry) && !heardEntries.has(entry)) waiting.push({ entry });
  }

  const command = { type: 'syncDeck', queue: waiting.slice(0, QUEUE), playback: /** @type {any} */ ({ status: 'stopped' }) };
  if (!isPlain && items.length > 0) Object.assign(command, { played: items });
  if (current && room.tracks.has(current.track)) {
    const startedAtMs = isOnAir(current) && onAir ? onAir.startedAt : Math.min(now, Math.max(current.startedAtMs, floor));
    const length = room.tracks.get(current.track)?.durationMs ?? Infinity;
    command.playback = {
      status: current.playing ? 'playing' : 'paused',
      ...(isOnAir(current) && onAir ? { entry: onAir.entry } : named(current)),
      positionMs: Math.round(Math.max(0, Math.min(current.positionMs, length))), atMs: Math.round(Math.min(current.atMs, now)),
    };
    if (!isPlain) {
      command.playback.startedAtMs = Math.round(Math.min(startedAtMs, current.atMs));
      command.playback.playedMs = Math.round(Math.max(0, Math.min(current.playedMs, current.atMs - startedAtMs)));
    }
  }
  return { command, told, isWhole };
}
