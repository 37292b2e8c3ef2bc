/** The few helpers with which the views build and change the document. No markup is made from strings. */

import { t } from '../text/en.js';

/**
 * What every view gets; `main.js` makes it and describes its members.
 *
 * @typedef {object} App
 * @property {import('../store/store.js').Store} store
 * @property {any} link  the RoomLink, or null
 * @property {any} http  the functions of wire/http.js
 * @property {{ language: string, theme: string, keys: boolean, get(name: string): any, set(name: string, value: any): void }} preferences
 * @property {boolean} workerRefused
 * @property {<T>(importing: () => Promise<T>) => Promise<T | null>} load
 * @property {(url: string) => any} scriptURL
 * @property {() => Promise<{ id: string, name: string }>} session
 * @property {(path: string, options?: { replace?: boolean }) => void} go
 * @property {() => Promise<void>} startAgain
 * @property {(sentence: string, options?: { label?: string, action?: () => void, seconds?: number }) => Promise<void>} toast
 * @property {(error: any) => void} refused
 * @property {(name: string, props?: any) => Promise<any>} open
 * @property {(circle: any, onChange: (rooms: any[], state: any, trends: any) => void) => (() => void)} nearby
 * @property {import('../deck/device.js').Device | null} playing
 * @property {() => Promise<import('../deck/device.js').Device | null>} device
 * @property {() => Promise<void>} loadElements
 * @property {() => void} unlock
 * @property {() => Promise<void>} forgetDevice
 * @property {(command: import('../wire/messages').Command) => Promise<any>} act
 * @property {() => boolean} mayAct
 * @property {(ms: number) => string} waitingTime
 * @property {(n: number) => string} number
 */

/** @typedef {Node | string | number | null | undefined | false | any[]} Child  a list's members are children, too */

const PROPERTIES = new Set(['value', 'checked', 'disabled', 'hidden', 'selected', 'inert', 'textContent', 'tabIndex']);

/**
 * Makes an element: `h('button.pill.primary#go', { onclick, 'aria-label': … }, 'Go')`.
 *
 * A property that begins with `on` is a listener. `class` adds classes, `dataset` sets data attributes, `vars` sets
 * custom properties. `false`, `null` and `undefined` leave an attribute out, except for `aria-…`, where `false` is
 * written. The properties may be left out. Titles, names and codes stand in a `bdi`, or in an element with
 * `translate: 'no'`: a browser that translates the page leaves them.
 *
 * @param {string} spec  tag, classes and id
 * @param {Record<string, any> | Child} [props]
 * @param {...Child} children
 * @returns {any}
 */
