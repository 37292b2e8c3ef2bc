/** The few helpers with which the views build and change the document. No markup is made from strings. */

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
 * @property {(circle: any, onChange: (rooms: any[], state: any) => void) => (() => void)} nearby
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
 * written. The properties may be left out.
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
    else element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Writes an element's text, only where it differs.
 *
 * @param {Element} node
 * @param {string | number} string
 */
export function text(node, string) {
  const value = String(string);
  const first = node.firstChild;
  if (first instanceof Text && first.nextSibling === null) {
    if (first.data !== value) first.data = value;
  } else if (node.textContent !== value) {
    node.textContent = value;
  }
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

/** Outlines on a grid of 24, drawn with round ends; a leading `!` fills the shape. */
const ICONS = /** @type {Record<string, string>} */ ({
  more: '!M5 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm7 0a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm7 0a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  dots: '!M12 3.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm0 7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zm0 7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  queue: 'M4 7h12M4 12h12M4 17h7M17 14.5l4 2.5-4 2.5z',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  tick: 'M5 12.5l4.5 4.5L19 7.5',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L20 20',
  play: '!M7 4.6c0-.9 1-1.4 1.7-.9l11 7.4c.7.4.7 1.4 0 1.8l-11 7.4c-.7.5-1.7 0-1.7-.9z',
  pause: '!M6.5 4h3c.6 0 1 .4 1 1v14c0 .6-.4 1-1 1h-3c-.6 0-1-.4-1-1V5c0-.6.4-1 1-1zm8 0h3c.6 0 1 .4 1 1v14c0 .6-.4 1-1 1h-3c-.6 0-1-.4-1-1V5c0-.6.4-1 1-1z',
  next: '!M5 5.4c0-.8.9-1.3 1.6-.8l8.9 6.3V5c0-.6.4-1 1-1h1.5c.6 0 1 .4 1 1v14c0 .6-.4 1-1 1h-1.5c-.6 0-1-.4-1-1v-5.9l-8.9 6.3c-.7.5-1.6 0-1.6-.8z',
  people: 'M9 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM2.5 19.5c.6-3.3 3.2-5 6.5-5s5.9 1.7 6.5 5M16 5a3.3 3.3 0 0 1 0 6.3M18 14.9c1.9.7 3.1 2.3 3.5 4.6',
  person: 'M12 4.5a3.75 3.75 0 1 1 0 7.5 3.75 3.75 0 0 1 0-7.5zM4.5 20c.8-3.4 3.8-5.2 7.5-5.2s6.7 1.8 7.5 5.2',
  settings: 'M4 7h8M18 7h2M4 17h2M12 17h8M15 4.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM9 14.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  share: 'M12 15V4M8 7.5L12 3.5l4 4M6 11H5v9h14v-9h-1',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM19 14h1M14 19h1',
  history: 'M4.5 12a7.5 7.5 0 1 0 2.6-5.7L4.5 8.5M4.5 4.5v4h4M12 8v4.5l3 2',
  place: 'M12 21c4.5-4.7 6.8-8.2 6.8-11A6.8 6.8 0 0 0 5.2 10c0 2.8 2.3 6.3 6.8 11zM12 7.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  radar: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 11.8v.4',
  globe: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17',
  theme: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 3.5v17M12 8.5h5.5M12 12.5h6.2M12 16.5h4.5',
  keys: 'M3.5 6.5h17v11h-17zM7 10h.1M10.3 10h.1M13.6 10h.1M17 10h.1M8 14h8',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1',
  leave: 'M14 4H5v16h9M10 12h10M16.5 8.5L20 12l-3.5 3.5',
  grip: '!M9 4.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zm6 0a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zm-6 6a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zm6 0a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zm-6 6a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zm6 0a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z',
  trash: 'M5 7h14M9.5 7V4.5h5V7M7 7l.8 13h8.4L17 7',
  arrowUp: 'M12 19V5M6.5 10.5L12 5l5.5 5.5',
  arrowDown: 'M12 5v14M6.5 13.5L12 19l5.5-5.5',
  top: 'M5 4.5h14M12 20V9M7 13.5L12 8.5l5 5',
  music: 'M9 17.5V6l10-2v11.5M6.5 15a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM16.5 13a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  crown: 'M4 8l4 4 4-6 4 6 4-4-1.5 10h-13z',
  ban: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM6.2 6.2l11.6 11.6',
  undo: 'M8.5 5L4.5 9l4 4M4.5 9H14a5 5 0 0 1 0 10h-3',
  info: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 11v5.5M12 7.6v.2',
  clock: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 7.5v5l3 2',
  lock: 'M6 11h12v9H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11',
  expand: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  edit: 'M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5z',
  bars: '!M2 9.5h2.6v5H2zM7 5h2.6v14H7zM12 7.5h2.6v9H12zM17 10h2.6v4H17z',
});

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An icon in the colour of the text, 20 px unless the style says otherwise, hidden from screen readers.
 *
 * @param {string} name  a name of the table above
 * @returns {SVGSVGElement}
 */
export function svg(name) {
  const icon = document.createElementNS(SVG, 'svg');
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.setAttribute('aria-hidden', 'true');
  icon.classList.add('icon');
  const path = document.createElementNS(SVG, 'path');
  const drawing = ICONS[name] ?? ICONS.info;
  if (drawing[0] === '!') icon.classList.add('filled');
  path.setAttribute('d', drawing.replace('!', ''));
  icon.append(path);
  return icon;
}

/** @type {Map<string, Promise<void>>} */
const sheets = new Map();

/**
 * Adds a style sheet of the folder `style`, once; resolves when it applies, and where it cannot be loaded, too.
 *
 * @param {string} name  `dialogs` for style/dialogs.css
 * @returns {Promise<void>}
 */
export function stylesheet(name) {
  let loaded = sheets.get(name);
  if (!loaded) {
    loaded = new Promise((resolve) => {
      const done = () => resolve();
      const href = new URL(`../style/${name}.css`, import.meta.url).pathname;
      document.head.append(h('link', { rel: 'stylesheet', href, onload: done, onerror: done }));
    });
    sheets.set(name, loaded);
  }
  return loaded;
}

/** Where things at the lower edge stand: in the dialog on top, where one is open, else in the page. */
export function floor() {
  const dialogs = document.querySelectorAll('dialog[open]');
  const place = /** @type {Element} */ (dialogs[dialogs.length - 1] ?? document.body);
  const there = place.querySelector(':scope > .floor');
  if (there) return there;
  const made = h('div.floor');
  place.append(made);
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
    if (live) live.textContent = live.textContent === waiting ? `${waiting}\u00a0` : waiting;
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
