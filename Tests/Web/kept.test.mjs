// What browsers keep of the DJ's files: those of a folder that a page can write to, those of a database, and neither.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Library } from '../../Sources/WebClient/Pages/deck/library.js';
import { Database } from '../../Sources/WebClient/Pages/store/database.js';
import { Media } from './fake-media.mjs';
import { Storage } from './fake-storage.mjs';
import { file } from './tagged-files.mjs';

// As browsers have it, for files that lie in no folder.
Object.defineProperty(File.prototype, 'webkitRelativePath', { value: '' });
beforeEach((t) => new Media().install(t));

const mp3 = file('cbr.mp3'), SIZE = mp3.length;
const settle = async () => { for (let i = 0; i < 10; i++) await new Promise(setImmediate); };

/** Browsers whose copies lie at different places. */
const CHROMIUM = { quota: 10 ** 9 }, SAFARI_18 = { canWrite: false, quota: 10 ** 9 }, SAFARI_16 = { canWrite: false }, FIREFOX_PRIVATE = { hasFolder: false, quota: 10 ** 9 };
/** What WebKit's private windows are: databases that take no files. The last has no databases either. */
const PRIVATE = { hasFolder: false, takesFiles: false }, NOTHING = { hasFolder: false, hasDatabases: false };
const PLACES = Object.entries({ CHROMIUM: [CHROMIUM, 'opfs'], SAFARI_18: [SAFARI_18, 'database'], SAFARI_16: [SAFARI_16, 'database'], FIREFOX_PRIVATE: [FIREFOX_PRIVATE, 'database'] });

/** The library as a page has it that is loaded anew. */
async function opened() {
  const library = await Library.open();
  library.hear = async () => ({ plays: true });
  return library;
}

/** Songs of one size, by the numbers in their names: each differs in one byte. */
async function songs(library, ...numbers) {
  const given = numbers.map((number) => new File([Uint8Array.from(mp3, (byte, i) => (i === SIZE - 1 ? number : byte))], `${number}.mp3`));
  return (await library.add(given)).songs.map(({ sourceId }) => sourceId);
}

const names = (library) => [...library.songs.values()].filter(({ kept }) => kept !== 'memory').map(({ name }) => name).sort();

for (const [name, [fields, place]] of PLACES) {
  test(`${name}: a copy is there after a reload, and goes with its song and with all songs`, async () => {
    const storage = new Storage(fields), before = await opened();
    assert.deepEqual([before.state.keeps, storage.files], [true, []]);
    const [one, two] = await songs(before, 1, 2);
    assert.deepEqual([await before.keep(one), await before.keep(two), before.songs.get(one).kept, before.state.bytes], [true, true, place, 2 * SIZE]);
    const library = await opened();
    assert.deepEqual([names(library), library.isUnkept(library.songs.get(one))], [['1.mp3', '2.mp3'], false]);
    const found = await library.file(library.songs.get(one));
    assert.deepEqual([found.name, found.type, new Uint8Array(await found.arrayBuffer()).at(-1)], ['1.mp3', 'audio/mpeg', 1]);
    await library.remove(one);
    assert.deepEqual(storage.files, [two]);
    await library.clear();
    assert.deepEqual([storage.files, storage.databases.size, (await opened()).songs.size], [[], 0, 0]);
  });

  test(`${name}: within the budget, the oldest copy gives way that is not queued`, async (t) => {
    let now = 0;
    t.mock.method(Date, 'now', () => ++now);
    const storage = new Storage({ ...fields, room: 3 * SIZE });
    if (fields.quota) navigator.storage.estimate = async () => ({ quota: 6 * SIZE });
    const library = await opened(), ids = await songs(library, 1, 2, 3, 4, 5);
    for (const id of ids.slice(0, 3)) assert.ok(await library.keep(id));
    assert.ok(await library.keep(ids[0]) && await library.keep(ids[3], [ids[1]]));
    assert.deepEqual([names(library), storage.files.length], [['1.mp3', '2.mp3', '4.mp3'], 3]);
    // None gives way to one that has no room all the same.
    assert.equal(await library.keep(ids[4], ids), false);
    const { songs: [large] } = await library.add([new File([mp3, mp3, mp3, mp3], 'large.mp3')]);
    if (fields.quota) assert.equal(await library.keep(large.sourceId), false);
    assert.deepEqual([names(library), library.isUnkept(library.songs.get(ids[4])), library.isUnkept(library.songs.get(ids[2]))], [['1.mp3', '2.mp3', '4.mp3'], true, false]);
    assert.ok(await library.keep(ids[4]) && !library.isUnkept(library.songs.get(ids[4])));
    assert.deepEqual([names(await opened()).length, library.state.bytes], [3, 3 * SIZE]);
  });

  test(`${name}: a browser that has less room than it said is asked once for more`, async () => {
    const storage = new Storage({ ...fields, room: 2 * SIZE }), library = await opened(), ids = await songs(library, 1, 2, 3);
    const told = [];
    library.onChange = () => told.push([...library.songs.values()].filter((song) => library.isUnkept(song)).length);
    for (const id of ids) await library.keep(id, ids);
    assert.deepEqual([names(library), told.at(-1)], [['1.mp3', '2.mp3'], 1]);
    // As often as it is asked for now, nothing is written, and nothing new is told.
    storage.room = Infinity;
    const count = told.length;
    assert.deepEqual([await library.keep(ids[2], ids), told.length, storage.files.length], [false, count, 2]);
    assert.ok(await library.keep(ids[2], [ids[1]]));
    assert.deepEqual([names(library), told.at(-1)], [['2.mp3', '3.mp3'], 0]);
  });

  test(`${name}: a full browser keeps files, once there is room`, async () => {
    const storage = new Storage({ ...fields, room: 0 }), library = await opened(), [id] = await songs(library, 1);
    assert.deepEqual([library.state.keeps, await library.keep(id), library.isUnkept(library.songs.get(id)), storage.files], [true, false, true, []]);
    storage.room = Infinity;
    assert.ok(await (await opened()).state.keeps);
  });

  test(`${name}: a copy of which no record can be written is none`, async () => {
    const storage = new Storage(fields), library = await opened(), [id] = await songs(library, 1);
    storage.fails = place === 'database' ? [null, 'QuotaExceededError'] : ['QuotaExceededError'];
    assert.deepEqual([await library.keep(id), library.songs.get(id).kept, library.isUnkept(library.songs.get(id)), storage.files], [false, 'memory', true, []]);
    assert.ok(await library.keep(id));
  });
}

