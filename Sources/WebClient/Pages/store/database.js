// A database of this browser. Browsers close connections by themselves, Safari those of pages that were in the background:
// one is opened when it is needed, and anew where it turns out to be gone.

/** How an operation ends whose connection is gone. */
const GONE = new Set(['InvalidStateError', 'UnknownError', 'AbortError']);

export class Database {
  /**
   * It stays open, so that a page that is left can still write.
   *
   * @type {Promise<IDBDatabase> | null}
   */
  #opened = null;

  /**
   * @param {string} name
   * @param {Record<string, IDBObjectStoreParameters>} stores
   * @param {() => void} [onTaken]  another tab removes it, or brings its next version
   */
  constructor(name, stores, onTaken = () => {}) {
    this.name = name;
    this.stores = stores;
    this.onTaken = onTaken;
  }

  /** @returns {Promise<IDBDatabase>} */
  open() {
    if (this.#opened) return this.#opened;
    /** @type {Promise<IDBDatabase>} */
    const mine = new Promise((resolve, reject) => {
      const opening = indexedDB.open(this.name, 1);
      opening.onupgradeneeded = () => {
        for (const [store, parameters] of Object.entries(this.stores)) opening.result.createObjectStore(store, parameters);
      };
      opening.onsuccess = () => {
        const database = opening.result;
        database.onversionchange = () => {
          this.close();
          this.onTaken();
        };
        resolve(database);
      };
      opening.onerror = () => reject(opening.error);
    });
    this.#opened = mine;
    mine.catch(() => { if (this.#opened === mine) this.#opened = null; });
    return mine;
  }

  close() {
    this.#opened?.then((one) => one.close(), () => {});
    this.#opened = null;
  }

  /**
   * Runs requests in one transaction: all or none. Once the database is open, they are on their way at once. They are asked
   * for a second time where the connection is gone.
   *
   * @param {IDBTransactionMode} mode
   * @param {(...stores: IDBObjectStore[]) => IDBRequest<any>[]} ask
   * @returns {Promise<any[]>} their results; rejects with what the browser says
   */
  async run(mode, ask) {
    try {
      return await this.#run(mode, ask);
    } catch (error) {
      if (!GONE.has(/** @type {DOMException} */ (error)?.name)) throw error;
      this.close();
      return this.#run(mode, ask);
    }
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(...stores: IDBObjectStore[]) => IDBRequest<any>[]} ask
   * @returns {Promise<any[]>}
   */
  async #run(mode, ask) {
    const names = Object.keys(this.stores), transaction = (await this.open()).transaction(names, mode);
    return new Promise((resolve, reject) => {
      transaction.onabort = () => reject(transaction.error ?? new DOMException('', 'AbortError'));
      try {
        const asked = ask(...names.map((name) => transaction.objectStore(name)));
        transaction.oncomplete = () => resolve(asked.map((one) => one.result));
      } catch (error) {
        // What this browser cannot keep.
        reject(error);
        transaction.abort();
      }
    });
  }
}

/**
 * Deletes a database. Rejects nothing: one that a tab that stands still has open is deleted when that one closes it.
 *
 * @param {string} name
 */
export function deleteDatabase(name) {
  return new Promise((resolve) => {
    try {
      const deleting = indexedDB.deleteDatabase(name);
      deleting.onsuccess = deleting.onerror = deleting.onblocked = resolve;
    } catch {
      resolve(null);
    }
  });
}
