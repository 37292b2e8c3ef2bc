// The deck's mind: what this device plays, on line and off line. Pure: it has no clock, no sound and no network.
//
// On line it follows the room: each action here is a command, and the room's events decide. Without the room it leads:
// queue and playback go on here, and what was heard is kept until one `syncDeck` makes the room agree.

import { isLogged, onAirAmong, syncCommand } from './sync.js';

/**
 * @typedef {import('../wire/messages').Command} Command
 * @typedef {import('../room/room.js').Room} Room
 */

/**
 * A song that is or was heard. An entry below 0 is one that the room has not been told. Times are the server's, in ms.
 *
 * @typedef {{entry: number, track: number, startedAtMs: number, positionMs: number, atMs: number, playing: boolean,
 *   playedMs: number, isGone?: boolean}} Song  heard for `playedMs` until `atMs`; `isGone`: nothing comes out
 * @typedef {{entry: number, track: number, addedBy?: number}} Item
 * @typedef {{song: Song, endedAtMs: number, playedMs: number, reason: 'ended'|'skipped'}} Played
 * @typedef {{do: 'play', song: Song, fade: boolean} | {do: 'pause'|'resume'|'stop'} | {do: 'seek', positionMs: number}
 *   | {do: 'send', command: Command} | {do: 'missing', track: number}} Step
 * @typedef {{song: Song|null, queue: Item[], played: Played[], leading: boolean, known: number[], isDry: boolean,
 *   isUnsure: boolean, isHeld?: boolean, dropped: number[], pending: Sent[]}} Saved
 */

/**
 * A command without an answer, and the newest entry that was known when it was sent.
 *
 * @typedef {{command: Command, sentAt: number, newest: number}} Sent
 */

/** The room has this long to say what follows a song; then the deck goes on by itself. */
const ANSWER_MS = 1000;
/** A song whose file is missing waits this long for somebody where DJs choose; the second one in turn where the room does. */
const MISSING_DJ_MS = 20_000;
const MISSING_MS = 1000;
/** So many songs in turn that cannot be opened are no matter of one song: the deck waits for its files. */
const MISSING_SONGS = 3;
/** A position that the room tells anew is taken over if it differs by more. */
const JUMP_MS = 500;
/** A song is corrected once, when it has run for so long, if the room's position differs by more than CORRECT_MS. */
const STEADY_MS = 1000;
const CORRECT_MS = 100;
/** A song that began no longer ago is heard from its beginning. */
const FRESH_MS = 2000;
/** Songs that are remembered off line. */
const PLAYED = 2000;
/** Times are told as past by the clock's error, which is at most this. */
const LATE_MS = 500;
/** Refused syncs before the room wins. */
const TRIES = 4;
/** A sync that the server cannot take now, or whose answer is lost, is sent again after this time. */
const RETRY_MS = 2000;

