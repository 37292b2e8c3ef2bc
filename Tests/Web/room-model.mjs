// A model of the server for the commands of queue and playback, as Protocol.md decides them, with a clock of its own.
// Its events are folded by the page's real Room; what only the server knows (time heard, voters, turns) stands beside.
import { Room } from '../../Sources/WebClient/Pages/room/room.js';

const HOUR = 3_600_000;
const WEEK = 604_800_000;
const PLAYED = 200;
const QUEUE = 500;
const TOLD = 10_000;

/** The server's answer that says no. */
export class Refused extends Error {
  constructor(code, why) {
    super(`${code}: ${why}`);
    this.code = code;
  }
}

const bad = (why) => new Refused('bad_request', why);
const missing = (why) => new Refused('not_found', why);

/** Checks the numbers of a command: the protocol's are integers. */
function requireIntegers(value, path = 'command') {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw bad(`${path} is ${value}`);
  if (value && typeof value === 'object') for (const [name, inner] of Object.entries(value)) requireIntegers(inner, `${path}.${name}`);
}

export class RoomModel {
  /** The log. */
  events = [];
  /** Outcomes of keys. */
  #keys = new Map();
  #voters = new Map();
  /** Members' turns in a `fair` room. */
  #turns = new Map();
  /** The entries that the room chose on a member's turn. */
  #turnOf = new Map();
  #before = null;
  #lastPlay = new Map();
  #plays = 0;
  #heardMs = 0;
  #skipVoters = new Set();
  /** Members whose phones sleep. */
  #away = new Set();
  #nextEntry = 1;
  #nextTrack = 1;

  /** @param {{now: () => number, settings?: object, members?: {member: number, role: string}[], online?: number}} options */
  constructor({ now, settings = {}, members = [{ member: 1, role: 'owner' }, { member: 2, role: 'dj' }, { member: 3, role: 'guest' }], online = 3 }) {
    this.now = now;
    this.online = online;
    const at = now();
    this.first = {
      epoch: 'e1', seq: 0,
      state: {
        id: 'room', code: '7K3M9Q', name: 'Kitchen', createdAt: at, visibility: 'public',
        settings: { queueMode: 'dj', skipRatio: 0.5, maxWaitingPerMember: 0, repeatAfterPlays: 0, ...settings },
        members: members.map((one) => ({ name: `M${one.member}`, joinedAt: at, ...one })),
        pool: [], requests: [], queue: [], playback: { status: 'stopped' }, history: [],
      },
    };
    this.room = new Room(structuredClone(this.first));
  }

  get seq() {
    return this.events.length;
  }

  /** A snapshot for a member, as it is now; it shares nothing with the model. */
  snapshot(member = 1) {
    const votes = [...this.#voters].filter(([, voters]) => voters.has(member)).map(([track]) => track);
    const role = this.room.members.get(member)?.role ?? 'guest';
    return structuredClone({ epoch: 'e1', seq: this.seq, time: this.now(), state: this.room.toState(), you: { member, role, votes }, presence: { online: this.online } });
  }

  /**
   * Carries out a member's command, or finds the outcome of its key.
   *
   * @returns {{seq: number, result?: any}}
   */
  send(by, command, key) {
    const known = key && this.#keys.get(`${by} ${key}`);
    if (known) return known;
    requireIntegers(command);
    const role = this.room.members.get(by)?.role;
    if (!role) throw new Refused('not_member', `${by}`);
    if (role === 'guest' && !['vote', 'unvote', 'voteSkip', 'unvoteSkip'].includes(command.type)) throw new Refused('forbidden', command.type);
    // The time of a command is never before that of the newest event.
    this.at = Math.max(this.now(), this.events.at(-1)?.at ?? 0);
    const result = this.#decide(by, command);
    const outcome = { seq: this.seq, result };
    if (key) this.#keys.set(`${by} ${key}`, outcome);
    return outcome;
  }

  #add(type, fields) {
    const event = { seq: this.seq + 1, at: this.at, type, ...fields };
    for (const name of Object.keys(event)) if (event[name] === undefined) delete event[name];
    this.#beside(event);
    this.events.push(event);
    this.room.apply(event);
  }

