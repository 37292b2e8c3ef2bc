// Codes of rooms, read as the server reads them.

/** A code: 6 or 8 characters of Crockford's base 32. */
const CODE = /^[0-9A-HJKMNP-TV-Z]{6}(?:[0-9A-HJKMNP-TV-Z]{2})?$/;

/**
 * The code in a text that somebody typed or pasted: in either case, O as 0, I and L as 1, with spaces and hyphens
 * between, or a link to a room.
 *
 * @param {string} text
 * @returns {string | null} in the server's form; null where there is none
 */
export function codeOf(text) {
  const link = /\/r\/([^/?#\s]+)/i.exec(text);
  const code = (link ? link[1] : text).replace(/[\s\-–—_.\p{Cf}]+/gu, '').toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1');
  return CODE.test(code) && code !== 'NEARBY' ? code : null;
}
