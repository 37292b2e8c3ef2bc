// What files say of themselves: every format, files that are cut or changed, and how much of them is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTags } from '../../Sources/WebClient/Pages/deck/tags/read.js';
import { beginnings, countedSource, inTime, joined, mutate, seedOfRun } from './mutations.mjs';
import {
  LATIN, LENGTH, MADE, SONG, big, box, checkTags, chunk, comments, data, file, frame, id3Picture, id3Text, latin, little, moov, odd, page, synchsafe, tag, unsynchronised, utf8, wave,
} from './tagged-files.mjs';

/** How long the random changes go on, and the bytes that may be read of a file without its picture. */
const ROUNDS = Number(process.env.BACKLINE_ROUNDS ?? 3000);
const MOST_BYTES = 1 << 20;

const tagsOf = (bytes, name = 'file.bin') => inTime(readTags(countedSource(bytes, name)), 5000);

/** The bytes of a picture that was found. */
const pictureIn = (bytes, { picture }) => picture && (picture.bytes ?? bytes.slice(picture.offset, picture.offset + picture.length));

/** Checks texts, format and duration (± ms), and gives the tags. */
async function expect(bytes, { format, durationMs, within = 1, ...texts }) {
  const tags = await tagsOf(bytes);
  const { title, artist, album } = tags;
  assert.equal(tags.format, format);
  assert.deepEqual({ title, artist, album }, { title: 'file', artist: undefined, album: undefined, ...texts });
  if (durationMs !== undefined) assert.ok(Math.abs((tags.durationMs ?? 0) - durationMs) <= within, `${tags.durationMs} ms is not ${durationMs} ± ${within}`);
  return tags;
}

const mp3 = file('cbr.mp3');
const jpeg = file('cover.jpg');
const png = file('cover.png');

test('what programs write is read: every format, with its duration', async () => {
  await expect(file('plain.wav'), { format: 'wav', durationMs: LENGTH });
  for (const name of ['info.wav', 'rf64.wav', 'float.wav', 'deep.wav']) await expect(file(name), { format: 'wav', durationMs: LENGTH, ...SONG });
  await expect(file('streamed.wav'), { format: 'wav', durationMs: LENGTH });
  // Without a header of their length, frames last as long as they last: with what the encoder put before and behind.
  await expect(file('cbr.mp3'), { format: 'mp3', durationMs: LENGTH + 70, within: 60 });
  await expect(file('vbr.mp3'), { format: 'mp3', durationMs: LENGTH + 70, within: 300 });
  for (const name of ['low.mp3', 'lowest.mp3']) await expect(file(name), { format: 'mp3', durationMs: LENGTH + 100, within: 100 });
  await expect(file('xing.mp3'), { format: 'mp3', durationMs: LENGTH });
  for (const name of ['latin.mp3', 'utf16.mp3', 'old.mp3']) await expect(file(name), { format: 'mp3', durationMs: LENGTH, ...LATIN });
  await expect(file('four.mp3'), { format: 'mp3', durationMs: LENGTH, ...SONG });
  for (const name of ['late.m4a', 'early.m4a']) await expect(file(name), { format: 'mp4', durationMs: LENGTH, within: 25, ...SONG });
  await expect(file('film.mp4'), { format: 'mp4', durationMs: LENGTH, within: 60, ...SONG });
  await expect(file('pieces.mp4'), { format: 'mp4', ...SONG });
  for (const [name, codec] of [['late.m4a', 'mp4a'], ['lossless.m4a', 'alac'], ['flac.mp4', 'fLaC'], ['opus.mp4', 'Opus'], ['film.mp4', 'mp4a'], ['info.wav', undefined]]) {
    assert.equal((await tagsOf(file(name))).codec, codec, name);
  }
  await expect(file('tagged.flac'), { format: 'flac', durationMs: LENGTH, ...SONG });
  await expect(file('plain.flac'), { format: 'flac', durationMs: LENGTH });
  await expect(file('tagged.ogg'), { format: 'vorbis', durationMs: LENGTH, ...SONG });
  await expect(file('film.ogg'), { format: 'vorbis', durationMs: LENGTH, within: 30, ...SONG });
  for (const name of ['tagged.opus', 'long.opus']) await expect(file(name), { format: 'opus', durationMs: LENGTH, ...SONG });
  for (const name of ['cover.jpg', 'cover.png']) await expect(file(name), { format: null });
});

