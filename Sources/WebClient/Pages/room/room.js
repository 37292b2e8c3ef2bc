// A room as a client keeps it: a snapshot, and events folded in. Pure: no page, no clock, no network.

import { merged, placeOf, requestOrder } from './order.js';

/**
 * @typedef {import('../wire/messages').Member} Member
 * @typedef {import('../wire/messages').Track} Track
 * @typedef {import('../wire/messages').QueueEntry} QueueEntry
 * @typedef {import('../wire/messages').Playback} Playback
 * @typedef {import('../wire/messages').HistoryEntry} HistoryEntry
 * @typedef {import('../wire/messages').Settings} Settings
 * @typedef {import('../wire/messages').State} State
 * @typedef {import('../wire/messages').RoomEvent} RoomEvent
 * @typedef {{member: number, role: 'owner'|'dj'|'guest', votes: Set<number>}} You
 */

/** The parts of a page's state that change, as bits of a mask. */
export const PART = {
  room: 1, members: 2, pool: 4, votes: 8, queue: 16, playback: 32, history: 64, presence: 128, you: 256, link: 512,
  deck: 1024, pending: 2048,
};

/** Every part that a snapshot replaces. */
export const WHOLE = 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 1024;

/** A room keeps this many finished entries. */
const HISTORY = 50;

/** Messages that do not follow what the room has: the client subscribes again. */
export class Gap extends Error {}

export class Room {
  /** @param {import('../wire/messages').RoomSnapshot} snapshot */
  constructor(snapshot) {
    const state = snapshot.state;
    this.id = state.id;
    this.code = state.code;
    this.name = state.name;
    this.createdAt = state.createdAt;
    this.closedAt = state.closedAt ?? undefined;
    this.visibility = state.visibility;
    this.location = state.location ?? undefined;
    /** @type {Settings} */
    this.settings = state.settings;
    this.epoch = snapshot.epoch;
    this.seq = snapshot.seq;
    /** The room's count of keyed commands, where the server tells it. */
    this.keyed = snapshot.keyed ?? undefined;
    /** @type {Map<number, Member>} */
    this.members = new Map();
    for (const member of state.members) this.members.set(member.member, member);
    /** @type {Map<number, Track>} */
    this.tracks = new Map();
    /** @type {Track[]} the pool, in its order */
    this.pool = state.pool;
    for (const track of state.pool) this.tracks.set(track.track, track);
    /** @type {Track[]} most votes first */
    this.requests = [];
    for (const number of state.requests) {
      const track = this.tracks.get(number);
      if (track) this.requests.push(track);
    }
    /** @type {QueueEntry[]} */
    this.queue = state.queue;
    /** @type {Playback} */
    this.playback = state.playback;
    /** @type {HistoryEntry[]} newest first */
    this.history = state.history;
    /** @type {You|null} */
    this.you = null;
    this.online = 0;
    /** @type {Set<number>|null} */
    this.present = null;
    /** Whether queue, playback and history are those of a deck that went on off line: no event can follow. */
    this.isAhead = snapshot.isAhead ?? false;
    /** @type {{member?: number, here?: boolean}} */
    this.deck = {};
    this.#live(snapshot);
  }

  /** Whether the viewer may change the queue and the playback. */
  get isDJ() {
    return this.you !== null && this.you.role !== 'guest';
  }

  /** Whether the viewer owns the room. */
  get isOwner() {
    return this.you?.role === 'owner';
  }

  /** The track on air. */
  get onAir() {
    return this.playback.status === 'stopped' ? undefined : this.tracks.get(this.playback.track);
  }

  /**
   * Folds one event in.
   *
   * @param {RoomEvent} event
   * @returns {number} the parts that changed; 0 for an event that the room has already
   */
  apply(event) {
    if (event.seq <= this.seq) return 0;
    if (this.isAhead) throw new Gap('the room here has gone ahead');
    if (event.seq > this.seq + 1) throw new Gap(`event ${event.seq} after ${this.seq}`);
    this.seq = event.seq;
    return this.#fold(event);
  }

  /**
   * Folds consecutive events in.
   *
   * @param {{from: number, seq: number, events: RoomEvent[]}} message
   */
  delta(message) {
    if (message.from > this.seq + 1) throw new Gap(`a delta from ${message.from} after ${this.seq}`);
    let changed = 0;
    for (const event of message.events) changed |= this.apply(event);
    return changed;
  }

