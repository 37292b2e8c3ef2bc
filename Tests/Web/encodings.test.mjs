// Texts of files that say of no encoding, or of Latin-1, as which people write anything.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decoded } from '../../Sources/WebClient/Pages/deck/tags/found.js';
import { readTags } from '../../Sources/WebClient/Pages/deck/tags/read.js';
import { Together, encodingOf } from '../../Sources/WebClient/Pages/deck/tags/text.js';
import { countedSource, joined } from './mutations.mjs';
import { chunk, comments, cyrillic, file, frame, id3Picture, id3Text, latin, page, synchsafe, tag, utf8, wave } from './tagged-files.mjs';

/** さくらの歌, 森山, カタカナ・ポップ, 夜に駆ける in Shift-JIS. */
const JAPANESE = {
  さくらの歌: [0x82, 0xb3, 0x82, 0xad, 0x82, 0xe7, 0x82, 0xcc, 0x89, 0xcc], 森山: [0x90, 0x58, 0x8e, 0x52],
  カタカナ: [0x83, 0x4a, 0x83, 0x5e, 0x83, 0x4a, 0x83, 0x69], 夜に駆ける: [0x96, 0xe9, 0x82, 0xc9, 0x8b, 0xec, 0x82, 0xaf, 0x82, 0xe9],
};

/** The texts of a file, as they are read where it comes alone. */
function guessed(texts) {
  const { encoding } = encodingOf(texts);
  return texts.map((bytes) => decoded(bytes, encoding));
}

/** The titles of files, [folder, title] each, that are added together. */
function together(...files) {
  const all = new Together();
  const songs = files.map(([folder, bytes]) => {
    const { encoding, others } = encodingOf([bytes]), song = { title: decoded(bytes, encoding) };
    if (encoding !== 'utf-8') all.add(song, folder, { encoding, others: Object.fromEntries(others.map((one) => [one, { title: decoded(bytes, one) }])) });
    return song;
  });
  for (const { of, names } of all.settled()) Object.assign(of, names);
  return songs.map(({ title }) => title);
}

const mp3 = file('cbr.mp3');
const v1 = (title, artist) => joined(latin('TAG'), title, new Uint8Array(30 - title.length), artist, new Uint8Array(30 - artist.length), new Uint8Array(65));
const flagged = (title, artist, version = 3) => joined(tag(version, [frame(version, version === 2 ? 'TT2' : 'TIT2', joined([0], title)), frame(version, version === 2 ? 'TP1' : 'TPE1', joined([0], artist))]), mp3);
const texts = async (bytes) => {
  const { title, artist } = await readTags(countedSource(bytes));
  return [title, artist];
};

/** Names of the west, with what has no other letter than accented ones. */
const WESTERN = [
  'Sigur Rós', 'Motörhead', 'Mötley Crüe', 'Beyoncé', 'Café', 'Renée', 'Édith Piaf', 'Ágætis byrjun', 'Ænima', 'Þú ert jörðin', 'Für Elise', 'ÄÖÜ', 'Æ Ø Å', 'À', 'Ó',
  'Niño', 'Señor', 'Ça ira', 'Où', 'Garçon à la mode', 'Blåbärssås', 'Smörgåsbord', 'Ünïcödé', 'naïve', 'Dvořák'.replace('ř', 'r'), 'Ýmir', 'Ölüm', 'É', 'Één', 'La Bohème',
  'Ñu', 'São Paulo', 'Coração', 'Håå', 'Tõnu', 'Øye', 'Ísland', '¿Qué?', '¡Olé!', 'Nº 5', '© 2001', '½ Life', 'Ô', 'Père Noël', 'Être', 'ÉTÉ', 'ÇÀ ET LÀ', 'ÅÄÖ', 'Öö', 'Äß', 'Grüße',
];

