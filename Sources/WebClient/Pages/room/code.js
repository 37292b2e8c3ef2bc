// Codes of rooms, read as the server reads them.

/** A code: 6 or 8 characters of Crockford's base 32. */
const CODE = /^[0-9A-HJKMNP-TV-Z]{6}(?:[0-9A-HJKMNP-TV-Z]{2})?$/;

/**
 * The code in a text that somebody typed or pasted: in either case, full width or not, O as 0, I and L as 1, with spaces
 * and hyphens between and any punctuation around, or a link to a room.
 *
 * @param {string} text
 * @returns {string | null} in the server's form; null where there is none
 */
export function codeOf(text) {
  const plain = text.normalize('NFKC');
  const link = /\/r\/([^/?#\s]+)/i.exec(plain);
  const bare = (link ? link[1] : plain).replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const code = bare.replace(/[\s\-–—_.\p{Cf}]+/gu, '').toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1');
  return CODE.test(code) && code !== 'NEARBY' ? code : null;
}
