// Which songs are the same for people.

import { searchable } from './search.js';

/**
 * `saidMs`: the length that its file claims, where that is not its length.
 *
 * @typedef {{ title: string, artist?: string, album?: string, durationMs?: number, saidMs?: number }} Song
 */

/** Lengths of one song differ by no more than this, in ms, and by no more than this part of it. */
const MOST_APART_MS = 2000, MOST_APART = 0.1;

/**
 * Title and artist of songs, which take a while to find out.
 *
 * @type {WeakMap<object, string>}
 */
const names = new WeakMap();

/** @param {string} [text] */
const folded = (text) => searchable(text ?? '').trim();

/** @param {Song} song */
function namesOf(song) {
  let name = names.get(song);
  if (name === undefined) names.set(song, name = `${folded(song.title)}\n${folded(song.artist)}`);
  return name;
}

/**
 * What is equal for songs that agree in everything: title, artist, album and length.
 *
 * @param {Song} song
 */
export function sameSong(song) {
  return `${namesOf(song)}\n${folded(song.album)}\n${Math.round((song.durationMs ?? 0) / 1000)}`;
}

/** @param {Song} song */
const lengthsOf = ({ durationMs, saidMs }) => [durationMs, saidMs].filter((ms) => ms !== undefined && ms > 0).map(Number);

/**
 * Whether nothing tells two songs of one title and artist apart: not their albums, not their lengths, as far as both are
 * known.
 *
 * @param {Song} a
 * @param {Song} b
 */
function mayBeSame(a, b) {
  if (a.album && b.album && folded(a.album) !== folded(b.album)) return false;
  const one = lengthsOf(a), other = lengthsOf(b);
  if (one.length === 0 || other.length === 0) return true;
  return one.some((m) => other.some((n) => Math.abs(m - n) <= Math.min(MOST_APART_MS, MOST_APART * Math.min(m, n))));
}

/**
 * Songs, to be found by what people call the same: title and artist without case and accents, no other album, no clearly
 * other length.
 *
 * @template {Song} [S=Song]
 */
export class SameSongs {
  /** @type {Map<string, S[]>} */
  #songs = new Map();

  /** @param {Iterable<S>} [songs] */
  constructor(songs = []) {
    for (const song of songs) this.add(song);
  }

  /** @param {S} song */
  add(song) {
    const same = this.#songs.get(namesOf(song));
    if (!same) this.#songs.set(namesOf(song), [song]);
    else if (!same.includes(song)) same.push(song);
  }

  /**
   * The song that is the same: one that agrees in everything, else the first that may be.
   *
   * @param {Song} song
   * @returns {S | undefined}
   */
  find(song) {
    const same = this.#songs.get(namesOf(song))?.filter((one) => mayBeSame(one, song)) ?? [];
    return same.length > 1 ? same.find((one) => sameSong(one) === sameSong(song)) ?? same[0] : same[0];
  }
}
