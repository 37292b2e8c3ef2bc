// Between the machine and the world: the room's changes and the sound go in, commands and sound come out.

import { Deck } from './deck.js';
import { Lacking } from './lacking.js';
import { Lengths } from './lengths.js';
import { watchQuiet } from './quiet.js';
import { saveDeck, shownBy } from './saved-deck.js';
import { Unanswered } from './voice.js';
import { Refusal } from '../store/store.js';

/**
 * @typedef {import('./deck.js').Song} Song
 * @typedef {import('./deck.js').Step} Step
 * @typedef {import('../wire/messages').Command} Command
 */

/** The sound is looked at this often, more often until its position has been compared with the room's. */
const LOOK_MS = 5000;
const LOOK_FIRST_MS = 500;
/** A room that has stopped and has requests is started after this time, and where that is refused after this one. */
const START_MS = 1000;
const START_AGAIN_MS = 5000;

/** A song that the system has stopped (a call, an alarm) may go on by itself within this time, before the room is told. */
const STOPPED_MS = 10_000;

/** Refusals of a beginning that stand as long as the room is as it is. */
const LASTING = new Set(['conflict', 'limit_reached', 'not_found', 'forbidden', 'bad_request']);

/** Lengths are told of so many waiting songs. */
const SOON = 50;

/** Commands that are for the link as it is, and not for a later one. */
const ONCE = new Set(['play', 'pause', 'resume', 'seek', 'skip', 'finish', 'syncDeck']);

/**
 * Play was pressed where none of the room's songs had its file here: the music begins once files are picked for them.
 *
 * @typedef {{request?: number, isPicked?: boolean}} Wish  `request`: the track that Play named, where no entry waited
 */

/** Runs the deck of one room, from when this device becomes the deck until it is not any more. */
export class Conductor {
  #isClosed = false;
  /** @type {any} */
  #timer;
  /** @type {any} */
  #startTimer;
  /**
   * What the machine was told of the room last.
   *
   * @type {unknown[]}
   */
  #seen = [];
  /**
   * The pool, as it was compared with the library last.
   *
   * @type {unknown}
   */
  #pool = null;
  /**
   * Tracks that the room does not begin with, as it is.
   *
   * @type {Set<number>}
   */
  #refused = new Set();
  /** @type {Wish|null} */
  #wish = null;
  /** The song whose picture is shown. */
  #pictured = 0;
  /** The entry whose file was opened anew. */
  #triedAgain = 0;
  /**
   * The song that the system has stopped: the room is not told yet.
   *
   * @type {{entry: number, wait: {end(): void}}|null}
   */
  #stopped = null;

  /**
   * @param {import('./device.js').Device} device
   * @param {import('./sound.js').Sound} sound
   * @param {import('./saved-deck.js').Kept|null} kept  the deck as the page was left
   */
  constructor(device, sound, kept) {
    this.device = device;
    this.sound = sound;
    this.store = device.store;
    this.deck = new Deck({
      isHere: (track) => device.canPlay(track),
      isBare: () => device.lack.isBare,
      errorMs: () => Math.min(this.store.clock.errorMs, 1000),
      isBusy: () => ['enqueue', 'dequeue', 'move'].some((type) => this.store.isPending(type)),
    }, kept?.deck);
    this.lengths = new Lengths(device, () => this.deck.live && !this.deck.leading);
    this.lacking = new Lacking(this.store, { isHere: this.deck.isHere, isDeck: () => this.deck.live });
    if (!kept || !this.store.room) return;
    this.deck.room(this.store.room, device.now());
    this.do((now) => this.deck.resume(now, kept.at + kept.offset));
  }

