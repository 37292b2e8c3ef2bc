import { searchable } from './search.js';

/**
 * What makes two songs the same for people: title and artist, without case and accents.
 *
 * @param {{ title: string, artist?: string }} song
 */
export function sameSong(song) {
  return `${searchable(song.title).trim()}\n${searchable(song.artist ?? '').trim()}`;
}