test('embedded pictures are found where they are', async () => {
  const pictures = { 'latin.mp3': jpeg, 'utf16.mp3': png, 'four.mp3': jpeg, 'early.m4a': jpeg, 'tagged.flac': jpeg, 'tagged.opus': jpeg, 'long.opus': png };
  for (const [name, image] of Object.entries(pictures)) {
    const bytes = file(name), tags = await tagsOf(bytes);
    assert.equal(tags.picture?.type, image === jpeg ? 'image/jpeg' : 'image/png', name);
    assert.deepEqual(pictureIn(bytes, tags), image, name);
    const without = await readTags(countedSource(bytes), { picture: false });
    assert.equal(without.picture, undefined);
    assert.deepEqual({ ...without, picture: tags.picture }, { ...tags, title: without.title });
  }
});

test('the gain of a track is read of each format', async () => {
  for (const [name, gainDb] of Object.entries({ 'four.mp3': -7.25, 'tagged.flac': -3.5, 'tagged.ogg': 1.5, 'tagged.opus': 0 })) {
    assert.equal((await tagsOf(file(name))).gainDb, gainDb, name);
  }
  const named = (mean, name, value) => box('----', [box('mean', [big(0, 4), latin(mean)]), box('name', [big(0, 4), latin(name)]), data(1, utf8(value))]);
  const gain = async (value) => (await tagsOf(joined(box('ftyp', [latin('M4A ')]), moov([named('com.apple.iTunes', 'REPLAYGAIN_TRACK_GAIN', value)])))).gainDb;
  assert.equal(await gain('-8.50 dB'), -8.5);
  assert.equal(await gain('+2,25 db'), 2.25);
  for (const wrong of ['', 'dB', '-', '1e9', 'NaN', 'Infinity', '999 dB', '12 34']) assert.equal(await gain(wrong), undefined, wrong);
  for (const [encoding, version] of [[0, 3], [1, 3], [1, 4], [2, 4], [3, 4], [0, 2], [1, 2]]) {
    const body = id3Text(encoding, `replaygain_track_gain\0${encoding === 1 ? '\ufeff' : ''}-4.00 dB`);
    assert.equal((await tagsOf(joined(tag(version, [frame(version, version === 2 ? 'TXX' : 'TXXX', body)]), mp3))).gainDb, -4, `${encoding} ${version}`);
  }
});

test('all encodings of ID3 are read, in all versions', async () => {
  const names = { 2: ['TT2', 'TP1', 'TAL'], 3: ['TIT2', 'TPE1', 'TALB'], 4: ['TIT2', 'TPE1', 'TALB'] };
  for (const version of [2, 3, 4]) {
    for (const [encoding, song, mark] of [[0, LATIN], [1, SONG, 'little'], [1, SONG, 'big'], [1, SONG, 'none'], [2, SONG], [3, SONG]]) {
      for (const end of ['', '\0', '\0\0']) {
        const frames = [song.title, song.artist, song.album].map((text, i) => frame(version, names[version][i], id3Text(encoding, text + end, mark)));
        await expect(joined(tag(version, frames), mp3), { format: 'mp3', ...song });
      }
    }
    const several = id3Text(3, 'One\0Two\0\0One');
    await expect(joined(tag(version, [frame(version, names[version][1], several)]), mp3), { format: 'mp3', artist: 'One, Two' });
  }
});

