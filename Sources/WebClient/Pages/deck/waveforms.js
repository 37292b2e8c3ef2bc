// Which songs are looked at first and kept, and what is sent of them: the waveform that everybody sees.

/** Changes of the room are looked at together. */
const PAUSE_MS = 1000;
/** A waveform that was refused is tried again after this time, where the server names none. */
const AGAIN_MS = 60_000;
/** So many requests are kept beside the queue. */
const KEPT = 10;

export class Waveforms {
  /** @type {any} */
  #timer;
  #isSending = false;
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

  /** The room or the library has changed. */
  changed() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, PAUSE_MS);
  }

  /** @param {import('./library.js').Song} song  that has been looked at */
  analysed(song) {
    if (song.waveform) this.#send();
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = -1;
  }

  /** Asks for the songs here: on air and queued ones first, then those asked for, then the rest of the pool. */
  #look() {
    const { room } = this.store;
    if (!room) return;
    const soon = [room.onAir?.track ?? 0, ...room.queue.map(({ track }) => track), ...room.requests.slice(0, KEPT).map(({ track }) => track)];
    this.#keep(soon);
    const tracks = [...soon, ...room.requests.map(({ track }) => track), ...room.pool.map(({ track }) => track)];
    const wanted = new Set();
    for (const track of tracks) {
      const song = this.songOf(track);
      if (song && song.lufs === undefined) wanted.add(song.sourceId);
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
    try {
      for (;;) {
        const { room, link } = this.store;
        const track = link.state === 'live' && room?.isDJ ? room.pool.find((one) => !one.waveform && !this.#sent.has(one.track) && this.songOf(one.track)?.waveform) : undefined;
        if (!track) return;
        this.#sent.add(track.track);
        await this.store.send({ type: 'setWaveform', track: track.track, data: base64(/** @type {Uint8Array} */ (this.songOf(track.track)?.waveform)) })
          .catch((/** @type {any} */ error) => {
            if (error.code !== 'rate_limited' && error.code !== 'offline') return;
            setTimeout(() => {
              this.#sent.delete(track.track);
              this.changed();
            }, error.retryAfterMs ?? AGAIN_MS);
          });
      }
    } finally {
      this.#isSending = false;
    }
  }
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
