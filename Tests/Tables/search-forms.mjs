// node Tests/Tables/search-forms.mjs   Writes the Swift table of the forms of characters, from the page's own folding.
//
// The page has the compatibility forms from its browser. Swift's standard library does not have them, so the server has
// a table. search.test.mjs holds the two together.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { searchable } from '../../Sources/WebClient/Pages/room/search.js';

const FILE = new URL('../../Sources/RoomDomain/SearchForms+Table.swift', import.meta.url);

const hex = (/** @type {number} */ value) => value.toString(16);

/** The form of a character as the table writes it; null: the character itself, or a syllable that is computed. */
function written(/** @type {number} */ value) {
  if ((value >= 0xd800 && value < 0xe000) || (value >= 0xac00 && value < 0xd7a4)) return null;
  const scalar = String.fromCodePoint(value);
  const form = [...searchable(scalar)].map((letter) => letter.codePointAt(0) ?? 0);
  if (form.length === 1 && form[0] === value) return null;
  if (form.length === 1 && form[0] !== 0x20) return form[0] > value ? `+${hex(form[0] - value)}` : `-${hex(value - form[0])}`;
  return `=${form.map(hex).join('.')}`;
}

/** The table: `first[:last]` and `+distance`, `-distance` or `=form`, in the order of characters. */
export function entries() {
  const found = [];
  let run = { first: 0, last: 0, form: /** @type {string | null} */ (null) };
  for (let value = 0x80; value <= 0x110000; value += 1) {
    const form = value < 0x110000 ? written(value) : null;
    if (form !== null && form === run.form) {
      run.last = value;
      continue;
    }
    if (run.form !== null) found.push(`${hex(run.first)}${run.last > run.first ? `:${hex(run.last)}` : ''}${run.form}`);
    run = { first: value, last: value, form };
  }
  return found;
}

/** What the Swift file says: the version of Unicode, and its entries. */
export function read() {
  const text = readFileSync(FILE, 'utf8');
  return {
    unicode: /Unicode (\S+),/.exec(text)?.[1],
    entries: [...text.matchAll(/^ {8}([0-9a-f:+=. -]+)$/gm)].flatMap(([, line]) => line.split(' ')),
  };
}

function write() {
  const lines = [''];
  for (const entry of entries()) {
    const longer = `${lines[lines.length - 1]} ${entry}`.trim();
    if (longer.length > 108) lines.push(entry);
    else lines[lines.length - 1] = longer;
  }
  writeFileSync(FILE, `extension SearchForms {
    /// The forms of characters other than ASCII and Hangul syllables, of Unicode ${process.versions.unicode}, written by
    /// \`Tests/Tables/search-forms.mjs\`: \`first[:last]\`, then \`+distance\`, \`-distance\` or \`=form\`, in hexadecimal digits.
    static let table = """
${lines.map((line) => `        ${line}`).join('\n')}
        """
}
`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) write();
