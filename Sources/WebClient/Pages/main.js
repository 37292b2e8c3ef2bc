/**
 * Wires the page: language, theme, session, the room's link, the screens, and what they get as `app`.
 *
 * Modules are imported when the program runs, not before it: where a file is gone (another release is served now), the
 * page is loaded again, once in 30 s at most. Where the server has it, the browser does not let it through: the page says so.
 */

/** @typedef {{ node: HTMLElement, destroy(): void }} Screen */

/** Scripts that are named by an address (workers) come from this origin only. */
const policy = window.trustedTypes?.createPolicy('backline', {
  createScriptURL(url) {
    const address = new URL(url, location.href);
    if (address.origin !== location.origin) throw new TypeError(`script of another origin: ${address.origin}`);
    return address.href;
  },
});

/** Once in this time a page that lacks a file loads again. */
const RELOAD_EVERY_MS = 30_000;
/** A page whose first scripts do not come, and which nobody touches, loads again after a time that doubles up to this one. */
const RELOAD_AT_LATEST_MS = 16 * 60_000;
/** Where that time is kept. */
const RELOAD_AFTER = 'backline.reloadAfter';
/** The page is installable, and what errors need is there, when it has been shown for so long. */
const SETTLED_MS = 10_000;
/** The page loads itself again: the deck comes back by itself, and nobody is asked. */
let isLoadingAgain = false;
/**
 * This device, once it is loaded for the room that is shown.
 *
 * @type {import('./deck/device.js').Device | null}
 */
let here = null;
/** Whether a page that is left would lose files of the room's songs, as the browser does not keep them. */
const losesFiles = () => (here?.lack.unkept ?? 0) > 0;
/** A worker that could not be loaded is asked for again after this time. */
const INSTALL_AGAIN_MS = 60_000;

const modules = await all([
  import('./text/en.js'), import('./view/dom.js'), import('./wire/http.js'), import('./wire/socket.js'),
  import('./store/store.js'), import('./view/room-screen.js'), import('./view/back.js'),
]);
const [{ t }, { announce, isFree, keyOf, number, setLocale, stylesheet, suit }, http, { RoomLink }, { Store, Refusal }, { roomScreen }, back] = modules;
const page = /** @type {HTMLElement} */ (document.getElementById('page'));
try {
  sessionStorage.removeItem(RELOAD_AFTER);
} catch {
  // A browser that keeps nothing.
}

/**
 * Resolves as `Promise.all` does. Where a module is missing the page says what is wrong, and is loaded again: what was lost
 * on its way comes the next time, also where nobody looks, and what is blocked costs little. Then this never resolves.
 *
 * @template {readonly unknown[]} T
 * @param {readonly [...{ [K in keyof T]: Promise<T[K]> }]} imports
 * @returns {Promise<T>}
 */
async function all(imports) {
  try {
    const loaded = /** @type {any} */ (await Promise.all(imports));
    const unstyled = [...document.querySelectorAll('link[rel=stylesheet]')].some((link) => !(/** @type {any} */ (link).sheet));
    if (!unstyled || (await loadAgain()) !== 'soon') return loaded;
  } catch {
    const outcome = await loadAgain();
    if (outcome === 'blocked') document.querySelector('.halted')?.classList.add('now');
    if (outcome !== 'soon') comeAgain(outcome === 'offline' ? RELOAD_EVERY_MS : reloadsAfter());
  }
  return new Promise(() => {});
}

/**
 * Loads the page again, not before the server is heard: the browser's own page in its place would not heal by itself.
 *
 * @param {number} ms
 */
function comeAgain(ms) {
  setTimeout(async () => {
    if ((await loadAgain()) === 'offline') comeAgain(RELOAD_EVERY_MS);
    else location.reload();
  }, ms);
}

/** The time before the next reload, in ms: twice that before the last one; two minutes where the browser does not keep it. */
function reloadsAfter() {
  try {
    const ms = Math.min(2 * Number(sessionStorage.getItem(RELOAD_AFTER)) || RELOAD_EVERY_MS, RELOAD_AT_LATEST_MS);
    sessionStorage.setItem(RELOAD_AFTER, String(ms));
    return ms;
  } catch {
    return 4 * RELOAD_EVERY_MS;
  }
}