  /**
   * Takes the answer to a resumption: the deltas that are missing follow.
   *
   * @param {import('../wire/messages').Resumed} message
   */
  resumed(message) {
    if (message.epoch !== this.epoch) throw new Gap('resumed in another epoch');
    if (this.isAhead) throw new Gap('the room here has gone ahead');
    if (message.seq < this.seq) throw new Gap(`resumed at ${message.seq}, before ${this.seq}`);
    this.keyed = message.keyed ?? this.keyed;
    this.#live(message);
    return PART.you | PART.votes | PART.presence | PART.deck;
  }

  /**
   * Takes in the members who came online and went.
   *
   * @param {{online: number, on?: number[], off?: number[]}} message
   */
  presence(message) {
    this.online = message.online;
    if (!message.on || !message.off) {
      this.present = null;
      return PART.presence;
    }
    this.present ??= new Set();
    for (const member of message.on) this.present.add(member);
    for (const member of message.off) this.present.delete(member);
    return PART.presence;
  }

  /**
   * Takes in which member's device plays.
   *
   * @param {{member?: number, here?: boolean}} message
   */
  deckChanged(message) {
    this.deck = {};
    if (message.member) this.deck.member = message.member;
    if (message.here) this.deck.here = true;
    return PART.deck;
  }

  /**
   * Learns from the answer to `join` which member the viewer is.
   *
   * @param {number} member
   */
  joined(member) {
    if (this.you?.member === member) return 0;
    this.you = { member, role: this.members.get(member)?.role ?? 'guest', votes: new Set() };
    return PART.you;
  }

  /** @returns {State} the state as the protocol writes it; it shares the room's objects */
  toState() {
    const { id, code, name, createdAt, closedAt, visibility, location, settings } = this;
    return {
      id, code, name, createdAt, closedAt, visibility, location, settings,
      members: [...this.members.values()].sort((a, b) => a.member - b.member),
      pool: this.pool,
      requests: this.requests.map((track) => track.track),
      queue: this.queue, playback: this.playback, history: this.history,
    };
  }

