// What names a room in a text, read as the server and the terminal read it: `Tests/Tables/room-links.json`.

/** A code as it is typed: 6 or 8 letters and digits, without U. */
const CODE = /^[0-9a-tv-z]{6}(?:[0-9a-tv-z]{2})?$/i;
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A link to a room as far as its path; and what begins like the path of one. */
const LINK = /https?:\/\/[^\p{White_Space}/?#]+\/r(?=\/)/giu;
const PATH = /\/r(?=\/)/gi;
/** A whole link with nothing but a code behind the server. */
const SHORT = /^https?:\/\/[^\p{White_Space}/?#]+\/([\da-z]+)\/?(?:[?#].*)?$/iu;
/** What is looked at behind `/r/`. */
const LONGEST = 64;

/**
 * The room that is named by what somebody typed or pasted: a link to it, also among other words, else a code or an id
 * with any punctuation around it. A code may be written in either case, with O for 0 and I or L for 1, and with blanks,
 * dots and hyphens between its characters; blanks and dots of a link end its code. Full width characters and percent
 * codes are read as what they stand for, and invisible ones not at all.
 *
 * @param {string} text
 * @returns {string | null} its code or id, in the server's form; null where there is none
 */
export function roomOf(text) {
  const words = text.split(/\p{White_Space}+/u).map(plain).filter(Boolean);
  for (const link of [LINK, PATH]) {
    for (const word of words) {
      for (const { 0: found, index = 0 } of word.matchAll(link)) {
        const room = roomBehind(word.slice(index + found.length + 1));
        if (room) return room;
      }
    }
  }
  if (words.length !== 1) return typed(words.join(' '));
  const word = bare(words[0]);
  const short = SHORT.exec(word);
  return short ? codeOf(short[1]) : typed(word.split(/[?#&]/)[0]);
}

/**
 * A text without invisible characters and percent codes, and with ASCII in place of full width characters.
 *
 * @param {string} text
 */
function plain(text) {
  return text
    .replace(/(?:%[\da-f]{2})+/gi, (codes) => new TextDecoder().decode(Uint8Array.from(codes.slice(1).split('%'), (code) => parseInt(code, 16))))
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
}

/**
 * The room that the rest of a link names.
 *
 * @param {string} rest
 */
function roomBehind(rest) {
  const start = rest.slice(0, LONGEST).replace(/^[^\p{L}\p{N}?#&]+/u, '');
  const first = (/** @type {RegExp} */ form) => form.exec(start)?.[0] ?? '';
  return nameOf(first(/^[\da-z\-\u2010-\u2014_]+/i)) ?? nameOf(first(/^[\da-z]+/i)) ?? typed(first(/^[^/?#&]+/));
}

/**
 * The room that a text names without a link.
 *
 * @param {string} text
 */
function typed(text) {
  return nameOf(bare(text)) ?? codeOf(bare(text).replace(/[\p{White_Space}.]+/gu, ''));
}

/**
 * @param {string} text
 */
function bare(text) {
  return /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su.exec(text)?.[0] ?? '';
}

/**
 * @param {string} text
 */
function nameOf(text) {
  return ID.test(text) ? text.toLowerCase() : codeOf(text);
}

/**
 * @param {string} text  a code, with hyphens
 */
function codeOf(text) {
  const letters = text.replace(/[-\u2010-\u2014_]+/g, '');
  const code = CODE.test(letters) ? letters.toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1') : null;
  return code === 'NEARBY' ? null : code;
}