test('unsynchronised tags and frames are read', async () => {
  const title = id3Text(1, SONG.title), image = id3Picture(3, jpeg);
  for (const version of [2, 3]) {
    const [text, kind] = version === 2 ? ['TT2', 'PIC'] : ['TIT2', 'APIC'];
    const bytes = joined(tag(version, [frame(version, kind, id3Picture(version, jpeg)), frame(version, text, title)], { all: true }), mp3);
    assert.notEqual(unsynchronised(image).length, image.length);
    assert.deepEqual(pictureIn(bytes, await expect(bytes, { format: 'mp3', title: SONG.title })), jpeg);
  }
  // In 2.4 each frame by itself, with the length that it has had.
  const frames = (flags) => [['APIC', image], ['TIT2', title]].map(([name, body]) => frame(4, name, joined(flags & 1 ? synchsafe(body.length) : [], unsynchronised(body)), { flags }));
  for (const flags of [2, 3]) {
    for (const all of [0, 0x80]) {
      const bytes = joined(tag(4, frames(flags), { flags: all }), mp3);
      assert.deepEqual(pictureIn(bytes, await expect(bytes, { format: 'mp3', title: SONG.title })), jpeg);
    }
  }
});

test('extended headers, footers, padding, groups and lengths are passed over', async () => {
  const text = (version, options) => frame(version, 'TIT2', joined(options?.flags & (version === 3 ? 0x20 : 0x40) ? [7] : [], options?.flags & 1 ? synchsafe(6) : [], id3Text(3, 'Right')), options);
  const right = { format: 'mp3', title: 'Right' };
  await expect(joined(tag(3, [text(3)], { flags: 0x40, extended: joined(big(6, 4), big(0, 6)) }), mp3), right);
  await expect(joined(tag(3, [text(3)], { flags: 0x40, extended: joined(big(10, 4), [0x80, 0], big(0, 8)) }), mp3), right);
  await expect(joined(tag(4, [text(4)], { flags: 0x40, extended: joined(synchsafe(6), [1, 0]) }), mp3), right);
  await expect(joined(tag(4, [text(4)], { flags: 0x40, extended: joined(synchsafe(12), [1, 0x20, 5], big(0, 5)) }), mp3), right);
  await expect(joined(tag(4, [text(4)], { flags: 0x10, padding: 0 }), mp3), right);
  await expect(joined(tag(3, [text(3)], { padding: 30_000 }), mp3), right);
  await expect(joined(tag(3, [text(3, { flags: 0x20 })]), mp3), right);
  await expect(joined(tag(4, [text(4, { flags: 0x41 })]), mp3), right);
  // Some write the sizes of 2.4 as in 2.3.
  const long = id3Text(3, 'Right'.padEnd(200));
  await expect(joined(tag(4, [frame(4, 'TPE1', id3Text(3, 'x'.repeat(250)), { plain: true }), frame(4, 'TIT2', long, { plain: true })]), mp3), { ...right, artist: 'x'.repeat(250) });
  await expect(joined(tag(4, [frame(4, 'TPE1', id3Text(3, 'x'.repeat(250))), frame(4, 'TIT2', long)]), mp3), { ...right, artist: 'x'.repeat(250) });
});

test('frames that are compressed or encrypted are passed over', async () => {
  const wrong = id3Text(3, 'Wrong'), right = id3Text(3, 'Right');
  for (const [version, flags] of [[3, 0x80], [3, 0x40], [4, 0x08], [4, 0x0c], [4, 0x04]]) {
    await expect(joined(tag(version, [frame(version, 'TIT2', wrong, { flags }), frame(version, 'TIT2', right)]), mp3), { format: 'mp3', title: 'Right' });
  }
  await expect(joined(tag(2, [frame(2, 'TT2', wrong)], { flags: 0x40 }), mp3), { format: 'mp3' });
  await expect(joined(tag(5, [frame(4, 'TIT2', wrong)]), mp3), { format: 'mp3' });
});

