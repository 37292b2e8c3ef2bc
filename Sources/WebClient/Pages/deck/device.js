// This device as the room's deck, as the views see it: whether it plays, what it wants from the person, and its library.

import { Analysis } from './analysis.js';
import { Claim } from './claim.js';
import { Conductor } from './conductor.js';
import { Library } from './library.js';
import { forgetDeck, savedDeck, savedElsewhere } from './saved-deck.js';
import { Sound } from './sound.js';
import { System } from './system.js';
import { FileProblem } from './places.js';
import { Waveforms } from './waveforms.js';
import { PART } from '../room/room.js';

/**
 * @typedef {import('../wire/messages').Command} Command
 * @typedef {import('../wire/messages').Track} Track
 */

/** A claim that the server has not confirmed by then is given up. */
const CLAIM_MS = 15_000;
/** The deck waits so often, for so long, until the server's clock is known. */
const CLOCK_LOOKS = 30;
const CLOCK_LOOK_MS = 100;

/**
 * The library, which every room of this page has: files that the browser does not keep are in it.
 *
 * @type {Promise<Library>|null}
 */
let library = null;

export class Device {
  /** @type {'off'|'starting'|'on'|'lost'} */
  phase = 'off';
  /**
   * The member whose device took over; null where the right to play was lost.
   *
   * @type {number|null}
   */
  lostTo = null;
  /**
   * The browser wants a tap before it plays on (`gesture`), or before files are read again.
   *
   * @type {null|'gesture'|'permission'}
   */
  wants = null;
  /** The system has paused the sound. */
  pausedBySystem = false;
  /** Another tab of this browser plays the room. */
  otherTab = false;
  /** @type {Library|null} */
  library = null;
  /** @type {Analysis|null} */
  analysis = null;
  /**
   * The embedded picture of the song that plays: it is shown here only.
   *
   * @type {Blob|null}
   */
  picture = null;
  /**
   * Files that were found for tracks: `sourceId` by track.
   *
   * @type {Record<string, string>}
   */
  found = {};
  /**
   * While this device plays, or wants to.
   *
   * @type {Conductor|null}
   */
  #run = null;
  /** @type {Sound} */
  #sound;
  /** @type {Claim} */
  #claim;
  /** @type {System} */
  #system;
  /** @type {Waveforms|null} */
  #waveforms = null;
  /** @type {any} */
  #claimTimer;
  /** @type {(() => void)[]} */
  #stops = [];
  #isClosed = false;
  /** It is to end once the room has been told what was heard. */
  #isStopping = false;
  #clockLooks = 0;
  /**
   * Files that were opened and could not be played, by `sourceId`.
   *
   * @type {Set<string>}
   */
  #broken = new Set();
  /** What of a pool has no file here, as it was found out for `pool` and the library at `stamp`. */
  #lack = { pool: /** @type {unknown} */ (null), stamp: 0, isBare: false, lost: 0, unkept: 0 };
  #stamp = 0;
  /** Files are being picked: what is not here yet may come in a moment. */
  #isPicking = false;

