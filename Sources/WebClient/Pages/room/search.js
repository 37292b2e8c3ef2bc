/** Letters that no decomposition turns into plain ones, as people type them without the key; and apostrophes. */
const PLAIN = new Map(Object.entries({
  'ß': 'ss', 'æ': 'ae', 'œ': 'oe', 'ø': 'o', 'đ': 'd', 'ð': 'd', 'ł': 'l', 'ħ': 'h', 'ŧ': 't', 'ı': 'i', 'þ': 'th', 'ς': 'σ',
  'ی': 'ي', 'ى': 'ي', 'ک': 'ك', 'ـ': '', '’': '', '‘': '', '‛': '', 'ʻ': '', 'ʼ': '',
}));

/** Characters without a form of their own: invisible ones, and accents and points, but no vowel signs of Indic scripts. */
const UNSEEN = new RegExp(
  '[\\p{Cf}\\p{Default_Ignorable_Code_Point}]'
  + '|(?=[\\u0300-\\u08ff\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u3000-\\u30ff\\ufe20-\\ufe2f])\\p{M}', 'gu');
const PUNCTUATION = /[\p{P}\p{Sm}\p{Sk}$]+/gu;
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]+/g;

/** The most forms that are remembered. */
const MOST_FORMS = 20_000;

/** The forms of characters, as texts have needed them. @type {Map<string, string>} */
const forms = new Map();

/**
 * The form of one character that is not ASCII.
 *
 * @param {string} scalar
 */
function formOf(scalar) {
  let form = forms.get(scalar);
  if (form === undefined) {
    form = /\p{White_Space}/u.test(scalar) ? ' ' : scalar.normalize('NFKD').replace(UNSEEN, '').toLowerCase()
      .replace(/[^\0-\x7f]/g, (letter) => PLAIN.get(letter) ?? letter).replace(/^ +$/, '');
    if (forms.size >= MOST_FORMS) forms.clear();
    forms.set(scalar, form);
  }
  return form;
}

/**
 * A text without case, accents, apostrophes and invisible characters, in one form for all scripts.
 *
 * @param {string} text
 */
export function searchable(text) {
  const plain = (/[^\0-\x7f]/.test(text) ? text.replace(/[^\0-\x7f]/gu, formOf) : text).toLowerCase();
  return plain.replace(/[\x27\x60]+/g, '');
}

/**
 * A text as a search compares it, specified in Protocol.md (section 2, *Searching a pool*): words of letters, digits and
 * pictures, with one space between them. A text of nothing but punctuation keeps it.
 *
 * @param {string} text
 */
export function findable(text) {
  const form = searchable(text);
  return spaced(withoutPunctuation(form)) || spaced(form);
}

/** A sign that stands for a letter beside letters becomes that letter (P!nk, Ke$ha); other punctuation is left out. */
function withoutPunctuation(/** @type {string} */ form) {
  if (!/[^a-z0-9 \n]/.test(form)) return form;
  const letters = !/[!$]/.test(form) ? form
    : form.replace(/([a-z])!(?=[a-z])/g, '$1i').replace(/([a-z])\$/g, '$1s').replace(/\$(?=[a-z])/g, 's');
  return letters.replace(/[^\0-\x7f]/.test(letters) ? PUNCTUATION : ASCII_PUNCTUATION, '');
}

const spaced = (/** @type {string} */ form) => form.replace(/\s+/g, ' ').trim();

/**
 * Whether a word of a query is found: within a word of the text, or from the beginning of one on through the next.
 *
 * @param {string} text with spaces before each of its words
 * @param {string} word
 */
function has(text, word) {
  if (text.includes(word)) return true;
  const beginning = ` ${word[0]}`;
  for (let start = text.indexOf(beginning); start >= 0; start = text.indexOf(beginning, start + 1)) {
    let place = start + 1;
    for (let at = 0; ; place += 1) {
      const unit = text.charCodeAt(place);
      if (unit === word.charCodeAt(at)) at += 1;
      else if (unit !== 0x20) break;
      if (at === word.length) return true;
    }
  }
  return false;
}

/**
 * Finds tracks of a room by words of title, artist and album.
 *
 * A track is found if it has every word of the query somewhere; found tracks stay in the pool's order. The texts of a
 * track are prepared once, at its first search or in `prepare`. A query that only adds to the one before it looks
 * through what that one found.
 */
export class Search {
  /** @type {import('./room.js').Room} */
  #room;
  /** @type {WeakMap<object, string>} */
  #texts = new WeakMap();
  /** @type {string[]} */
  #words = [];
  /**
   * Null: there is nothing to narrow down.
   *
   * @type {import('./room.js').Track[] | null}
   */
  #found = null;

  /** @param {import('./room.js').Room} room */
  constructor(room) {
    this.#room = room;
  }

  /** Forgets what was found: to be called when the pool has changed, or another room is shown. */
  reset(room = this.#room) {
    this.#room = room;
    this.#found = null;
  }

  /**
   * Prepares up to `count` tracks beforehand, from `start` in the pool's order.
   *
   * @param {number} start
   * @param {number} count
   * @returns {number} where to go on; the pool's length when all are prepared
   */
  prepare(start, count) {
    const end = Math.min(this.#room.pool.length, start + count);
    for (let place = start; place < end; place += 1) this.#textOf(this.#room.pool[place]);
    return end;
  }

  /**
   * The tracks that have all words of `query`; the whole pool for a query without words.
   *
   * @param {string} query
   * @returns {import('./room.js').Track[]}
   */
  find(query) {
    const words = findable(query).split(' ').filter((word) => word !== '');
    const narrower = this.#found !== null && this.#words.every((word, place) => words[place]?.startsWith(word));
    const among = narrower && this.#found ? this.#found : this.#room.pool;
    this.#words = words;
    if (words.length === 0) {
      this.#found = null;
      return this.#room.pool;
    }
    this.#found = among.filter((track) => {
      const text = this.#textOf(track);
      return words.every((word) => has(text, word));
    });
    return this.#found;
  }

  /** @param {import('./room.js').Track} track */
  #textOf(track) {
    let text = this.#texts.get(track);
    if (text === undefined) {
      // One text is folded sooner than three. No word goes on over a line break, from the title to the artist.
      const parts = [track.title, track.artist, track.album].filter((part) => part);
      text = withoutPunctuation(searchable(` ${parts.join('\n ')}`));
      if (/(?:^|\n) *(?:\n|$)/.test(text)) text = parts.map((part) => ` ${findable(part ?? '')}`).join('\n');
      this.#texts.set(track, text);
    }
    return text;
  }
}
