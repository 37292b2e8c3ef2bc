// The last room, kept in this browser for a reload without a network.

import { Database } from './database.js';

const database = new Database('backline', { rooms: {} });

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
  await database.run('readwrite', (rooms) => [rooms.put(kept, 'last')]);
}

/**
 * The room that was kept.
 *
 * @param {string} reference  its code or id
 * @returns {Promise<import('../wire/messages').RoomSnapshot|null>}
 */
export async function savedRoom(reference) {
  const [kept] = await database.run('readonly', (rooms) => [rooms.get('last')]);
  const { id, code } = kept?.state ?? {};
  return id === reference || code === reference.toUpperCase() ? kept : null;
}

/** Removes what is kept. */
export async function forgetRooms() {
  await database.run('readwrite', (rooms) => [rooms.clear()]);
}
