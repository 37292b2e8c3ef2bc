// Folds a room's log as the page does, and compares the result with the server's states.
//
// Standard input has one JSON text a line: `{"snapshot":…}` begins, `{"event":…}` is folded, `{"state":…}` must equal
// what is folded so far. The first difference ends it with the code 1.
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { Room } from '../../Sources/WebClient/Pages/room/room.js';
import { plain } from './samples.mjs';

let room, compared = 0;

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { snapshot, event, state } = JSON.parse(line);
  if (snapshot) room = new Room(snapshot);
  if (event) room.apply(event);
  if (state) {
    const ours = room.toState();
    // Equal texts are equal values; others may differ in the order of fields alone.
    for (const name of new Set([...Object.keys(ours), ...Object.keys(state)])) {
      if (JSON.stringify(ours[name]) !== JSON.stringify(state[name])) compare(plain(ours)[name], plain(state)[name], name);
    }
    compared += 1;
  }
}
console.log(`${compared} states are equal, ${room.tracks.size} tracks, position ${room.seq}`);

/** Ends the program at the first difference, with its path. */
function compare(ours, theirs, path) {
  if (isDeepStrictEqual(ours, theirs)) return;
  if (typeof ours === 'object' && typeof theirs === 'object' && ours && theirs) {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) compare(ours[name], theirs[name], `${path}.${name}`);
  }
  console.error(`at ${room.seq}, ${path}: folded ${JSON.stringify(ours)}, the server has ${JSON.stringify(theirs)}`);
  process.exit(1);
}
