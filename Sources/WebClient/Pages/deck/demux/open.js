// Chooses a file's demuxer by its first bytes, not by its name.

import { latin } from '../source.js';
import { flac } from './flac.js';
import { mp3 } from './mp3.js';
import { mp4 } from './mp4.js';
import { ogg } from './ogg.js';
import { wav } from './wav.js';
import { Refused, Window, afterTags } from './window.js';

/** What a file of boxes may begin with. */
const BOXES = ['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'styp', 'moof', 'pnot'];

/**
 * A file's packets. Bounded in time and memory, whatever is in the file.
 *
 * @param {import('../source.js').Source} source
 * @returns {Promise<import('./window.js').Media>} rejects with `Refused` for what it cannot read; so may its packets
 */
export async function open(source) {
  const window = new Window(source), at = await afterTags(window);
  const head = await window.at(at, 8), name = latin(head, 0, 4);
  if (name === 'fLaC') return flac(window, at);
  if (name === 'OggS') return ogg(window, at);
  if (name === 'RIFF' || name === 'RF64') return wav(window, at);
  // AAC as a row of frames, and WebM: the browser's other decoder knows them.
  if (name === '\x1aE\xdf\xa3' || (head[0] === 0xff && (head[1] & 0xf6) === 0xf0)) throw new Refused('codec');
  if (BOXES.includes(latin(head, 4, 4))) return mp4(window);
  return mp3(window, at);
}
