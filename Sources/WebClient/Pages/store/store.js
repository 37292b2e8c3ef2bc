// What the views show: the room, the link to it, and the commands that are on their way.

import { Gap, PART, Room, WHOLE } from '../room/room.js';

/**
 * @typedef {import('../wire/messages').Command} Command
 * @typedef {import('../wire/messages').ServerMessage} ServerMessage
 * @typedef {import('../wire/messages').Track} Track
 * @typedef {{send(message: object): void}} Port
 * @typedef {'insecure'|'no_cookies'|'cookie_lost'|'foreign'} NoUse  why no session is of use here: its cookie does not come
 *   back, or the server does not take the page for its own
 * @typedef {4401|4403|4404|'not_found'|'banned'|'unauthorized'|NoUse} EndCode
 * @typedef {{state: 'connecting'|'live'|'waiting'|'ended', since: number, retryAt?: number, code?: EndCode,
 *   retryAfterMs?: number, reason?: string, isBlocked?: boolean}} Link  `reason`: why the viewer is banned; `isBlocked`: the
 *   server answers requests, and no socket comes about
 * @typedef {{id: number, key: string, command: Command, madeAt: number, madeOn: number, promise: Promise<any>,
 *   resolve(result: any): void, reject(refusal: Refusal): void, port: Port|null, wasSent: boolean, once: boolean,
 *   keyed?: number, epoch?: string, ack?: {seq: number, result: any}}} Entry  made at a monotonic time, on a date
 */

/** The server's answer that says no, or a failure on the way there. */
export class Refusal extends Error {
  /**
   * @param {string} code  of Protocol.md section 6, or 'offline', 'outcome_unknown', or one of NoUse
   * @param {string} [message]
   * @param {{retryAfterMs?: number, status?: number, reason?: string}} more
   */
  constructor(code, message = code, { retryAfterMs, status, reason } = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
    /** Why the session is banned, where the banner said so. */
    this.reason = reason;
  }
}

/** Commands that nobody wants any more after 10 s. */
const LIVE_CONTROLS = new Set(['play', 'pause', 'resume', 'seek', 'skip']);
/** Commands that may be carried out twice. */
const HARMLESS = new Set([
  'vote', 'unvote', 'voteSkip', 'unvoteSkip', 'finish', 'dequeue', 'removeTracks', 'rename', 'leave', 'syncDeck', 'setWaveform',
  'setDuration', 'setMissing',
]);
/** Commands that no other one waits for. */
const ASIDE = new Set(['setWaveform', 'setDuration']);
const LIVE_CONTROL_MS = 10_000;
const OTHERS_MS = 86_400_000;
/** Commands without an answer at one time. */
const IN_FLIGHT = 16;
/** Commands that wait for the link; more are refused. */
const WAITING = 1000;
/** A key is sent again while the room has counted at most this many newer ones (the server remembers 1,000). */
const KEYS = 500;

/** The server's time. The wire sets the offset. */
class ServerClock {
  /** @param {() => number} monotonic */
  constructor(monotonic) {
    this.monotonic = monotonic;
    this.offset = Date.now() - monotonic();
    /** The largest error of {@link now} in ms, as far as it is known. */
    this.errorMs = Infinity;
  }

  /** The server's time in ms since the epoch. */
  now() {
    return this.monotonic() + this.offset;
  }
}

export class Store {
  /** @type {Room|null} */
  room = null;
  /** @type {{id: string, name: string}|null} */
  session = null;
  /** @type {Link} */
  link;
  /** Connections that the room has been followed by so far: one may take another's place while the link stays live. */
  connections = 0;
  #dirty = 0;
  #isScheduled = false;
  /** @type {Set<{mask: number, callback: (changed: number) => void}>} */
  #watchers = new Set();
  /** @type {Map<string, Set<(value: any) => void>>} */
  #listeners = new Map();
  /** @type {Port|null} */
  #port = null;
  /** The port's first message about the room has come. */
  #follows = false;
  /**
   * The room's count of keyed commands in that message.
   *
   * @type {number|undefined}
   */
  #keyedThen;
  /** @type {Entry[]} commands in the order of the calls */
  #outbox = [];
  #lastId = 0;
  /** The id of a `subscribe` without an answer. */
  #subscribing = 0;
  /** Who the viewer is by the newest answer to `join`; 0 once the room, which has shown other, was asked. */
  #joinedAs = 0;
  /** It was asked for that, and not answered: where it was refused, the next beat asks again. */
  #asksMembership = false;
  /** @type {any} */
  #timer;

