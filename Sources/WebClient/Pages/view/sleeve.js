/** A track's face, computed from its title and artist: four cuts in twelve pairs of hues, drawn by style/page.css. */

import { h } from './dom.js';

/** @typedef {{ title: string, artist?: string | null }} Named */

/**
 * What the deck here says of a track, beside its face; empty: nothing.
 *
 * @type {{ of: ((track: any) => string) | null }}
 */
export const marks = { of: null };

/** Pairs of OKLCH hues that go together; none of them turns olive or brown when it is dark. */
const PAIRS = [
  [322, 276], [18, 352], [356, 302], [196, 252], [302, 208], [284, 334],
  [168, 200], [28, 342], [238, 290], [346, 268], [44, 12], [182, 230],
];

/** @type {WeakMap<object, number>} */
const hashes = new WeakMap();

/**
 * FNV-1a, 32 bits, over the UTF-16 units of title and artist, with its bits mixed once more.
 *
 * @param {Named} track
 * @returns {number}
 */
function hashOf(track) {
  const known = hashes.get(track);
  if (known !== undefined) return known;
  let hash = 0x811c9dc5;
  const name = `${track.title}\n${track.artist ?? ''}`;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  hash = (hash ^ (hash >>> 16)) >>> 0;
  hashes.set(track, hash);
  return hash;
}

/**
 * The two hues of a track, in degrees.
 *
 * @param {Named} track
 * @returns {number[]}
 */
export const sleeveHues = (track) => PAIRS[(hashOf(track) >>> 8) % PAIRS.length];

/**
 * A new sleeve, 44 px unless the style says otherwise. Screen readers do not see it.
 *
 * @param {Named} track
 * @returns {HTMLElement}
 */
export function sleeve(track) {
  const hash = hashOf(track);
  const [a, b] = sleeveHues(track);
  const turn = hash % 4 === 3 ? 52 + ((hash >>> 16) % 24) : ((hash >>> 16) % 12) * 30 + 15;
  return h('span.sleeve', {
    'aria-hidden': 'true',
    dataset: { cut: hash % 4 },
    vars: { '--a': a, '--b': b, '--turn': `${turn}deg`, '--x': `${58 + ((hash >>> 20) % 4) * 6}%` },
  });
}
