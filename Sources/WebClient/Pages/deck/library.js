// The DJ's own files in this browser. Nothing of them leaves it but what `toTrack` says.

import { SameSongs } from '../room/same-song.js';
import { dropped, picked, walk } from './items.js';
import { Records, budget, dropFile, forgetLibrary, keepFile, keepsFiles } from './kept.js';
import { FileProblem, Places } from './places.js';
import { copyOf, pictureOf, trackOf, typed } from './song.js';

/** Songs that a library holds. */
const MOST_SONGS = 20_000;
/** Files that are looked at beside each other. */
const AT_ONCE = 4;
/** Songs that are written at once. */
const BATCH = 32;
/** While files are added, views hear of it once in this time, in ms. */
const TELL_EVERY_MS = 250;

/** @typedef {import('./song.js').Song} Song */
/** @typedef {import('./items.js').Item} Item */
/** @typedef {{ name: string, why: import('./read-song.js').Why | 'full' | 'foreign' | 'unplayable' | 'double' }} Skipped */

export { FileProblem };

/** The DJ's files, as this browser keeps them. Made by `open`. */
export class Library {
  /**
   * By `sourceId`.
   *
   * @type {Map<string, Song>}
   */
  songs = new Map();
  /**
   * Called when songs or state have changed.
   *
   * @type {(() => void) | null}
   */
  onChange = null;

  /**
   * What was found out of files that are not here any more.
   *
   * @type {Map<string, Song>}
   */
  #past = new Map();
  /**
   * What songs are found by beside their `sourceId`: their names, and what releases before called them. Null: to be made
   * anew.
   *
   * @type {{ names: SameSongs<Song>, olds: Map<string, Song[]> } | null}
   */
  #found = null;
  /**
   * Says whether this device plays a file, in place of the browser.
   *
   * @type {((file: File) => Promise<import('./heard.js').Heard>) | undefined}
   */
  hear;
  #records;
  #places;
  /**
   * Copies are made one after another.
   *
   * @type {Promise<unknown>}
   */
  #keeping = Promise.resolve();
  #persisted = false;
  #keeps;
  /** The most bytes of copies, as far as the browser has taken less than it said. */
  #mostBytes = Infinity;
  /**
   * Songs whose files could not be copied, by `sourceId`.
   *
   * @type {Set<string>}
   */
  #unkept = new Set();

  /**
   * @param {Records} records
   * @param {Places} places
   * @param {boolean} [keeps]  whether the browser keeps handles or copies of files
   */
  constructor(records, places, keeps = true) {
    this.#records = records;
    this.#places = places;
    this.#keeps = keeps;
  }

  /**
   * The library of this browser, with what earlier visits kept. Works in memory where the browser keeps nothing.
   *
   * @returns {Promise<Library>} never rejects
   */
  static async open() {
    const records = await Records.open(), { songs, roots } = await records.all();
    const places = new Places(roots), library = new Library(records, places, Boolean(window.showOpenFilePicker) || await keepsFiles());
    for (const { root, path, keptAt, ...song } of songs) {
      if (copyOf(song) || places.has(root)) {
        library.songs.set(song.sourceId, song);
        places.set(song.sourceId, { root, path, keptAt });
      } else {
        library.#past.set(song.sourceId, { ...song, kept: 'memory' });
      }
    }
    library.#persisted = await navigator.storage?.persisted?.().catch(() => false) ?? false;
    await places.review(false);
    return library;
  }

  /**
   * How many songs there are, whether their files may be opened, whether the browser keeps any, whether it may remove them,
   * bytes of copies.
   *
   * @returns {{ count: number, permission: 'granted' | 'prompt' | 'denied', keeps: boolean, persisted: boolean, bytes: number }}
   */
  get state() {
    return {
      count: this.songs.size, permission: this.#places.permission, keeps: this.#keeps && this.#records.isOpen, persisted: this.#persisted, bytes: this.#copied(),
    };
  }

  /**
   * Whether a song's file is here until the page is left, because the browser does not keep it.
   *
   * @param {Song} song
   */
  isUnkept({ sourceId, kept }) {
    return !this.#records.isOpen || (kept === 'memory' && (!this.#keeps || this.#unkept.has(sourceId)));
  }

  /**
   * Whether this browser had the file of a track that it added, and has it no more.
   *
   * @param {import('../room/room.js').Track} track
   */
  had({ sourceId }) {
    return this.#past.has(sourceId);
  }

