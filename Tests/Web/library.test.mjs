// The library without a browser: which files are one song, which are played here, and how long they are.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { Library } from '../../Sources/WebClient/Pages/deck/library.js';
import { Places } from '../../Sources/WebClient/Pages/deck/places.js';
import { SameSongs, sameSong } from '../../Sources/WebClient/Pages/room/same-song.js';
import { typeOf } from '../../Sources/WebClient/Pages/deck/song.js';
import { Media } from './fake-media.mjs';
import { joined } from './mutations.mjs';
import { cyrillic, file, frame, id3Text, latin, tag, wave } from './tagged-files.mjs';

globalThis.navigator ??= /** @type {any} */ ({});
// As browsers have it, for files that lie in no folder.
Object.defineProperty(File.prototype, 'webkitRelativePath', { value: '' });
beforeEach((t) => new Media().install(t));

const mp3 = file('cbr.mp3');

/** A library that keeps what it would write in `kept`. `heard` says what a browser would make of a file, by its name. */
function library(heard = () => ({ plays: true })) {
  const kept = new Map();
  const records = { isOpen: true, put: async (all) => { for (const one of all) kept.set(one.sourceId, one); return true; }, remove: async (id) => { kept.delete(id); } };
  const made = new Library(/** @type {any} */ (records), new Places(new Map()));
  made.hear = async (given) => heard(given.name, given);
  return Object.assign(made, { kept });
}

const given = (name, ...parts) => new File([joined(...parts)], name);
const song = (name, fields, music = mp3) => given(name, tag(4, Object.entries(fields).map(([key, text]) => frame(4, { title: 'TIT2', artist: 'TPE1', album: 'TALB' }[key], id3Text(3, text)))), music);

/** The `sourceId` of the release before: of a file's size, its first and its last 64 KiB. */
async function oldId(one) {
  const bytes = new Uint8Array(await one.arrayBuffer()), size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(bytes.length));
  return createHash('sha256').update(size).update(bytes.subarray(0, 65_536)).update(bytes.subarray(-65_536)).digest().subarray(0, 16).toString('base64url');
}

/** An export with silence at both ends: four of a length differ only inside. */
const exported = (name, value) => given(name, wave([], joined(new Uint8Array(100_000).fill(128), new Uint8Array(200_000).fill(value), new Uint8Array(100_000).fill(128))));

const track = (fields) => ({ source: 'local', sourceId: '-', ...fields });

test('files of one size with the same ends are songs of their own', async () => {
  const one = library(), files = [exported('a.wav', 100), exported('b.wav', 120), exported('c.wav', 140)];
  const { songs, skipped } = await one.add(files);
  assert.deepEqual([songs.map(({ name }) => name), skipped, one.songs.size], [['a.wav', 'b.wav', 'c.wav'], [], 3]);
  for (const { sourceId, name } of songs) assert.equal(one.find(track({ sourceId, title: 'x' }))?.name, name);
  assert.equal(new Set(songs.map((each) => each.oldId)).size, 1);
  // A difference at any place of some size is seen.
  for (let at = 66_000; at < 330_000; at += 66_000) {
    const bytes = new Uint8Array(await files[0].arrayBuffer());
    bytes.fill(1, at, at + 40_000);
    assert.notEqual((await library().add([new File([bytes], 'a.wav')])).songs[0].sourceId, songs[0].sourceId, `${at}`);
  }
});

test('rooms of the release before find their files', async () => {
  const one = library(), small = song('small.mp3', { title: 'Small' }), large = exported('large.wav', 99);
  const { songs } = await one.add([small, large]);
  // What is hashed whole has the name that it had.
  assert.deepEqual([songs[0].sourceId, songs[0].oldId], [await oldId(small), undefined]);
  assert.deepEqual([songs[1].oldId, songs[1].sourceId === songs[1].oldId], [await oldId(large), false]);
  assert.equal(one.find(track({ sourceId: await oldId(large), title: 'whatever it was called' }))?.name, 'large.wav');
  assert.equal(one.find({ source: 'other', sourceId: await oldId(large), title: 'x' }), undefined);
  // Of two with one old name, the one that the track names.
  await one.add([exported('other.wav', 98)]);
  assert.equal(one.find(track({ sourceId: await oldId(large), title: 'other' }))?.name, 'other.wav');
  assert.equal(one.find(track({ sourceId: await oldId(large), title: 'neither' })), undefined);
});

