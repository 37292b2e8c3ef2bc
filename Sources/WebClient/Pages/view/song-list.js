// Songs as people write them: by hand, or a list with one song a line. Pure.

import { SameSongs } from '../room/same-song.js';

export { SameSongs };

/** The longest title, artist or album, in Unicode scalars. */
export const LONGEST_TEXT = 300;

/** The longest duration of a track in ms: a week. */
export const LONGEST_DURATION = 604_800_000;

/** The longest line that is read, in UTF-16 units: more than the longest song. */
const LONGEST_LINE = 4000;

/** Quotation marks. */
const QUOTES = '"“”„«»';

/** @typedef {{ title: string, artist?: string, album?: string, durationMs?: number }} Song */
/** @typedef {'tooLong' | 'doubled' | 'isHere' | 'lengthLong'} Reason why a line is left out */

/**
 * The number of Unicode scalars of a text.
 *
 * @param {string} text
 */
export function scalars(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Whether a text has a control character or a separator of lines.
 *
 * @param {string} text
 */
export function hasControl(text) {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * A duration as `m:ss` or `h:mm:ss`, also with points or commas, which phones offer beside digits.
 *
 * @param {string} text
 * @returns {number | null} ms; null where it is none
 */
export function durationOf(text) {
  const parts = /^(?:(\d{1,3})[:.,])?(\d{1,5})[:.,]([0-5]\d)$/.exec(text.trim());
  if (!parts) return null;
  const [, hours, minutes, seconds] = parts;
  if (hours !== undefined && Number(minutes) > 59) return null;
  return ((Number(hours ?? 0) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}

/**
 * Reads one line: `Artist – Title 3:45`, `Title`, or columns between tabs. Numbers and bullets before it do not count.
 *
 * @param {string} line
 * @param {boolean} titleFirst whether the title stands before the artist
 * @returns {Song | null} null for a line without a song
 */
export function songOf(line, titleFirst) {
  if (line.length > LONGEST_LINE) return { title: line };
  let rest = line.replace(/[^\P{Cc}\t]/gu, ' ').replace(/[^\S\t]+/g, ' ').trim().replace(/^(?:[-*•·]\s+|\d{1,4}[.)]\s+|#\d{1,4}\s+)/u, '').replace(/^(?:\d{1,2}:)?\d{1,2}:\d{2}\s+/, '');
  /** @type {number | undefined} */
  let durationMs;
  const length = /[\s([]((?:\d{1,3}:)?\d{1,3}:[0-5]\d)[)\]]?$/.exec(rest);
  if (length) {
    durationMs = durationOf(length[1]) ?? undefined;
    rest = rest.slice(0, length.index);
  }
  const columns = rest.includes('\t') ? rest.split('\t') : rest.split(/\s+[-–—―]\s+/u);
  const [first, ...others] = columns.map(bare).filter((column) => column !== '');
  if (first === undefined) return null;
  const second = rest.includes('\t') ? others[0] : others.join(' – ');
  /** @type {Song} */
  const song = !second ? { title: first } : titleFirst ? { title: first, artist: second } : { title: second, artist: first };
  if (rest.includes('\t') && others[1]) song.album = others[1];
  if (durationMs !== undefined) song.durationMs = durationMs;
  return song;
}

/**
 * A text without white space and quotation marks around it.
 *
 * @param {string} text
 */
function bare(text) {
  let start = 0;
  let end = text.length;
  while (end > start && ' \t-–—'.includes(text[end - 1])) end -= 1;
  while (start < end && ' \t'.includes(text[start])) start += 1;
  if (end - start > 2 && QUOTES.includes(text[start]) && QUOTES.includes(text[end - 1])) return text.slice(start + 1, end - 1).trim();
  return text.slice(start, end);
}

/**
 * Reads a list with one song a line.
 *
 * @param {string} text
 * @param {boolean} titleFirst
 * @param {(song: Song) => boolean} isHere whether the room has a song already
 * @returns {{ songs: Song[], left: { line: number, reason: Reason }[] }} lines count from 1
 */
export function songsOf(text, titleFirst, isHere) {
  /** @type {Song[]} */
  const songs = [];
  /** @type {{ line: number, reason: Reason }[]} */
  const left = [];
  /** @type {SameSongs<Song>} */
  const seen = new SameSongs();
  text.split(/\r\n|[\n\r\u2028\u2029]/).forEach((line, index) => {
    const song = songOf(line, titleFirst);
    if (!song) return;
    /** @type {Reason | null} */
    const reason = [song.title, song.artist ?? '', song.album ?? ''].some((field) => scalars(field) > LONGEST_TEXT) ? 'tooLong'
      : (song.durationMs ?? 0) > LONGEST_DURATION ? 'lengthLong' : seen.find(song) ? 'doubled' : isHere(song) ? 'isHere' : null;
    seen.add(song);
    if (reason) left.push({ line: index + 1, reason });
    else songs.push(song);
  });
  return { songs, left };
}