/**
 * Loads the page again where the server has another release, and the last time is long ago.
 *
 * @returns {Promise<'soon' | 'not again' | 'offline' | 'blocked'>} whether it does, or why it does not; `blocked`: the
 *   server has this release
 */
async function loadAgain() {
  const status = await fetch(import.meta.url, { method: 'HEAD', cache: 'no-store' }).then((answer) => answer.status, () => 0);
  if (status >= 200 && status < 300) return 'blocked';
  if (status !== 404) return 'offline';
  if (losesFiles()) return 'not again';
  try {
    const last = Number(sessionStorage.getItem('backline.loadedAgain'));
    if (Math.abs(Date.now() - last) < RELOAD_EVERY_MS) return 'not again';
    sessionStorage.setItem('backline.loadedAgain', String(Date.now()));
  } catch {
    return 'not again';
  }
  isLoadingAgain = true;
  location.reload();
  return 'soon';
}

// -- What the person chose: language, theme, keys

const saved = read('backline.preferences', /** @type {Record<string, any>} */ ({}));
const light = matchMedia('(prefers-color-scheme: light)');
const english = copy(t);

const preferences = {
  /** @type {'auto'|'en'|'de'} */
  language: saved.language ?? 'auto',
  /** @type {'auto'|'dark'|'light'} */
  theme: saved.theme ?? 'auto',
  keys: saved.keys !== false,
  /** @param {string} name */
  get: (name) => saved[name],
  /**
   * Saves a choice and applies it.
   *
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    saved[name] = value;
    if (name in preferences) /** @type {any} */ (preferences)[name] = value;
    write('backline.preferences', saved);
    if (name === 'theme') applyTheme();
    if (name === 'language') applyLanguage().then(() => show());
  },
};

function applyTheme() {
  const theme = preferences.theme === 'auto' ? (light.matches ? 'light' : 'dark') : preferences.theme;
  document.documentElement.dataset.theme = theme;
  document.querySelector('meta[name=theme-color]')?.setAttribute('content', theme === 'light' ? '#f6f4f1' : '#0d0c12');
}

async function applyLanguage() {
  const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag === 'de' || tag === 'en');
  const language = preferences.language === 'auto' ? known ?? 'en' : preferences.language;
  if (language === 'de') {
    const loaded = await load(() => import('./text/de.js'));
    if (loaded) copy(loaded.de, t);
  } else if (document.documentElement.lang === 'de') {
    copy(english, t);
    const loaded = await load(() => Promise.all([import('./text/en-deck.js'), import('./text/en-statistics.js')]));
    if (loaded) copy({ ...loaded[0].more, ...loaded[0].deck, ...loaded[1].counted }, t);
  }
  document.documentElement.lang = language;
  const region = navigator.languages.find((tag) => tag.startsWith(language));
  setLocale(region ?? language);
}

/**
 * Copies a tree of texts over another one.
 *
 * @param {any} from
 * @param {any} [to]
 * @returns {any} `to`
 */
function copy(from, to = {}) {
  for (const [key, value] of Object.entries(from)) {
    if (value !== null && typeof value === 'object') to[key] = copy(value, to[key] ?? {});
    else to[key] = value;
  }
  return to;
}

/**
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T}
 */
function read(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * @param {string} key
 * @param {any} value
 */
function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing: the choice holds until the page is closed.
  }
}

// -- What every view gets

/**
 * Imports a module on demand. Where another release is served the page is loaded again, and this never resolves; where
 * that does not help, the page says so, and this is null.
 *
 * @template T
 * @param {() => Promise<T>} importing
 * @returns {Promise<T | null>}
 */
