// A deck in simulated time: the machine of deck/deck.js with a device, a sound and a link that can be lost, beside a
// model of the server. What comes out of the sound is written down, to be compared with the room's log.
import { Deck } from '../../Sources/WebClient/Pages/deck/deck.js';
import { lackingCommand } from '../../Sources/WebClient/Pages/deck/lacking.js';
import { Room } from '../../Sources/WebClient/Pages/room/room.js';
import { Refused, RoomModel } from './room-model.mjs';

/** Commands that are for the link as it is; the others wait for the next one. */
const ONCE = new Set(['play', 'pause', 'resume', 'seek', 'skip', 'finish', 'syncDeck', 'setMissing']);
const LOOK_FIRST_MS = 500;
const LOOK_MS = 5000;

/** Callbacks at times. */
export class Clock {
  now = 1_700_000_000_000;
  #due = [];
  #count = 0;

  /** @returns {{cancelled: boolean}} */
  at(time, run) {
    const one = { time: Math.max(this.now, Math.round(time)), count: this.#count++, run, cancelled: false };
    let place = this.#due.length;
    while (place > 0 && this.#due[place - 1].time > one.time) place--;
    this.#due.splice(place, 0, one);
    return one;
  }

  in(ms, run) {
    return this.at(this.now + ms, run);
  }

  /** Lets time pass. */
  run(ms) {
    const end = this.now + ms;
    while (this.#due.length > 0 && this.#due[0].time <= end) {
      const one = this.#due.shift();
      this.now = one.time;
      if (!one.cancelled) one.run();
    }
    this.now = end;
  }
}

/** What comes out of the loudspeaker, song by song. */
export class Sound {
  /** @type {{track: number, key: string, startedAt: number, endedAt: number, ms: number}[]} */
  heard = [];
  #track = 0;
  #from = 0;
  #since = 0;
  #plays = false;
  #asks = 0;
  #end = null;

  constructor(device, clock, length) {
    this.device = device;
    this.clock = clock;
    this.length = length;
  }

  positionOf(song) {
    return song && this.#plays && this.#track === song.track ? this.#position() : null;
  }

  get track() {
    return this.#plays ? this.#track : 0;
  }

  #position() {
    return this.#from + (this.#plays ? this.clock.now - this.#since : 0);
  }

  step(step, deck) {
    if (step.do === 'play') this.#play(step.song, deck);
    else if (step.do === 'resume') {
      if (deck.song && this.#track !== deck.song.track) this.#play(deck.song, deck);
      else this.#run(deck.song, this.#position());
    } else if (step.do === 'seek') {
      if (this.#plays) this.#run(deck.song, step.positionMs);
      else this.#from = step.positionMs;
    } else if (step.do === 'pause') this.#halt();
    else this.stop();
  }

  stop() {
    this.#asks++;
    this.#halt();
    this.#track = 0;
  }

  /** A song's file takes a moment to open. */
  #play(song, deck) {
    const asks = ++this.#asks;
    this.clock.in(this.device.latency(), () => {
      if (asks !== this.#asks) return;
      this.#halt();
      this.#track = song.track;
      this.#from = song.positionMs === 0 ? 0 : deck.position(this.device.now());
      this.#line(song);
      if (song.playing) this.#run(song, this.#from);
      this.device.look();
    });
  }

  #run(song, positionMs) {
    this.#halt();
    this.#plays = true;
    this.device.deck.sounds();
    this.#from = positionMs;
    this.#since = this.clock.now;
    this.#line(song);
    const left = Math.max(0, this.length(song.track) - positionMs);
    const over = () => {
      this.#halt();
      this.device.ended();
    };
    // The end is told when the fade begins; the song is heard until the next one is there.
    const { fadeMs } = this.device;
    this.#end = left <= fadeMs ? this.clock.in(left, over) : this.clock.in(left - fadeMs, fadeMs === 0 ? over : () => {
      this.#end = this.clock.in(fadeMs, over);
      this.device.ended();
    });
  }

