// Which device is the room's deck: the claim at the server, and the one tab of this browser.

/** A claim without an answer is made again after this time. */
const AGAIN_MS = 3000;
/** Another device of this person that is the deck answers within this time. */
const ASK_MS = 1500;

/**
 * The server keeps the newest claim. A deck that comes back claims again only where nobody else has: where its own
 * member has, that is either another device, which is asked, or its own connection of before, which does not answer.
 */
export class Claim {
  #wants = false;
  /** A claim was made on this connection at this time. */
  #claimedAt = -Infinity;
  #isOurs = false;
  /** The connection changed: who is the deck now is looked at anew. */
  #isBack = false;
  #connection = 0;
  #askedAt = -Infinity;
  #answered = false;
  /** @type {(() => void)|null} */
  #unlock = null;
  /** @type {any} */
  #timer;

  /**
   * @param {import('../store/store.js').Store} store
   * @param {{look(): void, lost(member: number|null): void, otherTab(): void}} report  `look`: it is time to `check` again
   */
  constructor(store, report) {
    this.store = store;
    this.report = report;
    this.stop = store.on('signal', ({ from, data }) => {
      if (from !== store.room?.you?.member || typeof data?.deck !== 'string') return;
      if (data.deck === '?' && this.#isOurs) this.#signal('!');
      if (data.deck === '!' && !this.#isOurs) this.#answered = true;
    });
  }

  /**
   * Makes this the one tab of the browser that plays the room.
   *
   * @param {string} room  its id
   * @param {boolean} takeOver
   * @returns {Promise<boolean>} whether it is
   */
  async tab(room, takeOver) {
    if (this.#unlock || !navigator.locks) return true;
    return new Promise((resolve) => {
      const options = takeOver ? { steal: true } : { ifAvailable: true };
      navigator.locks.request(`backline.deck.${room}`, options, (lock) => {
        resolve(lock !== null);
        return lock && new Promise((free) => { this.#unlock = () => free(undefined); });
      }).catch((error) => {
        // A browser that gives this page no locks: nothing is known of other tabs.
        resolve(error.name !== 'AbortError');
        // Another tab has taken it.
        this.#unlock = null;
        if (this.#wants) this.report.otherTab();
        this.release();
      });
    });
  }

  /** Claims the room, in place of whoever has it. */
  take() {
    this.#wants = true;
    this.#isBack = false;
    this.#claimedAt = -Infinity;
    if (this.store.link.state === 'live') this.#post();
  }

  /** Claims the room where nobody else has: this device was its deck before. */
  goOn() {
    this.#wants = true;
    this.#isBack = true;
  }

  /**
   * Looks whether this device is the deck, and claims the room where it may.
   *
   * @param {boolean} isLive  the link is
   * @returns {boolean}
   */
  check(isLive) {
    const { room } = this.store;
    if (!isLive || !room || !this.#wants) {
      if (!isLive && this.#isOurs) this.#isBack = true;
      if (!isLive) this.#claimedAt = this.#askedAt = -Infinity;
      this.#isOurs = false;
      return false;
    }
    if (this.store.connections !== this.#connection) {
      // The one before had its own claim, which the server may still hold.
      this.#connection = this.store.connections;
      this.#isBack ||= this.#isOurs;
      this.#isOurs = false;
      this.#claimedAt = this.#askedAt = -Infinity;
    }
    const { member, here } = room.deck;
    if (here) {
      this.#isOurs = true;
      this.#isBack = false;
      this.#claimedAt = -Infinity;
      return true;
    }
    const waits = performance.now() - this.#claimedAt < AGAIN_MS;
    if (member === undefined) {
      this.#isOurs = false;
      if (!waits) this.#post();
    } else if (this.#isOurs) {
      this.#lose(member);
    } else if (!waits) {
      if (this.#isBack && member !== room.you?.member) this.#lose(member);
      else if (this.#isBack) this.#ask();
      else this.#post();
    }
    return this.#isOurs;
  }

  /** @param {number} member */
  #lose(member) {
    this.#isOurs = false;
    this.#wants = false;
    this.report.lost(member);
  }

  /** Asks the other devices of this person whether one of them is the deck. */
  #ask() {
    const now = performance.now();
    if (this.#askedAt === -Infinity) {
      this.#askedAt = now;
      this.#answered = false;
      this.#signal('?');
      this.#later(ASK_MS);
    } else if (this.#answered) this.#lose(/** @type {number} */ (this.store.room?.you?.member));
    else if (now - this.#askedAt >= ASK_MS) this.#post();
  }

  #post() {
    this.#claimedAt = performance.now();
    this.store.post({ type: 'deck', on: true });
    this.#later(AGAIN_MS);
  }

  /** @param {string} deck */
  #signal(deck) {
    this.store.post({ type: 'signal', to: this.store.room?.you?.member, data: { deck } });
  }

  /** @param {number} ms */
  #later(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { if (this.#wants) this.report.look(); }, ms + 20);
  }

  /**
   * Gives the claim and the tab up.
   *
   * @param {boolean} [tells]  the server, too
   */
  release(tells = true) {
    clearTimeout(this.#timer);
    if (tells && this.#isOurs) this.store.post({ type: 'deck', on: false });
    this.#wants = this.#isOurs = false;
    this.#unlock?.();
    this.#unlock = null;
  }
}