test('pictures of ID3: the front cover, whatever is said of its type', async () => {
  const pictures = (version, ...some) => joined(tag(version, some.map((one) => frame(version, version === 2 ? 'PIC' : 'APIC', one))), mp3);
  for (const version of [2, 3, 4]) {
    for (const [encoding, description] of [[0, 'old'], [1, 'Ünd'], [1, ''], [2, 'x'], [3, '☂']]) {
      const bytes = pictures(version, id3Picture(version, png, { kind: 4 }), id3Picture(version, jpeg, { encoding, description }), id3Picture(version, png));
      assert.deepEqual(pictureIn(bytes, await tagsOf(bytes)), jpeg);
    }
  }
  const other = pictures(3, id3Picture(3, png, { kind: 0, type: 'image/jpeg' }));
  assert.equal((await tagsOf(other)).picture?.type, 'image/png');
  for (const image of [utf8('<svg xmlns="x"/>'), utf8('http://x.example/a.jpg'), new Uint8Array()]) {
    assert.equal((await tagsOf(pictures(3, id3Picture(3, image, { type: 'image/svg+xml' })))).picture, undefined);
  }
  const huge = new Uint8Array((8 << 20) + 1);
  huge.set(jpeg);
  assert.equal((await tagsOf(pictures(3, id3Picture(3, huge)))).picture, undefined);
  assert.equal((await tagsOf(pictures(3, id3Picture(3, huge.subarray(1, 9 << 20)), id3Picture(3, huge.subarray(0, 8 << 20))))).picture?.length, 8 << 20);
});

test('the last resorts of MP3: an ID3v1 tag, and TLEN', async () => {
  const old = joined(latin('TAG'), latin('Old title'.padEnd(30)), latin('Old artist\0\0\0'.padEnd(30, 'x')), latin(''.padEnd(30, '\0')), latin('1999'), new Uint8Array(31));
  await expect(joined(mp3, old), { format: 'mp3', title: 'Old title', artist: 'Old artist', durationMs: LENGTH + 70, within: 60 });
  await expect(joined(tag(3, [frame(3, 'TIT2', id3Text(0, 'New title'))]), mp3, old), { format: 'mp3', title: 'New title', artist: 'Old artist' });
  await expect(joined(tag(3, [frame(3, 'TLEN', id3Text(0, '99000'))]), mp3), { format: 'mp3', durationMs: LENGTH + 70, within: 60 });
  // FLAC that does not know how long it is, and has no frame that tells.
  const flac = file('plain.flac').subarray(0, 3000);
  flac[21] &= 0xf0;
  flac.fill(0, 22, 26);
  assert.equal((await tagsOf(flac)).durationMs, undefined);
  await expect(joined(tag(3, [frame(3, 'TLEN', id3Text(0, '99000'))]), flac), { format: 'flac', durationMs: 99_000 });
  for (const wrong of ['-5', '0', 'x', '1e99', '604800001']) assert.equal((await tagsOf(joined(tag(3, [frame(3, 'TLEN', id3Text(0, wrong))]), flac))).durationMs, undefined);
});

test('MP3 frames are found behind what does not belong there, and a header of their length is checked', async () => {
  await expect(joined(new Uint8Array(5000), mp3), { format: 'mp3', durationMs: LENGTH + 70, within: 60 });
  await expect(joined(latin('\xff\xfb\x90junk'), mp3), { format: 'mp3', durationMs: LENGTH + 70, within: 60 });
  await expect(mp3.subarray(0, 418), { format: 'mp3' });
  await expect(mp3.subarray(0, 400), { format: null });
  const xing = file('xing.mp3'), at = xing.findIndex((_, i) => /Xing|Info/.test(String.fromCharCode(...xing.subarray(i, i + 4))));
  const lying = xing.slice();
  lying.set(big(0xffffffff, 4), at + 8);
  const { durationMs } = await tagsOf(lying);
  assert.ok(durationMs < 10 * LENGTH, `${durationMs}`);
  // Half of a file lasts half as long.
  await expect(xing.subarray(0, xing.length / 2), { format: 'mp3', durationMs: LENGTH / 2, within: 500 });
  // A header of Fraunhofer's encoder: 32 bytes behind the frame's.
  const vbri = mp3.slice();
  vbri.fill(0, 4, 417);
  vbri.set(joined(latin('VBRI'), big(1, 2), big(0, 2), big(75, 2), big(mp3.length, 4), big(1000, 4)), 36);
  await expect(vbri, { format: 'mp3', durationMs: 26_122, within: 3000 * 30 });
});

