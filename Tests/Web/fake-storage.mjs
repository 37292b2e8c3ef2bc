// What a browser keeps, in memory: IndexedDB and the origin's private file system, as far as the page uses them. It is there
// after a reload, which a test makes by opening what uses it once more.

const fault = (name) => new DOMException('', name);

/** Puts one in this process. Its fields may be changed at any time. */
export class Storage {
  /** Whether there are databases; whether they take files, which those of WebKit's private windows do not. */
  hasDatabases = true;
  takesFiles = true;
  /** Whether there is a file system; whether a page can write to it, which it cannot in Safari before 26. */
  hasFolder = true;
  canWrite = true;
  /** The bytes of files that there is room for, and the quota that is told: undefined where there is no `estimate`. */
  room = Infinity;
  quota;
  /** The error of the next transactions. */
  fails = [];
  /** Files by name, in the folder and in the databases. */
  folder = new Map();
  databases = new Map();
  #connections = new Set();
  /** @type {Storage | null} the one before, whose connections end with it */
  static #before = null;

  constructor(fields = {}) {
    Storage.#before?.closeConnections();
    Storage.#before = this;
    Object.assign(this, fields);
    globalThis.window ??= globalThis;
    globalThis.indexedDB = { open: (name) => this.#open(name), deleteDatabase: (name) => this.#delete(name), databases: async () => [...this.databases.keys()].map((name) => ({ name })) };
    const storage = {
      persisted: async () => false,
      persist: async () => false,
      getDirectory: async () => {
        if (!this.hasFolder) throw fault('SecurityError');
        return this.#top;
      },
    };
    if (this.quota !== undefined) storage.estimate = async () => ({ quota: this.quota, usage: 0 });
    Object.defineProperty(globalThis, 'navigator', { value: { storage }, configurable: true, writable: true });
  }

  /** The files that are kept: their names, where they are. */
  get files() {
    return [...this.folder.keys(), ...[...this.databases.values()].flatMap(({ files }) => [...files?.rows.keys() ?? []])];
  }

  #take(bytes) {
    const taken = [...this.folder.values(), ...[...this.databases.values()].flatMap(({ files }) => [...files?.rows.values() ?? []])];
    if (taken.reduce((sum, { size }) => sum + size, 0) + bytes > this.room) throw fault('QuotaExceededError');
  }

  /** The browser closes all connections by itself. `isTold`: it says so. */
  closeConnections(isTold = true) {
    for (const connection of this.#connections) {
      connection.isClosed = true;
      if (isTold) connection.onclose?.();
    }
    this.#connections.clear();
  }

  #request(run) {
    const request = {};
    queueMicrotask(() => {
      try {
        request.result = run(request);
        request.onsuccess?.();
      } catch (error) {
        request.error = error;
        request.onerror?.();
      }
    });
    return request;
  }

  #open(name) {
    if (!this.hasDatabases) throw fault('SecurityError');
    return this.#request((request) => {
      const isNew = !this.databases.has(name);
      if (isNew) this.databases.set(name, {});
      const stores = this.databases.get(name), connection = {
        createObjectStore: (store, { keyPath } = {}) => { stores[store] = { keyPath, rows: new Map() }; },
        transaction: (names) => {
          if (connection.isClosed) throw fault('InvalidStateError');
          return this.#transaction(names.map((one) => stores[one]));
        },
        close: () => {
          connection.isClosed = true;
          this.#connections.delete(connection);
        },
        name,
      };
      this.#connections.add(connection);
      request.result = connection;
      if (isNew) request.onupgradeneeded?.();
      return connection;
    });
  }

  #delete(name) {
    return this.#request(() => {
      for (const connection of this.#connections) if (connection.name === name) connection.onversionchange?.();
      this.databases.delete(name);
    });
  }

  #transaction(stores) {
    const asked = [], before = stores.map(({ rows }) => new Map(rows)), transaction = { error: null };
    const abort = (error) => {
      stores.forEach((store, i) => { store.rows = before[i]; });
      transaction.error = error;
      queueMicrotask(() => transaction.onabort?.());
    };
    let isOver = false;
    transaction.abort = () => {
      isOver = true;
      abort(null);
    };
    let names = [...stores];
    transaction.objectStore = () => {
      const store = names.shift(), ask = (run) => {
        const request = {};
        asked.push(() => { request.result = run(store.rows); });
        return request;
      };
      return {
        get: (key) => ask((rows) => rows.get(key)),
        getAll: () => ask((rows) => [...rows.values()]),
        getAllKeys: () => ask((rows) => [...rows.keys()]),
        delete: (key) => ask((rows) => { rows.delete(key); }),
        clear: () => ask((rows) => rows.clear()),
        put: (value, key) => {
          const isFile = value instanceof Blob;
          if (isFile && !this.takesFiles) throw fault('DataCloneError');
          return ask((rows) => {
            if (isFile) this.#take(value.size);
            rows.set(key ?? value[store.keyPath], isFile ? value : structuredClone(value));
          });
        },
      };
    };
    setImmediate(() => {
      if (isOver) return;
      const error = this.fails.shift();
      try {
        if (error) throw fault(error);
        for (const run of asked) run();
        transaction.oncomplete?.();
      } catch (failure) {
        abort(failure);
      }
    });
    return transaction;
  }

  #top = {
    getDirectoryHandle: async () => ({
      getFileHandle: async (name, { create = false } = {}) => {
        if (!create && !this.folder.has(name)) throw fault('NotFoundError');
        if (!this.folder.has(name)) this.folder.set(name, new File([], name));
        const handle = { getFile: async () => this.folder.get(name) };
        if (this.canWrite) {
          handle.createWritable = async () => {
            const parts = [];
            return new WritableStream({
              write: (part) => { parts.push(part); },
              close: () => {
                const file = new File(parts, name);
                this.#take(file.size);
                this.folder.set(name, file);
              },
            });
          };
        }
        return handle;
      },
      removeEntry: async (name) => {
        if (!this.folder.delete(name)) throw fault('NotFoundError');
      },
      values: async function* () { yield* [...this.folder.keys()].map((name) => ({ name })); }.bind(this),
    }),
    removeEntry: async () => { this.folder.clear(); },
  };
}
