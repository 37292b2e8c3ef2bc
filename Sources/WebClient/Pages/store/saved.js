// The last room, kept in this browser for a reload without a network.

/** @returns {Promise<IDBDatabase>} */
function database() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('backline', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('rooms');
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error('the database is blocked'));
  });
}

/**
 * Runs one request of a transaction, and closes the database.
 *
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(rooms: IDBObjectStore) => IDBRequest<T>} ask
 * @returns {Promise<T>}
 */
async function run(mode, ask) {
  const opened = await database();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = opened.transaction('rooms', mode);
      const asked = ask(transaction.objectStore('rooms'));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    opened.close();
  }
}

/**
 * Keeps a room, in place of the one that was kept before.
 *
 * @param {import('../room/room.js').Room} room
 */
export async function saveRoom(room) {
  const { epoch, seq, keyed, you } = room;
  const kept = { epoch, seq, keyed, state: room.toState(), you: you && { ...you, votes: [...you.votes] } };
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
