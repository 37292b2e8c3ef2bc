// What this browser keeps of the deck's library: records in IndexedDB, copies of files in the origin's private file system or,
// where a page cannot write to that (Safari before 26), in IndexedDB as well.

import { Database, deleteDatabase } from '../store/database.js';

/** The database of records, and the folder of copies. */
const NAME = 'backline-library';
/** The database of copies. */
const FILES = 'backline-library-files';

/** The most bytes of copies, where the browser gives as much: at most half of what it gives is taken. */
const MOST_BYTES = 2 * 2 ** 30;
/** The most where the browser does not say what it gives (Safari before 17). */
const UNTOLD_BYTES = 512 * 2 ** 20;

/** @typedef {FileSystemFileHandle | FileSystemDirectoryHandle} Root */

/**
 * Where a copy lies: in the folder, or in the database.
 *
 * @typedef {'opfs' | 'database'} Copy
 */

/** Records by `sourceId`, in one database for all tabs. Where the browser keeps nothing, writes do nothing. */
export class Records {
  /** Whether anything is kept. Another tab removes the database or brings its next version: then nothing is from then on. */
  isOpen = true;
  #database = new Database(NAME, { songs: { keyPath: 'sourceId' }, roots: {} }, () => this.close());

  /**
   * @returns {Promise<Records>} never rejects
   */
  static async open() {
    const records = new Records();
    await records.#database.open().catch(() => records.close());
    return records;
  }

  close() {
    this.isOpen = false;
    this.#database.close();
  }

  /**
   * All records, and the handles of files and folders in which the songs lie; none where they cannot be read.
   *
   * @returns {Promise<{ songs: any[], roots: Map<string, Root> }>}
   */
  async all() {
    const [songs, ids, handles] = await this.#run('readonly', (songs, roots) => [songs.getAll(), roots.getAllKeys(), roots.getAll()]) ?? [[], [], []];
    return { songs, roots: new Map(ids.map((/** @type {any} */ id, /** @type {number} */ i) => [String(id), handles[i]])) };
  }

  /**
   * Writes records and handles, all or none.
   *
   * @param {any[]} records
   * @param {Iterable<[string, Root]>} [handles]
   * @returns {Promise<boolean>} whether they are kept
   */
  async put(records, handles = []) {
    return await this.#run('readwrite', (songs, roots) => {
      for (const record of records) songs.put(record);
      for (const [id, handle] of handles) roots.put(handle, id);
      return [];
    }) !== null;
  }

  /**
   * @param {string} sourceId
   * @param {string} [root]
   */
  async remove(sourceId, root) {
    await this.#run('readwrite', (songs, roots) => {
      if (root) roots.delete(root);
      return [songs.delete(sourceId)];
    });
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(songs: IDBObjectStore, roots: IDBObjectStore) => IDBRequest<any>[]} ask
   * @returns {Promise<any[] | null>} null where it was not done
   */
  async #run(mode, ask) {
    return this.isOpen ? this.#database.run(mode, ask).catch(() => null) : null;
  }
}

/** The folder of copies, named by `sourceId`. */
async function folder() {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(NAME, { create: true });
}

/** The copies in the database, by `sourceId`. */
const files = new Database(FILES, { files: {} });

/** @type {Record<Copy, { put(id: string, file: File): Promise<unknown>, get(id: string): Promise<File>, drop(id: string): Promise<unknown> }>} */
const COPIES = {
  opfs: {
    async put(id, file) {
      const handle = await (await folder()).getFileHandle(id, { create: true });
      // Written aside, and put in place when it is whole.
      await file.stream().pipeTo(await handle.createWritable());
    },
    get: async (id) => (await (await folder()).getFileHandle(id)).getFile(),
    drop: async (id) => (await folder()).removeEntry(id),
  },
  database: {
    put: (id, file) => files.run('readwrite', (all) => [all.put(file, id)]),
    async get(id) {
      const [file] = await files.run('readonly', (all) => [all.get(id)]);
      if (!file) throw new DOMException('', 'NotFoundError');
      return file;
    },
    drop: (id) => files.run('readwrite', (all) => [all.delete(id)]),
  },
};

/**
 * Copies a file: into the folder, else into the database.
 *
 * @param {string} sourceId
 * @param {File} file
 * @returns {Promise<Copy | 'full' | 'none'>} where it is; `full`: the browser has no more room; `none`: it keeps no such file
 */
export async function keepFile(sourceId, file) {
  for (const copy of /** @type {const} */ (['opfs', 'database'])) {
    try {
      await COPIES[copy].put(sourceId, file);
      return copy;
    } catch (error) {
      if (copy === 'opfs') await dropFile(sourceId, copy);
      if (/** @type {DOMException} */ (error)?.name === 'QuotaExceededError') return 'full';
    }
  }
  return 'none';
}

/**
 * @param {string} sourceId
 * @param {Copy} copy
 * @returns {Promise<File>} rejects where there is no copy
 */
export function keptFile(sourceId, copy) {
  return COPIES[copy].get(sourceId);
}

/**
 * @param {string} sourceId
 * @param {Copy} copy
 */
export async function dropFile(sourceId, copy) {
  await COPIES[copy].drop(sourceId).catch(() => {});
}

/** Whether this browser keeps copies of files: many private windows do not. It is tried; one that is full may have room later. */
export async function keepsFiles() {
  const copy = await keepFile('trial', new File(['a'], ''));
  if (copy !== 'full' && copy !== 'none') await dropFile('trial', copy);
  return copy !== 'none';
}

/** The most bytes of copies that may be there. */
export async function budget() {
  const { quota } = await navigator.storage?.estimate?.().catch(() => null) ?? {};
  return quota === undefined ? UNTOLD_BYTES : Math.min(MOST_BYTES, quota / 2);
}

/** Removes the copies. One that is being written cannot be: who writes it does so afterwards. */
async function dropFolder() {
  const top = await navigator.storage.getDirectory();
  const all = await top.getDirectoryHandle(NAME);
  for await (const { name } of all.values()) await all.removeEntry(name).catch(() => {});
  await top.removeEntry(NAME);
}

/** Removes all records and copies of this browser. Rejects nothing. */
export async function forgetLibrary() {
  await Promise.all([deleteDatabase(NAME), deleteDatabase(FILES), dropFolder().catch(() => {})]);
}

/**
 * Whether what a handle leads to may be read.
 *
 * @param {Root} handle
 * @param {boolean} asks whether the person is asked: inside a gesture only
 * @returns {Promise<'granted' | 'prompt' | 'denied'>} granted where a browser knows no such permission
 */
export async function allowed(handle, asks) {
  try {
    const state = await handle.queryPermission?.({ mode: 'read' }) ?? 'granted';
    return state !== 'granted' && asks ? await handle.requestPermission({ mode: 'read' }) : state;
  } catch {
    return 'prompt';
  }
}

/**
 * The file at a path of a folder.
 *
 * @param {Root} root  the folder; with an empty path, the file
 * @param {string[]} path
 * @returns {Promise<FileSystemFileHandle>} rejects where it is not there
 */
export async function handleAt(root, path) {
  let folder = /** @type {FileSystemDirectoryHandle} */ (root);
  for (const name of path.slice(0, -1)) folder = await folder.getDirectoryHandle(name);
  return path.length ? folder.getFileHandle(path[path.length - 1]) : /** @type {FileSystemFileHandle} */ (root);
}
