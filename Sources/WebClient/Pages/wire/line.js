// A socket that connects again until it is closed.

/**
 * @typedef {import('./messages').ServerMessage} ServerMessage
 * @typedef {{
 *   path(): Promise<string>,
 *   opened(): void,
 *   message(message: ServerMessage): void,
 *   lost(info: {retryAt?: number}): void,
 *   refused(): Promise<{waitMs?: number, isFinal?: boolean}>,
 *   ended(code: number): void,
 * }} Hooks  `refused`: a handshake failed; `isFinal` says that no other attempt is made
 */

/** The longest wait between two attempts. */
const LONGEST_MS = 20_000;
const SHORTEST_MS = 250;
/** A connection that lived for so long was a good one: the next attempt is made early again. */
const GOOD_MS = 30_000;
/** A socket that says nothing for so long after a question is replaced. */
const PROBE_MS = 1000;
/** The same for what is sent in the course of things: a server may be slow. */
const ANSWER_MS = 3000;
/** A handshake that takes longer is given up. */
const HANDSHAKE_MS = 10_000;
/** Ends for good: signed out, banned, no such room. */
const FINAL = new Set([4401, 4403, 4404]);

/** A socket that connects again until it is closed. At most one connection is used, and one more is being made. */
export class Line {
  /** @type {WebSocket|null} the one in use */
  #socket = null;
  /** @type {WebSocket|null} the one that is being made */
  #next = null;
  #attempt = 0;
  #tries = 0;
  #isOver = true;
  #isLeaving = false;
  /** Times by the wall clock, which goes on while the machine sleeps. */
  #heardAt = 0;
  #sentAt = 0;
  #openedAt = 0;
  #triedAt = 0;
  /** An attempt is being made. */
  #isTrying = false;
  #beatMs = 25_000;
  /** @type {any} */
  #retryTimer;
  /** @type {any} */
  #handshakeTimer;
  /** @type {any} */
  #probeTimer;
  /** @type {any} */
  #answerTimer;
  /** @type {any} */
  #watchdog;

  /** @param {Hooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
  }

  /** Whether a connection is in use. */
  get isOpen() {
    return this.#socket !== null;
  }