async function load(importing) {
  try {
    return await importing();
  } catch (error) {
    const outcome = await loadAgain();
    if (outcome === 'soon') return new Promise(() => {});
    if (outcome === 'offline') app.refused(error);
    else {
      const told = outcome === 'blocked' ? t.link.heldBack : t.link.newPage;
      const loses = losesFiles() ? ` ${/** @type {any} */ (t).deck.reloadLoses}` : '';
      app.toast(told + loses, { label: t.link.reload, action: () => { isLoadingAgain = !losesFiles(); location.reload(); } });
    }
    return null;
  }
}

const app = {
  store: new Store(),
  /** @type {InstanceType<typeof RoomLink> | null} */
  link: null,
  http,
  preferences,
  load,
  /** Whether the browser refused the service worker: it does not trust the certificate. */
  workerRefused: false,
  /** Makes the address of a script of this origin acceptable to the browser. */
  scriptURL: (/** @type {string} */ url) => (policy ? policy.createScriptURL(url) : /** @type {any} */ (url)),

  /** The session; made silently where there is none. In a room its link makes it. */
  session: () => http.ensureSession(),

  /**
   * Goes to a screen of this page: `/`, `/r/CODE` or `/nearby`.
   *
   * @param {string} path
   * @param {{ replace?: boolean }} [options]
   */
  go(path, options = {}) {
    back.goTo(path, options.replace ?? false, () => show(true));
  },

  /** Forgets a session that has ended, and begins anew where the person is. */
  async startAgain() {
    http.forgetSession();
    show(true);
  },

  /**
   * A sentence at the lower edge, one at a time, with an optional button.
   *
   * @param {string} sentence
   * @param {{ label?: string, action?: () => void, seconds?: number }} [options]
   */
  async toast(sentence, options) {
    const loaded = await import('./view/toast.js').catch(() => null);
    if (loaded) loaded.toast(sentence, options);
    else announce(sentence);
  },

  /**
   * Says why something was not done.
   *
   * @param {any} error
   */
  refused(error) {
    const code = error instanceof Refusal ? error.code : error instanceof TypeError ? 'offline' : 'other';
    const texts = /** @type {Record<string, any>} */ (t.refusals);
    const sentence = typeof texts[code] === 'string' ? texts[code] : t.refusals.other;
    const wait = error?.retryAfterMs ?? 0;
    app.toast(wait >= 1000 ? t.refusals.again(sentence, waitingTime(wait)) : sentence);
  },

  /**
   * Opens a dialog of the folder `view`.
   *
   * @param {string} name
   * @param {any} [props]
   */
  async open(name, props) {
    const loaded = await load(() => import(`./view/${name}.js`));
    return loaded?.open(app, props);
  },

  /**
   * Follows the rooms near a point, and what they play.
   *
   * @param {{ lat: number, lon: number, radiusMeters: number }} circle
   * @param {(rooms: any[], state: any, trends: any) => void} onChange
   * @returns {() => void} ends it
   */
  nearby(circle, onChange) {
    /** @type {any} */
    let link = null;
    let closed = false;
    Promise.all([load(() => import('./wire/nearby.js')), app.session()]).then(([loaded]) => {
      if (loaded && !closed) link = new loaded.NearbyLink(circle, onChange);
    }, app.refused);
    return () => {
      closed = true;
      link?.close();
    };
  },

  // -- This device as the room's deck

  /**
   * The device while it is the room's deck, or wants to be: it is set by the device itself.
   *
   * @type {import('./deck/device.js').Device | null}
   */
  playing: null,

  /**
   * This device, for the room that is shown. It is loaded when somebody wants to play here.
   *
   * @returns {Promise<import('./deck/device.js').Device | null>} null where it cannot be loaded
   */
  device() {
    if (device) return device;
    /** @type {Promise<import('./deck/device.js').Device | null>} */
    const mine = load(() => import('./deck/device.js')).then((loaded) => {
      // The page may show another room by now.
      const made = loaded && device === mine ? new loaded.Device(app) : null;
      if (!made && device === mine) device = null;
      if (made) here = made;
      return made;
    });
    device = mine;
    return mine;
  },

  /** Loads what `unlock` needs. */
  async loadElements() {
    elements ??= await load(() => import('./deck/elements.js'));
  },

  /** Makes the page's audio elements playable, also while the deck is being loaded: to be called in a tap. */
  unlock: () => elements?.unlockElements(),

  /** Ends the deck here, and removes the songs that this browser keeps. */
  async forgetDevice() {
    await closeDevice();
    const databases = await indexedDB.databases?.().catch(() => null);
    if (databases?.every(({ name }) => name !== 'backline-library')) return;
    await import('./deck/kept.js').then((kept) => kept.forgetLibrary()).catch(() => {});
  },

  /**
   * Carries out a DJ's command for the queue or the playback: here at once where this device is the deck, also off line.
   *
   * @param {import('./wire/messages').Command} command
   * @returns {Promise<any>} as `store.send`
   */
  act: (command) => (app.playing ? app.playing.act(command) : app.store.send(command)),

  /** Whether such a command can be carried out. */
  mayAct: () => app.store.link.state === 'live' || Boolean(app.playing?.mayAct),

  waitingTime,
  number,
};

