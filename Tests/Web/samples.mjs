// What the tests of the page's kernel share: golden files, random numbers with a seed, a plain fold.
import { readdirSync, readFileSync } from 'node:fs';
import { seedOfRun } from './mutations.mjs';

const FIXTURES = new URL('../RoomWireTests/Fixtures/', import.meta.url);

/** A golden file's JSON, with some fields in place of its own. */
export function golden(name, changes = {}) {
  return { ...JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8')), ...changes };
}

/** The names of the golden files that begin with this. */
export function goldenNames(prefix) {
  return readdirSync(FIXTURES).filter((name) => name.startsWith(prefix)).map((name) => name.replace(/\.json$/, ''));
}

export const ROOM = golden('state').id;

/** A snapshot message of the golden room, with changes of its fields and of its state. */
export function snapshot(changes = {}, state = {}) {
  const { epoch = 'e1', seq = 7, ...rest } = changes;
  return { type: 'snapshot', room: ROOM, epoch, seq, time: 0, state: { ...golden('state'), ...state }, ...rest };
}

/** A value without what is undefined or null: both mean the same as absent. */
export const plain = (value) => JSON.parse(JSON.stringify(value, (_, inner) => (inner === null ? undefined : inner)));

/** Numbers below `n`, the same for the same seed (mulberry32). */
export function randomly(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

/** The seed of a random test, which is printed. */
export function seeded(t) {
  const seed = seedOfRun();
  t.diagnostic(`BACKLINE_SEED=${seed}`);
  return { seed, random: randomly(seed) };
}

/** The time of the processor that `process.cpuUsage` tells of, in ms: other processes do not lengthen it. */
export const milliseconds = ({ user, system }) => (user + system) / 1000;

const WORDS = [
  'a', 'A', 'b', 'Z', 'é', 'e\u0301', 'E\u0301', 'ß', 'ẞ', 'Σ', 'ς', 'σ', 'İ', 'i', 'I', 'ı', '𝒜', '𝔸', '𐐀', '𐐨', '😀',
  '\uFF21', '\uFB01', '\uE000', '한', '\u1112\u1161\u11ab', 'ア', 'か\u3099', '\u0344', '\u0308\u0301', '\u0345', 'Ω',
  '\u2126', 'K', '\u212B', 'я', 'Я', ' ', '1', '\u202Eא', '\u0F77', '𞤀', 'ǅ', '\u{1D15E}', '\u0958',
];

/** A title of scalars that are easily sorted wrongly: astral, combining, with odd lower cases. */
export function title(random) {
  let text = 'x';
  for (let i = random(5); i >= 0; i--) text += WORDS[random(WORDS.length)];
  return random(3) ? text.slice(1) || 'x' : text;
}
