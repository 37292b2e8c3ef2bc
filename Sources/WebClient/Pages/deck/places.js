// Where the files of a library are.

import { allowed, handleAt, keptFile } from './kept.js';
import { copyOf } from './song.js';

/** @typedef {import('./kept.js').Root} Root */
/** @typedef {import('./song.js').Song} Song */

/**
 * Where a song's file is: at a path of a handle, as a copy since `keptAt` (in ms), or in `file` until the page is left.
 *
 * @typedef {{ root?: string, path?: string[], keptAt?: number, file?: File }} Place
 */

/** Says why a file cannot be opened: it needs the person's permission, is gone, or is another one now. */
export class FileProblem extends Error {
  /** @param {'permission' | 'gone' | 'changed'} why */
  constructor(why) {
    super(why);
    this.why = why;
  }
}

/** The places of songs, and the handles of files and folders in which they are. */
export class Places {
  /**
   * By `sourceId`.
   *
   * @type {Map<string, Place>}
   */
  #places = new Map();
  /** @type {Map<string, Root>} */
  #roots;
  /**
   * `sourceId` by root and path.
   *
   * @type {Map<string, string>}
   */
  #at = new Map();
  /**
   * Whether files may be opened, as far as is known.
   *
   * @type {'granted' | 'prompt' | 'denied'}
   */
  permission = 'granted';

  /** @param {Map<string, Root>} roots handles, of which those that no song needs are left out once songs have places */
  constructor(roots) {
    this.#roots = roots;
  }

  /**
   * @param {string} sourceId
   * @returns {Place}
   */
  get(sourceId) {
    return this.#places.get(sourceId) ?? {};
  }

  /**
   * @param {string} sourceId
   * @param {Place} place
   * @returns {string | undefined} the song that was there before: its file is another one now
   */
  set(sourceId, place) {
    const { root, path = [] } = place;
    this.#places.set(sourceId, place);
    if (!root) return undefined;
    const at = [root, ...path].join('/'), before = this.#at.get(at);
    this.#at.set(at, sourceId);
    return before === sourceId ? undefined : before;
  }

  /**
   * Whether there is a handle of that name.
   *
   * @param {string | undefined} root
   */
  has(root) {
    return this.#roots.has(root ?? '');
  }

  /**
   * The name of a handle: the same one for what is the same file or folder.
   *
   * @param {Root} handle
   */
  async rootOf(handle) {
    for (const [id, one] of this.#roots) {
      if (one === handle || (one.name === handle.name && one.kind === handle.kind && await one.isSameEntry(handle))) return id;
    }
    const id = crypto.randomUUID();
    this.#roots.set(id, handle);
    return id;
  }

  /**
   * Forgets a song's place.
   *
   * @param {string} sourceId
   * @returns {string | undefined} its handle, if that was of this file alone
   */
  remove(sourceId) {
    const { root, path } = this.get(sourceId), at = [root, ...path ?? []].join('/');
    this.#places.delete(sourceId);
    // Another song may be there by now.
    if (this.#at.get(at) !== sourceId) return undefined;
    this.#at.delete(at);
    if (!root || path?.length) return undefined;
    this.#roots.delete(root);
    return root;
  }

  clear() {
    for (const map of [this.#places, this.#roots, this.#at]) map.clear();
  }

  /**
   * Songs with their places, as they are kept, and the handles that belong to them.
   *
   * @param {Song[]} songs
   * @returns {[records: any[], handles: Map<string, Root>]}
   */
  records(songs) {
    /** @type {Map<string, Root>} */
    const handles = new Map();
    const records = songs.map((song) => {
      const { root, path, keptAt } = this.get(song.sourceId);
      const handle = this.#roots.get(root ?? '');
      if (root && handle) handles.set(root, handle);
      return { ...song, root, path, keptAt };
    });
    return [records, handles];
  }

  /**
   * Opens the file of a song, without a look at whether it is the right one.
   *
   * @param {Song} song
   * @returns {Promise<File>} rejects with a `FileProblem`, or with what the browser says
   */
  async open(song) {
    const { root, path, file } = this.get(song.sourceId);
    const handle = this.#roots.get(root ?? ''), copy = copyOf(song);
    try {
      if (!handle && copy) return await keptFile(song.sourceId, copy);
      if (!handle) throw new FileProblem('gone');
      const permission = await allowed(handle, false);
      if (permission === 'granted') return await (await handleAt(handle, path ?? [])).getFile();
      this.permission = permission;
      throw new FileProblem('permission');
    } catch (error) {
      if (file) return file;
      throw error;
    }
  }

  /**
   * Finds out whether all files may be opened.
   *
   * @param {boolean} asks whether the person is asked, until the first refusal: inside a gesture only
   */
  async review(asks) {
    const used = new Set([...this.#places.values()].map(({ root }) => root));
    this.permission = 'granted';
    for (const [id, handle] of this.#roots) {
      if (this.permission === 'granted' && used.has(id)) this.permission = await allowed(handle, asks);
    }
  }
}