/** Commands that change the sound, and those that put another song on air. */
const SOUND = new Set(['play', 'pause', 'resume', 'seek', 'skip', 'finish']);
const MOVES = new Set(['play', 'skip', 'finish']);
/** Those that are for the song that they name, and for no other. */
const NAMED = new Set(['pause', 'resume', 'seek', 'skip']);
/** Those that mean nothing to a song whose end has been asked for. */
const ENDS = new Set(['seek', 'skip', 'finish']);
/** Refusals that say nothing about the command: the deck goes on by itself. */
const PASSING = new Set(['rate_limited', 'unavailable', 'internal']);
/** What a command gets whose answer does not come. */
const LOST = new Set(['offline', 'outcome_unknown']);

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
   * When a song whose file is missing is skipped; Infinity: the deck waits for its files.
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
   * Tracks that were added and removed here; the room may have them from a sync or a command that was on its way.
   *
   * @type {number[]}
   */
  #dropped = [];
  /**
   * Tracks whose votes are spent here.
   *
   * @type {Set<number>}
   */
  #spent = new Set();
  /** @type {Sent[]} */
  #pending = [];
  /**
   * The song whose end was asked for.
   *
   * @type {{entry: number, overAtMs: number|null}|null}  `overAtMs`: when the sound came to its end
   */
  #asked = null;
  /**
   * The room's playback that the song was compared with.
   *
   * @type {string}
   */
  #seen = '';
  /**
   * When the song began to run, until it has been compared with the room.
   *
   * @type {number|null}
   */
  #runsSince = null;
  /** The song itself comes out, and not the one before it any more. */
  #isOut = false;
  /** The song's file is here, and cannot be played. */
  #isBroken = false;
  /**
   * When a song is skipped whose file has been tried again.
   *
   * @type {{entry: number, atMs: number}|null}
   */
  #tried = null;
  /** The deck has paused the song, for want of its files. */
  #isHeld = false;
  /**
   * Entries in turn that could not be opened.
   *
   * @type {Set<number>}
   */
  #failed = new Set();
  #lastOwn = 0;
  #lastMissing = 0;
  #changes = 0;
  /** Nothing was left to play. */
  #isDry = false;
  /** The room may have entries that were added here, by a sync or a command whose outcome is not known. */
  #isUnsure = false;
  #tries = 0;
  #retryAtMs = 0;
  /**
   * The page was away since `sinceMs`, and nothing but going on has happened here after that.
   *
   * @type {{sinceMs: number, changes: number}|null}
   */
  #away = null;
  /**
   * What a sync has told.
   *
   * @type {{song: Song|null, told: number, changes: number, isWhole: boolean, seq: number}|null}
   */
  #syncing = null;

  /**
   * @param {{isHere: (track: number) => boolean, isBare?: () => boolean, errorMs?: () => number, isBusy?: () => boolean}} ports
   *   whether a track's file is here and can be played; whether no track's is; the clock's largest error; whether commands
   *   for the queue are on their way
   * @param {Saved|null} [saved]
   */
  constructor({ isHere, isBare = () => false, errorMs = () => 0, isBusy = () => false }, saved = null) {
    this.isHere = isHere;
    this.isBare = isBare;
    this.errorMs = errorMs;
    this.isBusy = isBusy;
    if (!saved) return;
    Object.assign(this, { song: saved.song, queue: saved.queue, played: saved.played, leading: saved.leading });
    this.#known = new Set(saved.known);
    this.#isDry = saved.isDry;
    this.#isUnsure = saved.isUnsure;
    this.#isHeld = saved.isHeld ?? false;
    this.#dropped = saved.dropped;
    this.#pending = saved.pending;
    this.#lastOwn = Math.min(0, saved.song?.entry ?? 0, ...saved.queue.map(({ entry }) => entry), ...saved.played.map(({ song }) => song.entry));
    for (const { song } of saved.played) this.#spend(song);
    if (saved.song) this.#spend(saved.song);
  }

  /** @returns {Saved} what a reload needs */
  toSaved() {
    const { song, queue, played, leading } = this;
    return {
      song, queue, played, leading, known: [...this.#known], isDry: this.#isDry, isUnsure: this.#isUnsure, isHeld: this.#isHeld,
      dropped: this.#dropped, pending: this.#pending,
    };
  }

  /**
   * The song's position, in ms.
   *
   * @param {number} now
   */
  position(now) {
    return this.song ? this.song.positionMs + running(this.song, now) : 0;
  }

  /** Whether the end of the song has been asked for. */
  get isEnding() {
    return this.song !== null && this.#asked?.entry === this.song.entry;
  }

  /** Whether the song's position is still to be compared with the room's. */
  get isUncompared() {
    return this.live && !this.leading && this.#runsSince !== Infinity;
  }

  /** Whether the deck waits for its files. */
  get isWaiting() {
    return this.skipAtMs === Infinity;
  }

  /**
   * What a stopped room begins with: the first waiting entry whose file is here, else the most wanted such track. Where
   * DJs choose, it begins with an entry, and only where a DJ wishes it.
   *
   * @param {Set<number>} refused  tracks that the room does not begin with
   * @param {import('./conductor.js').Wish|null} [wish]
   * @param {(track: number) => boolean} [isHere]
   * @returns {{track: number, entry?: number}|undefined}
   */
  opening(refused, wish = null, isHere = this.isHere) {
    const room = this.#room;
    if (!room || room.playback.status !== 'stopped' || (room.settings.queueMode === 'dj' && !wish) || !this.live || this.leading) return undefined;
    const isFit = (/** @type {number} */ track) => isHere(track) && !refused.has(track);
    const item = this.queue.find((one) => isFit(one.track));
    const track = this.#request(isFit) ?? room.requests.find((one) => one.track === wish?.request && isFit(one.track))?.track;
    return item ?? (track === undefined ? undefined : { track });
  }

  /** The track that probably comes next: what the room says decides. */
  get next() {
    return this.queue.find(({ track }) => this.isHere(track))?.track ?? this.#request(this.isHere);
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
    this.#retryAtMs = 0;
    if (live) return this.room(room, now);
    return wasLive ? this.#lost(now) : [];
  }

  /**
   * No answer comes to what is on its way: it is done here, and the room is told later.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  #lost(now) {
    const lost = this.#pending;
    this.#pending = [];
    this.#syncing = null;
    this.#retryAtMs = now + RETRY_MS;
    if (this.leading) return [];
    this.#take();
    return this.#redo(lost, now);
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
    if (refusal && LOST.has(refusal)) return this.live && this.#pending.some((one) => one.command === command) ? this.#lost(now) : [];
    const pending = this.#pending.find((one) => one.command === command);
    this.#pending = this.#pending.filter((one) => one !== pending);
    if (!this.live) return [];
    if (command.type === 'syncDeck') return this.#synced(refusal, now);
    if (this.leading) return this.#tell(now);
    if (refusal && pending && SOUND.has(command.type)) {
      this.#seen = '';
      if (PASSING.has(refusal)) {
        this.#take();
        return [...this.#redo([pending], now), ...this.#tell(now)];
      }
    }
    const { song } = this;
    const steps = this.#follow(now, pending && !refusal ? now - pending.sentAt : 0);
    if (!MOVES.has(command.type) || this.song !== song) return steps;
    // The room has not moved on: the song's end is to be asked for anew, where it has come since.
    const isOver = command.type !== 'finish' && this.#asked?.overAtMs;
    this.#asked = null;
    return isOver ? [...steps, ...this.ended(now)] : steps;
  }

  /**
   * Plays what the room plays.
   *
   * @param {number} now
   * @param {number} tookMs  the time that an own command took, by which the room's position may be late
   * @returns {Step[]}
   */
  #follow(now, tookMs = 0) {
    const room = /** @type {Room} */ (this.#room);
    const { playback } = room;
    this.#take();
    if (this.#isAsking && playback.status !== 'stopped' && playback.entry === this.song?.entry) return [];
    if (playback.status === 'stopped') {
      if (!this.song) return [];
      this.#clear();
      return [{ do: 'stop' }];
    }
    const told = { positionMs: playback.positionMs, atMs: playback.atMs, playing: playback.status === 'playing' };
    const seen = JSON.stringify([playback.entry, told]);
    if (this.song?.entry !== playback.entry) {
      this.#clear();
      this.#seen = seen;
      this.song = { entry: playback.entry, track: playback.track, startedAtMs: playback.startedAt, playedMs: 0, ...told };
      const isNew = told.playing && told.positionMs === 0 && now - told.atMs < FRESH_MS;
      // A song that has just begun is heard from its beginning.
      if (!isNew) this.#at(Math.max(0, this.position(now)), now);
      else Object.assign(this.song, { positionMs: 0, atMs: now });
      return this.#begin(this.song, now);
    }
    if (this.#seen === seen) return [];
    this.#seen = seen;
    const { song } = this, steps = /** @type {Step[]} */ ([]);
    const there = told.positionMs + (told.playing ? Math.max(0, now - told.atMs) : 0);
    if (song.playing !== told.playing) {
      this.#at(this.position(now), now);
      song.playing = told.playing;
      if (!this.isWaiting) steps.push({ do: told.playing ? 'resume' : 'pause' });
    }
    if (Math.abs(there - this.position(now)) > JUMP_MS + tookMs) {
      this.#at(there, now);
      steps.push({ do: 'seek', positionMs: there });
    }
    return this.isWaiting ? [...steps, ...this.#hold(now)] : steps;
  }

  /**
   * Does here what was asked of the room, which perhaps has not done it.
   *
   * @param {Sent[]} commands
   * @param {number} now
   * @returns {Step[]}
   */
  #redo(commands, now) {
    const steps = [], room = this.#room;
    let moves = false;
    for (const { command, newest } of commands) {
      const { type } = command, isSound = SOUND.has(type);
      moves ||= MOVES.has(type);
      this.#isUnsure ||= !isSound;
      this.#changed();
      // The sound has followed at once what comes before the first one that moves on.
      if (isSound && !moves) continue;
      const isDone = type === 'enqueue' && room?.queue.some(({ entry, track, addedBy }) => entry > newest && track === command.track && addedBy === room.you?.member);
      if (!isDone) steps.push(...this.#alone(command, now));
    }
    // A song that has come to its end while the room was asked for something else.
    if (this.#asked?.overAtMs) steps.push(...this.#advance('ended', now));
    this.#asked = null;
    return steps;
  }

  /** Whether commands that change the sound are on their way. */
  get #isAsking() {
    return this.#pending.some(({ command }) => SOUND.has(command.type) || command.type === 'syncDeck');
  }

  /**
   * @param {Command} command
   * @param {number} now
   * @returns {Step}
   */
  #send(command, now) {
    const entries = [this.song?.entry ?? 0, ...this.queue.map(({ entry }) => entry)];
    this.#pending.push({ command, sentAt: now, newest: Math.max(0, ...entries) });
    return { do: 'send', command };
  }

  /**
   * @param {Song} song
   * @param {number} now
   * @returns {Step[]}
   */
  #begin(song, now, fade = true) {
    this.#runsSince = null;
    this.#isBroken = this.#isOut = false;
    if (!this.isHere(song.track)) return this.gone(now);
    song.isGone = undefined;
    return [{ do: 'play', song, fade }];
  }

  #clear() {
    this.song = null;
    this.#asked = null;
    this.#runsSince = null;
    this.skipAtMs = null;
    this.#isHeld = false;
  }

  /** Takes the room's queue, as long as the deck follows. */
  #take() {
    if (this.#room) this.queue = this.#room.queue.slice();
    this.#know();
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
    const { playback } = this.#room ?? {};
    // Until the room knows what is heard here, its page shows another song.
    const isShown = this.leading && playback && playback.status !== 'stopped' && command.entry === playback.entry;
    if (isShown && NAMED.has(command.type)) return this.act({ ...command, entry: undefined }, now);
    if (this.#isPast(command)) return [];
    if (this.isWaiting && command.type === 'resume') return this.found(now, true);
    if (!this.live || this.leading) return [...this.#alone(command, now), ...this.#tell(now)];
    const steps = /** @type {Step[]} */ ([]);
    // Its end has been asked for.
    if (this.isEnding && ENDS.has(command.type)) return [];
    if (MOVES.has(command.type)) {
      if (!this.isEnding) this.#asked = { entry: this.song?.entry ?? 0, overAtMs: null };
      if (command.type === 'finish') this.#over(now);
    } else steps.push(...this.#sound(command, now));
    return [...steps, this.#send(command, now)];
  }

  /**
   * Whether a command is for a song that is not on air any more.
   *
   * @param {Command} command
   */
  #isPast(command) {
    return NAMED.has(command.type) && command.entry !== undefined && command.entry !== this.song?.entry;
  }

  /**
   * The song has come to its end, or to the moment at which the next one fades in.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  ended(now) {
    const { song } = this;
    // The end of the song before, while the file of this one is opened.
    if (!song || !this.#isOut) return [];
    if (this.isEnding) {
      this.#over(now);
      return [];
    }
    return this.act({ type: 'finish', entry: song.entry }, now);
  }

  /**
   * The song whose end is asked for is not heard any more, or fades out.
   *
   * @param {number} now
   */
  #over(now) {
    if (!this.song || !this.#asked) return;
    this.#at(this.position(now), now);
    this.song.isGone = true;
    this.#asked.overAtMs = now;
  }

  /**
   * The file of the song is not here, or cannot be opened or played.
   *
   * @param {number} now
   * @param {boolean} [isBroken]  it has been opened
   * @returns {Step[]}
   */
  gone(now, isBroken = false) {
    const { song } = this;
    if (!song) return [];
    this.#at(this.position(now), now);
    song.isGone = true;
    this.#isBroken = isBroken;
    if (this.isBare() || this.#failed.add(song.entry).size >= MISSING_SONGS) return [{ do: 'missing', track: song.track }, ...this.#hold(now)];
    const wait = this.#room?.settings.queueMode === 'dj' ? MISSING_DJ_MS : Math.max(0, this.#lastMissing + MISSING_MS - now);
    this.skipAtMs = this.#tried?.entry === song.entry ? Math.max(now, this.#tried.atMs) : now + wait;
    return [{ do: 'missing', track: song.track }, ...this.tick(now)];
  }

  /**
   * Waits for the files, paused: nothing that the room could go on with would be heard.
   *
   * @param {number} now
   * @returns {Step[]}
   */
  #hold(now) {
    const { song } = this, away = this.#away;
    this.skipAtMs = Infinity;
    if (!song?.playing) return [];
    const isOnlyAway = away?.changes === this.#changes;
    const steps = this.act({ type: 'pause', entry: song.entry }, now);
    this.#isHeld = true;
    if (away && isOnlyAway) away.changes = this.#changes;
    return steps;
  }

  /**
   * The library has changed: perhaps the file of the song is here now.
   *
   * @param {number} now
   * @param {boolean} [isPicked]  a file was picked for it; else one that cannot be played is not tried again
   * @returns {Step[]}
   */
  found(now, isPicked = false) {
    const { song, isWaiting } = this, wasHeld = this.#isHeld;
    if (!song || this.skipAtMs === null) return [];
    if (isPicked) this.#failed.clear();
    // After several in turn a person says when it is worth another try.
    if (this.#failed.size >= MISSING_SONGS) return [];
    if (!this.isHere(song.track) || (this.#isBroken && !isPicked)) {
      // Other files are here again, and perhaps this one soon.
      if (isWaiting && !this.isBare()) this.skipAtMs = now + MISSING_DJ_MS;
      return [];
    }
    const goesOn = !song.playing && ((isWaiting && isPicked) || (wasHeld && (isPicked || this.#room?.settings.queueMode !== 'dj')));
    this.#tried = isPicked || isWaiting || wasHeld ? null : { entry: song.entry, atMs: this.skipAtMs };
    this.skipAtMs = null;
    this.#isHeld = false;
    this.#at(isWaiting || wasHeld ? song.positionMs : 0, now);
    // Playing again begins with the file: there is nothing to resume yet.
    const told = goesOn ? this.act({ type: 'resume', entry: song.entry }, now).filter((step) => step.do === 'send') : [];
    return [...told, ...this.#begin(song, now, false)];
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
    song.isGone = undefined;
    this.#isOut = true;
    this.#failed.clear();
    this.#at(positionMs, now);
    if (this.#asked?.overAtMs) this.#over(now);
    // The time in which nothing came out was not heard.
    song.playedMs = Math.max(0, song.playedMs + lag);
    this.#runsSince ??= now;
    if (now - this.#runsSince < STEADY_MS || !this.live || this.leading || this.#isAsking) return [];
    this.#runsSince = Infinity;
    const playback = /** @type {Room} */ (this.#room).playback;
    if (playback.status !== 'playing' || playback.entry !== song.entry) return [];
    const told = playback.positionMs + now - playback.atMs;
    if (Math.abs(told - positionMs) <= CORRECT_MS + this.errorMs()) return [];
    return [this.#send({ type: 'seek', positionMs: Math.max(0, Math.round(positionMs)), entry: song.entry }, now)];
  }

  /** The song comes out. */
  sounds() {
    this.#isOut = true;
  }

  /** The sound stood still and begins again: its position is compared once more. */
  stalled() {
    this.#runsSince = null;
  }

  /**
   * The page was away: the song goes on where it was left, unless the room did something else meanwhile.
   *
   * @param {number} now
   * @param {number} sinceMs  when the page was left
   * @returns {Step[]}
   */
  resume(now, sinceMs) {
    const { song } = this;
    if (song) song.atMs = now;
    const lost = this.#pending;
    const wasTold = !this.leading && lost.length === 0;
    this.#pending = [];
    const steps = this.leading ? [] : this.#redo(lost, now);
    if (!song || this.song !== song) return steps;
    if (song.playing) this.#changed();
    if (wasTold) this.#away = { sinceMs, changes: this.#changes };
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
      return [...this.#alone({ type: 'skip', entry: song.entry }, now), ...this.#tell(now)];
    }
    if (now < this.dueAtMs) return [];
    if (this.leading) return this.#tell(now);
    this.#take();
    return this.#redo(this.#pending, now);
  }

  /** The time at which `tick` is due, or Infinity. */
  get dueAtMs() {
    const first = this.leading ? undefined : this.#pending.find(({ command }) => MOVES.has(command.type));
    const asked = first ? first.sentAt + ANSWER_MS : Infinity;
    const again = this.leading && this.#retryAtMs > 0 ? this.#retryAtMs : Infinity;
    return Math.min(this.live ? asked : Infinity, this.live ? again : Infinity, this.skipAtMs ?? Infinity);
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
    const item = this.queue.find(({ entry }) => entry === command.entry);
    const rest = this.queue.filter((one) => one !== item);
    if (this.#isPast(command)) return [];
    switch (command.type) {
      case 'finish': return this.song && command.entry === this.song.entry ? this.#advance(command.missing ? 'skipped' : 'ended', now) : [];
      case 'skip': return this.song ? this.#advance('skipped', now) : [];
      case 'play': {
        if (this.song && command.entry === this.song.entry) return this.#alone({ type: 'resume' }, now);
        const wanted = command.entry === undefined ? this.queue.find(({ track }) => this.isHere(track)) : item;
        // Nothing of it would be heard.
        if (!wanted || !this.isHere(wanted.track)) return [];
        this.queue = [wanted, ...this.queue.filter((one) => one !== wanted)];
        return this.#advance('skipped', now);
      }
      case 'enqueue':
        this.#changed();
        this.queue = rest;
        rest.splice(/** @type {number} */ (command.at ?? rest.length), 0, { entry: --this.#lastOwn, track: /** @type {number} */ (command.track) });
        return [];
      case 'dequeue':
      case 'move':
        if (!item) return [];
        if (command.type === 'dequeue' && item.entry < 0) this.#dropped.push(item.track);
        this.#changed();
        this.queue = rest;
        if (command.type === 'move') rest.splice(/** @type {number} */ (command.to), 0, item);
        return [];
      default: return this.#sound(command, now, true);
    }
  }

  /**
   * Pauses, resumes, seeks.
   *
   * @param {Command} command
   * @param {number} now
   * @param {boolean} [isAlone]
   * @returns {Step[]}
   */
  #sound(command, now, isAlone = false) {
    const { song } = this;
    const plays = command.type === 'resume';
    if (!song || (command.type !== 'seek' && (song.playing === plays || (!plays && command.type !== 'pause')))) return [];
    if (isAlone) this.#changed();
    if (command.type === 'seek') {
      const positionMs = /** @type {number} */ (command.positionMs);
      this.#at(positionMs, now);
      return [{ do: 'seek', positionMs }];
    }
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
    this.#changed();
    // A song that came to its end while the room was asked ended then.
    if (this.song) this.#end(this.song, reason, (this.isEnding && this.#asked?.overAtMs) || now, now);
    this.#clear();
    // What is not here waits on.
    const item = this.queue.find((one) => this.isHere(one.track));
    const track = item?.track ?? this.#request(this.isHere);
    this.#isDry = track === undefined;
    if (track === undefined) return [{ do: 'stop' }];
    this.queue = this.queue.filter((one) => one !== item);
    const song = { entry: item?.entry ?? --this.#lastOwn, track, startedAtMs: now, positionMs: 0, atMs: now, playing: true, playedMs: 0 };
    this.#spend(song);
    this.song = song;
    this.#isOut = false;
    return [{ do: 'play', song, fade: true }];
  }

  /**
   * @param {Song} song
   * @param {'ended'|'skipped'} reason
   * @param {number} endedAtMs
   * @param {number} now
   */
  #end(song, reason, endedAtMs, now) {
    if (song === this.song) this.#at(this.position(now), now);
    this.#spend(song);
    this.played.push({ song, endedAtMs, playedMs: Math.round(song.playedMs), reason });
    if (this.played.length > PLAYED) this.played.shift();
  }

  /**
   * The votes of a song that the room has not been told of are spent, and still stand there.
   *
   * @param {Song} song
   */
  #spend(song) {
    if (song.entry < 0) this.#spent.add(song.track);
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
    const told = room.history.filter(({ entry }) => !this.played.some(({ song }) => song.entry === entry));
    const recent = new Set(rest ? [...this.played.map(({ song }) => song.track).reverse(), ...told.map(({ track }) => track)].slice(0, rest) : []);
    return room.requests.find(({ track }) => !this.#spent.has(track) && !recent.has(track) && isFit(track))?.track;
  }

  /**
   * @param {number} positionMs
   * @param {number} now
   */
  #at(positionMs, now) {
    const { song } = this;
    if (!song) return;
    if (!song.isGone) song.playedMs += running(song, now);
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
    const waits = this.#isAsking || this.#syncing || this.isBusy() || now < this.#retryAtMs;
    if (!room || !this.live || !this.leading || waits) return [];
    this.#retryAtMs = 0;
    const away = this.#away;
    this.#away = null;
    if (away?.changes === this.#changes && changedAt(room) > away.sinceMs + LATE_MS) return this.#giveIn(now);
    const { song } = this, steps = /** @type {Step[]} */ ([]);
    const { playback } = room, isOnAir = playback.status !== 'stopped';
    const isOver = song ? isLogged(song, room)
      : this.played.every((one) => isLogged(one.song, room)) && (!this.#isDry || (isOnAir && now - playback.startedAt < FRESH_MS));
    // Others have ended the song for the room: what the room plays is played here.
    if (this.#tries >= TRIES || (isOver && isOnAir)) {
      this.#merge(room, false);
      const kept = new Set([...this.queue, song].map((one) => one?.entry));
      const removed = room.queue.filter(({ entry }) => !kept.has(entry));
      return this.#giveIn(now, removed);
    }
    this.#merge(room, true);
    if (song ? isOver || !room.tracks.has(song.track) : this.#isDry) steps.push(...this.#advance('skipped', now));
    const past = Math.floor(now - Math.min(this.errorMs(), LATE_MS));
    const { command, told, isWhole } = syncCommand(this, room, past, this.#tries > 1);
    this.#syncing = { song: isWhole ? this.song : this.played[told].song, told, changes: this.#changes, isWhole, seq: room.seq };
    this.#isUnsure = true;
    return [...steps, this.#send(command, now)];
  }

  /**
   * Takes what others have changed in the room's queue meanwhile: what they added comes last, what they removed goes.
   *
   * @param {Room} room
   * @param {boolean} leads  what is on air there is not what is played here
   */
  #merge(room, leads) {
    const onAir = room.playback.status === 'stopped' ? null : room.playback;
    const heard = [...this.played.map((one) => one.song), ...(this.song ? [this.song] : [])];
    const mine = new Set([...heard, ...this.queue].map(({ entry }) => entry));
    const isNew = (/** @type {{entry: number}} */ one) => !this.#known.has(one.entry) && !mine.has(one.entry);
    /** @type {Item|null} */
    let unheard = null;
    const isAdded = onAir && this.#isUnsure && isNew(onAir)
      && (this.queue.some(({ entry, track }) => entry < 0 && track === onAir.track) || this.#dropped.includes(onAir.track));
    // The room chose it by itself, and so did the deck: it was heard.
    const isChosen = onAir && onAir.startedBy === undefined && heard.some(({ entry, track }) => entry < 0 && track === onAir.track);
    if (leads && onAir && !isAdded && !isChosen && !onAirAmong(heard, onAir) && (mine.has(onAir.entry) || isNew(onAir))) {
      // Nobody has heard what the room put on air: it waits again.
      unheard = { entry: --this.#lastOwn, track: onAir.track };
    }
    const there = new Map(room.queue.map((one) => [one.entry, one]));
    for (const item of [...this.queue, ...heard]) {
      // What was added here, and of which no answer came.
      const same = this.#isUnsure && item.entry < 0
        && room.queue.find((one) => one.track === item.track && one.addedBy === room.you?.member && isNew(one));
      if (same) mine.add(item.entry = same.entry);
    }
    this.queue = this.queue.filter(({ entry, track }) => room.tracks.has(track) && (entry < 0 || there.has(entry)));
    if (unheard) this.queue.unshift(unheard);
    for (const one of room.queue.filter(isNew)) {
      const dropped = this.#isUnsure && one.addedBy === room.you?.member ? this.#dropped.indexOf(one.track) : -1;
      if (dropped < 0) this.queue.push(one);
      else this.#dropped.splice(dropped, 1);
    }
    this.#know();
  }

  /**
   * The room wins; what was added and removed here is added and removed there.
   *
   * @param {number} now
   * @param {Item[]} removed
   * @returns {Step[]}
   */
  #giveIn(now, removed = []) {
    const added = this.queue.filter(({ entry }) => entry < 0);
    this.leading = this.#isDry = this.#isUnsure = false;
    this.played = [];
    this.#dropped = [];
    this.#spent.clear();
    this.#tries = 0;
    this.#seen = '';
    const steps = this.#follow(now);
    for (const { entry } of removed) steps.push(this.#send({ type: 'dequeue', entry }, now));
    for (const { track } of added) steps.push(this.#send({ type: 'enqueue', track }, now));
    return steps;
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
      this.#isUnsure = false;
      if (PASSING.has(refusal)) this.#retryAtMs = now + RETRY_MS;
      // Others may have removed meanwhile what it names.
      else this.#tries += room.seq === syncing.seq ? 1 : 0.25;
      return this.#tell(now);
    }
    this.#tries = 0;
    const { playback } = room;
    if (syncing.song && playback.status !== 'stopped' && onAirAmong([syncing.song], playback)) syncing.song.entry = playback.entry;
    this.played.splice(0, syncing.told);
    this.#merge(room, false);
    this.#isUnsure = false;
    if (!syncing.isWhole || syncing.changes !== this.#changes) return this.#tell(now);
    this.queue = [];
    return this.#giveIn(now);
  }
}

/**
 * When others, or the deck, changed last what is on air, by the server's clock in ms.
 *
 * @param {Room} room
 */
const changedAt = ({ playback, history }) => (playback.status === 'stopped' ? history[0]?.endedAt ?? 0 : playback.atMs);

/**
 * The time that a song has run since its position was taken, in ms.
 *
 * @param {Song} song
 * @param {number} now
 */
const running = (song, now) => (song.playing ? Math.max(0, now - song.atMs) : 0);
