/** The most row elements that a list holds, for windows up to 2,000 pixels high. */
const MOST_ROWS = 40;

/** Rows beyond each edge of the view, so that a quick scroll finds them there. */
const BEYOND = 6;

/** With fewer rows than this beyond an edge, rows are moved there: some at once, not one at a time. */
const LEAST_BEYOND = 2;

/** A pause in scrolling after which the elements are brought into order, in ms. */
const PAUSE = 120;

/**
 * How a list makes and fills its rows.
 *
 * `key` names an item for as long as it lives; `make` returns a new row, an `<li>` or what goes into one; `update` fills
 * a row, whatever it showed before, and writes only what differs. `make` and `update` add no listeners: the list is
 * one place for all of them (`at`).
 *
 * @template T
 * @typedef {object} RowView
 * @property {(item: T) => string | number} key
 * @property {() => HTMLElement} make
 * @property {(row: HTMLElement, item: T, index: number) => void} update
 */

/**
 * @typedef {object} Placed a row in the document
 * @property {HTMLElement} li the element that is moved
 * @property {HTMLElement} row what `make` returned: `li` itself, or its only child
 * @property {number} index the place at which it stands
 */

/**
 * A list of rows of one height (`--row`) that has elements only for what can be seen.
 *
 * It scrolls with its nearest scrolling ancestor, or with the page. Rows are recycled; their order in the document is
 * the order of the list. When items change, what is in view stays where it is. With the attribute `glide`, rows that
 * change their place move there (style/lists.css). Where a row with the focus leaves, the list itself gets the focus.
 * Arrow up and arrow down go from a button to the same button of the next row.
 */
