// The deck's mind: what this device plays, on line and off line. Pure: it has no clock, no sound and no network.
//
// On line it follows the room: each action here is a command, and the room's events decide. Without the room it leads:
// queue and playback go on here, and what was heard is kept until one `syncDeck` makes the room agree.

import { isLogged, syncCommand } from './sync.js';

/**
 * @typedef {import('../wire/messages').Command} Command
 * @typedef {import('../room/room.js').Room} Room
 */

/**
 * A song that is or was heard. An entry below 0 is one that the room has not been told. Times are the server's, in ms.
 *
 * @typedef {{entry: number, track: number, startedAtMs: number, positionMs: number, atMs: number, playing: boolean,
 *   playedMs: number}} Song  heard for `playedMs` until `atMs`
 * @typedef {{entry: number, track: number, addedBy?: number}} Item
 * @typedef {{song: Song, endedAtMs: number, playedMs: number, reason: 'ended'|'skipped'}} Played
 * @typedef {{do: 'play', song: Song, fade: boolean} | {do: 'pause'|'resume'|'stop'} | {do: 'seek', positionMs: number}
 *   | {do: 'send', command: Command} | {do: 'missing', track: number}} Step
 * @typedef {{song: Song|null, queue: Item[], played: Played[], leading: boolean, known: number[]}} Saved
 */

/** The room has this long to say what follows a song; then the deck goes on by itself. */
const ANSWER_MS = 1000;
/** A song whose file is missing waits this long for somebody where DJs choose; the second one in turn where the room does. */
const MISSING_DJ_MS = 20_000;
const MISSING_MS = 1000;
/** A position that the room tells anew is taken over if it differs by more. */
const JUMP_MS = 500;
/** A song is corrected once, when it has run for so long, if the room's position differs by more than CORRECT_MS. */
const STEADY_MS = 1000;
const CORRECT_MS = 100;
/** Songs that are remembered off line. */
const PLAYED = 2000;
/** Times are told as past by the clock's error, which is at most this. */
const LATE_MS = 500;
/** Refused syncs before the room wins. */
const TRIES = 4;

/** Commands that change the sound. */
const SOUND = new Set(['play', 'pause', 'resume', 'seek', 'skip', 'finish']);

export class Deck {
  /** @type {Song|null} */
  song = null;
  /** @type {Item[]} */
  queue = [];
  /** @type {Played[]} what was heard and is not in the log, oldest first */
  played = [];
  /** Whether the deck has gone its own way, and the room has not been told. */
  leading = false;
  /** Whether the room hears this deck: the link is live, and nobody else is the deck. */
  live = false;
  /**
   * When a song whose file is missing is skipped.
   *
   * @type {number|null}
   */
  skipAtMs = null;

  /** @type {Room|null} */
  #room = null;
  /**
   * Entries that the room had when it was heard last.
   *
   * @type {Set<number>}
   */
  #known = new Set();
  /**
   * Tracks that were taken from the requests here.
   *
   * @type {Set<number>}
   */
  #spent = new Set();
  /** @type {Command[]} commands without an answer */
  #pending = [];
  /**
   * The `finish` that was asked for.
   *
   * @type {{entry: number, atMs: number}|null}
   */
  #asked = null;
  /**
   * The room's playback that the song was compared with.
   *
   * @type {unknown}
   */
  #seen = null;
  /**
   * When the song began to run, until it has been compared with the room.
   *
   * @type {number|null}
   */
  #runsSince = null;
  #lastOwn = 0;
  #lastMissing = 0;
  #changes = 0;
  #tries = 0;
  /**
   * What a sync has told.
   *
   * @type {{song: Song|null, told: number, changes: number, isWhole: boolean}|null}
   */
  #syncing = null;

