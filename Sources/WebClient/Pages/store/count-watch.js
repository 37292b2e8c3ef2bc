// A subscription to what is counted of the room, on the room's socket: made again after each reconnect.

/**
 * @typedef {import('../wire/messages').CountsMessage} CountsMessage
 * @typedef {{told(message: CountsMessage): void, refused(code: string): void}} Hooks
 */

/** A subscription that was refused without a time is tried again after this one, where that may help. */
const AGAIN_MS = 10_000;
/** Refusals that stay. */
const FINAL = new Set(['not_found', 'banned', 'bad_request']);

export class CountWatch {
  /** The number of the subscription, and of the connection that it was asked for on. */
  #id = 0;
  #connection = 0;
  /** @type {any} */
  #timer;
  /** @type {(() => void)[]} */
  #stops;

  /**
   * Follows the counts until {@link close}.
   *
   * @param {import('./store.js').Store} store
   * @param {number} offsetMinutes
   * @param {Hooks} hooks
   */
  constructor(store, offsetMinutes, hooks) {
    this.store = store;
    this.offsetMinutes = offsetMinutes;
    this.hooks = hooks;
    this.#stops = [store.on('message', (message) => this.#take(message)), store.on('change', () => this.#look())];
    this.#look();
  }

  /** Ends the subscription. */
  close() {
    clearTimeout(this.#timer);
    for (const stop of this.#stops) stop();
    if (this.#connection === this.store.connections) {
      this.store.post({ type: 'statisticsStop', id: this.store.newId(), sub: this.#id });
    }
  }

  /** Subscribes where the room is followed on a connection that has no subscription yet. */
  #look() {
    const { store } = this;
    if (store.link.state !== 'live' || store.connections === this.#connection) return;
    this.#connection = store.connections;
    this.#ask();
  }

  #ask() {
    clearTimeout(this.#timer);
    this.#id = this.store.newId();
    this.store.post({ type: 'statistics', id: this.#id, offsetMinutes: this.offsetMinutes });
  }

  /**
   * At the end of the subscription the room's own link ends, too, and says why.
   *
   * @param {import('../wire/messages').ServerMessage} message
   */
  #take(message) {
    if (message.type === 'statistics' && message.re === this.#id) this.hooks.told(message);
    else if (message.type === 'statisticsDelta' && message.sub === this.#id) this.hooks.told(message);
    else if (message.type === 'error' && message.re === this.#id) this.#refused(message);
  }

  /** @param {{code: string, retryAfterMs?: number}} refusal */
  #refused({ code, retryAfterMs }) {
    this.hooks.refused(code);
    if (!FINAL.has(code)) this.#timer = setTimeout(() => this.#ask(), retryAfterMs ?? AGAIN_MS);
  }
}
