// A song of the library: what is known of one file.

import { sourceOf } from './source.js';

const TYPES = {
  mp3: 'audio/mpeg', aac: 'audio/aac', mp4: 'audio/mp4', webm: 'audio/webm', flac: 'audio/flac', oggflac: 'audio/ogg', vorbis: 'audio/ogg', opus: 'audio/ogg',
  wav: 'audio/wav', other: '',
};

/** The codecs in them, as browsers name them, where the format, or what an MP4 calls its codec, tells. */
const CODECS = /** @type {Record<string, string>} */ ({ vorbis: 'vorbis', opus: 'opus', oggflac: 'flac', 'mp4 mp4a': 'mp4a.40.2' });

/**
 * A file of the library. `oldId` is the `sourceId` that releases before gave it, where that is another one: rooms of theirs
 * name it so. `durationMs` is what the file's bytes say, else the browser, until its samples have been counted: from then
 * on, which is when there is a `waveform`, it is their number, and `saidMs` what was known before. `unplayable`: this
 * device cannot play it; it is here all the same, so that nobody is told it is missing. `lufs` is its loudness: null for
 * silence. `kept` says how the file is found after a reload: by its handle, as a copy in a folder or in a database, or not at
 * all.
 *
 * @typedef {{ sourceId: string, oldId?: string, name: string, size: number, format: import('./tags/read.js').Format | 'other', title: string,
 *   artist?: string, album?: string, durationMs?: number, saidMs?: number, gainDb?: number, lufs?: number | null, waveform?: Uint8Array,
 *   unplayable?: true, addedAt: number, kept: 'handle' | import('./kept.js').Copy | 'memory' }} Song
 */

/**
 * Where the copy of a song's file lies; undefined where there is none.
 *
 * @param {Song | undefined} song
 * @returns {import('./kept.js').Copy | undefined}
 */
export function copyOf(song) {
  return song && (song.kept === 'opfs' || song.kept === 'database') ? song.kept : undefined;
}

/**
 * A file with the name and the type of its song.
 *
 * @param {File} file
 * @param {Song} song
 */
export function typed(file, { name, format }) {
  return new File([file], name, { type: TYPES[format] || file.type, lastModified: file.lastModified });
}

/**
 * The type by which a browser is asked whether it plays a file; empty where it is not known here. Of codecs that browsers
 * play without a word for them, such as Apple's lossless one, it names the container alone.
 *
 * @param {Song['format']} format
 * @param {string} [codec]  as an MP4 calls it
 */
export function typeOf(format, codec) {
  const name = CODECS[format] ?? CODECS[`${format} ${codec}`];
  return TYPES[format] + (name ? `; codecs="${name}"` : '');
}

/**
 * The song as a room gets it.
 *
 * @param {Song} song
 * @returns {import('../wire/messages').TrackInfo}
 */
export function trackOf({ sourceId, title, artist, album, durationMs }) {
  /** @type {import('../wire/messages').TrackInfo} */
  const track = { source: 'local', sourceId, title };
  if (artist) track.artist = artist;
  if (album) track.album = album;
  if (durationMs) track.durationMs = durationMs;
  return track;
}

/**
 * The picture in a file, if there is one.
 *
 * @param {File} file
 * @returns {Promise<Blob | null>} of an image type, at most 8 MiB; rejects where the file cannot be read
 */
export async function pictureOf(file) {
  // What reads tags is loaded when the first picture is shown, or a file added.
  const { readTags } = await import('./tags/read.js'), { picture } = await readTags(sourceOf(file));
  if (!picture) return null;
  return new Blob(['bytes' in picture ? picture.bytes : file.slice(picture.offset, picture.offset + picture.length)], { type: picture.type });
}
