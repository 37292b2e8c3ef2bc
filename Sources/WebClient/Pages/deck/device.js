// This device as the room's deck: it connects the machine of deck.js with the room, the sound, the files and the browser.

import { Analysis } from './analysis.js';
import { Claim } from './claim.js';
import { Deck } from './deck.js';
import { Library } from './library.js';
import { Sound } from './sound.js';
import { System } from './system.js';
import { Waveforms } from './waveforms.js';
import { PART } from '../room/room.js';
import { Refusal } from '../store/store.js';

/**
 * @typedef {import('./deck.js').Song} Song
 * @typedef {import('./deck.js').Step} Step
 * @typedef {import('../wire/messages').Command} Command
 * @typedef {import('../wire/messages').Track} Track
 */

/** Where a deck that plays is kept for a reload. */
const KEY = 'backline.deck';
/** A page that is loaded again within this time goes on where it was. */
const RETURN_MS = 30 * 60_000;
/** The sound is looked at this often, more often after a start. */
const LOOK_MS = 5000;
const LOOK_FIRST_MS = 500;
/** A room that has stopped and has requests is started after this time. */
const START_MS = 1000;

/** Commands that are for the link as it is, and not for a later one. */
const ONCE = new Set(['play', 'pause', 'resume', 'seek', 'skip', 'finish', 'syncDeck']);

