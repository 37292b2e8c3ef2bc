// FLAC's metadata blocks (RFC 9639).

import { Pieces, big } from '../source.js';
import { comments, picture } from './comments.js';

/** Blocks of a file that are looked at. */
const MOST_BLOCKS = 128;

/**
 * Reads the blocks behind `fLaC`.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset of `fLaC`
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether the first block says what the stream is
 */
export async function flac(reader, offset, found) {
  const first = await reader.at(offset + 4, 38);
  if (!first || (first[0] & 0x7f) !== 0 || big(first, 1, 3) < 34) return false;
  // 20 bits of sample rate, 8 of channels and width, 36 of samples.
  const rate = big(first, 14, 3) >> 4, samples = (first[17] & 15) * 2 ** 32 + big(first, 18, 4);
  if (!rate) return false;
  found.duration((samples / rate) * 1000);
  let at = offset + 4;
  for (let count = 0, isLast = false; count < MOST_BLOCKS && !isLast; count += 1) {
    const head = await reader.at(at, 4);
    if (!head) break;
    const length = big(head, 1, 3), start = at + 4;
    at = start + length;
    if (at > reader.size) break;
    isLast = head[0] > 127;
    if ((head[0] & 0x7f) === 4) await comments(new Pieces(reader, [[start, length]]), 0, found);
    else if ((head[0] & 0x7f) === 6 && found.wantsPicture) await picture(reader, start, length, found);
  }
  return true;
}