test('what the release before found out of a file is taken over, unless that was of another one', async () => {
  for (const [name, isTaken] of [['large.wav', true], ['stranger.wav', false]]) {
    const one = library(), large = exported('large.wav', 99), id = await oldId(large);
    one.songs.set(id, { sourceId: id, name, size: large.size, format: 'wav', title: 'Large', lufs: -9, waveform: new Uint8Array(3), durationMs: 12_345, addedAt: 1, kept: 'memory' });
    const { songs: [now] } = await one.add([large]);
    assert.deepEqual([now.lufs, now.durationMs, one.songs.has(id)], isTaken ? [-9, 12_345, false] : [undefined, 50_000, true], name);
  }
});

test('title and artist are not all: albums and lengths tell songs apart', async () => {
  const intro = (album, durationMs) => ({ title: 'Intro', artist: 'The Band', album, durationMs });
  const same = new SameSongs([intro('First', 4000)]);
  assert.ok(same.find(intro('first ', 4300)) && same.find(intro(undefined, undefined)) && same.find(intro('FIRST', undefined)) && same.find({ title: 'ÍNTRO', artist: 'the band' }));
  assert.ok(!same.find(intro('Second', 4000)) && !same.find(intro('First', 95_000)) && !same.find(intro('First', 5000)) && !same.find({ title: 'Intro' }));
  const long = new SameSongs([{ title: 'Track 01', durationMs: 215_000 }]);
  assert.ok(long.find({ title: 'Track 01', durationMs: 213_500 }) && !long.find({ title: 'Track 01', durationMs: 210_000 }) && !long.find({ title: 'Track 01', durationMs: 4000 }));
  // The nearest comes first, in whatever order they were added.
  const [first, second] = [intro('First', 4000), intro('Second', 4000)];
  for (const order of [[first, second], [second, first]]) {
    assert.equal(new SameSongs(order).find({ ...second }), second);
    assert.equal(new SameSongs(order).find(intro(undefined, 4000)), order[0]);
  }
  assert.notEqual(sameSong(first), sameSong(second));

  const one = library();
  await one.add([song('1.mp3', { title: 'Intro', artist: 'The Band', album: 'First' }), song('2.mp3', { title: 'Intro', artist: 'The Band', album: 'Second' }),
    song('3.mp3', { title: 'Track 01' }, joined(mp3, mp3)), song('4.mp3', { title: 'Track 01' })]);
  assert.equal(one.songs.size, 4);
  assert.equal(one.find(track(intro('Second', 3070)))?.name, '2.mp3');
  assert.equal(one.find(track(intro('Third', 3070))), undefined);
  assert.equal(one.find(track({ title: 'Track 01', durationMs: 6100 }))?.name, '3.mp3');
  assert.equal(one.find(track({ title: 'Track 01', durationMs: 3100 }))?.name, '4.mp3');
  assert.equal(one.find(track({ title: 'Track 01', durationMs: 60_000 })), undefined);
  assert.ok(one.find({ source: 'manual', sourceId: 'typed', title: 'track 01' }));
});

test('a file that comes twice is named, and one that was there is found where it is now', async () => {
  const one = library(), a = song('a.mp3', { title: 'A' });
  const { songs, skipped } = await one.add([a, new File([a], 'copy of a.mp3')]);
  assert.deepEqual([songs.map(({ name }) => name), skipped], [['a.mp3'], [{ name: 'copy of a.mp3', why: 'double' }]]);
  const again = await one.add([new File([a], 'b.mp3')]);
  assert.deepEqual([again.songs.map(({ name }) => name), again.skipped, one.songs.size], [['b.mp3'], [], 1]);
});