test('boxes of MP4 in other orders and sizes', async () => {
  const items = [box('\xa9nam', [data(1, utf8(SONG.title))]), box('aART', [data(1, utf8('Band'))]), box('covr', [data(13, utf8('no picture')), data(13, jpeg)])];
  const start = box('ftyp', [latin('M4A \0\0\0\0')]);
  const audio = new Uint8Array(70_000);
  const right = { format: 'mp4', durationMs: LENGTH, title: SONG.title, artist: 'Band' };
  const files = [
    joined(start, moov(items), box('mdat', [audio])), joined(start, box('mdat', [audio]), moov(items)), joined(start, box('mdat', [audio], { wide: true }), moov(items)),
    joined(start, moov(items), box('mdat', [audio], { open: true })), joined(start, moov(items, { version: 1 })), joined(start, moov(items, { quicktime: true })),
    joined(box('free', [new Uint8Array(100)]), box('free', []), start, moov(items)), joined(moov(items)),
  ];
  for (const bytes of files) assert.deepEqual(pictureIn(bytes, await expect(bytes, right)), jpeg);
  await expect(joined(start, moov([box('\xa9nam', [data(2, id3Text(2, SONG.title).subarray(1))])])), { format: 'mp4', title: SONG.title });
  await expect(joined(start, moov(items, { handler: 'vide' })), { format: null, title: SONG.title, artist: 'Band' });
  await expect(joined(start, box('mdat', [audio])), { format: null });
  assert.equal((await tagsOf(joined(start, moov([], { ms: 0xffffffff })))).durationMs, undefined);
  assert.equal((await tagsOf(joined(start, moov([], { ms: 0 })))).durationMs, undefined);
  // Boxes in boxes end somewhere, and so do boxes in a row.
  let deep = box('meta', [new Uint8Array(4)]);
  for (let i = 0; i < 2000; i += 1) deep = box(i % 2 ? 'udta' : 'moov', [deep]);
  await tagsOf(joined(start, deep));
  const many = countedSource(joined(start, ...Array(100_000).fill(box('free', []))));
  await readTags(many, { picture: false });
  assert.ok(many.bytesRead <= MOST_BYTES);
});

test('FLAC behind an ID3 tag', async () => {
  const bytes = joined(tag(3, [frame(3, 'TPE1', id3Text(0, 'Of the tag')), frame(3, 'APIC', id3Picture(3, png))]), tag(4, []), file('tagged.flac'));
  const tags = await expect(bytes, { format: 'flac', durationMs: LENGTH, ...SONG, artist: `Of the tag, ${SONG.artist}` });
  assert.deepEqual(pictureIn(bytes, tags), png);
});