export function h(spec, props, ...children) {
  const [tag, ...marks] = spec.split(/(?=[.#])/);
  const element = document.createElement(tag);
  for (const mark of marks) {
    if (mark[0] === '#') element.id = mark.slice(1);
    else element.classList.add(mark.slice(1));
  }
  if (tag === 'bdi' || tag === 'code' || tag === 'kbd') element.setAttribute('translate', 'no');
  if (props !== null && typeof props === 'object' && !(props instanceof Node) && !Array.isArray(props)) {
    set(element, props);
  } else {
    children.unshift(/** @type {Child} */ (props));
  }
  append(element, children);
  return element;
}

/**
 * Sets attributes, properties and listeners as `h` does.
 *
 * @param {HTMLElement} element
 * @param {Record<string, any>} props
 */
export function set(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith('on')) {
      if (value) element.addEventListener(name.slice(2), value);
    } else if (name === 'class') {
      for (const one of String(value || '').split(' ')) if (one) element.classList.add(one);
    } else if (name === 'dataset') {
      Object.assign(element.dataset, value);
    } else if (name === 'vars') {
      for (const [key, of] of Object.entries(value)) element.style.setProperty(key, String(of));
    } else if (PROPERTIES.has(name)) {
      /** @type {any} */ (element)[name] = value;
    } else if (name.startsWith('aria-')) {
      if (value === null || value === undefined) element.removeAttribute(name);
      else element.setAttribute(name, String(value));
    } else if (value === null || value === undefined || value === false) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(...(child instanceof Node ? [child] : parts(String(child))));
  }
}

/**
 * A sentence in parts: a `bdi` for each of the names and titles that `isolated` has put into it.
 *
 * @param {string} sentence
 * @returns {(string | HTMLElement)[]}
 */
function parts(sentence) {
  /** @type {(string | HTMLElement)[]} */
  const found = [];
  let start = 0, open = 0;
  for (const { 0: mark, index = 0 } of sentence.matchAll(/[\u2066-\u2069]/g)) {
    if (mark !== '\u2069') {
      open += 1;
      if (open > 1) continue;
      found.push(sentence.slice(start, index));
      start = index;
    } else if (open > 0) {
      open -= 1;
      if (open > 0) continue;
      found.push(h('bdi', null, document.createTextNode(sentence.slice(start, index + 1))));
      start = index + 1;
    }
  }
  found.push(sentence.slice(start));
  return found.filter((part) => part !== '');
}

/**
 * What was written where a translator has since put elements of its own.
 *
 * @type {WeakMap<Element, string>}
 */
const written = new WeakMap();

/**
 * Writes an element's text, only where it differs.
 *
 * @param {Element} node
 * @param {string | number} string
 * @param {boolean} [isForeign] whether the words are not the page's own, but a title or a name; only for elements that hold either
 */
export function text(node, string, isForeign) {
  const value = String(string);
  if (isForeign !== undefined && isForeign !== (node.getAttribute('translate') === 'no')) set(/** @type {HTMLElement} */ (node), { translate: isForeign && 'no' });
  const first = node.firstChild;
  if (first instanceof Text && first.nextSibling === null) {
    if (first.data === value) return;
    if (!value.includes('\u2068')) first.data = value;
    else node.replaceChildren(...parts(value));
  } else if (node.textContent !== value) {
    if (written.get(node) === value && node.querySelector('font')) return;
    node.replaceChildren(...parts(value));
  }
  written.set(node, value);
}

/** @type {WeakMap<Element, Map<any, any>>} */
const rows = new WeakMap();

/**
 * Makes the children of `parent` those of `items`, in order: keeps the element of a key, makes missing ones, removes
 * the others.
 *
 * @template T
 * @param {Element} parent
 * @param {Iterable<T>} items
 * @param {(item: T) => any} keyOf
 * @param {(item: T) => any} make
 * @param {(row: any, item: T) => void} [update]
 */
export function keyed(parent, items, keyOf, make, update) {
  const old = rows.get(parent) ?? new Map();
  const now = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const row = old.get(key) ?? make(item);
    old.delete(key);
    now.set(key, row);
    if (update) update(row, item);
  }
  for (const row of old.values()) row.remove();
  /** @type {Element | null} */
  let place = parent.firstElementChild;
  for (const row of now.values()) {
    if (row === place) place = row.nextElementSibling;
    else parent.insertBefore(row, place);
  }
  rows.set(parent, now);
}

/** The icons of a first visit: outlines on a grid of 24, drawn with round ends; a leading `!` fills the shape. */
const ICONS = /** @type {Record<string, string>} */ ({
  more: '!M5 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm7 0a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm7 0a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  dots: '!M12 3.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm0 7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm0 7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  queue: 'M4 7h12M4 12h12M4 17h7M17 14.5l4 2.5-4 2.5z',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  tick: 'M5 12.5l4.5 4.5L19 7.5',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L20 20',
  history: 'M4.5 12a7.5 7.5 0 1 0 2.6-5.7L4.5 8.5M4.5 4.5v4h4M12 8v4.5l3 2',
  music: 'M9 17.5V6l10-2v11.5M6.5 15a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM16.5 13a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  bars: '!M2 9.5h2.6v5H2zM7 5h2.6v14H7zM12 7.5h2.6v9H12zM17 10h2.6v4H17z',
});

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An icon in the colour of the text, 20 px unless the style says otherwise, hidden from screen readers. Those that a
 * first visit does not need come from icons.js a moment later.
 *
 * @param {string} name  a name of the table above, or of icons.js
 * @returns {SVGSVGElement}
 */