test('what a device plays is what its browser opens', async () => {
  const heard = { 'no.mp3': { plays: false }, 'late.mp3': {}, 'yes.aiff': { plays: true, durationMs: 777 }, 'no.aiff': { plays: false }, 'yes.aac': { plays: true } };
  const asked = [];
  const one = library((name) => {
    asked.push(name);
    return heard[name] ?? { plays: true };
  });
  const aac = joined(...Array.from({ length: 20 }, () => [0xff, 0xf1, 0x50, 0x80, 0x04, 0x1f, 0xfc, ...new Uint8Array(25)]).map((bytes) => Uint8Array.from(bytes)));
  const { songs, skipped } = await one.add([
    song('no.mp3', { title: 'No' }), song('late.mp3', { title: 'Late' }), given('yes.aiff', latin('FORM1234AIFF'), new Uint8Array(99)), given('no.aiff', latin('FORM1234AIFF')),
    given('yes.aac', aac), given('letter.doc', latin('no music')), song('yes.mp3', { title: 'Yes' }),
  ]);
  assert.deepEqual(songs.map(({ name, format, durationMs }) => [name, format, durationMs === undefined ? undefined : Math.round(durationMs / 100)]),
    [['late.mp3', 'mp3', 30], ['yes.aiff', 'other', 8], ['yes.aac', 'aac', 5], ['yes.mp3', 'mp3', 30]]);
  assert.deepEqual(skipped, [{ name: 'no.mp3', why: 'unplayable' }, { name: 'no.aiff', why: 'format' }, { name: 'letter.doc', why: 'format' }]);
  // What is no music is not tried.
  assert.ok(!asked.includes('letter.doc'));
  // It is not missing: it is known as what cannot be played, here and after a reload.
  const found = one.find(track({ title: 'No' }));
  assert.deepEqual([found?.unplayable, one.kept.get(found?.sourceId)?.unplayable], [true, true]);
  // Another browser, or its next version, may.
  one.hear = async () => ({ plays: true });
  await one.add([song('no.mp3', { title: 'No' })]);
  assert.equal(one.find(track({ title: 'No' }))?.unplayable, undefined);
});

test('a format that the browser does not know is refused by its name, also where the browser opens the file', async (t) => {
  const files = () => ['tagged.ogg', 'tagged.opus', 'flac.oga', 'cbr.mp3'].map((name) => given(name, file(name)));
  const all = await library().add(files());
  assert.deepEqual([all.songs.length, all.skipped], [4, []]);
  const media = new Media({ isWebKit: true });
  media.install(t);
  const one = library();
  one.hear = undefined;
  const adding = one.add(files());
  for (let isDone = false; !isDone; await new Promise(setImmediate)) {
    adding.finally(() => { isDone = true; });
    await media.run(10);
  }
  const { songs, skipped } = await adding;
  assert.deepEqual([songs.map(({ name }) => name), skipped], [['cbr.mp3'], ['tagged.ogg', 'tagged.opus', 'flac.oga'].map((name) => ({ name, why: 'foreign' }))]);
  // They are here, and known as what cannot be played.
  assert.deepEqual([...one.songs.values()].filter(({ unplayable }) => unplayable).map(({ name }) => name), ['tagged.ogg', 'tagged.opus', 'flac.oga']);
});

test('what was measured here is refused all the same by a browser that does not know its format', async (t) => {
  const one = library(), opus = given('tagged.opus', file('tagged.opus'));
  const { songs: [{ sourceId }] } = await one.add([opus]);
  await one.remember(sourceId, { lufs: -9, waveform: new Uint8Array(2048) });
  new Media({ isWebKit: true }).install(t);
  assert.deepEqual((await one.add([opus])).skipped, [{ name: 'tagged.opus', why: 'foreign' }]);
});

