// Which songs are looked at first and kept, and what is sent of them: the waveform that everybody sees.

/** Changes of the room are looked at together. */
const PAUSE_MS = 1000;
/** Waveforms follow each other at this distance: most of what a session may send stays for the deck. */
const APART_MS = 150;
/** A waveform that could not be taken is sent again after this time, where the server names none. */
const AGAIN_MS = 60_000;
/** After a refusal the next one waits at most so long. */
const REST_MS = 5000;
/** Refusals that say nothing about the waveform. */
const PASSING = new Set(['rate_limited', 'offline', 'unavailable', 'internal', 'outcome_unknown']);
/** So many requests are kept beside the queue. */
const KEPT = 10;

export class Waveforms {
  /** @type {any} */
  #timer;
  #isSending = false;
  #isClosed = false;
  /**
   * What was looked at last.
   *
   * @type {unknown[]}
   */
  #seen = [];
  /**
   * Tracks whose waveform was sent, or refused.
   *
   * @type {Set<number>}
   */
  #sent = new Set();

  /**
   * @param {import('../store/store.js').Store} store
   * @param {import('./analysis.js').Analysis} analysis
   * @param {import('./library.js').Library} library
   * @param {(track: number) => import('./library.js').Song|undefined} songOf
   */
  constructor(store, analysis, library, songOf) {
    this.store = store;
    this.analysis = analysis;
    this.library = library;
    this.songOf = songOf;
  }

  /** The room, or the link to it, may have changed. */
  changed() {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, PAUSE_MS);
  }

  libraryChanged() {
    this.#seen = [];
    this.changed();
  }

  /** @param {import('./library.js').Song} song  that has been looked at */
  analysed(song) {
    if (song.waveform) this.#send();
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Asks for the songs here: on air and queued ones first, then those asked for, then the rest of the pool. */
  #look() {
    const { room, link } = this.store;
    if (!room) return;
    const soon = [room.onAir?.track ?? 0, ...room.queue.map(({ track }) => track), ...room.requests.slice(0, KEPT).map(({ track }) => track)];
    const seen = [room.pool, room.isDJ, link.state, ...soon];
    if (seen.length === this.#seen.length && seen.every((one, place) => one === this.#seen[place])) return;
    this.#seen = seen;
    this.#keep(soon);
    const tracks = [...soon, ...room.requests.map(({ track }) => track), ...room.pool.map(({ track }) => track)];
    const wanted = new Set();
    for (const track of tracks) {
      const song = this.songOf(track);
      if (song && !song.waveform) wanted.add(song.sourceId);
    }
    this.analysis.want([...wanted]);
    this.#send();
  }

  /**
   * Copies files that a reload would lose.
   *
   * @param {number[]} tracks
   */
  #keep(tracks) {
    const songs = tracks.map(this.songOf).filter((song) => song !== undefined);
    const queued = songs.map((song) => /** @type {any} */ (song).sourceId);
    for (const song of songs) if (song?.kept === 'memory') this.library.keep(song.sourceId, queued).catch(() => {});
  }

  /** Sends the waveforms that the room lacks, one after the other. */
  async #send() {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let track = this.#unsent(); track; track = this.#unsent()) {
      this.#sent.add(track);
      let waitMs = APART_MS;
      const data = base64(/** @type {Uint8Array} */ (this.songOf(track)?.waveform));
      await this.store.send({ type: 'setWaveform', track, data }).catch((/** @type {any} */ error) => {
        if (!PASSING.has(error.code)) return;
        const againMs = error.retryAfterMs ?? AGAIN_MS;
        waitMs = Math.min(againMs, REST_MS);
        this.#again(/** @type {number} */ (track), againMs);
      });
      await new Promise((resolve) => { setTimeout(resolve, waitMs); });
    }
    this.#isSending = false;
  }

  /** A track that the room has without a waveform, and whose waveform is here. */
  #unsent() {
    const { room, link } = this.store;
    if (this.#isClosed || link.state !== 'live' || !room?.isDJ) return undefined;
    return room.pool.find(({ waveform, track }) => !waveform && !this.#sent.has(track) && this.songOf(track)?.waveform)?.track;
  }

  /**
   * @param {number} track
   * @param {number} afterMs
   */
  #again(track, afterMs) {
    setTimeout(() => {
      this.#sent.delete(track);
      this.#send();
    }, afterMs);
  }
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