export class Device {
  /** @type {'off'|'starting'|'on'|'lost'} */
  phase = 'off';
  /**
   * The member whose device took over.
   *
   * @type {number|null}
   */
  lostTo = null;
  /** @type {null|'gesture'|'permission'} */
  wants = null;
  pausedBySystem = false;
  otherTab = false;
  /** @type {Library|null} */
  library = null;
  /** @type {Analysis|null} */
  analysis = null;
  /**
   * The embedded picture of the song that plays.
   *
   * @type {Blob|null}
   */
  picture = null;
  /** @type {Deck} */
  #deck;
  /** @type {Sound} */
  #sound;
  /** @type {Claim} */
  #claim;
  /** @type {System} */
  #system;
  /** @type {Waveforms|null} */
  #waveforms = null;
  /**
   * Files that were found for tracks, by track.
   *
   * @type {Record<string, string>}
   */
  #found = {};
  #startTimer = 0;
  /**
   * What the machine was told of the room last.
   *
   * @type {unknown[]}
   */
  #seen = [];
  /** @type {Song|null} */
  #shown = null;
  /** @type {any} */
  #timer;
  /** @type {(() => void)[]} */
  #stops = [];
  #isClosed = false;

  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.#sound = new Sound(this, {
      ended: () => this.#do((now) => this.#deck.ended(now)),
      paused: () => {
        this.pausedBySystem = true;
        this.act({ type: 'pause' }).catch(() => {});
      },
      playing: () => {
        this.pausedBySystem = false;
        this.wants = null;
        this.#system.playing(this);
        this.#look(LOOK_FIRST_MS);
      },
      stalled: () => this.#deck.stalled(),
      refused: (wants) => {
        this.wants = wants;
        this.act({ type: 'pause' }).catch(() => {});
      },
      failed: () => this.#do((now) => this.#deck.gone(now)),
    });
    this.#deck = this.#machine(null);
    this.#claim = new Claim(this.store, {
      won: () => this.#changed(),
      lost: (member) => this.#lose(member),
      otherTab: () => this.#tabElsewhere(),
    });
    this.#system = new System({
      pause: () => this.act({ type: 'pause' }), play: () => this.act({ type: 'resume' }), next: () => this.act({ type: 'skip' }),
      seek: (positionMs) => this.act({ type: 'seek', positionMs }),
    });
    this.#stops.push(this.store.on('change', () => this.#changed()));
    const leave = () => {
      if (this.phase !== 'on') return;
      this.#report();
      this.#save();
    };
    addEventListener('pagehide', leave);
    document.addEventListener('visibilitychange', leave);
    this.#stops.push(() => removeEventListener('pagehide', leave), () => document.removeEventListener('visibilitychange', leave));
    /** Resolves once the library is open. */
    this.ready = this.#open();
  }

  /** @param {import('./deck.js').Saved|null} saved */
  #machine(saved) {
    return new Deck({
      isHere: (track) => Boolean(this.songOf(track)),
      errorMs: () => Math.min(this.store.clock.errorMs, 1000),
      isBusy: () => ['enqueue', 'dequeue', 'move'].some((type) => this.store.isPending(type)),
    }, saved);
  }

  async #open() {
    const library = await Library.open();
    if (this.#isClosed) return;
    this.library = library;
    library.onChange = () => {
      this.#do((now) => this.#deck.found(now));
      this.#touch();
    };
    this.analysis = new Analysis({ library, scriptURL: this.app.scriptURL, done: (song) => this.#analysed(song) });
    this.#waveforms = new Waveforms(this.store, this.analysis, (track) => this.songOf(track));
    await this.#return();
    this.#touch();
  }

  /** Goes on where the page was left. */
  async #return() {
    const saved = read();
    const { room } = this.store;
    if (!saved || !room || saved.room !== room.id || Math.abs(Date.now() - saved.at) > RETURN_MS) return;
    if (this.store.clock.errorMs === Infinity) this.store.clock.offset = saved.offset + Date.now() - this.store.monotonic();
    this.#found = saved.found ?? {};
    if (!(await this.#claim.tab(room.id, false))) return this.#tabElsewhere();
    this.#deck = this.#machine(saved.deck);
    this.#begin();
    this.#claim.goOn();
    // The room that is shown may be a saved one: then the deck leads.
    this.#deck.room(room, this.now());
    this.#do((now) => this.#deck.resume(now));
    this.#changed();
  }

  // -- What the views see

  /** The server's time in ms. */
  now() {
    return Math.round(this.store.clock.now());
  }

  get leading() {
    return this.phase === 'on' && this.#deck.leading;
  }

  /** Whether the deck can carry out commands. */
  get mayAct() {
    return this.phase === 'on';
  }

  /** The song whose turn it is, and whose file is not here; `skipAtMs`: when it is skipped by itself. */
  get missing() {
    const { song, skipAtMs } = this.#deck;
    const track = song && skipAtMs !== null ? this.#track(song.track) : undefined;
    return song && track && skipAtMs !== null ? { track, entry: song.entry, skipAtMs } : null;
  }

  /** The song that probably comes next, and whether its file is here. */
  get next() {
    const { next } = this.#deck;
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
    this.#look();
  }

  /** Whether all songs are played as loud. */
  get levelled() {
    return this.#chosen.levelled ?? true;
  }

  set levelled(levelled) {
    this.#choose({ levelled });
    this.#sound.level(this.#deck);
  }

  get #chosen() {
    return this.app.preferences.get('deck') ?? {};
  }

  /** @param {object} choice */
  #choose(choice) {
    this.app.preferences.set('deck', { ...this.#chosen, ...choice });
    this.#touch();
  }

  /**
   * The file here of a track.
   *
   * @param {number} track
   * @returns {import('./library.js').Song|undefined}
   */
  songOf(track) {
    const known = this.#track(track);
    return known && (this.library?.songs.get(this.#found[track]) ?? this.library?.find(known));
  }

  /**
   * @param {number} track
   * @returns {Track|undefined}
   */
  #track(track) {
    return this.store.room?.tracks.get(track);
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
    this.phase = 'starting';
    this.lostTo = null;
    this.#touch();
    await this.ready;
    if (!(await this.#claim.tab(room.id, takeOver))) return this.#tabElsewhere();
    this.#deck = this.#machine(null);
    this.#begin();
    this.#claim.take();
    this.#changed();
  }

  #begin() {
    this.phase = 'on';
    this.otherTab = false;
    this.app.playing = this;
    this.#sound.volume = this.volume;
    this.#system.on();
    this.#save();
    this.#touch();
  }

  /** Ends playing here. The room's music stops where it is. */
  async stop() {
    if (this.phase !== 'on') return this.dismiss();
    if (this.#deck.live && this.#deck.song?.playing) await this.act({ type: 'pause' }).catch(() => {});
    this.#end('off');
    this.#claim.release();
  }

  /** @param {'off'|'lost'} phase */
  #end(phase) {
    this.phase = phase;
    clearTimeout(this.#timer);
    this.#sound.stop();
    this.#system.off();
    this.#deck = this.#machine(null);
    this.#shown = null;
    this.picture = this.wants = null;
    this.pausedBySystem = false;
    if (this.app.playing === this) this.app.playing = null;
    forget();
    this.#touch();
  }

  /** @param {number|null} member */
  #lose(member) {
    if (this.phase !== 'on') return;
    this.lostTo = member;
    this.#claim.release(false);
    this.#end('lost');
  }

  #tabElsewhere() {
    this.#end('lost');
    this.otherTab = true;
    this.#touch();
  }

  /** Hides that another device plays. */
  dismiss() {
    this.phase = 'off';
    this.otherTab = false;
    this.#touch();
  }

  /** Goes on after the browser wanted a tap: to be called in it. */
  async goOn() {
    this.#sound.unlock();
    if (this.wants === 'permission' && !(await this.library?.renew())) return;
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
    const items = await this.library?.pick('files') ?? [];
    const { songs = [] } = items.length > 0 ? await this.library?.add(items) ?? {} : {};
    if (songs.length > 0 && !this.library?.find(track)) this.#found[track.track] = songs[0].sourceId;
    this.#do((now) => this.#deck.found(now));
  }

  /** Skips the song that is missing. */
  skipMissing() {
    return this.#do((now) => {
      if (this.#deck.skipAtMs !== null) this.#deck.skipAtMs = now;
      return this.#deck.tick(now);
    });
  }

  /** Frees everything: the page leaves the room. */
  close() {
    this.#isClosed = true;
    if (this.phase === 'on') this.#end('off');
    this.#claim.release();
    this.#sound.close();
    this.analysis?.close();
    this.#waveforms?.close();
    for (const stop of this.#stops) stop();
  }

  // -- Commands and steps

  /**
   * Carries out a DJ's command for queue and playback, here at once.
   *
   * @param {Command} command
   * @returns {Promise<any>} as `store.send`; off line it resolves at once
   */
  async act(command) {
    if (this.phase !== 'on' || (this.store.link.state === 'live' && !this.#deck.live && !this.#deck.leading)) return this.store.send(command);
    if (command.type === 'resume') this.pausedBySystem = false;
    this.#report();
    const answer = this.#do((now) => this.#deck.act(command, now), command);
    return answer ?? { entry: Math.min(...this.#deck.queue.map(({ entry }) => entry)) };
  }

  /**
   * Lets the machine take its steps.
   *
   * @param {(now: number) => Step[]} take
   * @param {Command} [command]
   * @returns {Promise<any>|undefined} the answer to the command, where it was sent
   */
  #do(take, command) {
    if (this.phase !== 'on') return undefined;
    let answer;
    for (const step of take(this.now())) {
      if (step.do !== 'send') this.#sound.step(step, this.#deck);
      else if (step.command === command) answer = this.#send(step.command);
      else this.#send(step.command).catch(() => {});
    }
    this.#after();
    return answer;
  }

  /** @param {Command} command */
  async #send(command) {
    const answered = (/** @type {string|null} */ code) => this.#do((now) => this.#deck.answered(command, code, now));
    try {
      const result = await this.store.send(command, { once: ONCE.has(command.type) });
      answered(null);
      return result;
    } catch (error) {
      const { code, retryAfterMs = 0 } = error instanceof Refusal ? error : new Refusal('internal');
      if (retryAfterMs > 0) setTimeout(() => answered(code), retryAfterMs);
      else answered(code);
      throw error;
    }
  }

  /** Shows, keeps and prepares what has changed. */
  #after() {
    if (this.phase !== 'on') return;
    const { song } = this.#deck;
    if (song?.entry !== this.#shown?.entry || song?.track !== this.#shown?.track) this.#picture(song);
    this.#shown = song && { ...song };
    if (this.#deck.leading && this.store.link.state !== 'live') this.#show();
    this.#save();
    this.#sound.prepare(this.#deck);
    this.#look();
    this.#touch();
  }

  /** @param {Song|null} song */
  #picture(song) {
    this.picture = null;
    const file = song && this.songOf(song.track);
    if (!file) return;
    this.library?.picture(file).then((picture) => {
      if (this.#deck.song?.track !== song.track) return;
      this.picture = picture;
      this.#system.describe(this.#track(song.track), picture);
      this.#touch();
    }, () => {});
  }

  /** Shows in the room what is played here. */
  #show() {
    const { room } = this.store;
    if (!room) return;
    const { song, queue, played } = this.#deck;
    const heard = played.map(({ song: one, endedAtMs, playedMs, reason }) => {
      const track = room.tracks.get(one.track);
      return { entry: one.entry, track: one.track, title: track?.title ?? '', artist: track?.artist, startedAt: one.startedAtMs, endedAt: endedAtMs, reason, playedMs };
    });
    const told = room.history.filter(({ entry }) => !heard.some((one) => one.entry === entry));
    this.store.goAhead({
      queue: queue.map((item) => ({ ...item })),
      history: [...heard.reverse(), ...told].slice(0, 50),
      playback: song ? {
        status: song.playing ? 'playing' : 'paused', entry: song.entry, track: song.track, startedBy: room.you?.member,
        startedAt: song.startedAtMs, startedSeq: room.seq, positionMs: song.positionMs, atMs: song.atMs, skipVotes: 0,
      } : { status: 'stopped' },
    });
  }

  #save() {
    try {
      const { room } = this.store;
      if (!room) return;
      localStorage.setItem(KEY, JSON.stringify({
        room: room.id, at: Date.now(), offset: this.store.clock.now() - Date.now(), found: this.#found, deck: this.#deck.toSaved(),
      }));
    } catch {
      // A browser that keeps nothing: a reload ends the deck.
    }
  }

  #touch() {
    this.store.touch(PART.deck);
  }

  // -- The room

  #changed() {
    const { room, link } = this.store;
    if (this.phase !== 'on') return;
    if (!room || room.closedAt !== undefined) {
      this.#claim.release();
      return this.#end('off');
    }
    const isLive = link.state === 'live';
    if (isLive && !room.isDJ) {
      this.#claim.release();
      return this.#lose(null);
    }
    const isOurs = this.#claim.check(isLive);
    if (this.phase !== 'on') return;
    const seen = [room, room.playback, room.queue, room.requests[0], room.settings, link.state, isOurs];
    const isSame = !this.#deck.leading && seen.every((one, place) => one === this.#seen[place]);
    this.#seen = seen;
    this.#waveforms?.changed();
    if (isSame) return;
    if (isOurs || this.#deck.live) {
      this.#report();
      this.#do((now) => (isOurs === this.#deck.live ? this.#deck.room(room, now) : this.#deck.link(isOurs, room, now)));
    }
    if (this.#deck.leading && !isLive && !room.isAhead) this.#show();
    this.#start();
  }

  /** Starts the music where the room orders by itself, has stopped, and somebody has asked for a song that is here. */
  #start() {
    const { room } = this.store;
    const { next } = this.#deck;
    const isIdle = room.playback.status === 'stopped' && this.#deck.live && !this.#deck.leading && room.settings.queueMode !== 'dj';
    if (!isIdle || next === undefined || !this.songOf(next) || this.#startTimer > 0) return;
    this.#startTimer = setTimeout(async () => {
      try {
        const head = room.queue[0]?.entry;
        const entry = head ?? (await this.store.send({ type: 'enqueue', track: next, at: 0 }, { once: true })).entry;
        await this.act({ type: 'play', entry });
      } catch {
        // The next change tries again.
      } finally {
        this.#startTimer = 0;
      }
    }, START_MS);
  }

  // -- The sound

  /** Tells the machine what is heard. */
  #report() {
    const positionMs = this.#sound.positionOf(this.#deck.song);
    if (positionMs === null) return;
    for (const step of this.#deck.report(positionMs, this.now())) if (step.do === 'send') this.#send(step.command).catch(() => {});
  }

  /**
   * Looks at the sound from time to time, and when a song is to fade or something is due.
   *
   * @param {number} [soonest]
   */
  #look(soonest = LOOK_MS) {
    clearTimeout(this.#timer);
    if (this.phase !== 'on') return;
    const { song, dueAtMs, next } = this.#deck;
    if (!song?.playing && dueAtMs === Infinity) return;
    const recent = song && this.now() - song.startedAtMs < 4000 ? LOOK_FIRST_MS : LOOK_MS;
    const fadesIn = next === undefined ? Infinity : this.#sound.fadesIn(song);
    this.#timer = setTimeout(() => {
      this.#report();
      const isOver = this.#deck.next !== undefined && this.#sound.fadesIn(this.#deck.song) <= 20;
      this.#do((now) => (isOver ? this.#deck.ended(now) : this.#deck.tick(now)));
    }, Math.max(10, Math.min(soonest, recent, fadesIn, dueAtMs - this.now())));
  }

  /** @param {import('./library.js').Song} song */
  #analysed(song) {
    this.#sound.level(this.#deck);
    this.#waveforms?.analysed(song);
    this.#touch();
  }
}

/** The deck that was kept, or null. */
function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? 'null');
  } catch {
    return null;
  }
}

function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing.
  }
}
