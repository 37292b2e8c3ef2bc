// APEv2 tags (wiki.hydrogenaudio: APEv2 specification), which stand behind the audio.

import { latin, little } from '../source.js';
import { LARGEST_PICTURE, MOST_TEXT_BYTES } from './found.js';

/** Items of a tag that are looked at. */
const MOST_ITEMS = 500;
/** Of an item: its length, its flags, and a name of up to 255 characters with its end. */
const LONGEST_HEAD = 8 + 256;

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { title: 'title', artist: 'artist', 'album artist': 'band', albumartist: 'band', album: 'album' };

/**
 * Reads the tag that ends somewhere.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} end
 * @param {import('./found.js').Found} found
 * @returns {Promise<number>} the tag's bytes, 0 where there is none
 */
export async function ape(reader, end, found) {
  const foot = await reader.at(end - 32, 32);
  if (!foot || latin(foot, 0, 8) !== 'APETAGEX') return 0;
  const size = little(foot, 12, 4), count = Math.min(MOST_ITEMS, little(foot, 16, 4));
  // The size has the footer with it, but not the header, which not every tag has.
  if (size < 32 || size > end) return 32;
  const length = size + (foot[23] & 0x80 && size + 32 <= end ? 32 : 0), last = end - 32;
  for (let i = 0, at = end - size; i < count && at + 9 < last; i += 1) {
    const head = await reader.upTo(at, Math.min(LONGEST_HEAD, last - at));
    const nameEnd = head.indexOf(0, 8);
    if (nameEnd < 0) break;
    const name = latin(head, 8, nameEnd - 8).toLowerCase(), start = at + nameEnd + 1, long = little(head, 0, 4);
    at = start + long;
    if (at > last) break;
    // Texts, binary data, addresses of files elsewhere.
    const kind = (head[4] >> 1) & 3;
    if (kind === 0 && (name in FIELDS || name === 'replaygain_track_gain')) {
      const bytes = await reader.upTo(start, Math.min(long, MOST_TEXT_BYTES));
      if (name in FIELDS) found.raw(FIELDS[name], bytes, 'ape');
      else found.gain(latin(bytes, 0, Math.min(bytes.length, 64)));
    } else if (kind === 1 && name.startsWith('cover art') && found.wantsPicture && long <= LARGEST_PICTURE) {
      // The name of a file, and its bytes.
      const named = (await reader.upTo(start, Math.min(long, 512))).indexOf(0);
      if (named >= 0) await found.image(reader, start + named + 1, long - named - 1, name.includes('front'));
    }
  }
  return length;
}
