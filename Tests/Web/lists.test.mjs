// The search of a pool, codes as people write them, and songs as people write them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Search, searchable } from '../../Sources/WebClient/Pages/room/search.js';
import { durationOf, hasControl, scalars, songOf, songsOf } from '../../Sources/WebClient/Pages/view/song-list.js';
import { milliseconds } from './samples.mjs';

const pool = (...titles) => titles.map((title, index) => ({ track: index + 1, title, artist: 'Linha Azul', album: 'Noites do Porto' }));
const titles = (tracks) => tracks.map((track) => track.title);

test('a search knows neither case nor accents nor apostrophes', () => {
  const search = new Search({ pool: pool('Maré Alta', 'Straße', 'Don’t Stop', 'Ærø', 'İstanbul', 'ΟΔΟΣ', 'Łódź') });
  for (const [query, title] of [['mare', 'Maré Alta'], ['STRASSE', 'Straße'], ['dont', 'Don’t Stop'], ["don't", 'Don’t Stop'],
    ['aero', 'Ærø'], ['istanbul', 'İstanbul'], ['οδος', 'ΟΔΟΣ'], ['lodz', 'Łódź'], ['mare\u0301', 'Maré Alta']]) {
    assert.deepEqual(titles(search.find(query)), [title], query);
  }
});

test('every word of a query is in title, artist or album, in any order', () => {
  const search = new Search({ pool: pool('Maré Alta', 'Salt Horizon') });
  assert.deepEqual(titles(search.find('porto salt azul')), ['Salt Horizon']);
  assert.deepEqual(search.find('salt mare'), []);
});

test('a query without words is the whole pool', () => {
  const room = { pool: pool('A', 'B') };
  assert.equal(new Search(room).find('  \u0301 '), room.pool);
});

test('typing on and back finds what a new search finds', () => {
  const room = { pool: pool('Maré Alta', 'Marea', 'Alta Maré', 'Mar', 'Salt') };
  const search = new Search(room);
  for (const query of ['m', 'ma', 'mar', 'mare', 'mare a', 'mare al', 'mare', 'm', 'sa', '', 'alta m']) {
    assert.deepEqual(search.find(query), new Search(room).find(query), query);
  }
});

test('a changed pool is searched as a whole after a reset', () => {
  const room = { pool: pool('Mar') };
  const search = new Search(room);
  assert.equal(search.find('mar').length, 1);
  room.pool = pool('Mar', 'Maré');
  search.reset();
  assert.equal(search.find('mar').length, 2);
  assert.equal(search.prepare(0, 100), 2);
});

test('plain texts and others are folded alike', () => {
  for (const text of ['ABC xyz 09 ~!', 'A B']) assert.equal(searchable(text), searchable(`${text}\u0301`));
});

test('a line is read as artist, title and length', () => {
  const lines = {
    'Moss – Slow Station 3:45': { title: 'Slow Station', artist: 'Moss', durationMs: 225_000 },
    '12. Moss - Slow Station (1:02:03)': { title: 'Slow Station', artist: 'Moss', durationMs: 3_723_000 },
    '00:15:30 Moss — Slow Station': { title: 'Slow Station', artist: 'Moss' },
    'Moss\tSlow Station\tField Notes\t3:45': { title: 'Slow Station', artist: 'Moss', album: 'Field Notes', durationMs: 225_000 },
    'Jay-Z – 99 Problems': { title: '99 Problems', artist: 'Jay-Z' },
    '99 Luftballons': { title: '99 Luftballons' },
    '• “Quoted”': { title: 'Quoted' },
    'Title 3:75': { title: 'Title 3:75' },
  };
  for (const [line, song] of Object.entries(lines)) assert.deepEqual(songOf(line, false), song, line);
  assert.deepEqual(songOf('Slow Station – Moss', true), { title: 'Slow Station', artist: 'Moss' });
  for (const line of ['', '   ', ' - ', '\u0000\u0007']) assert.equal(songOf(line, false), null);
});

test('a list leaves out what is twice, too long, or in the room', () => {
  const { songs, left } = songsOf(`A – B\r\na - B\n\n${'x'.repeat(301)}\nC\n${'\u{1F389}'.repeat(300)}`, false, (song) => song.title === 'C');
  assert.deepEqual(songs.map((song) => song.title), ['B', '\u{1F389}'.repeat(300)]);
  assert.deepEqual(left, [{ line: 2, reason: 'doubled' }, { line: 4, reason: 'tooLong' }, { line: 5, reason: 'isHere' }]);
});

test('no line takes long to read', () => {
  const hostile = [' '.repeat(50_000), '-'.repeat(50_000), '"'.repeat(50_000), '1:'.repeat(25_000), '– '.repeat(25_000), `${'1'.repeat(50_000)}:00`];
  const begin = process.cpuUsage();
  for (const line of hostile) songOf(`a${line}b`, false);
  for (const line of hostile) songOf(line, false);
  const took = milliseconds(process.cpuUsage(begin));
  assert.ok(took < 2000, `${took} ms`);
});

test('lengths are minutes and seconds', () => {
  assert.equal(durationOf('3:45'), 225_000);
  assert.equal(durationOf(' 3.45 '), 225_000);
  assert.equal(durationOf('90:00'), 5_400_000);
  assert.equal(durationOf('1:02:03'), 3_723_000);
  for (const text of ['', '345', '3:5', '3:60', '1:60:00', 'x', '-1:00', '3:45x']) assert.equal(durationOf(text), null, text);
});

test('texts are counted in scalars, and have no control characters', () => {
  assert.equal(scalars('a\u{1F389}e\u0301'), 4);
  assert.ok(hasControl('a\u0000') && hasControl('a\u2028b') && !hasControl('a\u202eb'));
});