  /** @param {{frame?: (run: () => void) => void, now?: () => number}} ports  for tests */
  constructor({ frame = (run) => requestAnimationFrame(run), now = () => performance.now() } = {}) {
    this.frame = frame;
    this.monotonic = now;
    this.clock = new ServerClock(now);
    this.link = { state: 'connecting', since: now() };
  }

  /** The position to resume from; null where the room here is not that of the log: it begins with a snapshot. */
  get position() {
    return this.room && !this.room.isAhead ? { epoch: this.room.epoch, seq: this.room.seq } : null;
  }

  // Changes

  /**
   * Calls back, at most once a frame, after parts have changed.
   *
   * @param {number} mask
   * @param {(changed: number) => void} callback
   * @returns {() => void} ends it
   */
  watch(mask, callback) {
    const watcher = { mask, callback };
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Calls back at each 'event', 'snapshot', 'reaction' or 'signal', at each 'message' once it has been handled, and, with
   * nothing, at each 'change' of the link and after each message of it: at once, also where the page is hidden.
   *
   * @param {string} type
   * @param {(value: any) => void} callback
   * @returns {() => void} ends it
   */
  on(type, callback) {
    const set = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, set.add(callback));
    return () => set.delete(callback);
  }

  /**
   * Notes that parts have changed.
   *
   * @param {number} mask
   */
  touch(mask) {
    this.#dirty |= mask;
    if (!this.#dirty || this.#isScheduled) return;
    this.#isScheduled = true;
    // A hidden page has no frames: it draws when it is seen again.
    this.frame(() => this.#flush());
  }

  #flush() {
    const changed = this.#dirty;
    this.#dirty = 0;
    this.#isScheduled = false;
    for (const { mask, callback } of [...this.#watchers]) {
      if (mask & changed) guarded(() => callback(changed));
    }
  }

  /**
   * @param {string} type
   * @param {any} value
   */
  #emit(type, value) {
    for (const callback of this.#listeners.get(type) ?? []) guarded(() => callback(value));
  }

  // Commands

  /**
   * Sends a command, and again after a reconnect as long as it cannot be carried out twice.
   *
   * @param {Command} command
   * @param {{key?: string, once?: boolean}} options  `once`: only over the link as it is now, and not again after it
   * @returns {Promise<any>} its result, once the room here has its events; rejects with a Refusal
   */
  send(command, { key = newKey(), once = false } = {}) {
    const same = this.#outbox.find((entry) => entry.key === key);
    if (same) return same.promise;
    if (this.link.state === 'ended') return Promise.reject(this.#endRefusal());
    if (this.#outbox.length >= WAITING || (once && !this.#follows)) return Promise.reject(new Refusal('offline'));
    /** @type {any} */
    const entry = { id: ++this.#lastId, key, command, madeAt: this.monotonic(), madeOn: Date.now(), port: null, wasSent: false, once };
    entry.promise = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
    this.#outbox.push(entry);
    this.touch(PART.pending | (isVote(entry) ? PART.votes : 0));
    this.#pump();
    return entry.promise;
  }

  /**
   * Sends a message that has no answer, if the link is live.
   *
   * @param {{type: string, [field: string]: unknown}} message
   */
  post(message) {
    if (this.#follows && this.room) this.#port?.send({ ...message, room: this.room.id });
  }

  /** A number for a message that is answered: no other message has it. */
  newId() {
    return ++this.#lastId;
  }

  /**
   * Whether a command of this type is on its way.
   *
   * @param {string} type
   * @param {string} [field]
   * @param {unknown} [value]
   */
  isPending(type, field, value) {
    return this.#outbox.some(({ command }) => command.type === type && (!field || command[field] === value));
  }

  /**
   * A track's votes as they are shown: with the vote that is on its way.
   *
   * @param {Track} track
   * @returns {{count: number, mine: boolean, pending: boolean}}
   */
  votesOf(track) {
    const mine = this.room?.you?.votes.has(track.track) ?? false;
    const last = this.#outbox.length ? this.#lastVote(track.track) : undefined;
    if (!last) return { count: track.votes, mine, pending: false };
    const wanted = last.command.type === 'vote';
    return { count: Math.max(0, track.votes + Number(wanted) - Number(mine)), mine: wanted, pending: true };
  }

  /**
   * Votes for a track, or withdraws the vote.
   *
   * @param {Track} track
   * @returns {Promise<any>}
   */
  toggleVote(track) {
    const last = this.#lastVote(track.track);
    if (last && !last.wasSent) {
      // The opposite one, not sent yet: both together change nothing.
      this.#settle(last, () => last.resolve(undefined));
      return Promise.resolve();
    }
    return this.send({ type: this.votesOf(track).mine ? 'unvote' : 'vote', track: track.track });
  }

  /**
   * @param {number} track
   * @returns {Entry|undefined}
   */
  #lastVote(track) {
    for (let i = this.#outbox.length - 1; i >= 0; i--) {
      const entry = this.#outbox[i];
      if (entry.command.track === track && isVote(entry)) return entry;
    }
    return undefined;
  }

  /** Sends what may be sent, in the order of the calls. */
  #pump() {
    const { room } = this, port = this.#port;
    this.#expire();
    if (!room || !port || !this.#follows) return;
    let free = IN_FLIGHT - this.#outbox.filter((entry) => entry.port === port && !entry.ack).length;
    // The newest one before it without an answer: where the server puts that one off, it puts this one off as well.
    let /** @type {number|undefined} */ after;
    for (const entry of [...this.#outbox]) {
      if (free <= 0) return;
      if (entry.ack) continue;
      const isAside = ASIDE.has(entry.command.type);
      if (entry.port === port) {
        if (!isAside) after = entry.id;
        continue;
      }
      if (entry.wasSent && !this.#mayRepeat(entry)) {
        this.#refuse(entry, new Refusal('outcome_unknown'));
        continue;
      }
      if (!entry.wasSent) Object.assign(entry, { wasSent: true, keyed: room.keyed, epoch: room.epoch });
      entry.port = port;
      free--;
      const { id, key, command } = entry;
      port.send({ type: 'command', id, room: room.id, key, ...after !== undefined && !isAside && { after }, command });
      if (!isAside) after = id;
    }
  }

  /** Gives up commands for a link that is gone. */
  #giveUpOnce() {
    for (const entry of [...this.#outbox]) {
      if (entry.once && !entry.ack) this.#refuse(entry, new Refusal(entry.wasSent ? 'outcome_unknown' : 'offline'));
    }
  }

  /** @param {Entry} entry */
  #mayRepeat(entry) {
    if (HARMLESS.has(entry.command.type)) return true;
    const { epoch, keyed } = /** @type {Room} */ (this.room);
    if (entry.epoch !== epoch || entry.keyed === undefined || this.#keyedThen === undefined) return false;
    return Math.max(this.#keyedThen, keyed ?? 0) - entry.keyed <= KEYS;
  }

  /** Gives up commands that are too old, and looks again when the next one will be. */
  #expire() {
    clearTimeout(this.#timer);
    let next = Infinity;
    for (const entry of [...this.#outbox]) {
      if (entry.ack || (entry.port && entry.port === this.#port)) continue;
      // In some browsers the monotonic clock stands while the machine sleeps; the other one may be set back.
      const age = Math.max(this.monotonic() - entry.madeAt, Date.now() - entry.madeOn);
      const left = (LIVE_CONTROLS.has(entry.command.type) ? LIVE_CONTROL_MS : OTHERS_MS) - age;
      if (left <= 0) this.#refuse(entry, new Refusal(entry.wasSent ? 'outcome_unknown' : 'offline'));
      else next = Math.min(next, left);
    }
    if (next < Infinity) this.#timer = setTimeout(() => this.#expire(), next);
  }

  /**
   * @param {Entry} entry
   * @param {Refusal} refusal
   */
  #refuse(entry, refusal) {
    this.#settle(entry, () => entry.reject(refusal));
  }

  /**
   * @param {Entry} entry
   * @param {() => void} answer
   */
  #settle(entry, answer) {
    const place = this.#outbox.indexOf(entry);
    if (place < 0) return;
    this.#outbox.splice(place, 1);
    this.touch(PART.pending | (isVote(entry) ? PART.votes : 0));
    answer();
  }

  /**
   * Answers commands whose events the room has now.
   *
   * @param {boolean} all  of a room that has been replaced
   */
  #settleAcked(all = false) {
    for (const entry of [...this.#outbox]) {
      const { ack } = entry;
      if (ack && (all || (this.room && this.room.seq >= ack.seq))) this.#settle(entry, () => entry.resolve(ack.result));
    }
  }

  // For the wire

  /**
   * A socket is open; its first message about the room follows.
   *
   * @param {Port} port
   */
  connected(port) {
    this.#port = port;
    this.#follows = false;
    this.#subscribing = 0;
    this.#giveUpOnce();
  }

  /**
   * There is no socket: an attempt is being made, or the next one is at `retryAt`, or `code` says why there is none.
   *
   * @param {{retryAt?: number, code?: EndCode, retryAfterMs?: number, reason?: string, isBlocked?: boolean}} info
   */
  disconnected({ retryAt, code, retryAfterMs, reason, isBlocked } = {}) {
    this.#port = null;
    this.#follows = false;
    const since = this.link.state === 'live' ? this.monotonic() : this.link.since;
    this.#setLink({ state: code ? 'ended' : retryAt === undefined ? 'connecting' : 'waiting', since, retryAt, code, retryAfterMs, reason, isBlocked });
    this.#giveUpOnce();
    if (code) this.#end();
    else this.#expire();
  }

  /**
   * Shows a room that was saved, until the server's is here.
   *
   * @param {import('../wire/messages').RoomSnapshot} saved
   */
  restore(saved) {
    if (this.room) return;
    this.room = new Room(saved);
    this.touch(WHOLE);
    this.#emit('snapshot', this.room);
  }

  /**
   * Shows what the deck here plays by itself, of which the room has not been told. A snapshot replaces it.
   *
   * @param {Pick<Room, 'playback'|'queue'|'history'>} deck
   */
  goAhead(deck) {
    if (!this.room) return;
    Object.assign(this.room, deck, { isAhead: true });
    this.touch(PART.playback | PART.queue | PART.history);
  }

  #end() {
    clearTimeout(this.#timer);
    this.room = null;
    this.#settleAcked(true);
    for (const entry of [...this.#outbox]) this.#refuse(entry, this.#endRefusal());
    this.touch(WHOLE);
    this.#emit('change', undefined);
  }

  #endRefusal() {
    const { code, retryAfterMs } = this.link;
    /** @type {Record<string, string>} */
    const codes = { 4401: 'unauthorized', 4403: 'banned', 4404: 'not_found' };
    return new Refusal(codes[code ?? ''] ?? code ?? 'offline', undefined, { retryAfterMs });
  }

  /** @param {Link} link */
  #setLink(link) {
    this.link = link;
    this.touch(PART.link);
    this.#emit('change', undefined);
  }

  /**
   * Handles one message of the socket.
   *
   * @param {ServerMessage} message
   */
  receive(message) {
    this.#take(message);
    this.#emit('message', message);
    this.#emit('change', undefined);
  }

  /** @param {ServerMessage} message */
  #take(message) {
    const { room } = this;
    switch (message.type) {
      case 'welcome':
        this.session = message.session;
        return this.touch(PART.you);
      case 'snapshot': return this.#replace(message);
      case 'ack': return this.#acknowledge(message);
      case 'error': return this.#refused(message);
      default:
    }
    if (!room || ('room' in message && message.room !== room.id)) return;
    switch (message.type) {
      case 'resumed':
        this.#subscribing = 0;
        if (!this.#follow(() => room.resumed(message))) return;
        this.#live(message.keyed);
        return this.#toldMembership();
      case 'delta':
        this.#follow(() => {
          if (message.from > room.seq + 1) throw new Gap();
          let changed = 0;
          for (const event of message.events) {
            const { seq } = room;
            changed |= room.apply(event);
            if (room.seq > seq) this.#emit('event', event);
          }
          return changed;
        });
        return this.#settleAcked();
      case 'presence': return this.touch(room.presence(message));
      case 'deck': return this.touch(room.deckChanged(message));
      case 'beat':
        if (((message.rooms[room.id] ?? 0) > room.seq || this.#asksMembership) && !this.#subscribing) this.#subscribe(true);
        return;
      case 'reaction':
      case 'signal': return this.#emit(message.type, message);
      default:
    }
  }

  /** @param {import('../wire/messages').Snapshot} message */
  #replace(message) {
    const before = this.room;
    const isOther = before !== null && before.epoch !== message.epoch;
    this.#subscribing = 0;
    this.room = new Room(message);
    // A snapshot that nobody asked for may be behind.
    if (before?.keyed !== undefined && !isOther) this.room.keyed = Math.max(before.keyed, this.room.keyed ?? 0);
    this.touch(WHOLE);
    this.#settleAcked(isOther);
    this.#emit('snapshot', this.room);
    this.#live(message.keyed);
    this.#toldMembership();
  }

  /** @param {number|undefined} keyed */
  #live(keyed) {
    if (!this.#follows) {
      this.#keyedThen = keyed ?? undefined;
      this.connections += 1;
    }
    this.#follows = this.#port !== null;
    if (this.link.state !== 'live') this.#setLink({ state: 'live', since: this.monotonic() });
    this.#settleAcked();
    this.#pump();
  }

  /**
   * Runs a change of the room; where it does not follow, subscribes again.
   *
   * @param {() => number} change
   */
  #follow(change) {
    try {
      this.touch(change());
      return true;
    } catch (error) {
      if (!(error instanceof Gap)) throw error;
      if (!this.#subscribing) this.#subscribe(this.#follows);
      return false;
    }
  }

  /** @param {boolean} resumes  else from a new snapshot */
  #subscribe(resumes) {
    if (!this.room || !this.#port) return;
    this.#subscribing = ++this.#lastId;
    const position = resumes ? this.position ?? undefined : undefined;
    this.#port.send({ type: 'subscribe', id: this.#subscribing, room: this.room.id, position });
  }

  /** @param {{re?: number, seq: number, result?: any, keyed?: number}} message */
  #acknowledge(message) {
    const entry = this.#outbox.find((one) => one.id === message.re);
    const { room } = this;
    if (room && message.keyed !== undefined) room.keyed = Math.max(room.keyed ?? 0, message.keyed);
    if (!entry) return;
    entry.ack = { seq: message.seq, result: message.result };
    if (entry.command.type === 'join' && message.result?.member) this.#joined(message.result.member, message.seq);
    this.#settleAcked();
    this.#pump();
  }

  /**
   * The viewer's own `join` was acknowledged.
   *
   * @param {number} member
   * @param {number} seq
   */
  #joined(member, seq) {
    const { room } = this;
    this.#joinedAs = member;
    if (!room || room.you?.member === member) return;
    // Events after the join may be the viewer's own votes: the room tells.
    if (room.seq <= seq) this.touch(room.joined(member));
    else if (!this.#subscribing) this.#subscribe(true);
  }

  /**
   * The room has shown who the viewer is.
   *
   * The answer to `join` overtakes what the room shows, also the beginning of the epoch that the join is of. What is
   * shown then is from before the join, and the join's event does not say whose it is: the room is asked again, once,
   * because the membership may as well have ended.
   */
  #toldMembership() {
    this.#asksMembership = false;
    if (!this.#joinedAs || this.room?.you?.member === this.#joinedAs || this.#subscribing) return;
    this.#joinedAs = 0;
    this.#asksMembership = true;
    this.#subscribe(true);
  }

  /** @param {{re?: number, code: string, message: string, retryAfterMs?: number}} message */
  #refused({ re, code, message, retryAfterMs }) {
    const entry = this.#outbox.find((one) => one.id === re);
    if (entry) {
      this.#refuse(entry, new Refusal(code, message, { retryAfterMs }));
      this.#pump();
    } else if (re && re === this.#subscribing) {
      // The next beat or hole asks again.
      this.#subscribing = 0;
    }
  }
}

/** @param {Entry} entry */
function isVote({ command }) {
  return command.type === 'vote' || command.type === 'unvote';
}

/** A key that no other command has. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Runs a callback of a view: its failure is reported and stops nobody else.
 *
 * @param {() => void} run
 */
function guarded(run) {
  try {
    run();
  } catch (error) {
    (globalThis.reportError ?? console.error)(error);
  }
}
