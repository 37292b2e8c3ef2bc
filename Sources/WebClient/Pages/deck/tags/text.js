// Bytes of which nobody says in which encoding they are.

/** Letters of Russian that are most of each text: О Е А И Н Т С Р В Л, in Windows-1251 as capitals. */
const FREQUENT = new Set([0xce, 0xc5, 0xc0, 0xc8, 0xcd, 0xd2, 0xd1, 0xd0, 0xc2, 0xcb]);
/** Vowels of the Cyrillic alphabets: А Е И О У Ы Э Ю Я, and Ё Є І Ї apart from those. */
const VOWELS = new Set([0xc0, 0xc5, 0xc8, 0xce, 0xd3, 0xdb, 0xdd, 0xde, 0xdf, 0xa8, 0xaa, 0xb2, 0xaf]);
/** Cyrillic letters that stand for themselves: the small form by the capital. */
const OTHERS = new Map([
  [0xb8, 0xa8], [0xba, 0xaa], [0xb3, 0xb2], [0xbf, 0xaf], [0xb4, 0xa5], [0xa2, 0xa1], [0xbc, 0xa3], [0xbe, 0xbd],
  [0x83, 0x81], [0x90, 0x80], [0x9a, 0x8a], [0x9c, 0x8c], [0x9d, 0x8d], [0x9e, 0x8e], [0x9f, 0x8f],
]);
/** The fewest Cyrillic letters, and Japanese characters, that a guess is made of. */
const FEWEST_LETTERS = 4, FEWEST_CHARACTERS = 2;
/** Of the files of a folder that are sure of their encoding, so many have the one that a file in doubt takes over. */
const MOST = 0.9;

/** @typedef {'utf-8' | 'windows-1251' | 'windows-1252' | 'shift_jis'} Encoding */
/** @typedef {'sure' | 'doubt' | 'no'} Likeness whether texts are in an encoding; `doubt`: they say too little */

/** @param {Uint8Array} bytes */
const isAscii = (bytes) => bytes.every((one) => one < 0x80);

/**
 * Bytes as UTF-8, also where a last character is cut, unless nothing but that speaks for it; null where they are none.
 *
 * @param {Uint8Array} bytes
 */
export function utf8(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return isAscii(bytes) || /[^\x00-\x7f]/.test(text) ? text : null;
  } catch {
    return null;
  }
}

/**
 * Whether texts are Russian, Bulgarian, Ukrainian … in Windows-1251. Of a word all letters are, or none; no western
 * language has words of accented letters alone, but for those of one letter: à, é, ø.
 *
 * @param {Uint8Array[]} texts
 * @returns {Likeness}
 */
function cyrillic(texts) {
  let letters = 0, frequent = 0, vowels = 0, latin = 0, longest = 0;
  for (const bytes of texts) {
    let high = 0, low = 0, capitals = 0, smalls = 0, last = 0;
    for (let i = 0; i <= bytes.length; i += 1) {
      const one = bytes[i] ?? 0, other = OTHERS.get(one);
      if (one >= 0xc0 || other || [...OTHERS.values()].includes(one)) {
        const capital = other ?? (one >= 0xe0 ? one - 0x20 : one), isSmall = capital !== one;
        // A small letter before a capital one is no word.
        if (!isSmall && smalls > 0) return 'no';
        if (isSmall) smalls += 1;
        else capitals += 1;
        high += 1;
        last = one;
        letters += 1;
        if (FREQUENT.has(capital)) frequent += 1;
        if (VOWELS.has(capital)) vowels += 1;
      } else if ((one | 0x20) >= 0x61 && (one | 0x20) <= 0x7a) {
        low += 1;
        latin += 1;
      } else {
        if (high > 0 && low > 0) return 'no';
        // Ђ, where Windows-1252 has €, and its like are no words.
        if (high === 1 && last < 0xa0) return 'no';
        // Two capitals and then small ones.
        if (capitals > 1 && smalls > 0) return 'no';
        longest = Math.max(longest, high);
        high = low = capitals = smalls = 0;
      }
    }
  }
  const share = vowels / letters;
  if (letters >= FEWEST_LETTERS && share >= 0.2 && share <= 0.7 && frequent >= 0.4 * letters) return 'sure';
  // Without letters, by signs such as “ or –, nothing is said.
  return longest === 1 && latin > 0 ? 'no' : 'doubt';
}