  /**
   * Adds files and what is in folders. A file that is here already is found at its new place from now on. One that this
   * device cannot play is told as skipped, and known as `unplayable`.
   *
   * @param {Item[] | Promise<Item[]>} items
   * @param {{ signal?: AbortSignal, progress?: (now: { done: number, total: number, name: string }) => void }} options
   *   `total` grows while folders are walked
   * @returns {Promise<{ songs: Song[], skipped: Skipped[], cancelled: boolean }>} what was added before it was cancelled stays;
   *   rejects where what reads tags cannot be loaded
   */
  async add(items, { signal, progress } = {}) {
    const { Together, readSong, remembered } = await import('./read-song.js');
    /** @type {Map<string, Song>} */
    const added = new Map();
    /** @type {Skipped[]} */
    const skipped = [];
    /** @type {Song[]} */
    const unwritten = [];
    /** @type {import('./read-song.js').Together<Song>} */
    const together = new Together();
    const count = { waiting: 0 };
    let done = 0, told = 0;
    /** @type {{ entry: import('./items.js').Entry, reading: ReturnType<typeof readSong> | Promise<'full'> }[]} */
    const ahead = [];
    const takeNext = async () => {
      const { entry: { name, open, root, path, folder }, reading } = /** @type {typeof ahead[0]} */ (ahead.shift());
      progress?.({ done, total: done + count.waiting + ahead.length + 1, name });
      const read = await reading;
      done += 1;
      if (typeof read === 'string' || added.has(read.song.sourceId)) {
        skipped.push({ name, why: typeof read === 'string' ? read : 'double' });
        return;
      }
      const { song, guess, why } = read;
      const before = this.#before(song);
      remembered(song, before, guess);
      if (guess) together.add(song, folder, guess);
      if (root) {
        await this.#drop(before);
        song.kept = 'handle';
      } else if (before?.sourceId === song.sourceId) {
        song.kept = before.kept;
      }
      const other = this.#places.set(song.sourceId, root ? { root: await this.#places.rootOf(root), path } : { ...this.#places.get(song.sourceId), file: await open() });
      for (const id of new Set([other, before?.sourceId])) if (id && id !== song.sourceId) await this.remove(id);
      if (this.songs.has(song.sourceId)) this.#found = null;
      this.songs.set(song.sourceId, song);
      this.#index(song);
      if (why) skipped.push({ name, why });
      else added.set(song.sourceId, song);
      if (unwritten.push(song) >= BATCH) await this.#write(unwritten.splice(0));
      if (performance.now() > told + TELL_EVERY_MS) {
        told = performance.now();
        this.onChange?.();
      }
    };
    for await (const entry of walk(await items, count)) {
      if (signal?.aborted) break;
      const reading = this.songs.size < MOST_SONGS ? readSong(entry.open, entry.name, (id) => this.songs.get(id) ?? this.#past.get(id), this.hear) : Promise.resolve(/** @type {const} */ ('full'));
      if (ahead.push({ entry, reading }) >= AT_ONCE) await takeNext();
    }
    while (ahead.length && !signal?.aborted) await takeNext();
    for (const { of, names } of together.settled()) {
      if (this.songs.get(of.sourceId) !== of || Object.entries(names).every(([name, text]) => /** @type {any} */ (of)[name] === text)) continue;
      // A song of its own: others may remember the names of the one before.
      const song = { ...of, ...names };
      this.songs.set(song.sourceId, song);
      if (added.has(song.sourceId)) added.set(song.sourceId, song);
      unwritten.push(song);
      this.#found = null;
    }
    await this.#write(unwritten);
    progress?.({ done, total: done + (signal?.aborted ? count.waiting + ahead.length : 0), name: '' });
    if (added.size && !this.#persisted) this.#persist();
    this.onChange?.();
    return { songs: [...added.values()], skipped, cancelled: signal?.aborted ?? false };
  }

  /**
   * What was dropped. To be called inside the event.
   *
   * @param {DataTransfer} dataTransfer
   * @returns {Promise<Item[]>}
   */
  fromDrop(dataTransfer) {
    return dropped(dataTransfer);
  }

  /**
   * Asks for files or a folder. To be called inside a gesture.
   *
   * @param {'files' | 'folder'} kind
   * @returns {Promise<Item[]>} none where nothing was picked
   */
  pick(kind) {
    return picked(kind);
  }

  /**
   * What was known of a file: by its `sourceId`, else what a release before knew under its own one, if that was of this
   * file and not of one with the same ends.
   *
   * @param {Song} song
   */
  #before({ sourceId, oldId = '', name }) {
    const before = this.songs.get(sourceId) ?? this.#past.get(sourceId), old = this.songs.get(oldId) ?? this.#past.get(oldId);
    return before ?? (old?.name === name ? old : undefined);
  }

  /** @param {Song} song */
  #index(song) {
    this.#found?.names.add(song);
    if (song.oldId) this.#found?.olds.set(song.oldId, [...this.#found.olds.get(song.oldId) ?? [], song]);
  }