  /** The line for a song: the same one for as long as it is the same start of it. */
  #line(song) {
    const key = `${song.track} ${song.startedAtMs}`, last = this.heard.at(-1);
    if (last?.key !== key) this.heard.push({ track: song.track, key, startedAt: this.clock.now, endedAt: this.clock.now, ms: 0 });
  }

  #halt() {
    if (!this.#plays) return;
    this.#from = this.#position();
    this.#plays = false;
    if (this.#end) this.#end.cancelled = true;
    const last = this.heard.at(-1);
    last.endedAt = this.clock.now;
    last.ms += this.clock.now - this.#since;
  }

  /** Closes the account. */
  settle() {
    const { heard } = this, last = heard.at(-1);
    if (this.#plays && last) {
      last.ms += this.clock.now - this.#since;
      last.endedAt = this.clock.now;
      this.#from = this.#position();
      this.#since = this.clock.now;
    }
    return heard;
  }
}

/** The page of a DJ: its store, link and deck. */
export class Device {
  live = false;
  room = null;
  sends = [];
  #line = null;
  /** The store's link: it stays live while a new connection takes the place of one. */
  #isLinked = false;
  #outbox = [];
  #timer = null;
  #away = false;
  #lastKey = 0;

  /**
   * @param {{clock: Clock, model: RoomModel, random: (n: number) => number, lengths: Map<number, number>, offset?: number,
   *   errorMs?: number, missing?: Set<number>, delay?: () => number, member?: number, fadeMs?: number}} options
   */
  constructor({ clock, model, random = () => 0, lengths, offset = 0, errorMs = 0, missing = new Set(), delay = () => 20, member = 1, fadeMs = 0 }) {
    Object.assign(this, { clock, model, random, offset, errorMs, missing, delay, member, fadeMs });
    this.sound = new Sound(this, clock, (track) => lengths.get(track) ?? 20_000);
    this.deck = this.#machine(null);
  }

