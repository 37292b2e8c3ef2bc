// The kernel of the page, as a program for `backline rehearse`: its socket, store, room, deck and search, without views.
//
// Node lacks a page around them, a WebSocket with a header (Debian's node-ws), and a clock that can be set.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

// Where Debian puts modules; its own Node.js looks there by itself, others do not.
const { WebSocket: Socket } = createRequire(import.meta.url)('/usr/share/nodejs/ws');
const PAGES = '../../../Sources/WebClient/Pages';

const CAN = [
  'cancel', 'claim', 'clock', 'clock-sync', 'commands', 'deck', 'expiry', 'keyed', 'nearby', 'presence', 'react', 'resume',
  'several', 'shown', 'signal', 'wake',
];

// A clock that can be set

const real = { setTimeout, clearTimeout, date: Date.now.bind(Date), monotonic: performance.now.bind(performance) };
let ahead = 0;
/** @type {Map<number, {due: number, run: () => void, timer: any}>} */
const timers = new Map();
let lastTimer = 0;

const nowMs = () => real.monotonic() + ahead;

function arm(id) {
  const one = timers.get(id);
  real.clearTimeout(one.timer);
  one.timer = real.setTimeout(() => fire(id), Math.max(0, one.due - nowMs()));
}

function fire(id) {
  const one = timers.get(id);
  if (!one) return;
  if (nowMs() < one.due) return arm(id);
  timers.delete(id);
  one.run();
}

/** What node's own modules may do with a timer. */
class Timer {
  constructor(run, ms) {
    Object.assign(this, { id: ++lastTimer, run, ms });
    this.refresh();
  }

  /** Begins anew, also after it has run. */
  refresh() {
    const timer = timers.get(this.id)?.timer;
    timers.set(this.id, { due: nowMs() + this.ms, run: this.run, timer });
    arm(this.id);
    return this;
  }

  ref() { return this; }

  unref() { return this; }

  hasRef() { return timers.has(this.id); }

  [Symbol.toPrimitive]() { return this.id; }
}

globalThis.setTimeout = (run, ms = 0, ...values) => new Timer(() => run(...values), Number(ms));
globalThis.clearTimeout = (timer) => {
  const id = timer instanceof Timer ? timer.id : timer;
  real.clearTimeout(timers.get(id)?.timer);
  timers.delete(id);
};
Date.now = () => Math.floor(real.date() + ahead);
performance.now = nowMs;

/** Lets time go by: the timers that are due run, the earliest first. */
function pass(ms) {
  ahead += ms;
  for (const [id] of [...timers].sort(([, a], [, b]) => a.due - b.due)) fire(id);
  for (const id of timers.keys()) arm(id);
}

// A page around the kernel

function browse({ address, token, session }) {
  const page = new EventTarget(), kept = new Map([['backline.session', JSON.stringify(session)]]);
  const withToken = { Authorization: `Bearer ${token}` };
  const fetched = globalThis.fetch;
  Object.defineProperty(globalThis, 'navigator', { value: { onLine: true }, configurable: true });
  Object.assign(globalThis, {
    WebSocket: class extends Socket {
      constructor(url, protocol) {
        super(url, protocol, { headers: withToken, perMessageDeflate: false });
        // A browser tells no more than that it closes.
        this.on('error', () => {});
      }
    },
    document: Object.assign(new EventTarget(), { visibilityState: 'visible' }),
    location: new URL('/r/7K3M9Q', address),
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
    dispatchEvent: page.dispatchEvent.bind(page),
    requestAnimationFrame: (run) => real.setTimeout(run, 1),
    localStorage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => kept.set(name, value),
      removeItem: (name) => kept.delete(name),
    },
    fetch: (path, options = {}) => fetched(new URL(path, address), { ...options, headers: { ...options.headers, ...withToken } }),
  });
}

// What the program keeps

/** @type {Map<string, ReturnType<typeof follow>>} by the name under which it is followed */
const rooms = new Map();
const outcomes = {}, reactions = [], signals = [], nearby = {}, circles = new Map();
const told = new Map();
const page = {};

const named = (name) => rooms.get(name) ?? [...rooms.values()].find(({ store, id }) => store.room?.id === name || id === name);

function follow(reference) {
  const store = new page.Store(), link = new page.RoomLink(store, reference);
  const one = { store, link, id: undefined, pending: 0, claim: undefined, conductor: undefined };
  store.on('snapshot', (room) => { one.id = room.id; });
  store.on('reaction', ({ from, emoji }) => reactions.push({ from, emoji }));
  store.on('signal', ({ from, data }) => signals.push({ from, data }));
  store.on('message', (message) => {
    const name = told.get(message.re);
    if (!name || (message.type !== 'ok' && message.type !== 'error')) return;
    outcomes[name] = message.type === 'ok' ? { ok: true } : { error: message.code };
  });
  store.on('change', () => {
    const isLive = store.link.state === 'live';
    one.claim?.check(isLive);
    one.conductor?.changed(isLive);
  });
  link.open();
  return one;
}