test('western texts stay what they are', () => {
  for (const name of WESTERN) assert.deepEqual(guessed([latin(name)]), [name], name);
  // All of an album together.
  assert.deepEqual(guessed(WESTERN.map(latin)), WESTERN);
  // One file each, added together.
  assert.deepEqual(together(...WESTERN.map((name) => ['', latin(name)])), WESTERN);
});

test('what Windows adds to Latin-1 is no Japanese', async () => {
  // “Don’t” and “won’t”, in quotes; each of these marks is the first byte of a character there.
  for (const bytes of [latin('Don\x92t Won\x92t'), latin('\x93Heroes\x94'), latin('Rock \x96 Live'), latin('\x8akoda \x8eivot'), latin('Caf\xe9 \x93Hi\x94'), latin('Ren\xe9e \x96 Zo\xeb')]) {
    assert.doesNotMatch(guessed([bytes])[0], /[\u3000-\u9fff\u0400-\u04ff]/, String.fromCharCode(...bytes));
  }
});

test('UTF-8 that is said to be Latin-1', async () => {
  assert.deepEqual(await texts(flagged(utf8('Ce que l’on sème'), utf8('Sigur Rós'))), ['Ce que l’on sème', 'Sigur Rós']);
  assert.deepEqual(await texts(flagged(utf8('Ёлка'), latin('Ren\xe9e'))), ['Ёлка', 'Renée']);
  assert.deepEqual(await texts(flagged(utf8('さくら'), latin('x'), 2)), ['さくら', 'x']);
  assert.deepEqual(await texts(joined(mp3, v1(utf8('Абвгдежзиклмноп').subarray(0, 29), utf8('Браво')))), ['Абвгдежзиклмно', 'Браво']);
});

test('Windows-1251: Russian and its relatives', async () => {
  const title = 'Лучшие песни', artist = 'Браво';
  for (const version of [2, 3, 4]) assert.deepEqual(await texts(flagged(cyrillic(title), cyrillic(artist), version)), [title, artist]);
  assert.deepEqual(await texts(joined(mp3, v1(cyrillic(title), cyrillic(artist)))), [title, artist]);
  // A short one beside a long one; Latin words, numbers, all capitals.
  for (const [one, other] of [['Би-2', 'Полковнику никто не пишет'], ['КИНО', 'Группа крови'], ['Ёлка', 'Прованс'], ['Звери', 'Районы-кварталы (Live 2004)'], ['ДДТ', 'Что такое осень']]) {
    assert.deepEqual(guessed([cyrillic(one), cyrillic(other)]), [one, other]);
  }
  const list = joined(latin('INFO'), chunk('INAM', joined(cyrillic(title), [0])), chunk('IART', joined(cyrillic(artist), [0])));
  assert.deepEqual(await texts(wave([chunk('LIST', list)], new Uint8Array(8000))), [title, artist]);
});

test('Shift-JIS', async () => {
  const [title, artist] = Object.keys(JAPANESE);
  for (const [text, bytes] of Object.entries(JAPANESE)) assert.deepEqual(guessed([Uint8Array.from(bytes)]), [text]);
  assert.deepEqual(await texts(joined(mp3, v1(Uint8Array.from(JAPANESE[title]), Uint8Array.from(JAPANESE[artist])))), [title, artist]);
  assert.deepEqual(await texts(flagged(joined(Uint8Array.from(JAPANESE[title]), latin(' (Live)')), Uint8Array.from(JAPANESE[artist]))), [`${title} (Live)`, artist]);
});