  /**
   * The song that is a room's track: the same file, also as releases before called it, else one of the same title and
   * artist whose album and length, as far as they are known, are no others.
   *
   * @param {{ source: string, sourceId: string, title: string, artist?: string, album?: string, durationMs?: number }} track
   * @returns {Song | undefined}
   */
  find(track) {
    const same = track.source === 'local' ? this.songs.get(track.sourceId) : undefined;
    if (same) return same;
    if (!this.#found) {
      this.#found = { names: new SameSongs(), olds: new Map() };
      for (const song of this.songs.values()) this.#index(song);
    }
    const { names, olds } = this.#found, old = track.source === 'local' ? olds.get(track.sourceId) ?? [] : [];
    return (old.length > 1 ? new SameSongs(old).find(track) : old[0]) ?? names.find(track);
  }

  /**
   * Opens the file of a song.
   *
   * @param {Song} song
   * @returns {Promise<File>} with the song's name and type; rejects with a `FileProblem`
   */
  async file(song) {
    const { permission } = this.#places;
    const opened = async () => {
      const file = await this.#places.open(song);
      if (file.size !== song.size) throw new FileProblem('changed');
      // The file may have gone since the browser looked.
      await file.slice(0, 1).arrayBuffer();
      return typed(file, song);
    };
    try {
      // What a browser gives out of a database may be unreadable once; taken again it is not.
      return await opened().catch((error) => (error.name === 'NotReadableError' ? opened() : Promise.reject(error)));
    } catch (error) {
      const { name } = /** @type {DOMException} */ (error);
      const problem = error instanceof FileProblem ? error
        : new FileProblem(/^(NotAllowed|Security)Error$/.test(name) ? 'permission' : name === 'NotReadableError' ? 'changed' : 'gone');
      // A copy that the browser, or another tab, has removed. Other failures may pass.
      const isLost = name === 'NotFoundError' && copyOf(song) !== undefined;
      if (isLost) await this.#release(song);
      // Told once: who hears it may open files.
      if (isLost || permission !== this.#places.permission) this.onChange?.();
      throw problem;
    }
  }

  /**
   * Asks for the permission of all files and folders again. To be called inside a gesture.
   *
   * @returns {Promise<boolean>} whether all may be opened
   */
  async renew() {
    await this.#places.review(true);
    this.onChange?.();
    return this.#places.permission === 'granted';
  }

  /**
   * Copies a file that has no handle, so that it is here after a reload. The oldest copies give way; nothing happens where
   * the file has a handle. Where it cannot be copied, `isUnkept` says so.
   *
   * @param {string} sourceId
   * @param {Iterable<string>} [queued]  songs whose copies stay
   * @returns {Promise<boolean>} whether the file is found after a reload
   */
  keep(sourceId, queued = []) {
    const kept = this.#keeping.then(async () => {
      const isKept = await this.#keep(sourceId, new Set([...queued, sourceId])), wasUnkept = this.#unkept.has(sourceId);
      if (isKept) this.#unkept.delete(sourceId);
      else if (this.songs.has(sourceId)) this.#unkept.add(sourceId);
      if (isKept === wasUnkept) this.onChange?.();
      return isKept;
    });
    this.#keeping = kept.catch(() => {});
    return kept;
  }

  /**
   * @param {string} sourceId
   * @param {Set<string>} queued
   */
  async #keep(sourceId, queued) {
    const place = this.#places.get(sourceId);
    let song = this.songs.get(sourceId);
    if (!song || !this.state.keeps) return false;
    if (song.kept === 'handle') return true;
    const isNew = song.kept === 'memory';
    if (isNew) {
      const copy = place.file ? await this.#copy(song, place.file, queued) : null;
      if (!copy) return false;
      song = this.songs.get(sourceId);
      // It, or everything, was removed meanwhile.
      if (!song || !this.#records.isOpen) return dropFile(sourceId, copy).then(() => false);
      song.kept = copy;
    }
    place.keptAt = Date.now();
    const isKept = await this.#write([song]);
    // Nothing would know of this copy after a reload.
    if (isNew && !isKept) await this.#release(song);
    this.onChange?.();
    return isKept || !isNew;
  }

  /**
   * Copies a file within the budget.
   *
   * @param {Song} song
   * @param {File} file
   * @param {Set<string>} queued
   * @returns {Promise<import('./kept.js').Copy | null>} where the copy is
   */
  async #copy(song, file, queued) {
    let most = Math.min(await budget(), this.#mostBytes);
    const others = [...this.songs.values()].filter((one) => copyOf(one) && !queued.has(one.sourceId));
    others.sort((a, b) => (this.#places.get(a.sourceId).keptAt ?? 0) - (this.#places.get(b.sourceId).keptAt ?? 0));
    // None gives way to a file that has no room all the same.
    if (this.#copied() - others.reduce((sum, { size }) => sum + size, 0) + song.size > most) return null;
    for (;;) {
      const isFull = this.#copied() + song.size > most, copy = isFull ? 'full' : await keepFile(song.sourceId, file);
      if (copy !== 'full') return copy === 'none' ? null : copy;
      if (!isFull) most = this.#mostBytes = this.#copied() + song.size - 1;
      const oldest = others.shift();
      if (!oldest) return null;
      await this.#release(oldest);
    }
  }

  /** @returns {number} bytes of copies */
  #copied() {
    let bytes = 0;
    for (const song of this.songs.values()) if (copyOf(song)) bytes += song.size;
    return bytes;
  }

  /**
   * Removes a copy. What is known of the song stays, for when its file comes again.
   *
   * @param {Song} song
   */
  async #release(song) {
    const before = { ...song };
    song.kept = 'memory';
    if (!this.#places.get(song.sourceId).file) {
      this.songs.delete(song.sourceId);
      this.#past.set(song.sourceId, song);
      this.#found = null;
    }
    await this.#write([song]);
    await this.#drop(before);
  }

  /**
   * Removes the copy of a song, if there is one.
   *
   * @param {Song | undefined} song
   */
  async #drop(song) {
    const copy = copyOf(song);
    if (song && copy) await dropFile(song.sourceId, copy);
  }

  /**
   * Notes what was found out of a file.
   *
   * @param {string} sourceId
   * @param {{ lufs: number | null, waveform?: Uint8Array, durationMs?: number }} found
   */
  async remember(sourceId, { lufs, waveform, durationMs }) {
    const song = this.songs.get(sourceId);
    if (!song) return;
    song.lufs = lufs;
    if (waveform) song.waveform = waveform;
    if (durationMs) {
      // Another device may know the song by what its file claims.
      song.saidMs ??= song.durationMs;
      song.durationMs = durationMs;
    }
    await this.#write([song]);
    this.onChange?.();
  }

  /**
   * The picture in a song's file: shown on this device only.
   *
   * @param {Song} song
   * @returns {Promise<Blob | null>} of an image type, at most 8 MiB
   */
  async picture(song) {
    return this.file(song).then(pictureOf).catch(() => null);
  }

  /** @param {string} sourceId */
  async remove(sourceId) {
    const song = this.songs.get(sourceId);
    for (const one of [this.songs, this.#past, this.#unkept]) one.delete(sourceId);
    this.#found = null;
    await this.#records.remove(sourceId, this.#places.remove(sourceId));
    await this.#drop(song);
    this.onChange?.();
  }

  /** Forgets everything, as signing out does. From then on this library keeps nothing. */
  async clear() {
    for (const map of [this.songs, this.#places, this.#past, this.#unkept]) map.clear();
    this.#found = null;
    this.#records.close();
    await forgetLibrary();
    this.onChange?.();
  }

  /**
   * The song as a room gets it.
   *
   * @param {Song} song
   */
  toTrack(song) {
    return trackOf(song);
  }

  /**
   * @param {Song[]} songs
   * @returns {Promise<boolean>} whether they are kept
   */
  #write(songs) {
    // Some may have been removed, or replaced, since they were found.
    return this.#records.put(...this.#places.records(songs.filter((song) => (this.songs.get(song.sourceId) ?? this.#past.get(song.sourceId)) === song)));
  }

  /** Asks the browser to remove nothing by itself. Some ask the person: nobody waits for it. */
  async #persist() {
    this.#persisted = await navigator.storage?.persist?.().catch(() => false) ?? false;
    this.onChange?.();
  }
}