  /**
   * What a snapshot and a resumption say beside the log.
   *
   * @param {import('../wire/messages').Beside} message
   */
  #live(message) {
    const { you, presence } = message;
    this.you = you ? { member: you.member, role: you.role, votes: new Set(you.votes) } : null;
    if (presence) {
      this.online = presence.online;
      this.present = presence.members ? new Set(presence.members) : null;
    }
    this.deckChanged({ member: message.deck ?? undefined, here: message.here ?? undefined });
  }

  /**
   * @param {RoomEvent} event
   * @returns {number}
   */
  #fold(event) {
    switch (event.type) {
      case 'memberJoined': {
        const { member, name, role } = event;
        this.members.set(member, { member, name, role, joinedAt: event.at });
        if (this.you?.member !== member) return PART.members;
        this.you.role = role;
        return PART.members | PART.you;
      }
      case 'memberLeft': return this.#memberLeft(event);
      case 'memberRenamed': {
        const member = this.members.get(event.member);
        if (!member) return 0;
        member.name = event.name;
        return PART.members;
      }
      case 'roleChanged': {
        const member = this.members.get(event.member);
        if (member) member.role = event.role;
        if (this.you?.member !== event.member) return PART.members;
        this.you.role = event.role;
        return PART.members | PART.you;
      }
      case 'roomUpdated':
        if (event.locationCleared) this.location = undefined;
        this.name = event.name ?? this.name;
        this.location = event.location ?? this.location;
        this.visibility = event.visibility ?? this.visibility;
        this.settings = event.settings ?? this.settings;
        return PART.room;
      case 'roomClosed':
        this.closedAt ??= event.at;
        if (!event.forget) return PART.room;
        this.location = undefined;
        for (const member of this.members.values()) member.name = '-';
        return PART.room | PART.members;
      case 'tracksAdded': return this.#tracksAdded(event);
      case 'tracksRemoved': return this.#tracksRemoved(event.tracks);
      case 'waveformSet': {
        const track = this.tracks.get(event.track);
        if (!track) return 0;
        track.waveform = event.waveform;
        const isNear = this.onAir === track || this.queue[0]?.track === track.track;
        return isNear ? PART.pool | PART.playback : PART.pool;
      }
      case 'durationSet': {
        const track = this.tracks.get(event.track);
        if (!track) return 0;
        track.durationMs = event.durationMs;
        return PART.pool | PART.queue | (this.onAir === track ? PART.playback : 0);
      }
      case 'missingSet': {
        const missing = new Set(event.tracks);
        this.pool = this.pool.slice();
        for (const track of this.pool) track.missing = missing.has(track.track) || undefined;
        return PART.pool | PART.votes | PART.queue | PART.playback;
      }
      case 'voteCast':
      case 'voteWithdrawn':
        this.#count(event);
        if (!this.you || this.you.member !== event.by) return PART.votes;
        if (event.type === 'voteCast') this.you.votes.add(event.track);
        else this.you.votes.delete(event.track);
        return PART.votes | PART.you;
      case 'votesCleared':
        this.#count({ track: event.track, votes: 0 });
        return PART.votes | (this.you?.votes.delete(event.track) ? PART.you : 0);
      case 'entryEnqueued': {
        /** @type {QueueEntry} */
        const entry = { entry: event.entry, track: event.track };
        if (event.by) entry.addedBy = event.by;
        this.queue = this.queue.slice();
        this.queue.splice(event.index, 0, entry);
        return PART.queue;
      }
      case 'entryRemoved':
        this.queue = this.queue.filter((entry) => entry.entry !== event.entry);
        return PART.queue;
      case 'entryMoved': {
        const moved = this.queue.find((entry) => entry.entry === event.entry);
        if (!moved) return 0;
        this.queue = this.queue.filter((entry) => entry !== moved);
        this.queue.splice(event.index, 0, moved);
        return PART.queue;
      }
      case 'playbackStarted':
        this.queue = this.queue.filter((entry) => entry.entry !== event.entry);
        this.playback = {
          status: 'playing', entry: event.entry, track: event.track, startedAt: event.startedAt ?? event.at,
          startedSeq: event.seq, positionMs: event.positionMs, atMs: event.atMs, skipVotes: 0,
        };
        if (event.by) this.playback.startedBy = event.by;
        return PART.queue | PART.playback;
      case 'playbackPaused': return this.#jump(event, 'paused');
      case 'playbackResumed': return this.#jump(event, 'playing');
      case 'playbackSeeked': return this.#jump(event);
      case 'playbackStopped':
        this.playback = { status: 'stopped' };
        return PART.playback;
      case 'entryFinished': return this.#entryFinished(event);
      case 'skipVoteCast': return this.#skipVotes(event.skipVotes, event.by, true);
      case 'skipVoteWithdrawn': return this.#skipVotes(event.skipVotes, event.by, false);
      // Bans are no part of the state; an event of an unknown type moves the position and changes nothing.
      default: return 0;
    }
  }

  /** @param {import('../wire/messages').MemberLeft} event */
  #memberLeft(event) {
    let changed = this.members.delete(event.member) ? PART.members : 0;
    if (event.votes?.length) {
      if (event.votes.length > 32) this.#countMany(event.votes);
      else for (const count of event.votes) this.#count(count);
      changed |= PART.votes;
    }
    if (event.skipVotes !== undefined) changed |= this.#skipVotes(event.skipVotes, event.member, false);
    if (this.you?.member === event.member) {
      this.you = null;
      changed |= PART.you;
    }
    return changed;
  }

  /**
   * @param {number} skipVotes  all of them
   * @param {number} by
   * @param {boolean} isCast    else the vote is taken back
   */
  #skipVotes(skipVotes, by, isCast) {
    const { playback } = this;
    if (playback.status === 'stopped') return 0;
    const others = (playback.skipVoters ?? []).filter((member) => member !== by);
    const skipVoters = isCast ? [...others, by].sort((a, b) => a - b) : others;
    this.playback = { ...playback, skipVotes, skipVoters: skipVoters.length > 0 ? skipVoters : undefined };
    return PART.playback;
  }

  /** @param {import('../wire/messages').TracksAdded} event */
  #tracksAdded(event) {
    const added = [];
    for (const given of event.tracks) {
      if (this.tracks.has(given.track)) continue;
      /** @type {Track} */
      const track = { ...given, addedBy: event.by, votes: 0 };
      this.tracks.set(track.track, track);
      added.push(track);
    }
    this.pool = merged(this.pool, added);
    return PART.pool;
  }

  /** @param {number[]} numbers */
  #tracksRemoved(numbers) {
    const gone = new Set(numbers);
    for (const number of gone) {
      this.tracks.delete(number);
      this.you?.votes.delete(number);
    }
    const stays = (/** @type {{track: number}} */ one) => !gone.has(one.track);
    this.pool = this.pool.filter(stays);
    this.requests = this.requests.filter(stays);
    this.queue = this.queue.filter(stays);
    return PART.pool | PART.votes | PART.queue | PART.you;
  }

  /**
   * @param {import('../wire/messages').Jump} event
   * @param {'playing'|'paused'} [status]
   */
  #jump(event, status) {
    const playback = this.playback;
    if (playback.status === 'stopped') return 0;
    const { positionMs, atMs } = event;
    this.playback = { ...playback, status: status ?? playback.status, positionMs, atMs };
    return PART.playback;
  }

  /** @param {import('../wire/messages').EntryFinished} event */
  #entryFinished(event) {
    const { entry, track, startedAt, reason, playedMs } = event;
    const song = this.tracks.get(track);
    /** @type {HistoryEntry} */
    const line = { entry, track, title: song?.title ?? '', startedAt, endedAt: event.endedAt ?? event.at, reason, playedMs };
    if (song?.artist) line.artist = song.artist;
    this.history = [line, ...this.history.slice(0, HISTORY - 1)];
    this.playback = { status: 'stopped' };
    return PART.playback | PART.history;
  }

  /**
   * Sets a track's votes, and its place among the requests.
   *
   * @param {{track: number, votes: number, requestedSeq?: number}} count
   */
  #count(count) {
    const track = this.tracks.get(count.track);
    if (!track) return;
    if (track.votes > 0) {
      const place = placeOf(this.requests, track, requestOrder);
      if (this.requests[place] === track) this.requests.splice(place, 1);
    }
    setVotes(track, count);
    if (track.votes > 0) this.requests.splice(placeOf(this.requests, track, requestOrder), 0, track);
  }

  /** @param {{track: number, votes: number, requestedSeq?: number}[]} counts */
  #countMany(counts) {
    for (const count of counts) {
      const track = this.tracks.get(count.track);
      if (track) setVotes(track, count);
    }
    this.requests = this.requests.filter((track) => track.votes > 0).sort(requestOrder);
  }
}

