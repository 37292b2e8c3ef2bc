/** The English texts of the deck: of a DJ who plays on this device, and of adding files. As in en-more.js. */

import { plural } from './en.js';
import { t as other } from './en-more.js';

/** The English, whatever the language of the page. */
export const deck = {
  deck: {
    section: 'Deck',
    playHere: 'Play on this device',
    starting: 'Starting…',
    other: (/** @type {string} */ name) => `${name}’s device is playing.`,
    otherOwn: 'Your other device is playing.',
    takeOverAsked: 'Take over?',
    gone: (/** @type {string} */ name) => `${name}’s device has lost its connection.`,
    goneOwn: 'Your other device has lost its connection.',
    lost: (/** @type {string} */ name) => `${name}’s device plays now.`,
    lostOwn: 'Your other device plays now.',
    lostSomebody: 'Another device plays now.',
    takeOver: 'Take over',
    ok: 'OK',
    here: 'Playing on this device',
    gesture: 'The browser waits for a tap.',
    goOn: 'Go on playing',
    permission: 'This browser asks again for your files.',
    allow: 'Allow',
    paused: 'Paused by this device (a call, headphones, another app).',
    otherTab: 'This room plays in another tab of this browser.',
    hereInstead: 'Play here instead',
    leading: 'No connection. The music goes on here; the room will be told.',
    offline: 'Playing on this device, off line',
    told: 'The room knows what was played.',
    missing: 'This song is not on this device.',
    missingNext: (/** @type {string} */ title) => `Next: ${title} is not on this device.`,
    find: 'Find the file',
    skip: 'Skip',
    seconds: (/** @type {number} */ s) => `${s} s`,
    away: 'Not on this device',
    looking: (/** @type {number} */ n, /** @type {string} */ shown) => `Looking at ${shown} ${plural(n, 'song', 'songs')}`,

    volume: 'Volume',
    percent: (/** @type {number} */ n) => `${n} %`,
    fade: 'Fade',
    fadeAbout: 'How long one song runs into the next.',
    fadeFor: (/** @type {number} */ s) => `Fade ${s} s`,
    noFade: 'No fade',
    level: 'Same loudness for all songs',
    levelAbout: 'Loud songs are turned down.',
    fixed: 'This device lets no page set its volume, so songs do not fade, and each is as loud as it is. Use the device’s own buttons.',
    stop: 'Stop playing here',

    files: 'Files',
    drop: 'Drop files or folders here',
    dropAnywhere: 'Drop your music to add it',
    chooseFiles: 'Choose files',
    chooseFolder: 'Choose a folder',
    moreFiles: 'More files',
    done: 'Done',
    cancel: 'Cancel',
    stay: 'Your files stay on this device. Only titles, artists and lengths are sent.',
    deleted: 'This browser may delete them after seven days without a visit.',
    read: (/** @type {string} */ n, /** @type {string} */ of) => `${n} of ${of} read`,
    added: (/** @type {string} */ n) => `${n} added`,
    isHere: (/** @type {string} */ n) => `${n} here already`,
    skipped: (/** @type {string} */ n) => `${n} skipped`,
    cancelled: 'Cancelled. Nothing was added.',
    nothing: 'No files there.',
    why: {
      format: 'not a format that can be played here',
      empty: 'empty',
      unreadable: 'cannot be read',
      large: 'too large',
      full: 'this browser keeps no more songs',
    },
    more: (/** @type {string} */ n) => `and ${n} more`,
  },
};

export { more } from './en-more.js';
export const t = /** @type {typeof other & typeof deck} */ (other);
/** @type {any} */ (t).deck ??= { ...deck.deck, why: { ...deck.deck.why } };