  /** Folds what only the server knows. */
  #beside(event) {
    switch (event.type) {
      case 'voteCast': {
        const voters = this.#voters.get(event.track) ?? new Set();
        this.#voters.set(event.track, voters.add(event.by));
        break;
      }
      case 'voteWithdrawn':
        this.#voters.get(event.track).delete(event.by);
        if (event.votes === 0) this.#voters.delete(event.track);
        break;
      case 'votesCleared': this.#voters.delete(event.track); break;
      case 'tracksRemoved': for (const track of event.tracks) this.#voters.delete(track); break;
      case 'entryEnqueued': this.#turnOf.set(event.entry, event.by ?? event.why?.turnOf); break;
      case 'skipVoteCast': this.#skipVoters.add(event.by); break;
      case 'skipVoteWithdrawn': this.#skipVoters.delete(event.by); break;
      case 'playbackStarted': {
        this.#heardMs = event.playedMs ?? 0;
        this.#skipVoters.clear();
        this.#lastPlay.set(event.track, ++this.#plays);
        const member = this.#turnOf.get(event.entry);
        this.#before = member ? { member, turns: this.#turns.get(member) } : null;
        if (member) this.#turns.set(member, this.#nextTurn(member));
        break;
      }
      case 'playbackPaused':
      case 'playbackResumed':
      case 'playbackSeeked': this.#heardMs = event.playedMs ?? this.#heard(event.atMs); break;
      case 'entryFinished':
        if (event.reason === 'skipped' && this.#before) this.#turns.set(this.#before.member, this.#before.turns);
        break;
      default:
    }
  }

  // What is on air