export function svg(name) {
  const icon = document.createElementNS(SVG, 'svg');
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.setAttribute('aria-hidden', 'true');
  icon.classList.add('icon');
  const path = document.createElementNS(SVG, 'path');
  icon.append(path);
  const draw = (/** @type {string} */ drawing) => {
    icon.classList.toggle('filled', drawing.startsWith('!'));
    path.setAttribute('d', drawing.replace('!', ''));
  };
  if (ICONS[name]) draw(ICONS[name]);
  else import('./icons.js').then(({ MORE }) => draw(Object.assign(ICONS, MORE)[name] ?? ''), () => {});
  return icon;
}

/**
 * The style sheets that were asked for; `again` is the timer of one that could not be loaded, else 0.
 *
 * @type {Map<string, { loaded: Promise<void>, again: number }>}
 */
const sheets = new Map();
/** A style sheet that could not be loaded is asked for again after this time, in ms, and then after twice as long, up to a minute. */
const SHEET_AGAIN_MS = 1000, SHEET_AGAIN_MOST_MS = 60_000;

/**
 * Adds a style sheet of the folder `style`, once; resolves when it applies, and where it cannot be loaded, too: it comes
 * later then, as the network does. The next call tries again at once.
 *
 * @param {string} name  `dialogs` for style/dialogs.css
 * @param {number} [againMs]
 * @returns {Promise<void>}
 */
export function stylesheet(name, againMs = SHEET_AGAIN_MS) {
  const there = sheets.get(name);
  if (there && !there.again) return there.loaded;
  clearTimeout(there?.again);
  const loaded = new Promise((/** @type {(value: void) => void} */ resolve) => {
    const href = new URL(`../style/${name}.css`, import.meta.url).pathname;
    const link = h('link', {
      rel: 'stylesheet', href,
      onload: () => resolve(),
      onerror: () => {
        link.remove();
        sheet.again = window.setTimeout(() => stylesheet(name, Math.min(2 * againMs, SHEET_AGAIN_MOST_MS)), againMs);
        resolve();
      },
    });
    document.head.append(link);
  });
  const sheet = { loaded, again: 0 };
  sheets.set(name, sheet);
  return loaded;
}

/** What takes keys itself: text, lists, sliders. */
const TAKES_TEXT = 'input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]';
/** What the space bar works already. */
const TAKES_SPACE = `${TAKES_TEXT}, button, a[href], summary, label, input, [role=slider], [role=button]`;

/**
 * Whether a key is for the page: with Ctrl, Alt or Meta, in a text field, and over a dialog it does what the browser does.
 *
 * @param {KeyboardEvent} event
 */
export function isFree(event) {
  if (event.defaultPrevented || event.isComposing || event.repeat) return false;
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]')) return false;
  return !(event.target instanceof Element && event.target.closest(event.key === ' ' ? TAKES_SPACE : TAKES_TEXT));
}

/**
 * Which of the page's keys was pressed: the character that was typed, `n` for `N`. Where the layout has no such letter or
 * digit (Cyrillic, the French row of digits), the key's place on the keyboard says which is meant. A browser that fills in
 * a form tells of keys without a name.
 *
 * @param {{ key?: string, code?: string, shiftKey?: boolean }} event
 * @returns {string} empty for every other key
 */
export function keyOf({ key = '', code = '', shiftKey = false }) {
  const typed = key.toLowerCase();
  if (/^[ /?123n]$/.test(typed)) return typed;
  const isOther = typed.length !== 1 || /^[a-z\d]$/.test(typed) || shiftKey;
  return isOther ? '' : /^(?:Key(?=N)|Digit)([N123])$/.exec(code)?.[1].toLowerCase() ?? '';
}

/**
 * What is being tried while there is no link: before the first one nothing can be lost.
 *
 * @param {App} app
 */
export const attempt = ({ store }) => (store.connections > 0 ? t.link.reconnecting : t.link.connecting);

/**
 * Whether the browser has a chooser for folders. Those of phones and tablets have long known the element's property, and
 * have opened a chooser for files.
 */
export const choosesFolders = () => 'showDirectoryPicker' in window
  || ('webkitdirectory' in HTMLInputElement.prototype && !matchMedia('(pointer: coarse)').matches);