  #machine(saved) {
    return new Deck({
      isHere: (track) => this.#isHere(track), isBare: () => this.room.pool.length > 0 && !this.room.pool.some(({ track }) => this.#isHere(track)), errorMs: () => this.errorMs, isBusy: () => this.#outbox.some(({ once }) => !once),
    }, saved);
  }

  /** The server's time, as this device takes it. */
  now() {
    return this.clock.now + this.offset;
  }

  latency() {
    return this.random(120);
  }

  /** The machine's steps are carried out. */
  do(take) {
    if (this.#away) return;
    for (const step of take(this.now())) {
      this.onStep?.(step);
      if (step.do === 'send') this.send(step.command);
      else this.sound.step(step, this.deck);
    }
    if (this.deck.leading && !this.#isLinked && this.room) this.#goAhead();
    this.look();
  }

  act(command) {
    this.#report();
    this.do((now) => this.deck.act(command, now));
  }

  ended() {
    this.do((now) => this.deck.ended(now));
  }

  /** Files are here again; with `isPicked` the person was asked for them. */
  found(track, isPicked = false) {
    this.missing.delete(track);
    this.#tellMissing();
    this.do((now) => this.deck.found(now, isPicked));
  }

  #isHere(track) {
    return !this.missing.has(track) && (this.room?.tracks.has(track) ?? true);
  }

  #tellMissing() {
    const command = this.#line?.isLive && lackingCommand(this.room, (track) => this.#isHere(track));
    if (command) this.send(command);
  }

  #report() {
    const positionMs = this.sound.positionOf(this.deck.song);
    if (positionMs === null) return;
    for (const step of this.deck.report(positionMs, this.now())) this.do(() => [step]);
  }

  look() {
    if (this.#timer) this.#timer.cancelled = true;
    const { song, dueAtMs, isUncompared } = this.deck;
    if (this.#away || (!song?.playing && dueAtMs === Infinity)) return;
    this.#timer = this.clock.in(Math.max(10, Math.min(isUncompared ? LOOK_FIRST_MS : LOOK_MS, dueAtMs - this.now())), () => {
      this.#report();
      this.do((now) => this.deck.tick(now));
    });
  }

  /** As the store shows what the deck plays by itself. */
  #goAhead() {
    const { song, queue, played } = this.deck;
    const history = played.map(({ song: one, endedAtMs, playedMs, reason }) => (
      { entry: one.entry, track: one.track, title: '', startedAt: one.startedAtMs, endedAt: endedAtMs, reason, playedMs }));
    const told = this.room.history.filter(({ entry }) => !history.some((one) => one.entry === entry));
    this.room.queue = queue.map((item) => ({ ...item }));
    this.room.history = [...history.reverse(), ...told].slice(0, 50);
    this.room.playback = song ? {
      status: song.playing ? 'playing' : 'paused', entry: song.entry, track: song.track, startedAt: song.startedAtMs,
      startedSeq: this.room.seq, positionMs: song.positionMs, atMs: song.atMs, skipVotes: 0,
    } : { status: 'stopped' };
    this.room.isAhead = true;
  }

  #changed() {
    this.#report();
    this.do((now) => this.deck.room(this.room, now));
  }

  // The link

  /** Opens a link: the room comes, then the claim. */
  connect(claimMs = 0) {
    if (this.#line || this.#away) return;
    const line = { isUp: true, isLive: false, up: 0, down: 0, sent: this.model.seq };
    this.#line = line;
    const known = this.room && !this.room.isAhead ? this.room.seq : null;
    const snapshot = known === null || this.random(4) === 0 ? this.model.snapshot(this.member) : null;
    const from = known ?? 0;
    const missed = snapshot ? [] : this.model.events.slice(from);
    this.#down(line, () => {
      if (snapshot || this.room.isAhead) this.room = new Room(snapshot ?? this.model.snapshot(this.member));
      else for (const event of missed) this.room.apply(event);
      line.isLive = this.#isLinked = true;
      this.#settle();
      for (const one of this.#outbox) if (!one.once && !one.ack) this.#transmit(one);
    });
    if (claimMs > 0) this.clock.in(claimMs, () => this.#down(line, () => this.#claimed(line)));
    else this.#down(line, () => this.#claimed(line));
    line.watch = () => this.#deliver(line);
    this.model.onEvents = line.watch;
  }

  #claimed(line) {
    if (line !== this.#line || this.#away) return;
    this.live = true;
    this.onLive?.();
    this.#tellMissing();
    this.#report();
    this.do((now) => this.deck.link(true, this.room, now));
  }

  /** New events travel to the page. */
  #deliver(line) {
    const events = this.model.events.slice(line.sent);
    line.sent = this.model.seq;
    if (events.length > 0) this.#down(line, () => {
      for (const event of events) this.room.apply(event);
      this.#settle();
      if (this.live) this.#changed();
    });
  }

  /** Something travels to the page, in its turn; what travels when the link is lost is lost. */
  #down(line, run) {
    line.down = Math.max(line.down, this.clock.now + this.delay());
    this.clock.at(line.down, () => { if (line.isUp && line === this.#line) run(); });
  }

  /** The network is gone; the page sees that later. */
  cut(seenAfterMs = 0) {
    const line = this.#line;
    if (!line || !line.isUp) return;
    line.isUp = false;
    this.clock.in(seenAfterMs, () => this.#lost(line));
  }

  #lost(line) {
    if (line !== this.#line) return;
    this.#line = null;
    this.#isLinked = false;
    const lost = this.#outbox.filter(({ once }) => once);
    this.#outbox = this.#outbox.filter(({ once }) => !once);
    const refuse = () => { for (const { command } of lost) this.do((now) => this.deck.answered(command, 'outcome_unknown', now)); };
    const isFirst = this.random(2) === 0;
    if (isFirst) refuse();
    if (this.live) {
      this.live = false;
      this.#report();
      this.do((now) => this.deck.link(false, this.room, now));
    }
    if (!isFirst) refuse();
  }

  /** A new connection takes the place of a silent one: what was on its way is lost, and the deck stays the deck. */
  swap() {
    const line = this.#line;
    if (!line?.isLive || !this.live) return;
    line.isUp = false;
    this.#line = null;
    const lost = this.#outbox.filter(({ once }) => once);
    this.#outbox = this.#outbox.filter(({ once }) => !once);
    this.connect();
    for (const { command } of lost) this.do((now) => this.deck.answered(command, 'outcome_unknown', now));
  }

  send(command) {
    if (ONCE.has(command.type) && !this.#line?.isLive) {
      this.clock.in(0, () => this.do((now) => this.deck.answered(command, 'offline', now)));
      return;
    }
    const one = { command: JSON.parse(JSON.stringify(command)), original: command, once: ONCE.has(command.type), key: ++this.#lastKey, ack: null, seen: this.room.seq };
    this.sends.push({ at: this.clock.now, command: one.command, one });
    this.#outbox.push({ ...one, command, sent: one });
    this.#transmit(this.#outbox.at(-1));
  }

  #transmit(one) {
    const line = this.#line;
    if (!line?.isLive) return;
    line.up = Math.max(line.up, this.clock.now + this.delay());
    this.clock.at(line.up, () => {
      if (!line.isUp) return;
      let code = null, seq = 0;
      try {
        this.onArrival?.(one.sent.command);
        if (this.refuses?.(one.sent.command)) throw new Refused(this.refuses(one.sent.command), 'the test says so');
        ({ seq } = this.model.send(this.member, one.sent.command, one.once ? undefined : `k${one.key}`));
        this.onCarriedOut?.(one.sent.command, one.sent);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        code = error.code;
        this.onRefused?.(one.sent.command, error, one.sent);
      }
      const isAckFirst = this.random(2) === 0;
      if (!isAckFirst) this.model.onEvents?.();
      this.#down(line, () => {
        one.ack = { code, seq };
        this.#settle();
      });
      if (isAckFirst) this.model.onEvents?.();
    });
  }

  /** Answers commands whose events are here. */
  #settle() {
    for (const one of this.#outbox.slice()) {
      if (!one.ack || (!one.ack.code && this.room.seq < one.ack.seq)) continue;
      this.#outbox = this.#outbox.filter((other) => other !== one);
      const { command, ack: { code } } = one;
      this.clock.in(0, () => this.do((now) => this.deck.answered(command, code, now)));
    }
  }

  /** The page is loaded again, and is back later. */
  reload(awayMs) {
    if (this.#away) return;
    this.#report();
    const saved = JSON.stringify(this.deck.toSaved()), since = this.now();
    const room = JSON.stringify({ epoch: 'e1', seq: this.room.seq, state: this.room.toState(), isAhead: this.room.isAhead, you: { member: this.member, role: 'owner', votes: [] } });
    this.sound.stop();
    this.#away = true;
    this.live = this.#isLinked = false;
    if (this.#line) this.#line.isUp = false;
    this.#line = null;
    this.#outbox = [];
    if (this.#timer) this.#timer.cancelled = true;
    this.clock.in(awayMs, () => {
      this.#away = false;
      this.deck = this.#machine(JSON.parse(saved));
      this.room = new Room(JSON.parse(room));
      this.deck.room(this.room, this.now());
      this.do((now) => this.deck.resume(now, since));
      this.onBack?.();
    });
  }

  get isAway() {
    return this.#away;
  }

  get isBusy() {
    return this.#outbox.length > 0;
  }

  /** Whether the network is there. */
  get isUp() {
    return Boolean(this.#line?.isUp);
  }

  get hasLine() {
    return this.#line !== null;
  }
}
