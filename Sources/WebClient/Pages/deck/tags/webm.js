// WebM and Matroska (RFC 9559): the first track's codec, the duration, and tags that stand in front of the music.

import { big, latin } from '../source.js';
import { MOST_TEXT_BYTES, decoded } from './found.js';

/** Elements of a file that are looked at. */
const MOST_ELEMENTS = 2000;
const DEEPEST = 6;

/** Elements that hold others that matter: the segment, its information, tracks, one of them, tags, one of these, its text. */
const HOLDERS = new Set([0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0x1254c367, 0x7373, 0x67c8]);
const SEGMENT = 0x18538067, CLUSTER = 0x1f43b675, SCALE = 0x2ad7b1, DURATION = 0x4489, TITLE = 0x7ba9, KIND = 0x83, SIMPLE = 0x67c8, NAME = 0x45a3, TEXT = 0x4487;
/** What a track of sound has as its kind. */
const SOUND = 2;

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { TITLE: 'title', ARTIST: 'artist', ALBUM: 'album' };

/**
 * @typedef {{ left: number, scale: number, duration: number, hasSound: boolean, title: string, name: string, isEnded: boolean, isCut: boolean }} State
 */

/**
 * Reads the elements of a file up to its music.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether there is a track of sound
 */
export async function webm(reader, offset, found) {
  /** @type {State} */
  const state = { left: MOST_ELEMENTS, scale: 1_000_000, duration: 0, hasSound: false, title: '', name: '', isEnded: false, isCut: false };
  await elements(reader, offset, reader.size, 0, state, found);
  if (state.title) found.text('title', state.title);
  if (!state.isCut) found.duration((state.duration * state.scale) / 1e6);
  return state.hasSound;
}

/**
 * A number of variable length: the zeros in front say how many bytes it has.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {boolean} isName whether the mark is part of it
 * @returns {{ value: number, next: number } | null} `value` is infinite where all bits are set: not known
 */
function variable(bytes, at, isName) {
  const length = Math.clz32(bytes[at] ?? 0) - 23;
  if (length > (isName ? 4 : 8) || at + length > bytes.length) return null;
  if (isName) return { value: big(bytes, at, length), next: at + length };
  const value = (bytes[at] & (0xff >> length)) * 256 ** (length - 1) + big(bytes, at + 1, length - 1);
  return { value: value >= 2 ** (7 * length) - 1 ? Infinity : value, next: at + length };
}

/**
 * @param {import('../source.js').Reader} reader
 * @param {number} at
 * @param {number} end
 * @param {number} depth
 * @param {State} state
 * @param {import('./found.js').Found} found
 */
async function elements(reader, at, end, depth, state, found) {
  while (at + 2 <= end && state.left > 0 && !state.isEnded) {
    state.left -= 1;
    const head = await reader.upTo(at, Math.min(12, end - at)), name = variable(head, 0, true);
    const size = name && variable(head, name.next, false);
    if (!size) return;
    const id = name.value, start = at + size.next, isCut = size.value !== Infinity && start + size.value > reader.size;
    const length = Math.min(size.value, end - start);
    at = start + length;
    if (id === SEGMENT) state.isCut = isCut;
    if (id === CLUSTER) state.isEnded = true;
    else if (HOLDERS.has(id) && depth < DEEPEST) {
      if (id === SIMPLE) state.name = '';
      await elements(reader, start, at, depth + 1, state, found);
    } else if (id === SCALE || id === KIND) {
      const bytes = length <= 8 && await reader.at(start, length);
      if (bytes && id === SCALE) state.scale = big(bytes, 0, length);
      else if (bytes && big(bytes, 0, length) === SOUND) state.hasSound = true;
    } else if (id === DURATION && (length === 4 || length === 8)) {
      const bytes = await reader.at(start, length);
      const view = bytes && new DataView(bytes.buffer, bytes.byteOffset, length);
      if (view) state.duration = length === 4 ? view.getFloat32(0) : view.getFloat64(0);
    } else if (id === NAME || id === TEXT || id === TITLE) {
      const text = decoded(await reader.upTo(start, Math.min(length, MOST_TEXT_BYTES))).replace(/\0+$/, '');
      if (id === TITLE) state.title = text;
      else if (id === NAME) state.name = text.toUpperCase();
      else if (state.name in FIELDS) found.text(FIELDS[state.name], text);
    }
  }
}
