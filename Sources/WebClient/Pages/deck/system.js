// The deck and the system around the page: the lock screen's controls, and a screen that stays on.

/** The address of a picture that is not shown any more is given back after this time. */
const RELEASE_MS = 10_000;

/** The controls of the lock screen. The browser takes the position from the element itself. */
export class System {
  /** @type {WakeLockSentinel|null} */
  #lock = null;
  #isOn = false;
  /** @type {Blob|null} */
  #picture = null;
  #url = '';

  /** @param {{pause(): Promise<any>, play(): Promise<any>, next(): Promise<any>, seek(positionMs: number): Promise<any>}} controls */
  constructor(controls) {
    this.controls = controls;
    this.seen = () => { if (document.visibilityState === 'visible') this.#wake(); };
  }

  on() {
    this.#isOn = true;
    document.addEventListener('visibilitychange', this.seen);
    this.#wake();
  }

  off() {
    this.#isOn = false;
    document.removeEventListener('visibilitychange', this.seen);
    this.#lock?.release().catch(() => {});
    this.#lock = null;
    this.#actions(null);
    this.describe(undefined, null);
  }

  async #wake() {
    if (!this.#isOn || (this.#lock && !this.#lock.released)) return;
    try {
      const lock = await navigator.wakeLock?.request('screen');
      if (!lock) return;
      if (this.#isOn) this.#lock = lock;
      else await lock.release();
    } catch {
      // A page that is hidden, or a battery that is low.
    }
  }

  /**
   * A song has begun to sound. Some browsers forget the controls when the element changes.
   *
   * @param {import('../wire/messages').Track|undefined} track
   * @param {Blob|null} picture
   */
  playing(track, picture) {
    this.#actions(this.controls);
    this.describe(track, picture);
  }

  /** @param {System['controls']|null} controls */
  #actions(controls) {
    const session = navigator.mediaSession;
    if (!session) return;
    /** @type {[any, ((details: any) => any)|null][]} */
    const actions = [
      ['play', controls && (() => controls.play())], ['pause', controls && (() => controls.pause())],
      ['nexttrack', controls && (() => controls.next())],
      ['seekto', controls && (({ seekTime }) => controls.seek(Math.round(1000 * (seekTime ?? 0))))],
    ];
    for (const [action, handler] of actions) {
      try {
        session.setActionHandler(action, handler && ((details) => { handler(details)?.catch(() => {}); }));
      } catch {
        // An action that this browser does not know.
      }
    }
  }

  /**
   * Names the song on the lock screen.
   *
   * @param {import('../wire/messages').Track|undefined} track
   * @param {Blob|null} picture  of this device: it is not sent
   */
  describe(track, picture) {
    const session = navigator.mediaSession;
    if (!session) return;
    if (picture !== this.#picture) {
      const old = this.#url;
      // The browser may be about to load it.
      if (old) setTimeout(() => URL.revokeObjectURL(old), RELEASE_MS);
      this.#picture = picture;
      this.#url = picture ? URL.createObjectURL(picture) : '';
    }
    const { title, artist, album } = track ?? {};
    session.metadata = track ? new MediaMetadata({ title, artist, album, artwork: this.#url ? [{ src: this.#url, type: picture?.type }] : [] }) : null;
  }
}