export class WindowedList extends HTMLElement {
  /** The element that holds the rows, to be named by `aria-label` or `aria-labelledby`. */
  list = document.createElement('ol');
  /** @type {readonly any[]} */
  #items = [];
  /** @type {RowView<any> | null} */
  #view = null;
  /** @type {Map<string | number, Placed>} */
  #rows = new Map();
  /** @type {Placed[]} */
  #spare = [];
  /**
   * Null: the page.
   *
   * @type {Element | null}
   */
  #scroller = null;
  #rowHeight = 60;
  /** Whether rows were not filled, because the list could not be seen. */
  #stale = false;
  /** The places that have rows: from the first, up to the end. */
  #first = 0;
  #end = 0;
  #orderTimer = 0;
  #resized = new ResizeObserver(() => this.#measure());
  #onScroll = (/** @type {Event} */ event) => {
    if (event.target === document || (event.target instanceof Element && event.target.contains(this))) this.#render({});
  };
  #onResize = () => this.#measure();

  constructor() {
    super();
    this.list.setAttribute('role', 'list');
    this.list.tabIndex = -1;
  }

  connectedCallback() {
    if (!this.list.parentNode) {
      this.append(this.list);
      this.addEventListener('keydown', (event) => this.#step(event));
      // The next row must be there before the focus goes on to it.
      this.addEventListener('focusin', () => this.#render({ ahead: true }));
    }
    document.addEventListener('scroll', this.#onScroll, { capture: true, passive: true });
    addEventListener('resize', this.#onResize);
    this.#resized.observe(this);
    this.#measure();
  }

  disconnectedCallback() {
    document.removeEventListener('scroll', this.#onScroll, { capture: true });
    removeEventListener('resize', this.#onResize);
    this.#resized.disconnect();
    clearTimeout(this.#orderTimer);
  }

  /**
   * Shows `items`. Rows in view are filled again; another `view` than before makes new rows.
   *
   * @template T
   * @param {readonly T[]} items not copied: to be shown again after a change
   * @param {RowView<T>} view
   * @param {boolean} keepPlace whether what is in view stays there; false for items that have nothing to do with those before
   */
  show(items, view, keepPlace = true) {
    if (this.#view !== view) this.#drop();
    this.#view = view;
    const moved = keepPlace ? this.#shift(items) : 0;
    this.#items = items;
    this.list.style.height = `${items.length * this.#rowHeight}px`;
    if (moved !== 0) this.scroller.scrollTop += moved * this.#rowHeight;
    this.#render({ fill: true, glide: moved === 0 });
  }

  /** The item, place and row of a node inside the list; null outside of its rows. */
  at(/** @type {EventTarget | null} */ node) {
    const li = node instanceof Element && this.contains(node) ? node.closest('li') : null;
    if (li) for (const placed of this.#rows.values()) if (placed.li === li) return { item: this.#items[placed.index], index: placed.index, row: placed.row };
    return null;
  }

  /** The row that shows the item of a key now; null where none does. */
  rowFor(/** @type {string | number} */ key) {
    return this.#rows.get(key)?.row ?? null;
  }

  /** The rows that have elements, with their places. */
  get rows() {
    return this.#rows.values();
  }

  /** What the list scrolls with. */
  get scroller() {
    return this.#scroller ?? document.scrollingElement ?? document.documentElement;
  }

  /** The part of the window in which rows can be seen, in its pixels. */
  get bounds() {
    return this.#bounds();
  }

  /** The height of a row in pixels. */
  get rowHeight() {
    return this.#rowHeight;
  }

  /** Scrolls up to the first row, where that is above the view. */
  toTop() {
    const view = this.#bounds();
    if (this.list.getBoundingClientRect().top < view.top) this.scrollIntoView({ block: 'start' });
  }

  /** Makes new rows at the next `show`. */
  #drop() {
    for (const placed of this.#rows.values()) placed.li.remove();
    this.#rows.clear();
    this.#spare = [];
  }

  #measure() {
    const before = this.#scroller;
    this.#scroller = null;
    for (let node = this.parentElement; node && node !== document.body; node = node.parentElement) {
      const overflow = getComputedStyle(node).overflowY;
      if (overflow === 'auto' || overflow === 'scroll') {
        this.#scroller = node;
        break;
      }
    }
    if (before !== this.#scroller) {
      if (before) this.#resized.unobserve(before);
      if (this.#scroller) this.#resized.observe(this.#scroller);
    }
    const height = getComputedStyle(this).getPropertyValue('--row').trim();
    const unit = height.endsWith('rem') ? parseFloat(getComputedStyle(document.documentElement).fontSize) : 1;
    const rowHeight = parseFloat(height) * unit || 60;
    if (rowHeight !== this.#rowHeight) {
      this.#rowHeight = rowHeight;
      this.list.style.height = `${this.#items.length * rowHeight}px`;
      for (const placed of this.#rows.values()) placed.index = -1;
      this.#stale = true;
    }
    this.#render({});
  }

  /** The part of the window in which rows can be seen. */
  #bounds() {
    const box = this.#scroller?.getBoundingClientRect();
    return { top: Math.max(0, box?.top ?? 0), bottom: Math.min(innerHeight, box?.bottom ?? innerHeight) };
  }

  /** By how many rows most of what is in view has moved; 0 at the beginning of the list. */
  #shift(/** @type {readonly any[]} */ items) {
    const view = this.#bounds();
    const above = view.top - this.list.getBoundingClientRect().top;
    if (this.#rows.size === 0 || !this.#view || above < this.#rowHeight / 2) return 0;
    const first = Math.floor(above / this.#rowHeight);
    const last = Math.ceil((above + view.bottom - view.top) / this.#rowHeight);
    /** @type {Map<number, number>} */
    const shifts = new Map();
    let likely = 0;
    for (const [key, { index }] of this.#rows) {
      if (index < first || index > last) continue;
      const place = this.#find(items, key, index + likely);
      if (place < 0) continue;
      likely = place - index;
      shifts.set(likely, (shifts.get(likely) ?? 0) + 1);
    }
    let best = 0;
    for (const [shift, count] of shifts) if (count > (shifts.get(best) ?? 0)) best = shift;
    return best;
  }

  /** The place of a key among `items`, looked for from `near` outwards; -1 where it is not. */
  #find(/** @type {readonly any[]} */ items, /** @type {string | number} */ key, /** @type {number} */ near) {
    const view = this.#view;
    if (!view) return -1;
    const furthest = Math.max(near, items.length - near);
    for (let away = 0; away <= furthest; away += 1) {
      const after = items[near + away];
      if (after !== undefined && view.key(after) === key) return near + away;
      const before = items[near - away];
      if (before !== undefined && view.key(before) === key) return near - away;
    }
    return -1;
  }

  /**
   * Puts rows where they can be seen.
   *
   * @param {{ fill?: boolean, glide?: boolean, ahead?: boolean }} how `fill`: rows that are there are filled again;
   *   `glide`: they may glide to another place; `ahead`: rows are moved even where some are left beyond each edge
   */
  #render({ fill: all = false, glide = false, ahead = false }) {
    const view = this.#view;
    if (!view) return;
    if (!this.isConnected || this.getClientRects().length === 0) {
      this.#stale = true;
      return;
    }
    const fill = all || this.#stale;
    this.#stale = false;
    const bounds = this.#bounds();
    const top = this.list.getBoundingClientRect().top;
    const height = this.#rowHeight;
    const beyond = Math.max(1, Math.min(BEYOND, Math.floor((MOST_ROWS - 1 - (bounds.bottom - bounds.top) / height) / 2)));
    const seen = { first: Math.floor((bounds.top - top) / height), end: Math.ceil((bounds.bottom - top) / height) };
    const least = Math.min(beyond, LEAST_BEYOND);
    if (!fill && !ahead && this.#first <= Math.max(0, seen.first - least) && this.#end >= Math.min(this.#items.length, seen.end + least)) return;
    const first = Math.max(0, seen.first - beyond);
    const end = Math.min(this.#items.length, seen.end + beyond);
    if (!fill && this.#first === first && this.#end === end) return;
    this.#first = first;
    this.#end = end;
    /** @type {Map<string | number, number>} */
    const wanted = new Map();
    for (let index = first; index < end; index += 1) wanted.set(view.key(this.#items[index]), index);

    const focused = document.activeElement;
    let lostFocus = false;
    for (const [key, placed] of this.#rows) {
      if (wanted.has(key)) continue;
      if (focused && placed.li.contains(focused)) lostFocus = true;
      this.#rows.delete(key);
      this.#spare.push(placed);
    }
    const glides = glide && this.hasAttribute('glide');
    for (const [key, index] of wanted) {
      let placed = this.#rows.get(key);
      const isNew = !placed;
      if (!placed) {
        placed = this.#spare.pop() ?? this.#make(view);
        placed.index = -1;
        this.#rows.set(key, placed);
      }
      if (placed.index !== index) {
        placed.li.classList.toggle('glides', glides && !isNew);
        placed.li.style.setProperty('transform', `translateY(${index * height}px)`);
        placed.li.setAttribute('aria-posinset', String(index + 1));
      }
      if (fill || isNew || placed.index !== index) view.update(placed.row, this.#items[index], index);
      if (placed.li.getAttribute('aria-setsize') !== String(this.#items.length)) {
        placed.li.setAttribute('aria-setsize', String(this.#items.length));
      }
      placed.index = index;
    }
    if (lostFocus) this.list.focus({ preventScroll: true });
    for (const placed of this.#spare) placed.li.remove();
    for (const { li } of this.#rows.values()) if (li.parentNode !== this.list) this.list.append(li);
    clearTimeout(this.#orderTimer);
    if (fill || (focused && this.contains(focused))) this.#order(wanted.keys());
    else this.#orderTimer = window.setTimeout(() => this.#order(wanted.keys()), PAUSE);
  }

  #make(/** @type {RowView<any>} */ view) {
    const row = view.make();
    if (row instanceof HTMLLIElement) return { li: row, row, index: -1 };
    const li = document.createElement('li');
    li.append(row);
    return { li, row, index: -1 };
  }

  /** Brings the elements into the order of the list, without moving the one that is held or has the focus. */
  #order(/** @type {Iterable<string | number>} */ keys) {
    const held = document.activeElement?.closest('track-list li') ?? this.list.querySelector('li:active');
    let next = this.list.firstChild;
    for (const key of keys) {
      const li = this.#rows.get(key)?.li;
      if (!li || li === next) {
        next = li ? li.nextSibling : next;
        continue;
      }
      if (li === held && li.parentNode === this.list) {
        while (next && next !== li) {
          const other = next;
          next = next.nextSibling;
          this.list.append(other);
        }
      }
      if (li === next) next = li.nextSibling;
      else this.list.insertBefore(li, next);
    }
  }

  /** Arrow keys: to the same button of the row above or below. */
  #step(/** @type {KeyboardEvent} */ event) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const li = button?.closest('li');
    const other = step > 0 ? li?.nextElementSibling : li?.previousElementSibling;
    if (!button || !other) return;
    const same = other.querySelector(`button[data-do="${button.dataset.do ?? ''}"]`) ?? other.querySelector('button');
    if (same instanceof HTMLElement) {
      event.preventDefault();
      same.focus();
    }
  }
}

customElements.define('track-list', WindowedList);
