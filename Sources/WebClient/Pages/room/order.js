// The order of a room's pool: by title, then by the track's number.

/**
 * A text in NFC with each scalar lowercased by itself: `Σ` is never final, `İ` becomes two scalars.
 *
 * @param {string} text
 */
export function folded(text) {
  // Only ASCII: it is in NFC, and no lower case depends on its neighbours.
  // eslint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  let result = '';
  for (const scalar of text.normalize('NFC')) result += scalar.toLowerCase();
  return result;
}

/**
 * The key by which a pool is sorted.
 *
 * @param {string} title
 */
export function titleKey(title) {
  return folded(title);
}

/**
 * A UTF-16 unit's rank among scalar values: surrogates stand for scalars above U+FFFF.
 *
 * @param {number} unit
 */
function rank(unit) {
  return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * Compares two texts by scalar values; `<` compares UTF-16 units, which differs beyond U+FFFF.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number} below, at or above 0
 */
export function byScalars(a, b) {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i), right = b.charCodeAt(i);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/**
 * Compares two tracks by their place in the pool.
 *
 * @param {{title: string, track: number}} a
 * @param {{title: string, track: number}} b
 */
export function poolOrder(a, b) {
  return byScalars(titleKey(a.title), titleKey(b.title)) || a.track - b.track;
}

/**
 * Compares two requested tracks: most votes first, then the earliest request.
 *
 * @param {{votes: number, requestedSeq?: number, track: number}} a
 * @param {{votes: number, requestedSeq?: number, track: number}} b
 */
export function requestOrder(a, b) {
  return b.votes - a.votes || (a.requestedSeq ?? 0) - (b.requestedSeq ?? 0) || a.track - b.track;
}

/**
 * The first place in a sorted list at which `item` may stand.
 *
 * @template T
 * @param {T[]} list
 * @param {T} item
 * @param {(a: T, b: T) => number} order
 * @param {number} from  nothing before it is looked at
 */
export function placeOf(list, item, order, from = 0) {
  let low = from, high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order(list[middle], item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Merges new tracks into a pool that is in order. A few cost a search each, many one pass over the pool.
 *
 * @template {{title: string, track: number}} T
 * @param {T[]} pool   in the pool's order
 * @param {T[]} added  in any order, none of them in the pool
 * @returns {T[]} a new list
 */
export function merged(pool, added) {
  const keyed = added.map((track) => ({ key: titleKey(track.title), track }));
  keyed.sort((a, b) => byScalars(a.key, b.key) || a.track.track - b.track.track);
  /** @type {T[]} */
  const result = [];
  let from = 0;
  for (const { key, track } of keyed) {
    let low = from, high = pool.length;
    while (low < high) {
      const middle = (low + high) >>> 1, other = pool[middle];
      if ((byScalars(titleKey(other.title), key) || other.track - track.track) < 0) low = middle + 1;
      else high = middle;
    }
    for (let i = from; i < low; i++) result.push(pool[i]);
    result.push(track);
    from = low;
  }
  for (let i = from; i < pool.length; i++) result.push(pool[i]);
  return result;
}
