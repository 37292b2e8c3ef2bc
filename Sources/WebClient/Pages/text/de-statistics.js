/** The German texts of a room's statistics, and of what is played nearby: the same tree as in `en-statistics.js`. */

const rules = new Intl.PluralRules('de');

/**
 * The form of a word for a count: one `1 Song`, other `2 Songs`.
 *
 * @param {number} n
 * @param {string} one
 * @param {string} other
 */
const plural = (n, one, other) => (rules.select(n) === 'one' ? one : other);

export const counted = {
  statistics: {
    span: 'Welche Zeit',
    spans: { hour: 'Letzte Stunde', evening: '12 Stunden', week: '7 Tage' },
    counting: 'Zählt…',
    off: 'Dieser Server zählt nichts.',
    offMore: 'Wer ihn betreibt, hat die Statistik ausgeschaltet.',
    stays: (/** @type {string} */ why, /** @type {string} */ time) => `${why} Was du siehst, ist von ${time}.`,
    lost: 'Keine Verbindung.',
    unavailable: 'Der Server kann es gerade nicht sagen.',
    empty: {
      hour: 'Eine ruhige Stunde',
      evening: 'Noch ist es ruhig',
      week: 'Eine ruhige Woche',
    },
    emptyMore: 'Wenn Songs laufen und Leute abstimmen, siehst du hier, wie der Abend verläuft.',
    plays: {
      name: 'Gespielte Songs',
      about: 'Ein Song zählt, wenn er lange genug zu hören war: zur Hälfte, aber mindestens 30 Sekunden und höchstens 4 Minuten; ein kürzerer ganz.',
      value: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'Song', 'Songs')}`,
    },
    votes: {
      name: 'Stimmen',
      value: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'Stimme', 'Stimmen')}`,
    },
    peak: {
      name: 'Zugleich da',
      about: 'So viele waren höchstens in einem Augenblick da, soweit Server es gesehen haben: Jemand zählt einmal je Gerät, und vielleicht doppelt, während ein Server neu startet. Wo kein Balken ist, wurde nichts gesehen.',
      value: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'hört zu', 'hören zu')}`,
      unseen: 'nichts gesehen',
    },
    music: 'Musik gehört',
    none: '–',
    hours: (/** @type {string} */ clock) => `${clock} h`,
    minutes: (/** @type {string} */ n) => `${n} min`,
    bars: 'Diagramm',
    at: (/** @type {string} */ when, /** @type {string} */ value) => `${when}: ${value}`,
    most: (/** @type {string} */ value) => `höchstens ${value}`,
    mostShort: (/** @type {string} */ value) => `≤ ${value}`,
    table: 'Als Tabelle zeigen',
    time: 'Zeit',
    top: 'Am meisten gespielt',
    topEmpty: 'Kein Song war lange genug zu hören.',
    count: (/** @type {number} */ _) => 'mal',
    wanted: 'Gerade am meisten gewünscht',
    wantedAbout: 'Die Stimmen von jetzt, egal welche Zeit du ansiehst.',
    wantedEmpty: 'Niemand wünscht sich gerade etwas.',
    wantedCount: (/** @type {number} */ n) => plural(n, 'Stimme', 'Stimmen'),
    yours: 'Deine',
    yoursAbout: 'Songs, die du hinzugefügt hast, und wann sie liefen.',
    yoursEmpty: 'In dieser Zeit lief keiner deiner Songs.',
    yoursLooking: 'Mach mit, dann stehen hier deine Songs.',
    early: (/** @type {string} */ time) => `${time} (nicht bis zum Ende)`,
  },

  trending: {
    title: 'Was hier in der letzten Stunde lief',
    few: (/** @type {string} */ n) => `Ein Song wird hier genannt, sobald er in Räumen von ${n} verschiedenen Leuten lief. So lässt sich niemand herauslesen.`,
    plays: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} mal`,
    rooms: (/** @type {number} */ n, /** @type {string} */ shown) => `in ${shown} ${plural(n, 'Raum', 'Räumen')}`,
  },
};