/** @type {Promise<import('./deck/device.js').Device | null> | null} */
let device = null;

/** @type {typeof import('./deck/elements.js') | null} */
let elements = null;

/** Ends what this device does for the room that is shown. */
async function closeDevice() {
  const closing = device;
  device = here = null;
  (await closing)?.close();
}

/**
 * @param {number} ms
 * @returns {string}
 */
function waitingTime(ms) {
  const day = 86_400_000;
  const unit = (/** @type {number} */ n, /** @type {string} */ name) =>
    new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit: name, unitDisplay: 'long' }).format(n);
  if (ms < 60_000) return unit(Math.max(1, Math.ceil(ms / 1000)), 'second');
  if (ms >= 2 * day) return unit(Math.ceil(ms / day), 'day');
  const seconds = Math.ceil(ms / 1000);
  if (ms < 3_600_000) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return unit(Math.ceil(ms / 3_600_000), 'hour');
}

// -- Screens

/** The end of a room's address as the page itself writes it. */
const WRITTEN = /^[\dA-Z]+$/;

/** @type {Screen | null} */
let screen = null;
/** The address of the screen that is shown. */
let shown = '';
/** The room whose link is open: its code or id, else what stands in the address. */
let reference = '';

/**
 * Shows the screen of the address; where it cannot be loaded, the one that is shown stays, with its address and its link.
 *
 * @param {boolean} [anew] whether a room's link is opened again, and the page scrolled to its top
 */
async function show(anew = false) {
  back.closeSheets();
  const path = location.pathname;
  const named = /^\/r\/(.+)$/.exec(path)?.[1] ?? '';
  const read = !named || WRITTEN.test(named) ? named : await roomAt(path);
  const room = read ?? named;
  const make = room ? () => roomScreen(app, room) : await load(path === '/nearby' ? nearby : home);
  if (location.pathname !== path) return;
  if (!make) {
    if (shown) history.replaceState(history.state, '', shown);
    return;
  }
  // What was pasted behind a code, and what others have added to the link, is not a part of the address.
  if (read && location.pathname + location.search + location.hash !== `/r/${read}`) history.replaceState(history.state, '', `/r/${read}`);
  shown = location.pathname;
  if (room !== reference || (anew && room)) {
    app.link?.close();
    app.link = null;
    closeDevice();
    app.store = new Store();
    reference = room;
    try {
      if (room) app.link = new RoomLink(app.store, decodeURIComponent(room));
    } catch {
      // A `%` in the address that stands for nothing.
      app.store.disconnected({ code: 'not_found' });
    }
    app.link?.open();
    resumeDeck(app.store);
  }
  document.title = t.header.untitled;
  put(make());
  if (anew) scrollTo(0, 0);
}

/**
 * The room of an address as people paste it.
 *
 * @param {string} path
 */
async function roomAt(path) {
  const loaded = await load(() => import('./room/code.js'));
  return loaded?.roomOf(path) ?? null;
}

/**
 * Goes on as the deck where this device was the deck of the room when the page was left.
 *
 * @param {InstanceType<typeof Store>} store
 */
