// What this browser keeps of the deck's library: records in IndexedDB, copies of files in the origin's private file system.

const NAME = 'backline-library';

/** The most bytes of copies, where the browser gives as much: at most half of what it gives is taken. */
const MOST_BYTES = 2 * 2 ** 30;

/** @typedef {FileSystemFileHandle | FileSystemDirectoryHandle} Root */

/** Records by `sourceId`, in one database for all tabs. Where the browser keeps nothing, writes do nothing. */
export class Records {
  /** @type {IDBDatabase | null} */
  #database = null;

  /**
   * @returns {Promise<Records>} never rejects
   */
  static async open() {
    const records = new Records();
    records.#database = await new Promise((resolve) => {
      try {
        const opening = indexedDB.open(NAME, 1);
        opening.onupgradeneeded = () => {
          opening.result.createObjectStore('songs', { keyPath: 'sourceId' });
          opening.result.createObjectStore('roots');
        };
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = opening.onblocked = () => resolve(null);
      } catch {
        resolve(null);
      }
    });
    // Another tab removes the database or brings its next version: from then on this one keeps nothing.
    if (records.#database) records.#database.onversionchange = records.#database.onclose = () => records.close();
    return records;
  }

  close() {
    this.#database?.close();
    this.#database = null;
  }

  /** Whether anything is kept. */
  get isOpen() {
    return this.#database !== null;
  }

  /**
   * All records, and the handles of files and folders in which the songs lie; none where they cannot be read.
   *
   * @returns {Promise<{ songs: any[], roots: Map<string, Root> }>}
   */
  async all() {
    const [songs, ids, handles] = /** @type {any[][]} */ (await this.#run('readonly', (songs, roots) => [songs.getAll(), roots.getAllKeys(), roots.getAll()]) ?? [[], [], []]);
    return { songs, roots: new Map(ids.map((id, i) => [String(id), handles[i]])) };
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
  #run(mode, ask) {
    return new Promise((resolve) => {
      try {
        const transaction = /** @type {IDBDatabase} */ (this.#database).transaction(['songs', 'roots'], mode);
        transaction.onabort = () => resolve(null);
        const asked = ask(transaction.objectStore('songs'), transaction.objectStore('roots'));
        transaction.oncomplete = () => resolve(asked.map((one) => one.result));
      } catch {
        // No database, or a record that this browser cannot keep.
        resolve(null);
      }
    });
  }
}

/** The folder of copies, named by `sourceId`. */
async function folder() {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(NAME, { create: true });
}

/**
 * Copies a file into the folder.
 *
 * @param {string} sourceId
 * @param {File} file
 * @returns {Promise<boolean>} whether it is there; not where the browser has no folder, cannot write to it, or is full
 */
export async function keepFile(sourceId, file) {
  try {
    const handle = await (await folder()).getFileHandle(sourceId, { create: true });
    // Written aside, and put in place when it is whole.
    await file.stream().pipeTo(await handle.createWritable());
    return true;
  } catch {
    await dropFile(sourceId);
    return false;
  }
}

/**
 * @param {string} sourceId
 * @returns {Promise<File>} rejects where there is no copy
 */
export async function keptFile(sourceId) {
  return (await (await folder()).getFileHandle(sourceId)).getFile();
}

/** @param {string} sourceId */
export async function dropFile(sourceId) {
  await folder().then((one) => one.removeEntry(sourceId)).catch(() => {});
}

/** The most bytes of copies that may be there. */
export async function budget() {
  const { quota = 0 } = await navigator.storage?.estimate?.().catch(() => null) ?? {};
  return Math.min(MOST_BYTES, quota / 2);
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
  await Promise.all([
    new Promise((resolve) => {
      try {
        const removal = indexedDB.deleteDatabase(NAME);
        // A tab that stands still has it open: it is deleted when that one closes it.
        removal.onsuccess = removal.onerror = removal.onblocked = resolve;
      } catch {
        resolve(null);
      }
    }),
    dropFolder().catch(() => {}),
  ]);
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
