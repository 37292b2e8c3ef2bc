// FLAC: frames have no length, so the next one is searched for: by its synchronisation, its CRC, and its number.

import { LONGEST_HEADER, header } from '../flac-frame.js';
import { big } from '../source.js';
import { LARGEST_PACKET, Refused } from './window.js';

/** The block of properties and what stands before it: `fLaC`, type and length. */
const ABOUT_BYTES = 42;
/** Frames are no shorter. */
const SHORTEST_FRAME = 9;
/** Blocks of metadata that are passed over. */
const MOST_BLOCKS = 1000;

/** @typedef {import('../flac-frame.js').Head} Head */

/**
 * The packets of a FLAC.
 *
 * @param {import('./window.js').Window} window
 * @param {number} from  where `fLaC` stands
 * @returns {Promise<import('./window.js').Media>}
 */
export async function flac(window, from) {
  const description = (await window.at(from, ABOUT_BYTES)).slice();
  // The first block is the one of properties, of 34 bytes.
  if (description.length < ABOUT_BYTES || (description[4] & 0x7f) !== 0 || big(description, 5, 3) !== 34) throw new Refused('format');
  const block = big(description, 10, 2), packed = big(description, 18, 4);
  const rate = packed >>> 12, total = (description[21] & 15) * 2 ** 32 + big(description, 22, 4);
  if (rate === 0 || block < 16) throw new Refused('format');
  let at = from + 4;
  for (let blocks = 0, last = false; !last; blocks += 1) {
    const head = await window.at(at, 4);
    if (head.length < 4 || blocks > MOST_BLOCKS) throw new Refused('format');
    last = head[0] >= 0x80;
    at += 4 + big(head, 1, 3);
  }
  // The decoder is told of this block only.
  description[4] = 0x80;
  return {
    config: { codec: 'flac', sampleRate: rate, numberOfChannels: ((packed >> 9) & 7) + 1, description },
    packets: packets(window, at, block, rate),
    durationMs: total ? total / rate * 1000 : undefined,
  };
}

/**
 * The next frame at or behind an offset, seen from the start of another one.
 *
 * @param {import('./window.js').Window} window
 * @param {number} start  where reading begins
 * @param {number} from  at least `start`
 * @param {Head} [before]  the frame at `start`
 * @returns {Promise<(Head & { at: number }) | null>} null: none within the length of a packet
 */
async function find(window, start, from, before) {
  const number = before && (before.variable ? before.number + before.samples : before.number + 1);
  /** @type {(Head & { at: number }) | null} */
  let other = null;
  for (let span = 1 << 15, next = from - start; ; span *= 2) {
    const bytes = await window.at(start, span);
    for (let i = bytes.indexOf(0xff, next); i >= 0; i = bytes.indexOf(0xff, i + 1)) {
      const found = header(bytes, i);
      if (!found || (before && found.variable !== before.variable)) continue;
      if (!before || found.number === number) return { ...found, at: start + i };
      // Something between was damaged. What goes back is no frame.
      if (!other && found.number > before.number) other = { ...found, at: start + i };
    }
    if (bytes.length < span || span >= LARGEST_PACKET) return other;
    next = Math.max(next, bytes.length - LONGEST_HEADER);
  }
}

/**
 * @param {import('./window.js').Window} window
 * @param {number} at
 * @param {number} block  samples of a frame, where that is fixed
 * @param {number} rate
 */
async function* packets(window, at, block, rate) {
  let one = await find(window, at, at);
  while (one) {
    const next = await find(window, one.at, one.at + SHORTEST_FRAME, one);
    const data = await window.at(one.at, Math.min(next ? next.at - one.at : Infinity, LARGEST_PACKET));
    const sample = one.variable ? one.number : one.number * block;
    yield { data, timestampUs: Math.round(sample / rate * 1e6), durationUs: one.samples / rate * 1e6 };
    one = next;
  }
}