  /**
   * @param {{isHere: (track: number) => boolean, errorMs?: () => number, isBusy?: () => boolean}} ports  whether a
   *   track's file is here; the clock's largest error; whether commands for the queue are on their way
   * @param {Saved|null} [saved]
   */
  constructor({ isHere, errorMs = () => 0, isBusy = () => false }, saved = null) {
    this.isHere = isHere;
    this.errorMs = errorMs;
    this.isBusy = isBusy;
    if (!saved) return;
    Object.assign(this, { song: saved.song, queue: saved.queue, played: saved.played, leading: saved.leading });
    this.#known = new Set(saved.known);
    this.#lastOwn = -Math.min(0, saved.song?.entry ?? 0, ...saved.queue.map(({ entry }) => entry), ...saved.played.map(({ song }) => song.entry));
    for (const { song } of saved.played) this.#spent.add(song.track);
  }

  /** @returns {Saved} what a reload needs */
  toSaved() {
    const { song, queue, played, leading } = this;
    return { song, queue, played, leading, known: [...this.#known] };
  }

  /**
   * The song's position, in ms.
   *
   * @param {number} now
   */
  position(now) {
    return this.song ? this.song.positionMs + running(this.song, now) : 0;
  }

  /** The track that probably comes next: what the room says decides. */
  get next() {
    const item = this.queue[0];
    return item ? item.track : this.#request(() => true);
  }

  // -- From the room

  /**
   * The room is heard and hears the deck, or not any more.
   *
   * @param {boolean} live
   * @param {Room} room
   * @param {number} now
   * @returns {Step[]}
   */
  link(live, room, now) {
    const wasLive = this.live;
    this.live = live;
    if (live) return this.room(room, now);
    this.#syncing = null;
    const lost = this.#pending;
    this.#pending = [];
    const steps = [];
    if (wasLive && !this.leading) {
      this.#know();
      // What was asked for last, and perhaps was not done, is done here.
      const last = lost.at(-1);
      if (last?.type === 'finish') steps.push(...this.#alone({ type: last.missing ? 'skip' : 'finish' }, now));
      else if (last?.type === 'skip' || last?.type === 'play') steps.push(...this.#alone(last, now));
      else if (last) this.#changed();
    }
    return steps;
  }

  /**
   * The room has changed.
   *
   * @param {Room} room
   * @param {number} now
   * @returns {Step[]}
   */
  room(room, now) {
    this.#room = room;
    if (!this.live) return [];
    return this.leading ? this.#tell(now) : this.#follow(now);
  }

  /**
   * A command of a step was answered, or refused with a code.
   *
   * @param {Command} command
   * @param {string|null} refusal
   * @param {number} now
   * @returns {Step[]}
   */
  answered(command, refusal, now) {
    this.#pending = this.#pending.filter((one) => one !== command);
    if (!this.live) return [];
    if (command.type === 'syncDeck') return this.#synced(refusal, now);
    if (this.leading) return this.#tell(now);
    return this.#follow(now);
  }

  /**
   * Plays what the room plays.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  #follow(now) {
    const room = /** @type {Room} */ (this.#room);
    const { playback } = room;
    this.queue = room.queue.slice();
    this.#know();
    if (this.#pending.length > 0 && playback.status !== 'stopped' && playback.entry === this.song?.entry) return [];
    if (playback.status === 'stopped') {
      if (!this.song) return [];
      this.#clear();
      return [{ do: 'stop' }];
    }
    const told = { positionMs: playback.positionMs, atMs: playback.atMs, playing: playback.status === 'playing' };
    if (this.song?.entry !== playback.entry) {
      this.#clear();
      this.#seen = playback;
      this.song = { entry: playback.entry, track: playback.track, startedAtMs: playback.startedAt, playedMs: 0, ...told };
      const isNew = told.playing && told.positionMs === 0 && now - told.atMs < 2000;
      // A song that has just begun is heard from its beginning.
      if (!isNew) this.#at(Math.max(0, this.position(now)), now);
      else this.#at(0, now);
      return this.#begin(this.song, now);
    }
    if (this.#seen === playback) return [];
    this.#seen = playback;
    const { song } = this, steps = /** @type {Step[]} */ ([]);
    const there = told.positionMs + (told.playing ? Math.max(0, now - told.atMs) : 0);
    if (song.playing !== told.playing) {
      this.#at(this.position(now), now);
      song.playing = told.playing;
      steps.push({ do: told.playing ? 'resume' : 'pause' });
    }
    if (Math.abs(there - this.position(now)) > JUMP_MS) {
      this.#at(there, now);
      steps.push({ do: 'seek', positionMs: there });
    }
    return steps;
  }

  /**
   * @param {Song} song
   * @param {number} now
   * @returns {Step[]}
   */
  #begin(song, now, fade = true) {
    this.#runsSince = null;
    if (this.isHere(song.track)) return [{ do: 'play', song, fade }];
    return this.gone(now);
  }

  #clear() {
    this.song = null;
    this.#asked = null;
    this.#runsSince = null;
    this.skipAtMs = null;
  }

  #know() {
    const room = this.#room;
    if (!room) return;
    this.#known = new Set(room.queue.map(({ entry }) => entry));
    if (room.playback.status !== 'stopped') this.#known.add(room.playback.entry);
  }

  // -- From this device

  /**
   * Carries out a DJ's command.
   *
   * @param {Command} command
   * @param {number} now
   * @returns {Step[]}
   */
  act(command, now) {
    if (!this.live || this.leading) return [...this.#alone(command, now), ...this.#tell(now)];
    const { song } = this, steps = /** @type {Step[]} */ ([]);
    if (command.type === 'finish' || command.type === 'skip') this.#asked = song && { entry: song.entry, atMs: now };
    else steps.push(...this.#sound(command, now));
    if (SOUND.has(command.type)) this.#pending.push(command);
    return [...steps, { do: 'send', command }];
  }

  /**
   * The song has come to its end, or to the moment at which the next one fades in.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  ended(now) {
    const { song } = this;
    if (!song || this.#asked?.entry === song.entry) return [];
    return this.act({ type: 'finish', entry: song.entry }, now);
  }

  /**
   * The file of the song is not here, or cannot be played.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  gone(now) {
    const { song } = this;
    if (!song) return [];
    const wait = this.#room?.settings.queueMode === 'dj' ? MISSING_DJ_MS : Math.max(0, this.#lastMissing + MISSING_MS - now);
    this.skipAtMs = now + wait;
    return [{ do: 'missing', track: song.track }, ...this.tick(now)];
  }

  /**
   * The file of the song is here now.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  found(now) {
    const { song } = this;
    if (!song || this.skipAtMs === null || !this.isHere(song.track)) return [];
    this.skipAtMs = null;
    return [{ do: 'play', song, fade: false }];
  }

  /**
   * Skips a song whose file is missing now.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  giveUp(now) {
    if (this.skipAtMs !== null) this.skipAtMs = now;
    return this.tick(now);
  }

  /**
   * What is heard: the position of the sound.
   *
   * @param {number} positionMs
   * @param {number} now
   * @returns {Step[]}
   */
  report(positionMs, now) {
    const { song } = this;
    if (!song || !song.playing || this.skipAtMs !== null) return [];
    const lag = Math.min(0, positionMs - this.position(now));
    this.#at(positionMs, now);
    // The time in which nothing came out was not heard.
    song.playedMs = Math.max(0, song.playedMs + lag);
    this.#runsSince ??= now;
    if (now - this.#runsSince < STEADY_MS || !this.live || this.leading || this.#pending.length > 0) return [];
    this.#runsSince = Infinity;
    const playback = /** @type {Room} */ (this.#room).playback;
    if (playback.status !== 'playing' || playback.entry !== song.entry) return [];
    const told = playback.positionMs + now - playback.atMs;
    if (Math.abs(told - positionMs) <= CORRECT_MS + this.errorMs()) return [];
    const length = this.#room?.tracks.get(song.track)?.durationMs ?? Infinity;
    const command = { type: 'seek', positionMs: Math.round(Math.min(positionMs, length)) };
    this.#pending.push(command);
    return [{ do: 'send', command }];
  }

  /** The sound stood still and begins again: its position is compared once more. */
  stalled() {
    this.#runsSince = null;
  }

  /**
   * The page was away: the song goes on where it was left.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  resume(now) {
    const { song } = this;
    if (!song) return [];
    song.atMs = now;
    this.#changed();
    return this.#begin(song, now, false);
  }

  /**
   * Something that waits for a time may be due.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  tick(now) {
    const { song } = this;
    if (song && this.skipAtMs !== null && now >= this.skipAtMs) {
      this.skipAtMs = null;
      this.#lastMissing = now;
      if (this.live && !this.leading) return this.act({ type: 'finish', entry: song.entry, missing: true }, now);
      return [...this.#alone({ type: 'skip' }, now), ...this.#tell(now)];
    }
    if (song && this.live && !this.leading && this.#asked?.entry === song.entry && now >= this.#asked.atMs + ANSWER_MS) {
      this.#know();
      return this.#alone({ type: 'finish' }, now);
    }
    return [];
  }

  /** The time at which `tick` is due, or Infinity. */
  get dueAtMs() {
    const asked = this.live && !this.leading && this.#asked ? this.#asked.atMs + ANSWER_MS : Infinity;
    return Math.min(asked, this.skipAtMs ?? Infinity);
  }

  // -- Without the room

  #changed() {
    this.leading = true;
    this.#changes++;
  }

  /**
   * Changes queue and playback here.
   *
   * @param {Command} command
   * @param {number} now
   * @returns {Step[]}
   */
  #alone(command, now) {
    this.#changed();
    const place = this.queue.findIndex(({ entry }) => entry === command.entry);
    const item = this.queue[place];
    switch (command.type) {
      case 'finish': return this.#advance('ended', now);
      case 'skip': return this.#advance('skipped', now);
      case 'play':
        if (item) this.queue = [item, ...this.queue.filter((one) => one !== item)];
        return this.song && !item ? [] : this.#advance('skipped', now);
      case 'enqueue':
        this.queue = this.queue.slice();
        this.queue.splice(/** @type {number} */ (command.at ?? this.queue.length), 0, { entry: --this.#lastOwn, track: /** @type {number} */ (command.track) });
        return [];
      case 'dequeue':
        this.queue = this.queue.filter((one) => one !== item);
        return [];
      case 'move':
        if (!item) return [];
        this.queue = this.queue.filter((one) => one !== item);
        this.queue.splice(/** @type {number} */ (command.to), 0, item);
        return [];
      default: return this.#sound(command, now);
    }
  }

  /**
   * Pauses, resumes, seeks.
   *
   * @param {Command} command
   * @param {number} now
   * @returns {Step[]}
   */
  #sound(command, now) {
    const { song } = this;
    if (!song) return [];
    if (command.type === 'seek') {
      const positionMs = /** @type {number} */ (command.positionMs);
      this.#at(positionMs, now);
      this.#asked = null;
      return [{ do: 'seek', positionMs }];
    }
    const plays = command.type === 'resume';
    if (!plays && command.type !== 'pause') return [];
    this.#at(this.position(now), now);
    song.playing = plays;
    if (plays) this.#runsSince = null;
    return [{ do: plays ? 'resume' : 'pause' }];
  }

  /**
   * Ends the song and plays the next one, as the room would.
   *
   * @param {'ended'|'skipped'} reason
   * @param {number} now
   * @returns {Step[]}
   */
  #advance(reason, now) {
    const { song } = this;
    const wasMissing = this.skipAtMs !== null;
    if (song) {
      this.#at(this.position(now), now);
      this.#spent.add(song.track);
      this.played.push({ song, endedAtMs: now, playedMs: Math.round(wasMissing ? 0 : song.playedMs), reason });
      if (this.played.length > PLAYED) this.played.shift();
    }
    this.#clear();
    /** @type {Step[]} */
    const steps = [];
    let item = this.queue.shift();
    for (; item && !this.isHere(item.track); item = this.queue.shift()) steps.push({ do: 'missing', track: item.track });
    const track = item ? item.track : this.#request(this.isHere);
    if (track === undefined) return [...steps, { do: 'stop' }];
    this.#spent.add(track);
    this.song = { entry: item?.entry ?? --this.#lastOwn, track, startedAtMs: now, positionMs: 0, atMs: now, playing: true, playedMs: 0 };
    return [...steps, { do: 'play', song: this.song, fade: true }];
  }

  /**
   * The most wanted track, where the room would choose one by itself.
   *
   * @param {(track: number) => boolean} isFit
   * @returns {number|undefined}
   */
  #request(isFit) {
    const room = this.#room;
    if (!room || room.settings.queueMode === 'dj' || room.settings.queueLocked) return undefined;
    const rest = room.settings.repeatAfterPlays;
    const recent = new Set(rest ? [...this.played.map(({ song }) => song.track).reverse(), ...room.history.map(({ track }) => track)].slice(0, rest) : []);
    return room.requests.find(({ track }) => !this.#spent.has(track) && !recent.has(track) && isFit(track))?.track;
  }

  /**
   * @param {number} positionMs
   * @param {number} now
   */
  #at(positionMs, now) {
    const { song } = this;
    if (!song) return;
    song.playedMs += running(song, now);
    song.positionMs = positionMs;
    song.atMs = now;
  }

  // -- Back on line

  /**
   * Tells the room what was heard, once nothing else is on its way.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  #tell(now) {
    const room = this.#room;
    if (!room || !this.live || !this.leading || this.#pending.length > 0 || this.#syncing || this.isBusy()) return [];
    const { song } = this;
    // Somebody has ended the song for the room: the room plays another one, and so does the deck.
    if ((song && isLogged(song, room)) || this.#tries >= TRIES) return this.#giveIn(now);
    const past = now - Math.min(this.errorMs(), LATE_MS);
    const { command, told, isWhole } = syncCommand({ ...this, known: this.#known }, room, past, this.#tries > 1);
    this.queue = this.queue.filter(({ entry, track }) => room.tracks.has(track) && (entry < 0 || room.queue.some((one) => one.entry === entry)));
    this.#syncing = { song: isWhole ? song : this.played[told].song, told, changes: this.#changes, isWhole };
    this.#pending.push(command);
    return [{ do: 'send', command }];
  }

  /** @param {number} now */
  #giveIn(now) {
    this.leading = false;
    this.played = [];
    this.#spent.clear();
    this.#tries = 0;
    this.#seen = null;
    return this.#follow(now);
  }

  /**
   * @param {string|null} refusal
   * @param {number} now
   * @returns {Step[]}
   */
  #synced(refusal, now) {
    const syncing = this.#syncing, room = /** @type {Room} */ (this.#room);
    this.#syncing = null;
    if (!syncing) return [];
    if (refusal) {
      this.#tries++;
      return this.#tell(now);
    }
    this.#tries = 0;
    const { playback, queue } = room;
    if (syncing.song && playback.status !== 'stopped' && playback.track === syncing.song.track) syncing.song.entry = playback.entry;
    this.played.splice(0, syncing.told);
    for (const item of this.queue) {
      const same = item.entry < 0 && queue.find(({ entry, track }) => track === item.track && !this.#known.has(entry) && !this.queue.some((one) => one.entry === entry));
      if (same) item.entry = same.entry;
    }
    this.#know();
    if (syncing.isWhole && syncing.changes === this.#changes) {
      this.#seen = playback;
      return this.#giveIn(now);
    }
    return this.#tell(now);
  }
}

/**
 * The time that a song has run since its position was taken, in ms.
 *
 * @param {Song} song
 * @param {number} now
 */
const running = (song, now) => (song.playing ? Math.max(0, now - song.atMs) : 0);