/**
 * Whether texts are Japanese in Shift-JIS. Its first bytes are hardly letters of western texts, and what would be a letter
 * there between other letters (the ’ of “don’t”) is one character between them here.
 *
 * @param {Uint8Array[]} texts
 * @returns {Likeness}
 */
function japanese(texts) {
  let characters = 0;
  for (const bytes of texts) {
    let text;
    try {
      text = new TextDecoder('shift_jis', { fatal: true }).decode(bytes, { stream: true });
    } catch {
      return 'no';
    }
    // Private use, and katakana of half the width: any western letter can be one.
    if (/[\ue000-\uf8ff\uff61-\uff9f\x80-\x9f]/.test(text)) return 'no';
    if (/(?<![^\x00-\x7f])[\u4e00-\u9fff](?![^\x00-\x7f])/.test(text) && /[A-Za-z][\u4e00-\u9fff]|[\u4e00-\u9fff][A-Za-z]/.test(text)) return 'no';
    characters += text.match(/[\u3040-\u30ff\u4e00-\u9fff々ー]/g)?.length ?? 0;
  }
  return characters >= FEWEST_CHARACTERS ? 'sure' : characters > 0 ? 'doubt' : 'no';
}

/**
 * The encoding of the texts of one file that say of none, or of Latin-1, as which people write anything: UTF-8 where they
 * are valid, Windows-1251 or Shift-JIS where all of them together can be little else, else Windows-1252.
 *
 * @param {Uint8Array[]} texts
 * @returns {{ encoding: Encoding, others: Encoding[] }} `others`: those that they may be in as well, so few as they are
 */
export function encodingOf(texts) {
  const unclear = texts.filter((bytes) => utf8(bytes) === null);
  if (unclear.length === 0) return { encoding: 'utf-8', others: [] };
  /** @type {[Encoding, Likeness][]} */
  const like = [['shift_jis', japanese(unclear)], ['windows-1251', cyrillic(unclear)]];
  const sure = like.find(([, how]) => how === 'sure')?.[0];
  return { encoding: sure ?? 'windows-1252', others: sure ? [] : like.filter(([, how]) => how === 'doubt').map(([one]) => one) };
}

/**
 * The names of a song that are there.
 *
 * @typedef {{ title?: string, artist?: string, album?: string }} Names
 */

/**
 * What was made of texts of a file that are no UTF-8: their encoding, and, of a file in doubt, its names in others.
 *
 * @typedef {{ encoding: Encoding, others: Partial<Record<Encoding, Names>> }} Guess
 */

/**
 * Files that are added together. One whose few letters leave a doubt follows the others of its folder.
 *
 * @template T
 */
export class Together {
  /**
   * How many files of each folder are sure of each encoding.
   *
   * @type {Map<unknown, Map<Encoding, number>>}
   */
  #sure = new Map();
  /** @type {{ of: T, folder: unknown, others: Guess['others'] }[]} */
  #doubts = [];

  /**
   * @param {T} of what has the names
   * @param {unknown} folder
   * @param {Guess} guess
   */
  add(of, folder, { encoding, others }) {
    if (Object.keys(others).length > 0) {
      this.#doubts.push({ of, folder, others });
      return;
    }
    const sure = this.#sure.get(folder) ?? new Map();
    this.#sure.set(folder, sure.set(encoding, (sure.get(encoding) ?? 0) + 1));
  }

  /** @returns {{ of: T, names: Names }[]} files in doubt, and the names that they have if they are as the others */
  settled() {
    return this.#doubts.flatMap(({ of, folder, others }) => {
      const sure = [...this.#sure.get(folder) ?? []], all = sure.reduce((sum, [, number]) => sum + number, 0);
      const most = sure.find(([, number]) => number >= MOST * all)?.[0], names = most && others[most];
      return names ? [{ of, names }] : [];
    });
  }
}