  /** Ends it. */
  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#startTimer);
    this.#takeStopped();
    this.lacking.close();
  }

  /**
   * Carries out a DJ's command for queue and playback, here at once.
   *
   * @param {Command} command
   * @returns {Promise<any>} as `store.send`; off line it resolves at once
   */
  async act(command) {
    if (this.store.link.state === 'live' && !this.deck.live && !this.deck.leading) return this.store.send(command);
    this.report();
    // Where the system has stopped it, the song is not heard since.
    if (this.#stopped && this.#stopped.entry === this.deck.song?.entry) this.do((now) => this.deck.report(this.sound.heard.positionMs, now));
    const stopped = command.type === 'pause' || command.type === 'resume' ? this.#takeStopped() : null;
    if (stopped && command.type === 'pause') {
      // It is paused where it stands; for the room it has played on.
      const positionMs = Math.round(this.sound.heard.positionMs);
      this.do((now) => this.deck.act({ type: 'seek', positionMs, entry: stopped.entry }, now));
    }
    if (stopped && command.type === 'resume' && this.deck.song?.playing) this.sound.step({ do: 'resume' }, this.deck);
    const answer = this.do((now) => this.deck.act(command, now), command);
    return answer ?? { entry: Math.min(...this.deck.queue.map(({ entry }) => entry)) };
  }

  /** The system has stopped the song. */
  stopped() {
    const { song } = this.deck;
    this.#takeStopped();
    if (!song?.playing) return;
    const { entry } = song;
    const wait = watchQuiet(STOPPED_MS, () => { if (song.playing) this.act({ type: 'pause', entry }).catch(() => {}); });
    this.#stopped = { entry, wait };
  }

  /** Ends the wait for what the system has stopped. */
  #takeStopped() {
    const stopped = this.#stopped;
    this.#stopped = null;
    if (!stopped) return null;
    stopped.wait.end();
    this.deck.stalled();
    return stopped;
  }

  /** The song has begun to sound, or sounds again. */
  sounds() {
    this.#takeStopped();
    this.deck.sounds();
    this.look();
  }

  /**
   * Opens the file of the song anew, once, where the browser could not play it: some errors pass, such as those of a file
   * that was opened before the page was in the background.
   *
   * @param {unknown} error
   * @returns {boolean} whether it does
   */
  tryAgain(error) {
    const { song } = this.deck;
    if (!song || song.entry === this.#triedAgain || error instanceof Unanswered) return false;
    this.#triedAgain = song.entry;
    this.deck.stalled();
    this.sound.step({ do: 'play', song, fade: false }, this.deck);
    return true;
  }

  /**
   * Lets the machine take its steps.
   *
   * @param {(now: number) => Step[]} take
   * @param {Command} [command]
   * @returns {Promise<any>|undefined} the answer to the command, where it was sent
   */
  do(take, command) {
    if (this.#isClosed) return undefined;
    let answer;
    for (const step of take(this.device.now())) {
      if (step.do !== 'send') this.sound.step(step, this.deck);
      else if (step.command === command) answer = this.#send(step.command);
      else this.#send(step.command).catch(() => {});
    }
    this.#after();
    return answer;
  }

  /** @param {Command} command */
  async #send(command) {
    const answered = (/** @type {string|null} */ code) => this.do((now) => this.deck.answered(command, code, now));
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
    const { song } = this.deck;
    if (song?.track !== this.#pictured) this.device.showPicture(song?.track);
    this.#pictured = song?.track ?? 0;
    this.#show();
    this.save();
    this.sound.prepare(this.deck);
    this.lengths.look(new Set([song, ...this.deck.queue.slice(0, SOON)].flatMap((one) => one?.track ?? [])));
    this.look();
    this.device.stepped();
  }

  /** Shows in the room what is played here without it. */
  #show() {
    const { room, link } = this.store;
    if (room && this.deck.leading && link.state !== 'live') this.store.goAhead(shownBy(this.deck, room));
  }

  /** Keeps the deck for a reload. */
  save() {
    const { room } = this.store;
    if (!room) return;
    const offset = this.store.clock.now() - Date.now();
    saveDeck({ room: room.id, at: Date.now(), offset, found: this.device.found, deck: this.deck.toSaved() });
  }

  /**
   * The room, or the link to it, may have changed.
   *
   * @param {boolean} isOurs  whether this device is the deck, for the room
   */
  changed(isOurs) {
    const { room, link } = this.store;
    if (!room) return;
    if (room.pool !== this.#pool) this.lacking.look();
    this.#pool = room.pool;
    const seen = [room, room.playback, room.queue, room.requests[0], room.settings, link.state, isOurs];
    const isSame = !this.deck.leading && seen.every((one, place) => one === this.#seen[place]);
    if (room.playback.status !== 'stopped' || room.settings !== this.#seen[4]) {
      this.#refused.clear();
      this.#wish = null;
    }
    this.#seen = seen;
    this.#start();
    if (isSame) return;
    if (isOurs || this.deck.live) {
      this.report();
      // Before anything else: what is not here is not to be chosen.
      if (isOurs && !this.deck.live) this.lacking.tell();
      this.do((now) => (isOurs === this.deck.live ? this.deck.room(room, now) : this.deck.link(isOurs, room, now)));
    }
    if (!room.isAhead) this.#show();
  }

  /**
   * The library has changed.
   *
   * @param {boolean} [isPicked]  a file was picked for the song
   */
  found(isPicked = false) {
    this.lacking.look();
    this.do((now) => this.deck.found(now, isPicked));
    // The files have come by another way than the one that the person was asked to take.
    if (!this.#wish?.isPicked && !isPicked && !this.device.lack.isBare) this.#wish = null;
    this.#start();
  }

  /**
   * Keeps in mind that a DJ wishes music for which the files are missing.
   *
   * @param {number} [request]  the track that would have been started, where no entry waits
   */
  wish(request) {
    if (this.store.room?.playback.status === 'stopped') this.#wish = { request };
  }

  /** Begins what was wished: files were picked for it. */
  fulfil() {
    if (this.#wish) this.#wish.isPicked = true;
    this.#start();
  }

  /** Whether there is music once the files are here: some is on air, or it begins. */
  get promisesMusic() {
    return this.store.room?.playback.status !== 'stopped' || this.deck.opening(new Set(), this.#wish, () => true) !== undefined;
  }

  /**
   * Starts the music a little later where the room has stopped and has something that is here, and orders by itself or a
   * DJ wishes it.
   *
   * @param {number} [afterMs]
   */
  #start(afterMs = START_MS) {
    const { room } = this.store;
    if (this.#startTimer || room?.playback.status !== 'stopped' || (room.settings.queueMode === 'dj' && !this.#wish?.isPicked)) return;
    this.#startTimer = setTimeout(async () => {
      const wish = this.#wish?.isPicked ? this.#wish : null;
      const opening = this.deck.opening(this.#refused, wish);
      // None of the files that were picked is of what waits.
      if (wish && !opening && this.deck.live && !this.deck.leading) this.#wish = null;
      let isRefused = false;
      // A person is faster.
      if (opening && !this.#isClosed && !['enqueue', 'play'].some((type) => this.store.isPending(type))) {
        try {
          const entry = opening.entry ?? (await this.store.send({ type: 'enqueue', track: opening.track, at: 0 }, { once: true })).entry;
          if (this.store.room?.playback.status === 'stopped') await this.act({ type: 'play', entry });
        } catch (error) {
          isRefused = true;
          if (LASTING.has(/** @type {Refusal} */ (error).code)) this.#refused.add(opening.track);
        }
      }
      this.#startTimer = undefined;
      if (isRefused && !this.#isClosed) this.#start(START_AGAIN_MS);
    }, afterMs);
  }

  /**
   * What sounded has come to its end.
   *
   * @param {number|null} lengthMs  where it was heard from its beginning
   */
  ended(lengthMs) {
    const { song } = this.deck;
    if (lengthMs !== null && song && this.sound.has(song)) this.lengths.heard(song.track, Math.round(lengthMs));
    this.do((now) => this.deck.ended(now));
  }

  /** Tells the machine what is heard. */
  report() {
    const positionMs = this.sound.positionOf(this.deck.song);
    if (positionMs === null || this.#isClosed) return;
    for (const step of this.deck.report(positionMs, this.device.now())) {
      if (step.do === 'send') this.#send(step.command).catch(() => {});
    }
  }

  /** Looks at the sound from time to time, and when a song is to fade or something is due. */
  look() {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const { song, dueAtMs, isUncompared } = this.deck;
    if (!song?.playing && dueAtMs === Infinity) return;
    this.#timer = setTimeout(() => {
      this.report();
      const isOver = this.#fadesIn <= 20;
      // Where a length was an estimate, no song fades by it.
      if (isOver && song) this.lengths.heard(song.track, Math.round(this.sound.lengthOf(song)));
      this.do((at) => (isOver ? this.deck.ended(at) : this.deck.tick(at)));
    }, Math.max(10, Math.min(isUncompared ? LOOK_FIRST_MS : LOOK_MS, this.#fadesIn, dueAtMs - this.device.now())));
  }

  /** The time until the song is to fade into the next one, in ms. */
  get #fadesIn() {
    const { song, next, isEnding } = this.deck;
    return next === undefined || isEnding ? Infinity : this.sound.fadesIn(song);
  }
}