function resumeDeck(store) {
  const { room } = read('backline.deck', { room: '' });
  if (!room) return;
  const stop = store.on('snapshot', () => {
    stop();
    if (store.room?.id === room) app.device().then((made) => made?.comeBack());
  });
}

async function nearby() {
  const { nearbyScreen } = await import('./view/nearby.js');
  return () => nearbyScreen(app);
}

async function home() {
  const [{ homeScreen }] = await Promise.all([import('./view/home.js'), stylesheet('home')]);
  (window.requestIdleCallback ?? setTimeout)(prepare);
  return () => homeScreen(app);
}

/** Loads what the page needs at once later: what tells that something went wrong, and on a laptop the keys. */
function prepare() {
  Promise.all([import('./view/toast.js'), import('./view/link.js'), import('./room/code.js'), stylesheet('later')]).catch(() => {});
  if (matchMedia('(hover: hover)').matches) loadKeys();
}

/** @param {Screen} next */
function put(next) {
  screen?.destroy();
  screen = next;
  page.replaceChildren(next.node);
}

/** Whether leaving this screen would end music: this device is the deck, and plays. */
const playsHere = () => app.playing?.phase === 'on' && app.store.room?.playback.status === 'playing';

/** Asks whether the music is to end. Where the question cannot be loaded, it does not. */
async function asksToLeave() {
  const loaded = await load(() => import('./view/leaves.js'));
  return !playsHere() || (loaded?.leaves() ?? false);
}

addEventListener('beforeunload', (event) => { if ((playsHere() || losesFiles()) && !isLoadingAgain) event.preventDefault(); });

document.addEventListener('click', async (event) => {
  const target = /** @type {Element} */ (event.target);
  const link = /** @type {HTMLAnchorElement | null} */ (target.closest?.('a[href]'));
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target) return;
  const address = new URL(link.href);
  if (address.origin !== location.origin || !/^\/($|nearby$|r\/)/.test(address.pathname)) return;
  event.preventDefault();
  const elsewhere = address.pathname !== location.pathname;
  if (elsewhere && playsHere() && !await asksToLeave()) return;
  app.go(address.pathname);
});

/** @type {typeof import('./view/keys.js') | null} */
let keys = null;

async function loadKeys() {
  keys ??= await import('./view/keys.js').catch(() => null);
}

document.addEventListener('keydown', async (event) => {
  const key = keyOf(event);
  if (!preferences.keys || !key || !isFree(event)) return;
  if (!keys) {
    // Once the module is there, it is too late to keep the browser from scrolling, or from searching the page itself.
    const { room } = app.store;
    if (key === '/' ? room : key === ' ' && room?.isDJ) event.preventDefault();
    await loadKeys();
  }
  keys?.handleKey(app, event);
});

suit();
light.addEventListener('change', applyTheme);
applyTheme();
await applyLanguage();
back.followHistory({ shown: () => shown, show: () => show(), mayLeave: () => !playsHere(), ask: asksToLeave });
await show();

// -- Once the page has settled: errors' views, the manifest, the worker

const settling = setTimeout(settle, SETTLED_MS);

/** Does that now, once. */
function settle() {
  clearTimeout(settling);
  if (document.querySelector('link[rel=manifest]')) return;
  prepare();
  document.head.append(Object.assign(document.createElement('link'), { rel: 'manifest', href: '/manifest.webmanifest' }));
  installWorker();
}

/** Installs what shows the page without a network; tries again where there is none now. */
async function installWorker() {
  try {
    if (!navigator.serviceWorker) return;
    await navigator.serviceWorker.register(app.scriptURL('/service-worker.js'));
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage({ type: 'keep', urls: performance.getEntriesByType('resource').map((entry) => entry.name) });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) {
      setTimeout(installWorker, INSTALL_AGAIN_MS);
      return;
    }
    app.workerRefused = true;
    preferences.set('workerRefused', true);
  }
}

// For the tests of the page, which read the room as it is here, and do not wait until the page has settled.
export { app, settle };