for (const [name, fields] of Object.entries({ PRIVATE, NOTHING })) {
  test(`${name}: a browser that keeps no files says so before the first one is added`, async () => {
    new Storage(fields);
    const library = await opened();
    assert.equal(library.state.keeps, false);
    const [id] = await songs(library, 1);
    assert.deepEqual([library.isUnkept(library.songs.get(id)), await library.keep(id), library.state.bytes], [true, false, 0]);
    assert.equal((await library.file(library.songs.get(id))).name, '1.mp3');
    assert.equal((await opened()).songs.size, 0);
  });
}

test('without an estimate, a fixed budget holds', async () => {
  new Storage(SAFARI_16);
  const { budget } = await import('../../Sources/WebClient/Pages/deck/kept.js');
  assert.equal(await budget(), 2 ** 29);
  navigator.storage.estimate = async () => { throw new TypeError(); };
  assert.equal(await budget(), 2 ** 29);
  navigator.storage.estimate = async () => ({ quota: 1000 });
  assert.equal(await budget(), 500);
});

for (const isTold of [true, false]) {
  test(`connections that the browser closes are opened anew, ${isTold ? 'and it says so' : 'without a word'}`, async () => {
    const storage = new Storage(SAFARI_18), library = await opened(), [one, two] = await songs(library, 1, 2);
    await library.keep(one);
    storage.closeConnections(isTold);
    await library.remember(one, { lufs: -9 });
    assert.ok(await library.keep(two));
    storage.closeConnections(isTold);
    assert.equal((await library.file(library.songs.get(one))).size, SIZE);
    const again = await opened();
    assert.deepEqual([names(again), again.songs.get(one).lufs], [['1.mp3', '2.mp3'], -9]);
  });
}

test('a copy that cannot be read once is opened anew, and one whose database fails stays', async (t) => {
  const storage = new Storage(SAFARI_18), library = await opened(), [one] = await songs(library, 1);
  await library.keep(one);
  const again = await opened(), copy = again.songs.get(one);
  t.mock.method(Blob.prototype, 'arrayBuffer', async () => { throw new DOMException('', 'NotReadableError'); }, { times: 1 });
  assert.equal((await again.file(copy)).size, SIZE);
  storage.fails = ['UnknownError', 'UnknownError'];
  await assert.rejects(again.file(copy), { why: 'gone' });
  assert.deepEqual([storage.files, (await again.file(copy)).size], [[one], SIZE]);
  // What another tab has removed is no longer kept.
  await library.remove(one);
  await assert.rejects(again.file(copy), { why: 'gone' });
  assert.equal(again.songs.has(one), false);
});

test('a room is saved though the browser has closed the connection, or loses it meanwhile', async () => {
  const storage = new Storage(SAFARI_18);
  const { saveRoom, savedRoom } = await import('../../Sources/WebClient/Pages/store/saved.js');
  const room = (code) => ({ epoch: 1, seq: 2, keyed: {}, isAhead: false, toState: () => ({ id: code, code }), you: null, online: [] });
  await saveRoom(room('ONE'));
  storage.closeConnections(false);
  await saveRoom(room('TWO'));
  storage.fails = ['UnknownError'];
  await saveRoom(room('THREE'));
  assert.equal((await savedRoom('three'))?.state.code, 'THREE');
  // What no second try mends is told.
  storage.fails = ['QuotaExceededError', null];
  await assert.rejects(saveRoom(room('FOUR')), { name: 'QuotaExceededError' });
  assert.equal(storage.fails.length, 1);
});

test('a transaction is all or none', async () => {
  new Storage({ takesFiles: false });
  const database = new Database('test', { rows: {} });
  await assert.rejects(database.run('readwrite', (rows) => [rows.put('a', 1), rows.put(new File([], ''), 2)]), { name: 'DataCloneError' });
  assert.deepEqual(await database.run('readonly', (rows) => [rows.getAll()]), [[]]);
});

test('songs that were removed by another tab are kept no more', async () => {
  const storage = new Storage(SAFARI_18), library = await opened(), [one] = await songs(library, 1);
  const { forgetLibrary } = await import('../../Sources/WebClient/Pages/deck/kept.js');
  await forgetLibrary();
  assert.deepEqual([await library.keep(one), library.state.keeps, library.isUnkept(library.songs.get(one))], [false, false, true]);
  await settle();
  assert.deepEqual([storage.files, storage.databases.has('backline-library')], [[], false]);
});