test('a browser is asked for each container and codec that it has a name for, and for no other', () => {
  const formats = /** @type {const} */ (['mp3', 'aac', 'flac', 'wav', 'webm', 'vorbis', 'opus', 'oggflac', 'other']);
  assert.deepEqual(formats.map((format) => typeOf(format)), [
    'audio/mpeg', 'audio/aac', 'audio/flac', 'audio/wav', 'audio/webm', 'audio/ogg; codecs="vorbis"', 'audio/ogg; codecs="opus"', 'audio/ogg; codecs="flac"', '']);
  // Safari plays Apple's lossless codec, whatever it says of it.
  assert.deepEqual(['mp4a', 'alac', 'sowt', ''].map((codec) => typeOf('mp4', codec)), ['audio/mp4; codecs="mp4a.40.2"', 'audio/mp4', 'audio/mp4', 'audio/mp4']);
});

test('files in doubt of their encoding follow those that are added with them', async () => {
  const flagged = (name, title) => given(name, tag(3, [frame(3, 'TIT2', joined([0], title))]), mp3);
  const russian = ['Мы', 'Лучшие песни', 'Группа крови'].map((title, i) => flagged(`${i}.mp3`, cyrillic(title))), [short] = russian;
  const western = ['Öö', 'Motörhead', 'Björk'].map((title, i) => flagged(`w${i}.mp3`, latin(title)));
  const folder = (name, inner) => ({ kind: 'directory', name, isSameEntry: async () => false, values: async function* () { yield* inner; } });
  const handle = (one) => ({ kind: 'file', name: one.name, getFile: async () => one });
  const inFolder = (name, one) => Object.defineProperty(new File([one], one.name), 'webkitRelativePath', { value: `Music/${name}/${one.name}` });
  const right = ['Мы', 'Лучшие песни', 'Группа крови', 'Öö', 'Motörhead', 'Björk'], titles = (songs) => songs.map(({ title }) => title);
  // As folders with handles, as the element for folders gives them, and as files that were picked; what is kept says so too.
  for (const items of [
    [folder('Music', [folder('Russian', russian.map(handle)), folder('Western', western.map(handle))])],
    [...russian.map((one) => inFolder('Russian', one)), ...western.map((one) => inFolder('Western', one))],
  ]) {
    const one = library();
    assert.equal(one.find(track({ title: 'мы' })), undefined);
    const { songs } = await one.add(items);
    assert.deepEqual([titles(songs), titles(songs.map(({ sourceId }) => one.kept.get(sourceId)))], [right, right]);
    assert.equal(one.find(track({ title: 'мы' }))?.name, '0.mp3');
  }
  const one = library(), { songs: [alone] } = await one.add([short]);
  assert.notEqual(alone.title, 'Мы');
  const { songs: [among] } = await one.add(russian);
  assert.deepEqual([among.title, among.sourceId, one.kept.get(among.sourceId).title], ['Мы', alone.sourceId, 'Мы']);
  // What was found out with the others is known when it comes alone again, here and among what is of the west.
  for (const items of [[short], [short, ...western.slice(1)]]) assert.equal((await one.add(items)).songs[0].title, 'Мы');
  // What is no text of the file, such as its own name, is that of now.
  const untitled = (name) => given(name, tag(3, [frame(3, 'TPE1', joined([0], cyrillic('Мы')))]), mp3);
  for (const name of ['before.mp3', 'after.mp3']) assert.equal((await one.add([untitled(name), ...russian])).songs[0].title, name.slice(0, -4));
  assert.equal([...one.songs.values()].find(({ name }) => name === 'after.mp3').artist, 'Мы');
  // One that is removed while the others are read is not written again.
  const other = library();
  await other.add(russian, { progress: ({ done }) => { if (done === 2) other.remove(alone.sourceId); } });
  assert.deepEqual([other.songs.has(alone.sourceId), other.kept.has(alone.sourceId), other.songs.size], [false, false, 2]);
});

