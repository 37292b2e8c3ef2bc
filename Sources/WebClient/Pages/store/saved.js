// The last room, kept in this browser for a reload without a network.

/**
 * The database. It stays open, so that a page that is left can still save.
 *
 * @type {Promise<IDBDatabase>|null}
 */
let opened = null;

/** @returns {Promise<IDBDatabase>} */
function database() {
  opened ??= new Promise((resolve, reject) => {
    const opening = indexedDB.open('backline', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('rooms');
    opening.onsuccess = () => {
      // Another tab removes the database or brings its next version.
      opening.result.onversionchange = close;
      opening.result.onclose = () => { opened = null; };
      resolve(opening.result);
    };
    opening.onerror = () => {
      opened = null;
      reject(opening.error);
    };
  });
  return opened;
}

function close() {
  opened?.then((one) => one.close(), () => {});
  opened = null;
}

/**
 * Runs one request of a transaction.
 *
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(rooms: IDBObjectStore) => IDBRequest<T>} ask
 * @returns {Promise<T>}
 */
async function run(mode, ask) {
  const rooms = await database();
  return new Promise((resolve, reject) => {
    const transaction = rooms.transaction('rooms', mode);
    const asked = ask(transaction.objectStore('rooms'));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * Keeps a room, in place of the one that was kept before. Once the database is open, this is on its way at once.
 *
 * @param {import('../room/room.js').Room} room
 */
export async function saveRoom(room) {
  const { epoch, seq, keyed, you, online } = room;
  const kept = {
    epoch, seq, keyed, isAhead: room.isAhead, state: room.toState(), you: you && { ...you, votes: [...you.votes] }, presence: { online },
  };
  await run('readwrite', (rooms) => rooms.put(kept, 'last'));
}

/**
 * The room that was kept.
 *
 * @param {string} reference  its code or id
 * @returns {Promise<import('../wire/messages').RoomSnapshot|null>}
 */
export async function savedRoom(reference) {
  const kept = await run('readonly', (rooms) => rooms.get('last'));
  const { id, code } = kept?.state ?? {};
  return id === reference || code === reference.toUpperCase() ? kept : null;
}

/** Removes what is kept. */
export async function forgetRooms() {
  await run('readwrite', (rooms) => rooms.clear());
}