  /** @param {any} app */
  constructor(app) {
    this.app = app;
    /** @type {import('../store/store.js').Store} */
    this.store = app.store;
    const refused = (/** @type {'gesture'|'permission'} */ wants) => {
      this.wants = wants;
      this.#control({ type: 'pause' }).catch(() => {});
    };
    this.#sound = new Sound(this, {
      ended: (lengthMs) => this.#run?.ended(lengthMs),
      paused: () => {
        this.pausedBySystem = true;
        this.#run?.stopped();
        this.touch();
      },
      playing: () => {
        this.pausedBySystem = false;
        this.wants = null;
        // The room may have another one on air, until it is told.
        this.#system.playing(this.#track(this.#run?.deck.song?.track ?? 0), this.picture);
        this.#run?.sounds();
      },
      stalled: () => this.#run?.deck.stalled(),
      refused,
      failed: (error) => this.#failed(error),
    });
    this.#claim = new Claim(this.store, {
      look: () => this.#changed(), lost: (member) => this.#lose(member), otherTab: () => this.#tabElsewhere(),
    });
    this.#system = new System({
      pause: () => this.#control({ type: 'pause' }), play: () => this.#control({ type: 'resume' }),
      next: () => this.#control({ type: 'skip' }), seek: (positionMs) => this.#control({ type: 'seek', positionMs }),
    });
    this.#stops.push(this.store.on('change', () => this.#changed()));
    const keep = () => this.#keep();
    addEventListener('pagehide', keep);
    document.addEventListener('visibilitychange', keep);
    this.#stops.push(() => removeEventListener('pagehide', keep), () => document.removeEventListener('visibilitychange', keep));
    /** Resolves once the library is open, and the deck has come back where it does. */
    this.ready = this.#open();
  }

  async #open() {
    library ??= Library.open();
    const opened = await library;
    if (this.#isClosed) return;
    this.library = opened;
    opened.onChange = () => {
      this.#stamp++;
      if (!this.#isPicking) this.#run?.found();
      this.#waveforms?.libraryChanged();
      this.touch();
    };
    this.analysis = new Analysis({
      library: opened, scriptURL: this.app.scriptURL,
      done: (song) => {
        if (this.#run) this.#sound.level(this.#run.deck);
        this.#waveforms?.analysed(song);
        this.touch();
      },
    });
    this.#waveforms = new Waveforms(this.store, this.analysis, opened, (track) => this.songOf(track));
    this.touch();
  }

  /** Goes on as the deck where the page was left a short time ago. */
  comeBack() {
    this.ready = this.ready.then(async () => {
      const { room } = this.store;
      const kept = room && savedDeck(room.id);
      if (!kept || this.#isClosed) return;
      const isOnly = await this.#claim.tab(room.id, false);
      if (this.#isClosed) this.#claim.release();
      else if (isOnly) this.#goOnFrom(kept);
      else this.#tabElsewhere();
    });
  }

  /**
   * Goes on as the deck from where it was kept.
   *
   * @param {import('./saved-deck.js').Kept} kept
   */
  #goOnFrom(kept) {
    if (this.store.clock.errorMs === Infinity) this.store.clock.offset = kept.offset + Date.now() - this.store.monotonic();
    this.found = kept.found ?? {};
    this.#claim.goOn();
    this.#begin(kept);
    this.#on();
  }

  /** Keeps the deck as it is now, for when the page is here again. */
  #keep() {
    this.#run?.report();
    if (this.phase !== 'on') return;
    if (this.#isStopping && !this.leading) forgetDeck();
    else this.#run?.save();
  }

  // -- What the views see

  /** The server's time in ms. */
  now() {
    return Math.round(this.store.clock.now());
  }

  /** Whether the deck has gone its own way off line, and the room has not been told. */
  get leading() {
    return this.phase === 'on' && Boolean(this.#run?.deck.leading);
  }

  /** Whether the deck can carry out commands. */
  get mayAct() {
    return this.phase === 'on';
  }

  /** The song whose turn it is, and which has no file here that plays; `skipAtMs`: the server's time at which it is skipped. */
  get missing() {
    const { song, skipAtMs } = this.#run?.deck ?? { song: null, skipAtMs: null };
    const track = song && skipAtMs !== null && skipAtMs < Infinity ? this.#track(song.track) : undefined;
    return song && track && skipAtMs !== null ? { track, entry: song.entry, skipAtMs } : null;
  }

  /** The song that waits first, where it has no file here that plays. */
  get missingNext() {
    const first = this.#run?.deck.queue[0]?.track;
    return first === undefined || this.canPlay(first) ? null : this.#track(first) ?? null;
  }

  /**
   * `isBare`: none of the room's tracks has its file here; `lost`: the number of this person's own songs without it;
   * `unkept`: the number of tracks whose files are here until the page is left, as the browser does not keep them.
   */
  get lack() {
    const { room } = this.store, pool = room?.pool ?? [], stamp = this.#stamp;
    if (this.#lack.pool !== pool || this.#lack.stamp !== stamp) {
      const away = this.library ? pool.filter(({ track }) => !this.songOf(track)) : [];
      const lost = away.filter(({ source, addedBy }) => source === 'local' && addedBy === room?.you?.member).length;
      const unkept = pool.filter(({ track }) => {
        const song = this.songOf(track);
        return song !== undefined && this.library?.isUnkept(song);
      }).length;
      this.#lack = { pool, stamp, isBare: pool.length > 0 && away.length === pool.length, lost, unkept };
    }
    return this.#lack;
  }

  /** Whether this device is the deck and asks for its files: the music waits for them. */
  get lacksFiles() {
    return this.phase === 'on' && (this.lack.isBare || Boolean(this.#run?.deck.isWaiting));
  }

  /** Whether there is music once the files are here. */
  get promisesMusic() {
    return this.#run?.promisesMusic ?? false;
  }

  get canSetVolume() {
    return this.#sound.canSetVolume;
  }

  /** What is heard: `{positionMs, isHeard}`. */
  get heard() {
    return this.#sound.heard;
  }

  /**
   * The length of a track in ms, where it is played here and that is known; else undefined.
   *
   * @param {number} track
   */
  lengthOf(track) {
    const song = this.#run?.deck.song;
    const lengthMs = song?.track === track ? this.#sound.lengthOf(song) : Infinity;
    return lengthMs < Infinity ? lengthMs : undefined;
  }

  /** 0 … 1 */
  get volume() {
    return this.#chosen.volume ?? 1;
  }

  set volume(volume) {
    this.#choose({ volume });
    this.#sound.volume = volume;
  }

  /** How long songs fade into each other, in ms: 0 … 12,000 */
  get fadeMs() {
    return this.canSetVolume ? this.#chosen.fadeMs ?? 0 : 0;
  }

  set fadeMs(fadeMs) {
    this.#choose({ fadeMs });
    this.#run?.look();
  }

  /** Whether all songs are played as loud. */
  get levelled() {
    return this.#chosen.levelled ?? true;
  }

  set levelled(levelled) {
    this.#choose({ levelled });
    if (this.#run) this.#sound.level(this.#run.deck);
  }

  get #chosen() {
    return this.app.preferences.get('deck') ?? {};
  }

  /** @param {object} choice */
  #choose(choice) {
    this.app.preferences.set('deck', { ...this.#chosen, ...choice });
    this.touch();
  }

  /**
   * The file here of a track.
   *
   * @param {number} track
   * @returns {import('./library.js').Song|undefined}
   */
  songOf(track) {
    const known = this.#track(track);
    return known && (this.library?.songs.get(this.found[track]) ?? this.library?.find(known));
  }

  /**
   * Whether a track's file is here and can be played, as far as it is known.
   *
   * @param {number} track
   */
  canPlay(track) {
    return this.songOf(track) !== undefined && !this.isUnplayable(track);
  }

  /**
   * Whether a track's file is here, and this device cannot play it.
   *
   * @param {number} track
   */
  isUnplayable(track) {
    const song = this.songOf(track);
    return song !== undefined && (song.unplayable === true || this.#broken.has(song.sourceId));
  }

  /**
   * @param {number} track
   * @returns {Track|undefined}
   */
  #track(track) {
    return this.store.room?.tracks.get(track);
  }

  /** Notes that something here has changed. */
  touch() {
    this.store.touch(PART.deck);
  }

  // -- What a person does

  /**
   * Plays the room's music on this device where it has files for it, or had some that were lost with a reload: then the
   * person is asked for them. It must be called in a tap.
   *
   * @returns {Promise<boolean>} false where the person is asked
   */
  async startWithFiles() {
    this.#sound.unlock();
    await this.ready;
    const { isBare } = this.lack;
    if (this.#isClosed || isBare && !this.store.room?.pool.some((track) => this.library?.had(track))) return true;
    await this.start();
    return !isBare || this.otherTab;
  }

  /**
   * Begins the music once the person has picked the files, which a line asks for.
   *
   * @param {number} [request]  the track that is wished, where no entry waits
   */
  startOnceFound(request) {
    this.#run?.wish(request);
    this.touch();
  }

  /**
   * Plays the room's music on this device. It must be called in a tap.
   *
   * @param {{takeOver?: boolean}} options  `takeOver`: in place of another device or tab
   */
  async start({ takeOver = false } = {}) {
    this.#sound.unlock();
    const { room } = this.store;
    if (!room || this.phase === 'on' || this.phase === 'starting') return;
    const wasElsewhere = this.otherTab;
    this.phase = 'starting';
    this.lostTo = null;
    this.otherTab = false;
    this.touch();
    await this.ready;
    if (!this.#isStarting) return;
    const keeping = wasElsewhere && savedElsewhere();
    const isOnly = await this.#claim.tab(room.id, takeOver);
    if (isOnly) await keeping;
    if (!this.#isStarting) {
      this.#claim.release();
      return;
    }
    if (!isOnly) {
      this.#tabElsewhere();
      return;
    }
    const kept = wasElsewhere ? savedDeck(room.id) : null;
    if (kept && (kept.deck.leading || this.store.link.state !== 'live')) {
      // What the other tab has heard, the room has not been told.
      this.#goOnFrom(kept);
      return;
    }
    this.#claim.take();
    this.#begin(null);
    this.#claimTimer = setTimeout(() => {
      if (this.phase === 'starting') this.stop();
    }, CLAIM_MS);
    this.#changed();
  }

  get #isStarting() {
    return this.phase === 'starting' && !this.#isClosed;
  }

  /** @param {import('./saved-deck.js').Kept|null} kept */
  #begin(kept) {
    this.#isStopping = false;
    this.#run = new Conductor(this, this.#sound, kept);
    this.#sound.volume = this.volume;
    this.app.playing = this;
  }

  #on() {
    clearTimeout(this.#claimTimer);
    this.phase = 'on';
    this.#system.on();
    this.#run?.save();
    this.touch();
    this.#changed();
  }

  /** Ends playing here; the room's music stops where it is. What the room does not know yet it is told before. */
  async stop() {
    this.#isStopping = true;
    if (this.#run?.deck.song?.playing) await this.#control({ type: 'pause' }).catch(() => {});
    if (!this.#run) this.dismiss();
    else if (!this.leading) this.#stopped();
  }

  #stopped() {
    this.#claim.release();
    this.#end('off');
  }

  /** The machine has taken its steps. */
  stepped() {
    this.touch();
    if (this.#isStopping && this.#run?.deck.song?.playing) this.#isStopping = false;
    if (this.#isStopping && this.#run?.deck.live && !this.leading && !this.store.isPending('pause')) this.#stopped();
  }

  /** Does what the browser wants a tap for: to be called in one, before music goes on. */
  async useTap() {
    this.#sound.unlock();
    // Another folder may stay closed.
    if (this.wants === 'permission') await this.library?.renew();
    if (this.phase === 'on') this.wants = null;
  }

  /** Goes on after the browser wanted a tap: to be called in it. */
  async goOn() {
    await this.useTap();
    if (this.phase !== 'on') return;
    this.pausedBySystem = false;
    await this.#control({ type: 'resume' });
  }

  /**
   * Takes a file for a track that is not here: the person picks it.
   *
   * @param {Track} track
   * @returns {Promise<import('./library.js').Skipped[]>} what was picked, where none of it is a song of this device
   */
  async find(track) {
    const { songs, skipped } = await this.#pick('files');
    const here = this.songOf(track.track);
    if (songs.length > 0 && !songs.some(({ sourceId }) => sourceId === here?.sourceId)) this.found[track.track] = songs[0].sourceId;
    this.#taken(songs);
    return skipped;
  }

  /**
   * Takes the files of the room's songs again: the person picks them, and the music goes on.
   *
   * @param {'files'|'folder'} kind
   * @returns {Promise<import('./library.js').Skipped[]>} what was picked, where none of it is a song of this device
   */
  async refill(kind) {
    this.#sound.unlock();
    const { songs, skipped } = await this.#pick(kind);
    this.#taken(songs);
    if (songs.length > 0) this.#run?.fulfil();
    return skipped;
  }

  /**
   * @param {'files'|'folder'} kind
   * @returns {Promise<{ songs: import('./library.js').Song[], skipped: import('./library.js').Skipped[] }>} `skipped`: where
   *   there are no songs
   */
  async #pick(kind) {
    const { library } = this;
    if (!library) return { songs: [], skipped: [] };
    const items = await library.pick(kind);
    this.#isPicking = true;
    const { songs, skipped } = await library.add(items).finally(() => { this.#isPicking = false; });
    return { songs, skipped: songs.length > 0 ? [] : skipped };
  }

  /** @param {import('./library.js').Song[]} songs  that were picked */
  #taken(songs) {
    for (const { sourceId } of songs) this.#broken.delete(sourceId);
    this.#stamp++;
    this.#run?.found(songs.length > 0);
    this.touch();
  }

  /** Skips the song that is missing. */
  skipMissing() {
    this.#run?.do((now) => /** @type {Conductor} */ (this.#run).deck.giveUp(now));
  }

  /** Hides that another device or tab plays. */
  dismiss() {
    this.phase = 'off';
    this.otherTab = false;
    if (this.app.playing === this) this.app.playing = null;
    this.touch();
  }

  /**
   * Carries out a DJ's command for queue and playback, here at once.
   *
   * @param {Command} command
   * @returns {Promise<any>} as `store.send`; off line it resolves at once
   */
  act(command) {
    if (this.phase !== 'on' || !this.#run) return this.store.send(command);
    if (command.type === 'resume') this.pausedBySystem = false;
    return this.#run.act(command);
  }

  /**
   * Carries out a command for the song that is heard here, or on air.
   *
   * @param {Command} command
   */
  #control(command) {
    const playback = this.store.room?.playback;
    const entry = this.#run?.deck.song?.entry ?? (playback && playback.status !== 'stopped' ? playback.entry : undefined);
    return this.act({ ...command, entry });
  }

  /**
   * The file of the song that plays cannot be opened, or not be played.
   *
   * @param {unknown} error
   */
  #failed(error) {
    const run = this.#run, { song } = run?.deck ?? {};
    const isBroken = !(error instanceof FileProblem), file = song && this.songOf(song.track);
    if (isBroken && run?.tryAgain(error)) return;
    if (isBroken && file) this.#broken.add(file.sourceId);
    if (run?.deck.live) run.lacking.tell();
    run?.do((now) => run.deck.gone(now, isBroken));
  }

  /** Frees everything: the page leaves the room. A deck that plays is kept for when it comes back. */
  close() {
    this.#keep();
    this.#isClosed = true;
    this.#claim.release();
    this.#claim.stop();
    if (this.#run) this.#end('off', this.#isStopping && !this.leading);
    if (this.app.playing === this) this.app.playing = null;
    this.#sound.close();
    this.analysis?.close();
    this.#waveforms?.close();
    for (const stop of this.#stops) stop();
  }

  // -- What happens to it

  #changed() {
    const { room, link } = this.store;
    this.#waveforms?.changed();
    if (!this.#run) return;
    const isLive = link.state === 'live';
    if (!room || room.closedAt !== undefined) {
      this.#claim.release();
      this.#end('off');
    } else if (isLive && !room.isDJ) {
      this.#lose(null);
    } else {
      const isOurs = this.#claim.check(isLive) && this.#knowsTime();
      if (isOurs && this.phase === 'starting') this.#on();
      else this.#run?.changed(isOurs);
    }
  }

  /** Whether the server's clock is known well: what was heard is told by it. */
  #knowsTime() {
    if (this.store.clock.errorMs < Infinity || this.#clockLooks > CLOCK_LOOKS) return true;
    this.#clockLooks++;
    setTimeout(() => this.#changed(), CLOCK_LOOK_MS);
    return false;
  }

  /**
   * @param {'off'|'lost'} phase
   * @param {boolean} [forgets]  what is kept for a reload
   */
  #end(phase, forgets = true) {
    clearTimeout(this.#claimTimer);
    this.#run?.close();
    this.#run = null;
    this.#sound.stop();
    this.#system.off();
    this.phase = phase;
    this.picture = this.wants = null;
    this.pausedBySystem = false;
    if (this.app.playing === this) this.app.playing = null;
    if (forgets) forgetDeck();
    this.touch();
  }

  /** @param {number|null} member */
  #lose(member) {
    this.lostTo = member;
    this.#claim.release(member === null);
    if (this.#run) this.#end('lost');
  }

  /** Another tab plays the room, and keeps its deck. */
  #tabElsewhere() {
    this.#keep();
    if (this.#run) this.#end('lost', false);
    this.phase = 'lost';
    this.otherTab = true;
    // A page that has just been opened learns here that there is a device.
    this.app.playing = this;
    this.touch();
  }

  /**
   * Shows the embedded picture of a song.
   *
   * @param {number|undefined} track
   */
  showPicture(track) {
    this.picture = null;
    const file = track === undefined ? undefined : this.songOf(track);
    if (!file || track === undefined) return;
    this.library?.picture(file).then((picture) => {
      if (this.#run?.deck.song?.track !== track) return;
      this.picture = picture;
      this.#system.describe(this.#track(track), picture);
      this.touch();
    }, () => {});
  }
}