function command(one, name, wanted) {
  const { store } = one;
  const track = store.room?.tracks.get(wanted.track);
  const isVote = wanted.type === 'vote' || wanted.type === 'unvote';
  const toggles = isVote && track && store.votesOf(track).mine !== (wanted.type === 'vote');
  const promise = toggles ? store.toggleVote(track) : store.send(wanted);
  one.pending += 1;
  promise.then((result) => {
    outcomes[name] = result && Object.keys(result).length ? { ok: true, result } : { ok: true };
  }, ({ code }) => {
    if (code === 'outcome_unknown') outcomes[name] = { unknown: true };
    else outcomes[name] = code === 'offline' ? { dropped: true } : { error: code };
  }).finally(() => { one.pending -= 1; });
}

/** The deck of this device, without files and sound: every song can be played. */
function takeDeck(one) {
  const { store } = one;
  const device = {
    store, found: {}, lack: { isBare: false, lost: 0 }, now: () => store.clock.now(),
    songOf: () => true, canPlay: () => true, showPicture() {}, stepped() {},
  };
  const sound = {
    step() {}, prepare() {}, fadesIn: () => Infinity,
    positionOf: (song) => (song ? one.conductor.deck.position(device.now()) : null),
  };
  one.conductor = new page.Conductor(device, sound, null);
  one.conductor.changed(store.link.state === 'live');
}

const ENDS = { 4401: 'unauthorized', 4403: 'banned', 4404: 'not_found' };

function state(name) {
  const all = { outcomes, reactions, signals, nearby };
  const one = named(name);
  if (!one) return all;
  const { store } = one, { room, link, clock } = store;
  all.phase = link.state === 'live' || link.state === 'ended' ? link.state : 'offline';
  if (link.state === 'ended') all.code = ENDS[link.code] ?? link.code;
  all.pending = one.pending;
  if (clock.errorMs < Infinity) all.time = Math.round(clock.now());
  if (!room) return all;
  all.position = store.position;
  all.keyed = room.keyed;
  all.state = room.toState();
  all.shown = { ...all.state, pool: room.pool.map((track) => ({ ...track, votes: store.votesOf(track).count })) };
  all.you = room.you && { ...room.you, votes: [...room.you.votes].sort((a, b) => a - b) };
  all.online = room.online;
  all.members = room.present && [...room.present].sort((a, b) => a - b);
  all.deck = room.deck.member ? room.deck : null;
  return all;
}

// What the program is told to do

const ACTIONS = {
  follow: ({ room }) => { rooms.set(room, follow(room)); },
  unfollow: ({ room }) => { named(room).link.close(); },
  command: ({ room, as, command: wanted }) => command(named(room), as, wanted),
  react: ({ room, emoji }) => named(room).store.post({ type: 'react', emoji }),
  signal: ({ room, as, to, data }) => {
    const { store } = named(room), id = store.newId();
    told.set(id, as);
    store.post({ type: 'signal', id, to, data });
  },
  claim: ({ room, on }) => {
    const one = named(room);
    if (!on) return one.claim?.release();
    const look = () => one.claim.check(one.store.link.state === 'live');
    one.claim = new page.Claim(one.store, { look, lost() {}, otherTab() {} });
    one.claim.take();
  },
  takeDeck: ({ room }) => takeDeck(named(room)),
  deck: ({ room, command: wanted }) => { named(room).conductor.act(wanted).catch(() => {}); },
  nearby: ({ as, lat, lon, radiusMeters }) => {
    const changed = (found, { state: how, code }) => {
      nearby[as] = how === 'refused' ? { error: code } : found.map(({ id }) => id);
    };
    circles.set(as, new page.NearbyLink({ lat, lon, radiusMeters }, changed));
  },
  wake: () => { dispatchEvent(new Event('online')); },
  pass: ({ ms }) => pass(ms),
};

async function start(told) {
  browse(told);
  for (const path of ['store/store.js', 'wire/socket.js', 'wire/nearby.js', 'deck/claim.js', 'deck/conductor.js']) {
    Object.assign(page, await import(new URL(`${PAGES}/${path}`, import.meta.url)));
  }
  return { can: CAN };
}

function act(action) {
  const run = ACTIONS[action.type];
  if (!run) return { cannot: `there is no ${action.type}` };
  run(action);
  return { done: true };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  if (request.start) answer = await start(request.start);
  else if (request.do) answer = act(request.do);
  else answer = { state: state(request.state) };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