/** Where the window shows less than this, in px, heads and feet of dialogs scroll with what is between them. */
const LOW = 320;

/**
 * Tells the styles how much of the window's lower edge a keyboard on the screen covers (`--keyboard`), where it does not
 * make the page smaller, and whether little is left (`low`).
 *
 * @param {HTMLElement} root
 */
function watchKeyboard(root) {
  const view = window.visualViewport;
  let covered = 0;
  const measure = () => {
    // What two fingers have enlarged is not covered.
    if (!view || view.scale > 1.01) return;
    const now = Math.max(0, Math.round(innerHeight - view.height - view.offsetTop));
    root.classList.toggle('low', view.height < LOW);
    if (now === covered) return;
    covered = now;
    root.style.setProperty('--keyboard', `${covered}px`);
  };
  for (const type of ['resize', 'scroll']) view?.addEventListener(type, measure);
  measure();
}

/** The most by which texts grow with iOS: media queries know nothing of it, and stay those of small texts. */
const MOST_SCALE = 1.5;

/** Suits the page to its browser, once. */
export function suit() {
  // The page makes room for a keyboard on the screen. WebKit does not, and has an error for the key in its console.
  const viewport = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name=viewport]'));
  if (!/^Apple/.test(navigator.vendor)) viewport.content += ', interactive-widget=resizes-content';
  // iOS tells the size that somebody chose for texts by the size of its own, which is 17 px where nothing was chosen.
  const root = document.documentElement;
  if (CSS.supports('font', '-apple-system-body')) {
    root.style.setProperty('font', '-apple-system-body');
    const scale = parseFloat(getComputedStyle(root).fontSize) / 17;
    root.style.removeProperty('font');
    if (scale > 1) root.style.setProperty('font-size', `${Math.min(scale, MOST_SCALE) * 100}%`);
  }
  watchKeyboard(root);
  // iOS shows what is pressed (`:active`) only in a page that listens for touches.
  document.addEventListener('touchstart', () => {}, { passive: true });
}

/** Between what stands at the lower edge and what is above it. */
const FLOOR_GAP = 22;

/**
 * Where things at the lower edge stand: in the dialog on top, where one is open, else in the page. The place is told how
 * much of its edge they cover, so that what it shows ends above them.
 */
export function floor() {
  const dialogs = document.querySelectorAll('dialog[open]');
  const place = /** @type {HTMLElement} */ (dialogs[dialogs.length - 1] ?? document.body);
  const there = place.querySelector(':scope > .floor');
  if (there) return there;
  const made = h('aside.floor');
  place.append(made);
  new ResizeObserver(([{ contentRect: { height } }]) => {
    place.style.setProperty('--floor', height > 0 ? `${height + FLOOR_GAP}px` : '0px');
  }).observe(made);
  return made;
}

let heardAt = -Infinity;
let waiting = '';
let timer = 0;

/**
 * Has a screen reader say a sentence politely: at most one in 3 s, and of those that wait the newest.
 *
 * @param {string} string
 */
export function announce(string) {
  waiting = string;
  if (timer) return;
  const say = () => {
    timer = 0;
    heardAt = performance.now();
    const live = document.getElementById('live');
    if (live) live.replaceChildren(...parts(live.textContent === waiting ? `${waiting}\u00a0` : waiting));
  };
  timer = window.setTimeout(say, Math.max(0, heardAt + 3000 - performance.now()));
}

let locale = 'en';
let whole = new Intl.NumberFormat(locale);

/**
 * Sets the language in which numbers are written.
 *
 * @param {string} language
 */
export function setLocale(language) {
  locale = language;
  whole = new Intl.NumberFormat(language);
}

/** The language in which numbers and times are written. */
export const currentLocale = () => locale;

/**
 * A duration in whole seconds: `3:07`, `1:02:03`.
 *
 * @param {number} ms
 * @returns {string}
 */
export function duration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const minutes = Math.floor(s / 60);
  return minutes < 60 ? `${minutes}:${two(s % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(s % 60)}`;
}

/**
 * A whole number as the language writes it: `1,204`.
 *
 * @param {number} n
 * @returns {string}
 */
export const number = (n) => whole.format(n);
