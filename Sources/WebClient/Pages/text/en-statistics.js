/** The English texts of a room's statistics, and of what is played nearby. As in en-more.js. */

import { plural } from './en.js';
import { copy, t as other } from './en-more.js';

/** The English, whatever the language of the page. */
export const counted = {
  statistics: {
    span: 'Which time',
    spans: { hour: 'Last hour', evening: '12 hours', week: '7 days' },
    counting: 'Counting…',
    off: 'This server counts nothing.',
    offMore: 'Whoever runs it has turned the statistics off.',
    stays: (/** @type {string} */ why, /** @type {string} */ time) => `${why} What you see is of ${time}.`,
    lost: 'No connection.',
    unavailable: 'The server cannot tell right now.',
    empty: {
      hour: 'A quiet hour',
      evening: 'Quiet so far',
      week: 'A quiet week',
    },
    emptyMore: 'When songs are played and people vote, you see here how the evening goes.',
    plays: {
      name: 'Songs played',
      about: 'A song counts when it was heard for long enough: half of it, but at least 30 seconds and at most 4 minutes; a shorter song as a whole.',
      value: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'song', 'songs')}`,
    },
    votes: {
      name: 'Votes',
      value: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'vote', 'votes')}`,
    },
    peak: {
      name: 'Listeners at once',
      about: 'At most so many were here at one moment, as servers saw it: a person counts once for each device, and may count twice while a server restarts. Where there is no bar, nothing was seen.',
      value: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'listener', 'listeners')}`,
      unseen: 'nothing seen',
    },
    music: 'Music heard',
    none: '–',
    hours: (/** @type {string} */ clock) => `${clock} h`,
    minutes: (/** @type {string} */ n) => `${n} min`,
    bars: 'Chart',
    at: (/** @type {string} */ when, /** @type {string} */ value) => `${when}: ${value}`,
    most: (/** @type {string} */ value) => `at most ${value}`,
    mostShort: (/** @type {string} */ value) => `≤ ${value}`,
    table: 'Show as table',
    time: 'Time',
    top: 'Most played',
    topEmpty: 'No song was heard for long enough.',
    count: (/** @type {number} */ n) => plural(n, 'play', 'plays'),
    wanted: 'Wanted most right now',
    wantedAbout: 'Votes of this moment, whatever time you look at.',
    wantedEmpty: 'Nobody has asked for anything.',
    wantedCount: (/** @type {number} */ n) => plural(n, 'vote', 'votes'),
    yours: 'Yours',
    yoursAbout: 'Songs that you have added, and when they were on air.',
    yoursEmpty: 'None of your songs was on air in this time.',
    yoursLooking: 'Join the room, and your songs are listed here.',
    early: (/** @type {string} */ time) => `${time} (not to the end)`,
  },

  trending: {
    title: 'Played around here this hour',
    few: (/** @type {string} */ n) => `A song is named here once the rooms of ${n} different people have played it, so that nobody can be singled out.`,
    plays: (/** @type {number} */ n, /** @type {string} */ shown) => `${shown} ${plural(n, 'play', 'plays')}`,
    rooms: (/** @type {number} */ n, /** @type {string} */ shown) => `in ${shown} ${plural(n, 'room', 'rooms')}`,
  },
};

export const t = /** @type {typeof other & typeof counted} */ (other);
for (const [group, texts] of Object.entries(counted)) /** @type {any} */ (t)[group] ??= copy(texts);