test('Ogg: comments over pages, streams beside and behind each other', async () => {
  const [one, two] = [file('tagged.ogg'), file('other.ogg')];
  // Which of the two is played, and for how long, depends on the player: no duration is told.
  const chained = await tagsOf(joined(one, two));
  assert.equal(chained.title, SONG.title);
  assert.equal(chained.durationMs, undefined);
  const head = joined(latin('OpusHead'), [1, 2], little(312, 2), little(48_000, 4), [0, 0, 0]);
  const long = comments('OpusTags', [`NOTE=${'x'.repeat(100_000)}`, 'title=Last', 'Artist=A', 'ARTIST=B', 'R128_TRACK_GAIN=256']);
  const cut = 255 * 200;
  const mine = (other) => joined(
    page(7, 0, 0, [head], { flags: 2 }), ...other(2, 0),
    page(7, 1, 2 ** 64 - 1, [long.subarray(0, cut)], { open: true }), ...other(0, 1),
    page(7, 2, 0, [long.subarray(cut)], { flags: 1 }), ...other(0, 2),
    page(7, 3, 48_312, [new Uint8Array(300)]), ...other(0, 3), page(7, 4, 96_312, [new Uint8Array(300)], { flags: 4 }), ...other(4, 4),
  );
  const right = { format: 'opus', title: 'Last', artist: 'A, B', durationMs: 2000 };
  assert.equal((await expect(mine(() => []), right)).gainDb, 6);
  await expect(mine((flags, number) => [page(9, number, 5_000_000, [utf8(`fishead\0 ${'x'.repeat(500)}`)], { flags })]), right);
  await expect(mine((flags, number) => (number ? [page(7000, number, 5_000_000, [comments('OpusTags', ['TITLE=Wrong'])], { flags })] : [page(7000, 0, 0, [head], { flags: 2 })])), right);
  // Nothing but pages without an end of a packet.
  const endless = joined(page(7, 0, 0, [head], { flags: 2 }), ...Array.from({ length: 5000 }, (_, i) => page(7, i + 1, 2 ** 64 - 1, [new Uint8Array(510)], { open: true, flags: 1 })));
  const source = countedSource(endless);
  await readTags(source, { picture: false });
  assert.ok(source.bytesRead <= MOST_BYTES, `${source.bytesRead}`);
});

test('WAV: an ID3 tag within it, chunks of odd length, sizes that cannot be', async () => {
  const samples = new Uint8Array(8000).fill(128);
  const info = (...texts) => chunk('LIST', joined(latin('INFO'), ...texts.map(([name, text]) => chunk(name, latin(`${text}\0`)))));
  await expect(wave([], samples, [info(['INAM', 'Odd'], ['IART', 'Nöw'], ['IPRD', 'Alb'])]), { format: 'wav', durationMs: 1000, title: 'Odd', artist: 'Nöw', album: 'Alb' });
  await expect(wave([chunk('odd ', new Uint8Array(3))], samples, [info(['INAM', 'x'])]), { format: 'wav', durationMs: 1000, title: 'x' });
  for (const name of ['id3 ', 'ID3 ']) {
    const bytes = wave([], samples, [chunk(name, tag(3, [frame(3, 'TIT2', id3Text(1, SONG.title)), frame(3, 'APIC', id3Picture(3, jpeg))]))]);
    assert.deepEqual(pictureIn(bytes, await expect(bytes, { format: 'wav', durationMs: 1000, title: SONG.title })), jpeg);
  }
  const cut = wave([], samples);
  await expect(cut.subarray(0, cut.length - 4000), { format: 'wav', durationMs: 500 });
  const sizes = (size) => chunk('ds64', joined(little(0, 8), little(size, 8), little(0, 8), little(0, 4)));
  for (const [size, durationMs] of [[8000, 1000], [2 ** 40, 1000], [4000, 500]]) {
    const bytes = wave([sizes(size)], samples, [], 'RF64');
    bytes.fill(255, 4, 8);
    const at = bytes.findIndex((_, i) => latin('data').every((one, j) => bytes[i + j] === one));
    bytes.fill(255, at + 4, at + 8);
    await expect(bytes, { format: 'wav', durationMs });
  }
  await expect(joined(latin('RIFF'), little(4, 4), latin('WAVE')), { format: null });
});