  /** Connects, and stays connected. */
  open() {
    if (!this.#isOver) return;
    this.#isOver = false;
    addEventListener('pageshow', this.#woke);
    addEventListener('online', this.#woke);
    document.addEventListener('visibilitychange', this.#woke);
    document.addEventListener('resume', this.#woke);
    this.#connect();
  }

  /** Ends the connection and all attempts. */
  close() {
    this.#isOver = true;
    this.#attempt += 1;
    removeEventListener('pageshow', this.#woke);
    removeEventListener('online', this.#woke);
    document.removeEventListener('visibilitychange', this.#woke);
    document.removeEventListener('resume', this.#woke);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#handshakeTimer);
    this.#release();
    this.#abandon();
  }

  /** Makes the next attempt now. */
  retryNow() {
    if (this.#isOver) return this.open();
    this.#tries = 0;
    if (!this.#socket && !this.#isTrying) this.#connect();
  }

  /**
   * Sends a message that the server answers: a connection that stays silent after it is replaced.
   *
   * @param {object} message
   */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify(message));
    this.#sentAt = Date.now();
    this.#answerTimer ??= setTimeout(this.#lookForAnswer, ANSWER_MS);
  }

  /** Probes the connection if nothing was heard on it since the last message was sent, long enough ago. */
  #lookForAnswer = () => {
    this.#answerTimer = undefined;
    if (this.#heardAt >= this.#sentAt || this.#isTrying) return;
    const left = this.#sentAt + ANSWER_MS - Date.now();
    if (left > 0) this.#answerTimer = setTimeout(this.#lookForAnswer, left);
    else this.#probe();
  };

  /** Asks for the time, which a server answers whatever else it waits for; replaces a connection that is silent. */
  #probe() {
    const asked = Date.now();
    this.send({ type: 'time', id: 0, t1: performance.now() });
    this.#probeTimer ??= setTimeout(() => {
      this.#probeTimer = undefined;
      if (this.#heardAt < asked && !this.#isTrying) this.#connect();
    }, PROBE_MS);
  }

  /** Makes one attempt, beside a connection that may be dead or without one. */
  async #connect() {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#handshakeTimer);
    this.#abandon();
    const attempt = ++this.#attempt;
    this.#triedAt = Date.now();
    this.#isTrying = true;
    // Also bounds the wait for the path, which may need a session.
    this.#handshakeTimer = setTimeout(() => this.#failed(attempt), HANDSHAKE_MS);
    let path;
    try {
      if (!this.#socket) this.hooks.lost({});
      path = await this.hooks.path();
    } catch {
      return this.#failed(attempt);
    }
    if (attempt !== this.#attempt) return;
    const url = new URL(path, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = this.#next = new WebSocket(url, 'backline.v1.json');
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = ({ data }) => this.#received(socket, data);
    socket.onclose = ({ code }) => (socket === this.#socket ? this.#closed(code) : this.#failed(attempt));
  }

  /** @param {WebSocket} socket */
  #opened(socket) {
    clearTimeout(this.#handshakeTimer);
    this.#release();
    this.#socket = socket;
    this.#next = null;
    this.#isTrying = false;
    this.#isLeaving = false;
    this.#openedAt = this.#heardAt = Date.now();
    this.#watch();
    this.hooks.opened();
  }

  /**
   * @param {WebSocket} socket
   * @param {unknown} data
   */
  #received(socket, data) {
    if (socket !== this.#socket) return;
    this.#heardAt = Date.now();
    if (this.#isTrying) {
      // The connection in use has answered: no other one is needed.
      this.#giveUp();
      this.#watch();
    }
    const message = /** @type {ServerMessage} */ (JSON.parse(String(data)));
    if (message.type === 'welcome') this.#beatMs = message.beatMs;
    if (message.type === 'goaway') this.#isLeaving = true;
    this.hooks.message(message);
  }

  /** Lets go of the connection that is being made. */
  #abandon() {
    drop(this.#next, Date.now() - this.#triedAt < PROBE_MS);
    this.#next = null;
  }

  /** Gives the present attempt up. */
  #giveUp() {
    this.#attempt += 1;
    this.#isTrying = false;
    clearTimeout(this.#handshakeTimer);
    this.#abandon();
  }

  /**
   * The connection in use has ended.
   *
   * @param {number} code
   */
  #closed(code) {
    const wasGood = Date.now() - this.#openedAt >= GOOD_MS;
    this.#release();
    if (FINAL.has(code)) {
      this.close();
      return this.hooks.ended(code);
    }
    if (wasGood || this.#isLeaving) this.#tries = 0;
    if (this.#isTrying) return this.hooks.lost({});
    if (this.#isLeaving) this.#connect();
    else this.#retry(0);
  }

  /** Lets go of the connection in use. */
  #release() {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#probeTimer);
    clearTimeout(this.#answerTimer);
    this.#probeTimer = this.#answerTimer = undefined;
    drop(this.#socket);
    this.#socket = null;
  }

  /**
   * An attempt came to nothing; a silent connection beside it is given up too.
   *
   * @param {number} attempt
   */
  async #failed(attempt) {
    if (attempt !== this.#attempt || this.#isOver) return;
    this.#giveUp();
    this.#release();
    const current = this.#attempt;
    this.hooks.lost({});
    const { waitMs = 0, isFinal } = await this.hooks.refused().catch(() => ({ waitMs: 0, isFinal: false }));
    if (current !== this.#attempt || this.#isOver) return;
    if (isFinal) this.close();
    else this.#retry(waitMs);
  }

  /**
   * Waits, with full jitter, for the next attempt.
   *
   * @param {number} atLeastMs
   */
  #retry(atLeastMs) {
    const wait = atLeastMs + Math.random() * Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.#tries);
    this.#tries += 1;
    this.hooks.lost({ retryAt: performance.now() + wait });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#connect(), wait);
  }

  /** The page is seen again, thawed, or on a network again. */
  #woke = (/** @type {Event} */ { type }) => {
    const wasFrozen = type === 'resume';
    if (this.#isOver || (document.visibilityState === 'hidden' && !wasFrozen)) return;
    const now = Date.now();
    // An attempt that has begun before the sleep may be dead too.
    const isFresh = this.#triedAt > 0 && now - this.#triedAt < PROBE_MS;
    if (!this.#socket) {
      this.#tries = 0;
      if (!isFresh) this.#connect();
      return;
    }
    if (this.#isTrying && isFresh) return;
    if (this.#probeTimer && !wasFrozen) return;
    this.#probe();
    // It may well be dead: do not wait. It stays where it answers first.
    const isClosed = this.#socket.readyState !== WebSocket.OPEN;
    if (isClosed || wasFrozen || now - this.#heardAt > this.#beatMs + PROBE_MS) this.#connect();
  };

  /** Looks, when the server should have been heard twice, whether it was. */
  #watch() {
    clearTimeout(this.#watchdog);
    const limit = 2 * this.#beatMs + 10_000;
    const left = this.#heardAt + limit - Date.now();
    this.#watchdog = setTimeout(() => {
      if (Date.now() - this.#heardAt < limit) this.#watch();
      else if (!this.#isTrying) this.#connect();
    }, Math.max(0, left) + 1);
  }
}

/**
 * Closes a socket without hearing of it again.
 *
 * A browser makes one connection to an address at a time: a handshake without an answer holds up the next one until it
 * is closed. A close before the handshake has ended is an error in the browser's console, so a young one gets time.
 *
 * @param {WebSocket|null} socket
 * @param {boolean} [isYoung]
 */
function drop(socket, isYoung = false) {
  if (!socket) return;
  const close = () => socket.close();
  socket.onopen = socket.onmessage = socket.onclose = null;
  if (socket.readyState !== WebSocket.CONNECTING || !isYoung) return close();
  socket.onopen = close;
  setTimeout(close, PROBE_MS);
}
