// Tells the room which of its tracks this deck lacks or cannot play: it chooses none of them, and their votes stay.

/** @typedef {import('../room/room.js').Room} Room */
/** @typedef {import('../store/store.js').Refusal} Refusal */

/** The protocol's largest number of tracks in one command. */
const MOST = 10_000;
/** What changes within this time is told at once; a longer list, which is told whole, less often by so much for each track. */
const LOOK_MS = 500;
const EACH_MS = 2;
const AGAIN_MS = 5000;
/** Refusals that say nothing about the list. */
const PASSING = new Set(['rate_limited', 'unavailable', 'internal', 'offline', 'outcome_unknown']);

/**
 * The command that makes the room know what is not here; null where it does.
 *
 * @param {Room} room
 * @param {(track: number) => boolean} isHere
 * @returns {{type: 'setMissing', tracks: number[]}|null}
 */
export function lackingCommand(room, isHere) {
  const tracks = [];
  let isKnown = true;
  for (const { track, missing = false } of room.pool) {
    const isMissing = tracks.length < MOST && !isHere(track);
    if (isMissing) tracks.push(track);
    isKnown &&= isMissing === missing;
  }
  return isKnown ? null : { type: 'setMissing', tracks };
}

/** For as long as this device is the deck of a room. */
export class Lacking {
  /**
   * The list that is on its way, or that the room does not take.
   *
   * @type {string|null}
   */
  #told = null;
  /** @type {any} */
  #timer;
  #isClosed = false;
  /** The tracks of the list that was told last. */
  #length = 0;

  /**
   * @param {import('../store/store.js').Store} store
   * @param {{isHere(track: number): boolean, isDeck(): boolean}} ports  whether a track can be played here; whether the
   *   room hears this deck
   */
  constructor(store, ports) {
    this.store = store;
    this.ports = ports;
  }

  /**
   * The library or the pool has changed.
   *
   * @param {number} [afterMs]
   */
  look(afterMs = LOOK_MS + EACH_MS * this.#length) {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.ports.isDeck()) this.tell();
    }, afterMs);
  }

  /** Tells the room now, if it does not know. */
  tell() {
    const { room } = this.store;
    const command = room && lackingCommand(room, this.ports.isHere);
    if (!command) return;
    const told = String(command.tracks);
    if (told === this.#told) return;
    this.#told = told;
    this.#length = command.tracks.length;
    this.store.send(command, { once: true }).then(() => { this.#told = null; }, (error) => {
      if (!PASSING.has(/** @type {Refusal} */ (error).code) || this.#told !== told) return;
      this.#told = null;
      this.look(Math.max(AGAIN_MS, /** @type {Refusal} */ (error).retryAfterMs ?? 0));
    });
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