test('two thousand files: a few at once, in their order, with their progress; what is known is not asked again', async () => {
  let now = 0, most = 0, asked = 0;
  /** @type {(() => void)[]} */
  const open = [];
  const one = library(async () => {
    asked += 1;
    most = Math.max(most, now += 1);
    // The last one answers first.
    await new Promise((resolve) => { open.push(resolve); setImmediate(() => open.pop()?.()); });
    now -= 1;
    return { plays: true };
  });
  const files = Array.from({ length: 2000 }, (_, i) => song(`${i}.mp3`, { title: `Song ${i}` }, mp3.subarray(0, 6000)));
  const told = [];
  const { songs } = await one.add(files, { progress: (state) => told.push(state) });
  assert.deepEqual(songs.map(({ title }) => title), files.map((_, i) => `Song ${i}`));
  assert.deepEqual([most, asked, told.length, told.at(-1)], [4, 2000, 2001, { done: 2000, total: 2000, name: '' }]);
  assert.ok(told.every(({ done, total }, i) => done === i && total === 2000));
  for (const each of songs) await one.remember(each.sourceId, { lufs: -9, waveform: new Uint8Array(1), durationMs: 200 });
  await one.add(files);
  assert.equal(asked, 2000);
  // Cancelled, it ends with those that were waited for.
  const stop = new AbortController(), other = library();
  const { songs: some, cancelled } = await other.add(files, { signal: stop.signal, progress: ({ done }) => { if (done === 100) stop.abort(); } });
  assert.deepEqual([some.length, cancelled, other.songs.size], [101, true, 101]);
});

test('songs that are removed while others are added and written stay away', async () => {
  const one = library(), removed = [];
  const files = Array.from({ length: 70 }, (_, i) => song(`${i}.mp3`, { title: `Song ${i}` }, mp3.subarray(0, 6000)));
  // One of a batch that is not written yet, one of a batch that was, and the newest.
  const progress = ({ done }) => {
    const known = [...one.songs.keys()];
    if ([20, 40, 69].includes(done)) for (const id of [known[0], known.at(-1)]) removed.push(one.remove(id).then(() => id));
  };
  await one.add(files, { progress });
  const gone = await Promise.all(removed);
  assert.deepEqual([new Set(gone).size, one.songs.size], [6, 64]);
  assert.deepEqual([...one.kept.keys()].sort(), [...one.songs.keys()].sort());
});

test('a song whose length has been measured is still that of a room that knows it by what its header claims', async () => {
  const one = library(), large = song('a.mp3', { title: 'Here', artist: 'She' });
  const { songs: [added] } = await one.add([large]), wanted = track({ title: 'Here', artist: 'She', durationMs: added.durationMs });
  assert.equal(one.find(wanted), added);
  await one.remember(added.sourceId, { lufs: -14, waveform: new Uint8Array(8), durationMs: added.durationMs + 15_000 });
  assert.equal(one.find(wanted), added);
  // Once the room knows as well, and after the file has been added again.
  assert.equal(one.find({ ...wanted, durationMs: added.durationMs }), added);
  const { songs: [again] } = await one.add([large]);
  assert.deepEqual([again.durationMs - wanted.durationMs, one.find(wanted)], [15_000, again]);
  assert.equal(one.find({ ...wanted, durationMs: wanted.durationMs + 60_000 }), undefined);
});

test('how long a song is: by its samples, once they are counted', async () => {
  const one = library(() => ({ plays: true, durationMs: 9999 }));
  const { songs: [mine] } = await one.add([song('a.mp3', { title: 'A' })]);
  // The file's bytes are worth more than the claim that a browser repeats; the samples are the truth.
  assert.ok(Math.abs(mine.durationMs - 3070) < 100);
  await one.remember(mine.sourceId, { lufs: -9, waveform: new Uint8Array(1), durationMs: 3042 });
  assert.deepEqual([one.songs.get(mine.sourceId).durationMs, one.toTrack(mine).durationMs], [3042, 3042]);
});