/**
 * @param {Track} track
 * @param {{votes: number, requestedSeq?: number}} count
 */
function setVotes(track, count) {
  track.votes = count.votes;
  // Not `delete`: it would turn the object into a slow and large one.
  track.requestedSeq = count.requestedSeq ?? undefined;
}

/**
 * The position of what is on air.
 *
 * @param {Playback} playback
 * @param {number} serverNow  ms since the epoch, by the server's clock
 * @returns {number} ms; 0 while stopped
 */
export function positionAt(playback, serverNow) {
  if (playback.status === 'stopped') return 0;
  const moved = playback.status === 'playing' ? serverNow - playback.atMs : 0;
  return Math.max(0, playback.positionMs + moved);
}

/**
 * When the waiting entries will start, as far as the durations are known.
 *
 * @param {Room} room
 * @param {number} serverNow
 * @returns {(number|null)[]} for each entry of the queue ms from now, or null
 */
export function startTimes(room, serverNow) {
  const { playback } = room;
  const current = room.onAir?.durationMs;
  /** @type {number|null} */
  let next = null;
  if (playback.status === 'playing' && current) next = Math.max(0, current - positionAt(playback, serverNow));
  return room.queue.map((entry) => {
    const starts = next;
    const duration = room.tracks.get(entry.track)?.durationMs;
    next = next === null || !duration ? null : next + duration;
    return starts;
  });
}

/**
 * The places in a queue, by track: that of its first entry, from 1. A queue that has changed is another array.
 *
 * @type {WeakMap<readonly QueueEntry[], Map<number, number>>}
 */
const places = new WeakMap();

/**
 * Where a track stands that plays or waits to be played: nobody has to ask for it.
 *
 * @param {Room} room
 * @param {number} track
 * @returns {number|null} 0 on air, 1 next, 2 and more its place in the queue; null: it may be asked for
 */
export function standingOf({ playback, queue }, track) {
  if (playback.status !== 'stopped' && playback.track === track) return 0;
  let known = places.get(queue);
  if (!known) {
    known = new Map();
    for (let at = queue.length; at > 0; at--) known.set(queue[at - 1].track, at);
    places.set(queue, known);
  }
  return known.get(track) ?? null;
}
