// Prints, as JSON, which English text of the page is which German one: [pattern, replacement] of regular expressions.
// What a text is given is a group of them: a text, the count 1, or another count.
import '../../Sources/WebClient/Pages/text/en-deck.js';
import { t } from '../../Sources/WebClient/Pages/text/en-statistics.js';
import { de } from '../../Sources/WebClient/Pages/text/de.js';

/** What a function is called with: for each parameter a mark, or a number that stands for one. */
function calls(text) {
  const types = [...text.toString().split('=>')[0].matchAll(/@type \{(\w+)\}/g)].map(([, type]) => type);
  const given = (count) => types.map((type, at) => (type === 'number' ? count ?? 4001 + at : `\uE000${at}`));
  return types.includes('number') ? [given(1), given()] : [given()];
}

/** What a text says of `given`, with a mark for each part of it: U+E000, or U+E001 for numbers, and its place. */
function said(text, given) {
  const all = typeof text === 'function' ? text(...given) : text;
  if (typeof all !== 'string') return '';
  const one = given.indexOf(1);
  return one < 0 ? all.replace(/4[.,]?00(\d)/g, (_, at) => `\uE001${at - 1}`) : all.replace(/(?<![\d:])1(?![\d:])/g, `\uE001${one}`);
}

function rows(english, german, into = []) {
  for (const [key, text] of Object.entries(english)) {
    const other = german[key];
    if (typeof text === 'object') rows(text, other, into);
    else {
      for (const given of typeof text === 'function' ? calls(text) : [[]]) {
        const places = [];
        const pattern = said(text, given).replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/([\uE000\uE001])(\d)/g, (_, kind, at) => {
          places.push(at);
          return kind === '\uE000' ? '([^]+?)' : given.includes(1) ? '(1)' : '([\\d.,]+)';
        });
        const replacement = said(other, given).replace(/\$/g, '$$$$').replace(/[\uE000\uE001](\d)/g, (_, at) => `$${places.indexOf(at) + 1}`);
        if (/\p{L}/u.test(pattern.replace(/\(\[.*?\)/g, ''))) into.push([`^${pattern}$`, replacement]);
      }
    }
  }
  return into;
}

// What says more by itself is tried first, and one before many.
const own = ([pattern]) => pattern.replace(/\(\[.*?\)/g, '').length;
console.log(JSON.stringify(rows(t, de).sort((a, b) => own(b) - own(a))));
