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

  /** @param {any} app */
  constructor(app) {
    this.app = app;
    /** @type {import('../store/store.js').Store} */
    this.store = app.store;
    const refused = (/** @type {'gesture'|'permission'} */ wants) => {
      this.wants = wants;
      this.act({ type: 'pause' }).catch(() => {});
    };
    this.#sound = new Sound(this, {
      ended: () => this.#run?.do((now) => /** @type {Conductor} */ (this.#run).deck.ended(now)),
      paused: () => {
        this.pausedBySystem = true;
        this.act({ type: 'pause' }).catch(() => {});
      },
      playing: () => {
        this.pausedBySystem = false;
        this.wants = null;
        this.#system.playing(this);
        this.#run?.look(true);
      },
      stalled: () => this.#run?.deck.stalled(),
      refused,
      failed: (error) => this.#run?.do((now) => /** @type {Conductor} */ (this.#run).deck.gone(now, !(error instanceof FileProblem))),
    });
    this.#claim = new Claim(this.store, {
      look: () => this.#changed(), lost: (member) => this.#lose(member), otherTab: () => this.#tabElsewhere(),
    });
    this.#system = new System({
      pause: () => this.act({ type: 'pause' }), play: () => this.act({ type: 'resume' }), next: () => this.act({ type: 'skip' }),
      seek: (positionMs) => this.act({ type: 'seek', positionMs }),
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
      this.#run?.found();
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

  /** The song whose turn it is, and whose file is not here; `skipAtMs`: the server's time at which it is skipped. */
  get missing() {
    const { song, skipAtMs } = this.#run?.deck ?? { song: null, skipAtMs: null };
    const track = song && skipAtMs !== null ? this.#track(song.track) : undefined;
    return song && track && skipAtMs !== null ? { track, entry: song.entry, skipAtMs } : null;
  }

  /** The song that probably comes next, and whether its file is here. */
  get next() {
    const next = this.#run?.deck.next;
    const track = next === undefined ? undefined : this.#track(next);
    return track ? { track, isHere: Boolean(this.songOf(track.track)) } : null;
  }

  get canSetVolume() {
    return this.#sound.canSetVolume;
  }

  /** What is heard: `{positionMs, isHeard}`. */
  get heard() {
    return this.#sound.heard;
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
    if (this.#run?.deck.song?.playing) await this.act({ type: 'pause' }).catch(() => {});
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

  /** Goes on after the browser wanted a tap: to be called in it. */
  async goOn() {
    this.#sound.unlock();
    // Another folder may stay closed.
    if (this.wants === 'permission') await this.library?.renew();
    if (this.phase !== 'on') return;
    this.wants = null;
    this.pausedBySystem = false;
    await this.act({ type: 'resume' });
  }

  /**
   * Takes a file for a track that is not here: the person picks it.
   *
   * @param {Track} track
   */
  async find(track) {
    const { library } = this;
    if (!library) return;
    const { songs } = await library.add(await library.pick('files'));
    const here = this.songOf(track.track);
    if (songs.length > 0 && !songs.some(({ sourceId }) => sourceId === here?.sourceId)) this.found[track.track] = songs[0].sourceId;
    this.#run?.found(songs.length > 0);
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
