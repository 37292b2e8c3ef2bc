/** Letters that no decomposition turns into plain ones, as people type them without the key. */
const PLAIN = new Map(Object.entries({
  'ß': 'ss', 'æ': 'ae', 'œ': 'oe', 'ø': 'o', 'đ': 'd', 'ð': 'd', 'ł': 'l', 'ħ': 'h', 'ı': 'i', 'þ': 'th', 'ς': 'σ',
}));

/**
 * A text as it is compared in a search: without case, accents and apostrophes, in one form for all scripts.
 *
 * @param {string} text
 */
export function searchable(text) {
  if (/^[\x20-\x26\x28-\x7e]*$/.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').toLowerCase()
    .replace(/[\p{M}\p{Cf}'’‘ʼ´`]+/gu, '')
    .replace(/[ßæœøđðłħıþς]/g, (letter) => PLAIN.get(letter) ?? letter);
}

/**
 * Finds tracks of a room by words of title, artist and album.
 *
 * A track is found if it has every word of the query somewhere; found tracks stay in the pool's order. The texts of a
 * track are prepared once, at its first search or in `prepare`. A query that only adds to the one before it looks
 * through what that one found.
 */
export class Search {
  /** @type {import('./room.js').Room} */
  #room;
  /** @type {WeakMap<object, string>} */
  #texts = new WeakMap();
  /** @type {string[]} */
  #words = [];
  /**
   * Null: there is nothing to narrow down.
   *
   * @type {import('./room.js').Track[] | null}
   */
  #found = null;

  /** @param {import('./room.js').Room} room */
  constructor(room) {
    this.#room = room;
  }

  /** Forgets what was found: to be called when the pool has changed, or another room is shown. */
  reset(room = this.#room) {
    this.#room = room;
    this.#found = null;
  }

  /**
   * Prepares up to `count` tracks beforehand, from `start` in the pool's order.
   *
   * @param {number} start
   * @param {number} count
   * @returns {number} where to go on; the pool's length when all are prepared
   */
  prepare(start, count) {
    const end = Math.min(this.#room.pool.length, start + count);
    for (let place = start; place < end; place += 1) this.#textOf(this.#room.pool[place]);
    return end;
  }

  /**
   * The tracks that have all words of `query`; the whole pool for a query without words.
   *
   * @param {string} query
   * @returns {import('./room.js').Track[]}
   */
  find(query) {
    const words = searchable(query).split(/\s+/).filter((word) => word !== '');
    const narrower = this.#found !== null && this.#words.every((word, place) => words[place]?.startsWith(word));
    const among = narrower && this.#found ? this.#found : this.#room.pool;
    this.#words = words;
    if (words.length === 0) {
      this.#found = null;
      return this.#room.pool;
    }
    this.#found = among.filter((track) => {
      const text = this.#textOf(track);
      return words.every((word) => text.includes(word));
    });
    return this.#found;
  }

  /** @param {import('./room.js').Track} track */
  #textOf(track) {
    let text = this.#texts.get(track);
    if (text === undefined) {
      text = searchable(`${track.title} ${track.artist ?? ''} ${track.album ?? ''}`);
      this.#texts.set(track, text);
    }
    return text;
  }
}