  #position(at) {
    const { playback } = this.room;
    return playback.positionMs + (playback.status === 'playing' ? Math.max(0, at - playback.atMs) : 0);
  }

  #heard(at) {
    const { playback } = this.room;
    return this.#heardMs + (playback.status === 'playing' ? Math.max(0, at - playback.atMs) : 0);
  }

  get #onAir() {
    const { playback } = this.room;
    return playback.status === 'stopped' ? null : playback;
  }

  #finished(reason, { by, at = this.at, playedMs = this.#heard(at), isMissing } = {}) {
    const { entry, track, startedAt } = this.#onAir;
    this.#add('entryFinished', { entry, track, reason, startedAt, playedMs, by, endedAt: this.#unlessNow(at), missing: isMissing });
  }

  #unlessNow(time) {
    return time === this.at ? undefined : time;
  }

  #finish(reason, by, isMissing) {
    if (!this.#onAir) return;
    this.#finished(reason, { by, isMissing });
    for (const { entry, track } of this.room.queue.slice()) {
      // What the deck lacks waits on.
      if (this.room.tracks.get(track).missing) continue;
      if (this.#isRested(track)) return this.#start({ entry, track, positionMs: 0, atMs: this.at, by });
      this.#add('entryRemoved', { entry, why: { rule: 'repeatAfterPlays', rank: [0, 0] } });
    }
    const choice = this.choice();
    if (!choice) return this.#add('playbackStopped', { by });
    const entry = this.#enqueue(choice.track, 0, undefined, choice.why);
    this.#start({ entry, track: choice.track, positionMs: 0, atMs: this.at });
  }

  /** Puts an entry on the air; votes that an older log has for it are spent. */
  #start(fields) {
    this.#add('playbackStarted', fields);
    if (this.room.tracks.get(fields.track).votes > 0) this.#add('votesCleared', { track: fields.track });
  }

  #isRested(track) {
    const last = this.#lastPlay.get(track);
    return last === undefined || this.#plays - last >= this.room.settings.repeatAfterPlays;
  }

  /** Refuses an entry with too few other plays between it and another play of its track. */
  #requireNoRepeat(track, index) {
    const { queue, settings: { repeatAfterPlays: least } } = this.room;
    if (least === 0) return;
    const last = this.#lastPlay.get(track);
    const before = queue.slice(0, index).findLastIndex((one) => one.track === track), after = queue.slice(index).findIndex((one) => one.track === track);
    const since = before >= 0 ? index - before - 1 : last === undefined ? Infinity : this.#plays - last + index;
    if (since < least || (after >= 0 && after < least)) throw new Refused('conflict', 'repeatAfterPlays');
  }

  /** The track that the room would choose by itself. */
  choice() {
    const { settings } = this.room;
    if (settings.queueLocked || settings.queueMode === 'dj') return null;
    const requests = this.room.requests.filter(({ missing }) => !missing);
    if (settings.queueMode === 'votes') {
      const top = requests.find(({ track }) => this.#isRested(track));
      return top ? { track: top.track, why: { rule: 'votes', rank: [top.votes, top.requestedSeq] } } : null;
    }
    let best = null;
    for (const member of this.room.members.keys()) {
      const first = requests.filter(({ track }) => this.#voters.get(track)?.has(member) && this.#isRested(track))
        .sort((a, b) => a.requestedSeq - b.requestedSeq || a.track - b.track)[0];
      if (!first) continue;
      const turn = this.#nextTurn(member);
      const rank = [turn.round, turn.taken, first.requestedSeq, first.track, member];
      if (!best || rank.findIndex((one, place) => one < best.rank[place]) === rank.findIndex((one, place) => one !== best.rank[place])) {
        best = { track: first.track, rank, why: { rule: 'fair', rank: rank.slice(0, 3), turnOf: member } };
      }
    }
    return best;
  }

  #nextTurn(member) {
    const rounds = [...this.#turns.values()].map((turns) => turns?.round ?? 0);
    const floor = Math.max(0, Math.max(0, ...rounds) - 1);
    const { round = 0, taken = 0 } = this.#turns.get(member) ?? {};
    return { round: Math.max(round, floor) + 1, taken: taken + 1 };
  }

  // Commands

  #place(entry) {
    const place = this.room.queue.findIndex((one) => one.entry === entry);
    if (place < 0) throw missing(`entry ${entry}`);
    return place;
  }

  #existing(track) {
    if (!this.room.tracks.has(track)) throw missing(`track ${track}`);
  }

  #enqueue(track, index, by, why) {
    const entry = this.#nextEntry++;
    this.#add('entryEnqueued', { entry, track, index, by, why });
    if (this.room.tracks.get(track).votes > 0) this.#add('votesCleared', { track });
    return entry;
  }

  #decide(by, command) {
    const { room, at } = this, onAir = this.#onAir;
    switch (command.type) {
      case 'addTracks': {
        const tracks = command.tracks.map((info) => ({ ...info, track: this.#nextTrack++ }));
        this.#add('tracksAdded', { tracks, by });
        return { tracks: tracks.map(({ track }) => track) };
      }
      case 'removeTracks':
        for (const track of command.tracks) this.#existing(track);
        if (command.tracks.includes(onAir?.track)) throw new Refused('conflict', 'on air');
        return this.#add('tracksRemoved', { tracks: command.tracks, by });
      case 'vote': {
        this.#existing(command.track);
        if (this.#voters.get(command.track)?.has(by)) return undefined;
        if (onAir?.track === command.track) throw new Refused('conflict', 'on air');
        if (room.queue.some(({ track }) => track === command.track)) throw new Refused('conflict', 'waits');
        const { votes, requestedSeq = this.seq + 1 } = room.tracks.get(command.track);
        return this.#add('voteCast', { track: command.track, by, votes: votes + 1, requestedSeq });
      }
      case 'unvote': {
        this.#existing(command.track);
        if (!this.#voters.get(command.track)?.has(by)) return undefined;
        const { votes, requestedSeq } = room.tracks.get(command.track);
        return this.#add('voteWithdrawn', { track: command.track, by, votes: votes - 1, requestedSeq: votes > 1 ? requestedSeq : undefined });
      }
      case 'enqueue': {
        const index = command.at ?? room.queue.length;
        if (index < 0 || index > room.queue.length) throw bad('at');
        if (room.queue.length >= QUEUE) throw new Refused('limit_reached', 'queue');
        this.#existing(command.track);
        this.#requireNoRepeat(command.track, index);
        return { entry: this.#enqueue(command.track, index, by) };
      }
      case 'dequeue':
        this.#place(command.entry);
        return this.#add('entryRemoved', { entry: command.entry, by });
      case 'move': {
        if (command.to < 0 || command.to > room.queue.length) throw bad('to');
        const place = this.#place(command.entry), index = Math.min(command.to, room.queue.length - 1);
        return index === place ? undefined : this.#add('entryMoved', { entry: command.entry, index, by });
      }
      case 'play': {
        if (onAir && onAir.entry === command.entry) return this.#decide(by, { type: 'resume' });
        if (command.entry === undefined && room.queue.length === 0) throw missing('the queue is empty');
        const first = Math.max(0, room.queue.findIndex((one) => !room.tracks.get(one.track).missing));
        const { entry, track } = room.queue[command.entry === undefined ? first : this.#place(command.entry)];
        if (!this.#isRested(track)) throw new Refused('conflict', 'repeatAfterPlays');
        if (onAir) this.#finished('replaced', { by });
        return this.#start({ entry, track, positionMs: 0, atMs: at, by });
      }
      case 'setMissing': {
        if (command.tracks.length > TOLD) throw bad('tracks');
        const tracks = [...new Set(command.tracks)].filter((track) => room.tracks.has(track)).sort((a, b) => a - b);
        const known = room.pool.filter((one) => one.missing).map(({ track }) => track).sort((a, b) => a - b);
        return String(tracks) === String(known) ? undefined : this.#add('missingSet', { tracks, by });
      }
      case 'setDuration': {
        this.#existing(command.track);
        if (!(command.durationMs > 0 && command.durationMs <= WEEK)) throw bad('durationMs');
        return room.tracks.get(command.track).durationMs === command.durationMs ? undefined : this.#add('durationSet', { track: command.track, durationMs: command.durationMs, by });
      }
      case 'pause':
      case 'resume':
      case 'seek':
      case 'skip': return this.#control(by, command);
      case 'finish': return onAir?.entry === command.entry ? this.#finish(command.missing ? 'skipped' : 'ended', by, command.missing || undefined) : undefined;
      case 'voteSkip':
        if (onAir?.entry !== command.entry) return undefined;
        if (!this.#skipVoters.has(by)) this.#add('skipVoteCast', { entry: command.entry, by, skipVotes: this.#skipVoters.size + 1 });
        return this.#count(by);
      case 'unvoteSkip':
        if (onAir?.entry !== command.entry || !this.#skipVoters.has(by)) return undefined;
        return this.#add('skipVoteWithdrawn', { entry: command.entry, by, skipVotes: this.#skipVoters.size - 1 });
      case 'syncDeck': return this.#syncDeck(by, command);
      default: throw bad(command.type);
    }
  }

  /** What is for the song on air; for the one that is named, if another is on air by now. */
  #control(by, command) {
    const { at } = this, onAir = this.#onAir;
    if (command.type === 'seek' && !(command.positionMs >= 0 && command.positionMs <= WEEK)) throw bad('positionMs');
    if (command.entry !== undefined && command.entry !== onAir?.entry) return undefined;
    switch (command.type) {
      case 'pause': return onAir?.status === 'playing' ? this.#add('playbackPaused', { positionMs: this.#position(at), atMs: at, by }) : undefined;
      case 'resume': return onAir?.status === 'paused' ? this.#add('playbackResumed', { positionMs: onAir.positionMs, atMs: at, by }) : undefined;
      case 'seek': {
        if (!onAir || (onAir.status === 'paused' && onAir.positionMs === command.positionMs)) return undefined;
        return this.#add('playbackSeeked', { positionMs: command.positionMs, atMs: at, by });
      }
      default: return this.#finish('skipped', by);
    }
  }

  /** Skips where those who are here want it; a vote of somebody who is away does not count. */
  #count(by) {
    const isHere = (member) => member === by || !this.#away.has(member);
    const votes = [...this.#skipVoters].filter(isHere).length, online = this.online - [...this.#away].filter((member) => member !== by).length;
    if (votes > 0 && votes >= Math.max(1, Math.ceil(this.room.settings.skipRatio * online))) this.#finish('skipped');
  }

  /** A member's phone sleeps, or is back. */
  presence(member, isHere) {
    if (isHere) this.#away.delete(member);
    else this.#away.add(member);
    this.at = Math.max(this.now(), this.events.at(-1)?.at ?? 0);
    if (this.#onAir) this.#count();
  }

  // syncDeck

  #isOnAir(item) {
    const onAir = this.#onAir;
    return onAir !== null && (item.entry === undefined ? item.track === onAir.track : item.entry === onAir.entry);
  }

  #syncDeck(by, { queue, playback, played = [], known = Infinity }) {
    const onAir = this.#onAir, before = this.seq, deck = playback.status === 'stopped' ? null : { ...playback };
    if (queue.length > QUEUE) throw new Refused('limit_reached', 'queue');
    if (played.length > PLAYED) throw new Refused('limit_reached', 'played');
    const ends = played.length > 0 && this.#isOnAir(played[0]);
    const keeps = played.length === 0 && deck !== null && this.#isOnAir(deck);
    if (deck && (deck.positionMs < 0 || deck.positionMs > WEEK || !(deck.atMs >= 0))) throw bad('playback.positionMs');
    this.#requireTimes(played, deck, ends, keeps);
    const items = [...played, ...(deck ? [deck] : []), ...queue];
    const named = new Set();
    for (const { entry, track } of items) {
      if ((entry === undefined) === (track === undefined)) throw bad('an item is an entry or a track');
      if (entry !== undefined && named.has(entry)) throw bad(`entry ${entry} is named twice`);
      if (entry !== undefined) named.add(entry);
    }
    const later = [...played.slice(1), ...(played.length > 0 && deck ? [deck] : [])];
    if (onAir && later.some(({ entry }) => entry === onAir.entry)) throw bad('on air, and not first');
    for (const { entry, track } of items) {
      if (entry === undefined) this.#existing(track);
      else if (entry !== onAir?.entry) this.#place(entry);
    }
    if (onAir && queue.some(({ entry }) => entry === onAir.entry)) throw new Refused('conflict', 'on air does not wait');

    // A track stands for a waiting entry of it that nothing else names.
    const kept = new Set(named);
    const stands = (item) => {
      const entry = item.entry ?? this.room.queue.find((one) => one.track === item.track && one.entry <= known && !kept.has(one.entry))?.entry;
      if (entry !== undefined) kept.add(entry);
      return { ...item, entry, track: item.track };
    };
    const heard = played.map((item, place) => (place === 0 && ends ? item : stands(item)));
    const current = deck && !keeps ? stands(deck) : deck;
    const waiting = queue.map(stands);

    heard.forEach((item, place) => {
      const end = item.endedAtMs ?? item.startedAtMs + item.playedMs;
      if (place === 0 && onAir && !ends) this.#replace(by, item.startedAtMs);
      if (place > 0 || !ends) {
        const { entry, track } = this.#taken(item, kept, by);
        this.#start({ entry, track, positionMs: 0, atMs: item.startedAtMs, by, startedAt: this.#unlessNow(item.startedAtMs) });
      }
      this.#finished(item.reason, { by, at: end, playedMs: item.playedMs });
    });
    this.#play(by, current, keeps, before);
    const order = new Set(waiting.map(({ entry }) => entry));
    for (const { entry } of this.room.queue.slice()) if (!order.has(entry) && entry <= known) this.#add('entryRemoved', { entry, by });
    waiting.forEach(({ entry, track }, index) => {
      if (entry === undefined) this.#enqueue(track, index, by);
      else if (this.room.queue[index].entry !== entry) this.#add('entryMoved', { entry, index, by });
    });
  }

  #requireTimes(played, deck, ends, keeps) {
    const onAir = this.#onAir, now = this.at;
    let free = onAir?.startedAt ?? Math.max(this.room.createdAt, this.room.history[0]?.endedAt ?? 0);
    played.forEach((item, place) => {
      const end = item.endedAtMs ?? item.startedAtMs + item.playedMs;
      if (item.reason !== 'ended' && item.reason !== 'skipped') throw bad('reason');
      if (!(item.startedAtMs >= free)) throw bad(`played[${place}].startedAtMs ${item.startedAtMs} is before ${free}`);
      if (item.startedAtMs > now || end > now) throw bad(`played[${place}] is in the future`);
      if (end < item.startedAtMs) throw bad(`played[${place}].endedAtMs is before its start`);
      const began = place === 0 && ends ? onAir.startedAt : item.startedAtMs;
      if (!(item.playedMs >= 0 && item.playedMs <= end - began)) throw bad(`played[${place}].playedMs is ${item.playedMs}`);
      free = end;
    });
    if (!deck) return;
    if (deck.startedAtMs < free) throw bad(`playback.startedAtMs ${deck.startedAtMs} is before ${free}`);
    if (deck.startedAtMs > now) throw bad('playback.startedAtMs is in the future');
    if (deck.playedMs === undefined) return;
    const began = keeps ? onAir.startedAt : deck.startedAtMs ?? now;
    if (deck.playedMs < 0 || deck.playedMs > Math.max(0, Math.min(deck.atMs, now) - began)) throw bad(`playback.playedMs is ${deck.playedMs}`);
  }

  #replace(by, end) {
    const playedMs = Math.min(this.#heard(end), end - this.#onAir.startedAt);
    this.#finished('replaced', { by, at: end, playedMs });
  }

  #taken({ entry, track }, kept, by) {
    if (entry !== undefined) return this.room.queue[this.#place(entry)];
    if (this.room.queue.length >= QUEUE) {
      const spare = this.room.queue.findLast((one) => !kept.has(one.entry));
      if (!spare) throw new Refused('limit_reached', 'queue');
      this.#add('entryRemoved', { entry: spare.entry, by });
    }
    this.#enqueue(track, 0, by);
    return this.room.queue[0];
  }

  #play(by, deck, keeps, before) {
    const { at } = this, onAir = this.#onAir;
    if (!deck) {
      if (onAir) this.#finished('ended', { by });
      if (this.seq > before) this.#add('playbackStopped', { by });
      return;
    }
    const isPaused = deck.status === 'paused';
    const elapsed = isPaused ? 0 : Math.max(0, Math.min(at - deck.atMs, WEEK));
    const positionMs = Math.min(deck.positionMs + elapsed, WEEK);
    const began = keeps ? onAir.startedAt : deck.startedAtMs ?? at;
    const heard = deck.playedMs === undefined ? undefined : deck.playedMs + (isPaused ? 0 : Math.max(0, at - Math.max(deck.atMs, began)));
    if (!keeps) {
      const { entry, track } = this.#taken(deck, new Set([deck.entry]), by);
      if (onAir) this.#replace(by, deck.startedAtMs ?? at);
      this.#start({ entry, track, positionMs, atMs: at, by, startedAt: this.#unlessNow(deck.startedAtMs), playedMs: heard || undefined });
      if (isPaused) this.#add('playbackPaused', { positionMs, atMs: at, by });
      return;
    }
    const known = this.#heard(at), playedMs = heard === known ? undefined : heard;
    const fields = { positionMs, atMs: at, by, playedMs };
    if ((onAir.status === 'paused') !== isPaused) return this.#add(isPaused ? 'playbackPaused' : 'playbackResumed', fields);
    const differs = playedMs !== undefined && Math.abs(playedMs - known) >= 250;
    if (differs || this.#position(at) !== positionMs) this.#add('playbackSeeked', fields);
  }

  /** Fails where the log cannot be: one song at a time, each after the other. */
  check() {
    const { history } = this.room;
    let next = this.#onAir?.startedAt ?? Infinity;
    for (const { entry, startedAt, endedAt, playedMs } of history) {
      if (endedAt > next || startedAt > endedAt || playedMs > endedAt - startedAt + HOUR) throw new Error(`entry ${entry} was on air out of its time`);
      next = startedAt;
    }
  }
}