test('texts are made fit for a room', async () => {
  const title = async (text) => (await tagsOf(joined(tag(4, [frame(4, 'TIT2', id3Text(1, text))]), mp3), 'C:\\music/Song of a name.mp3')).title;
  assert.equal(await title('  A\r\n\tB\x07\u2028C\x9f '), 'A B C');
  assert.equal(await title('\ud800x\udc00'), '\ufffdx\ufffd');
  assert.equal(await title('😀'.repeat(400)), '😀'.repeat(300));
  assert.equal(await title('x'.repeat(299) + ' yz'), 'x'.repeat(299));
  for (const empty of ['', ' \t', '\u200b\u200e\ufeff', '\u0001', '\u3000']) assert.equal(await title(empty), 'Song of a name');
  const named = async (name) => (await readTags(countedSource(mp3, name))).title;
  assert.equal(await named('01 Intro.x.mp3'), '01 Intro.x');
  assert.equal(await named('.mp3'), '.mp3');
  assert.equal(await named('Vol. 2'), 'Vol');
  assert.equal(await named(''), '?');
  assert.equal(await named('a\ud800b.mp3'), 'a b');
  assert.equal([...await named(`${'é'.repeat(400)}.mp3`)].length, 300);
});

test('of a file of 50 MB only a little is read', async () => {
  const most = 50 << 20;
  const sparse = (head, tail = new Uint8Array()) => ({
    size: most, name: 'big', bytesRead: 0,
    async read(offset, length) {
      const part = new Uint8Array(Math.max(0, Math.min(length, most - offset)));
      if (offset < head.length) part.set(head.subarray(offset, offset + part.length));
      const from = most - tail.length;
      if (offset + part.length > from) part.set(tail.subarray(Math.max(0, offset - from), offset + part.length - from), Math.max(0, from - offset));
      this.bytesRead += part.length;
      return part;
    },
  });
  const image = joined(jpeg, new Uint8Array(5 << 20));
  const mdat = joined(box('ftyp', [latin('M4A ')]), big(most - 12 - moov([]).length, 4), latin('mdat'));
  const files = {
    mp3: sparse(joined(tag(3, [frame(3, 'APIC', id3Picture(3, image)), frame(3, 'TIT2', id3Text(0, 'T'))]), mp3)),
    mp4: sparse(mdat, moov([])),
    flac: sparse(file('tagged.flac')),
    vorbis: sparse(file('tagged.ogg'), file('tagged.ogg').subarray(-20_000)),
    opus: sparse(file('long.opus'), file('long.opus').subarray(-20_000)),
    wav: sparse(wave([], new Uint8Array(most - 200)).subarray(0, 200)),
  };
  for (const [format, source] of Object.entries(files)) {
    const tags = await readTags(source, { picture: false });
    assert.equal(tags.format, format);
    assert.ok(source.bytesRead <= MOST_BYTES / 2, `${format}: ${source.bytesRead}`);
  }
  // A picture is not read until it is shown, where it lies in the file as it is.
  files.mp3.bytesRead = 0;
  assert.equal((await readTags(files.mp3)).picture?.length, image.length);
  assert.ok(files.mp3.bytesRead <= MOST_BYTES / 2, `${files.mp3.bytesRead}`);
});

test('files that are cut at every byte are read without a fault', async () => {
  for (const name of MADE) {
    const bytes = file(name);
    for (const part of beginnings(bytes)) checkTags(await tagsOf(part), part.length);
  }
});

test('files that are changed at random are read without a fault', { timeout: 600_000 }, async (t) => {
  const seed = seedOfRun();
  t.diagnostic(`BACKLINE_SEED=${seed}`);
  const files = [...MADE.map((name) => ({ name, bytes: file(name).subarray(0, 300_000) })), ...odd()];
  await mutate(files, { seed, rounds: ROUNDS }, async (bytes, name) => checkTags(await readTags(countedSource(bytes, name)), bytes.length));
});

test('what cannot be read is told', async () => {
  const gone = { size: 1000, name: 'x', read: async () => { throw new DOMException('gone', 'NotFoundError'); } };
  await assert.rejects(readTags(gone), { name: 'NotFoundError' });
  // A file that has become shorter.
  checkTags(await readTags({ size: 1e6, name: 'x', read: async () => mp3.subarray(0, 5) }), 1e6);
  assert.equal((await tagsOf(new Uint8Array())).format, null);
});
