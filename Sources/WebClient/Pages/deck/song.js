// A song of the library: what is known of one file.

import { sourceOf } from './source.js';

const TYPES = {
  mp3: 'audio/mpeg', aac: 'audio/aac', mp4: 'audio/mp4', webm: 'audio/webm', flac: 'audio/flac', oggflac: 'audio/ogg', vorbis: 'audio/ogg', opus: 'audio/ogg',
  wav: 'audio/wav', other: '',
};

/** How browsers name the codecs of formats that have several, and the codecs that an MP4 names by its own codes. */
const CODECS = /** @type {Record<string, string[]>} */ ({
  vorbis: ['vorbis'], opus: ['opus'], oggflac: ['flac'],
  mp4a: ['mp4a.40.2'], alac: ['alac'], fLaC: ['fLaC', 'flac'], Opus: ['Opus', 'opus'], 'ac-3': ['ac-3'], 'ec-3': ['ec-3'],
});

/**
 * A file of the library. `oldId` is the `sourceId` that releases before gave it, where that is another one: rooms of theirs
 * name it so. `durationMs` is what the file's bytes say, else the browser, until its samples have been counted: from then
 * on, which is when there is a `waveform`, it is their number, and `saidMs` what was known before. `unplayable`: this
 * device cannot play it; it is here all the same, so that nobody is told it is missing. `lufs` is its loudness: null for
 * silence. `kept` says how the file is found after a reload: by its handle, as a copy, or not at all.
 *
 * @typedef {{ sourceId: string, oldId?: string, name: string, size: number, format: import('./tags/read.js').Format | 'other', title: string,
 *   artist?: string, album?: string, durationMs?: number, saidMs?: number, gainDb?: number, lufs?: number | null, waveform?: Uint8Array,
 *   unplayable?: true, addedAt: number, kept: 'handle' | 'opfs' | 'memory' }} Song
 */

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
 * The types of what is in a file: a browser that plays it knows one of them. None where they are not known here.
 *
 * @param {Song['format']} format
 * @param {string} [codec]  as the file calls it
 * @returns {string[]}
 */
export function typesOf(format, codec = '') {
  const type = TYPES[format];
  const names = CODECS[format === 'mp4' ? codec : format];
  return !type ? [] : names ? names.map((name) => `${type}; codecs="${name}"`) : [type];
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