test('a file in doubt follows the others of its folder', () => {
  const short = ['Мы', 'Я', 'ДДТ', 'Ёж', 'Дождь'], long = ['Лучшие песни', 'Группа крови', 'Что такое осень'];
  const of = (folder, names, bytes = cyrillic) => names.map((name) => [folder, bytes(name)]);
  // In whatever order they come; alone they say too little.
  assert.deepEqual(together(...of(1, short), ...of(1, long)), [...short, ...long]);
  assert.deepEqual(together(...of(1, short)).filter((name) => /[а-я]/i.test(name)), []);
  // Neither signs nor UTF-8 nor plain texts speak against it.
  const signs = ['Rock – Live', '“Heroes”'].map((name) => [1, latin(name.replaceAll('–', '\x96').replaceAll('“', '\x93').replaceAll('”', '\x94'))]);
  assert.deepEqual(together(...of(1, short), ...of(1, long), ...signs, ...of(1, ['Björk', 'ÄÖÜ'], utf8), ...of(1, ['Plain'], latin)),
    [...short, ...long, 'Rock – Live', '“Heroes”', 'Björk', 'ÄÖÜ', 'Plain']);
  const kanji = Uint8Array.of(0x8b, 0xf3), japanese = Object.entries(JAPANESE);
  assert.deepEqual(together([1, kanji], ...japanese.map(([, bytes]) => [1, Uint8Array.from(bytes)])), ['空', ...japanese.map(([name]) => name)]);
});

test('a western album beside a Cyrillic or Japanese one stays what it is', () => {
  const long = ['Лучшие песни', 'Группа крови', 'Что такое осень', 'Полковнику никто не пишет', 'Прованс'];
  const others = [long.map((name) => [1, cyrillic(name)]), Object.values(JAPANESE).map((bytes) => [1, Uint8Array.from(bytes)])];
  for (const other of others) {
    // In a folder of its own, also where nothing else in it speaks for the west.
    for (const names of [WESTERN, ['ÄÖÜ', 'Öö', 'Å', 'Äß', 'été'], ['ÅÄÖ']]) {
      assert.deepEqual(together(...other, ...names.map((name) => [2, latin(name)])).slice(other.length), names);
    }
    // In one folder.
    assert.deepEqual(together(...other, ...WESTERN.map((name) => [1, latin(name)])).slice(other.length), WESTERN);
    // A few of them among many: those of which a letter speaks for it.
    const few = ['Motörhead', 'Björk', 'Façade', 'Rock à la carte', 'Isso é bom', '½ Life', '¡Hola!', 'Nº 5', 'Cœur de pirate', 'Žiga', 'Šajeta', '50 €', '€'];
    const added = { œ: '\x9c', Ž: '\x8e', Š: '\x8a', '€': '\x80' };
    for (const name of few) {
      assert.equal(together(...Array(20).fill(other).flat(), [1, latin(name.replace(/[œŽŠ€]/g, (one) => added[one]))]).at(-1), name);
    }
  }
});

test('any bytes: no throw', () => {
  for (let a = 128; a < 256; a += 1) for (let b = 0; b < 256; b += 5) assert.equal(guessed([Uint8Array.of(a, b), Uint8Array.of(b, a, a)]).length, 2);
});

test('what stands behind a large picture of an unsynchronised tag', async () => {
  const image = joined(file('cover.jpg'), new Uint8Array(900_000).fill(255));
  for (const frames of [(version) => [frame(version, 'APIC', id3Picture(version, image)), frame(version, 'TIT2', id3Text(1, 'Behind ☂'))]]) {
    assert.equal((await readTags(countedSource(joined(tag(3, frames(3), { all: true }), mp3)), { picture: false })).title, 'Behind ☂');
  }
});

test('tags that are longer than they are, and music far behind them', async () => {
  const frames = [frame(3, 'TIT2', id3Text(0, 'Here')), frame(3, 'TPE1', id3Text(0, 'Me'))];
  const { format, title, durationMs } = await readTags(countedSource(joined(tag(3, frames, { size: 5_000_000, padding: 0 }), mp3)));
  assert.deepEqual([format, title], ['mp3', 'Here']);
  assert.ok(Math.abs(durationMs - 3070) < 100, `${durationMs}`);
  const far = await readTags(countedSource(joined(tag(3, frames), new Uint8Array(300_000), mp3)));
  assert.deepEqual([far.format, far.title], ['mp3', 'Here']);
  assert.ok(Math.abs(far.durationMs - 3070) < 100, `${far.durationMs}`);
});
