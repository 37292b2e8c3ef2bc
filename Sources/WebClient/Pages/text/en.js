/**
 * The English texts of a first visit, by the view that shows them; the others are in en-more.js.
 *
 * A value is a string, or a function of what the sentence names. `main.js` copies another language over this tree,
 * so a view reads a text when it renders, and keeps none.
 */

const rules = new Intl.PluralRules('en');

/**
 * The form of a word for a count: one `1 song`, other `2 songs`.
 *
 * @param {number} n
 * @param {string} one
 * @param {string} other
 */
const plural = (n, one, other) => (rules.select(n) === 'one' ? one : other);

/**
 * A name or a title for a sentence, kept from changing the direction of the words beside it. What it begins ends with
 * it: an end without a beginning is left out, and missing ends are added, which end overrides as well.
 *
 * @param {string} words
 */
export function isolated(words) {
  let open = 0;
  const inside = words.replace(/[\u2066-\u2069]/g, (mark) => {
    if (mark === '\u2069' && open === 0) return '';
    open += mark === '\u2069' ? -1 : 1;
    return mark;
  });
  return `\u2068${inside}${'\u2069'.repeat(open + 1)}`;
}

export const t = {
  join: {
    here: (/** @type {string} */ room, /** @type {number} */ n) => `${room} · ${n} here`,
    name: 'Your name',
    join: 'Join',
    joinAs: (/** @type {string} */ name) => `Join as ${name}`,
    joining: 'Joining…',
    look: 'Look around first',
    looking: 'You are looking in.',
    nameMissing: 'Type a name that others will see.',
    nameLong: 'A name has at most 40 characters.',
    nameTaken: 'Somebody here has this name, too. A number tells you apart.',
    nameWrong: 'A name needs a character that can be seen.',
    nameControl: (/** @type {string} */ code) => `A name cannot have the character ${code}, which controls the text and is not shown.`,
    nameTag: (/** @type {string} */ code) => `A name cannot have the character ${code}, an invisible tag, as the flags of England, Scotland and Wales have.`,
    full: 'This room is full.',
    crowd: 'Many people are joining from here right now.',
    removed: 'You have been removed from this room.',
  },

  header: {
    home: 'Backline, to the start page',
    here: (/** @type {string} */ n) => `${n} here`,
    people: (/** @type {string} */ n) => `${n} here. Show people`,
    share: (/** @type {string} */ code) => `Code ${code}. Share this room`,
    menu: 'Menu',
    closed: 'This room is closed.',
    closedMore: 'Nothing can be changed any more. The history stays.',
    history: 'History',
    tabs: 'Lists of this room',
    opening: 'Opening the room…',
    untitled: 'Backline',
  },

  onAir: {
    section: 'On air',
    onAir: 'On air',
    paused: 'Paused',
    waiting: 'Waiting for the deck',
    nothing: 'Nothing is playing',
    steps: {
      join: 'Join, and ask for a song.',
      ask: 'Choose a song, and ask for it.',
      askDJ: 'Choose a song, and ask for it. A DJ decides what is played.',
      add: 'There are no songs yet. Add the first one.',
      wait: 'The DJ is still unpacking.',
      starts: 'A DJ starts the music.',
    },
    noDeck: 'No device is playing',
    by: (/** @type {string} */ name) => `Played by ${name}`,
    why: 'Why this song?',
    mostVotes: (/** @type {string} */ n) => `Most votes: ${n}`,
    turn: (/** @type {string} */ name, /** @type {string} */ round) => `${name}’s turn, round ${round}`,
    turnOfSomebody: (/** @type {string} */ round) => `Somebody’s turn, round ${round}`,
    passedOver: 'Passed over: played too recently',
    whyUnknown: 'Next in the queue',
    somebody: 'somebody',
    seek: 'Position in the song',
    seekText: (/** @type {string} */ at, /** @type {string} */ of) => `${at} of ${of}`,
    elapsed: 'Played so far',
    length: 'Length',
    react: (/** @type {string} */ emoji) => `Send ${emoji}`,
    reactions: 'Reactions',
    skip: 'Skip',
    skipOf: (/** @type {string} */ n, /** @type {string} */ needed) => `Skip · ${n} of ${needed}`,
    skipMine: (/** @type {string} */ n, /** @type {string} */ needed) => `${n} of ${needed}`,
    skipLabel: (/** @type {string} */ n, /** @type {string} */ needed) =>
      `Vote to skip this song: ${n} of ${needed} votes`,
  },

  link: {
    connecting: 'Connecting…',
    reconnecting: 'Reconnecting…',
    lost: (/** @type {number} */ s) => `No connection. Trying again in ${s}\u00a0s`,
    lostNow: 'No connection. Trying again…',
    blocked: 'The server answers, but no lasting connection comes about. If the browser warned of the certificate, install it on this device. Otherwise something between stops WebSockets, or the server is full.',
    now: 'Try now',
    signedOut: 'You have been signed out.',
    startAgain: 'Start again',
    barred: 'You cannot enter this room.',
    barredWhy: 'The reason given:',
    barredStill: 'You cannot enter this room yet.',
    barredFor: (/** @type {string} */ time) => `You can come back in ${time}.`,
    missing: 'There is no room here.',
    missingMore: 'The code may be mistyped, or the room is gone.',
    cookiesMore: (/** @type {string} */ host) => `Backline needs one cookie, by which the server recognises you. Once cookies are allowed for ${host}, try again.`,
    cookieLostMore: 'Its cookie did not come back, although this browser keeps cookies. Something takes it away: an extension of the browser, or what stands between it and the server. If it goes on, tell whoever runs the server.',
    open: 'Open the https address',
    foreign: 'The server does not know this address.',
    foreignMore: (/** @type {string} */ origin) => `Whoever runs it can allow pages of ${origin}. A line in its log says how.`,
    home: 'To the start page',
    failed: 'The room could not be opened.',
    again: 'Try again',
    newPage: 'The page could not be loaded completely.',
    heldBack: 'A part of the page was not loaded. An extension of this browser may hold it back.',
    reload: 'Load again',
    close: 'Close',
  },

  refusals: {
    bad_request: 'The server did not accept that.',
    method_not_allowed: 'The server did not accept that.',
    not_acceptable: 'The server did not accept that.',
    unsupported_media_type: 'The server did not accept that.',
    unauthorized: 'You have been signed out.',
    forbidden: 'You may not do that here.',
    banned: 'You cannot enter this room.',
    not_found: 'That is not here any more.',
    not_member: 'Join the room first.',
    conflict: 'Something has changed meanwhile. Look again.',
    room_closed: 'This room is closed.',
    too_large: 'That is too much at once.',
    limit_reached: 'There is no room for more.',
    rate_limited: 'That was a little fast.',
    internal: 'The server has a problem.',
    unavailable: 'The server cannot reach its store right now. Nothing was changed.',
    outcome_unknown: 'It is not known whether that was done. Look again.',
    offline: 'No connection.',
    insecure: 'This address is not private. Open the https address.',
    foreign: 'The server does not know this address. A line in its log says how to allow it.',
    no_cookies: 'This browser keeps no cookies for this site. Allow them in its settings.',
    cookie_lost: 'The server does not recognise this browser. Try again.',
    other: 'That did not work.',
    again: (/** @type {string} */ sentence, /** @type {string} */ time) => `${sentence} Try again in ${time}.`,
  },

  announce: {
    song: (/** @type {string} */ title, /** @type {string} */ artist) =>
      artist ? `On air: ${title}, ${artist}` : `On air: ${title}`,
    yours: (/** @type {string} */ title) => `Your song is on air: ${title}`,
    lost: 'The connection is lost.',
    back: 'Connected again.',
    role: {
      owner: 'You own this room now.',
      dj: 'You are a DJ now: you can play, queue and add songs.',
      guest: 'You are a guest now.',
    },
    joined: (/** @type {string} */ room) => `You have joined ${room}.`,
    missing: (/** @type {string} */ title) => `“${title}” was skipped: the deck cannot play it.`,
  },

  lists: {
    requests: 'Asked for',
    queue: 'Up next',
    pool: 'All songs',
    noRequests: 'Nobody is asking for a song right now.',
    toSongs: 'To the songs',
    emptyQueue: {
      none: 'Nothing is in the queue.',
      dj: 'The DJ has queued nothing right now.',
      locked: 'Nothing is in the queue. For now, DJs decide.',
      votes: (/** @type {string} */ title) => `The most wanted song comes next: ${title}.`,
      resting: 'What people have asked for cannot come yet: it was played too recently, or is not playable.',
      missing: 'What people have asked for has no file that can be played.',
      fair: 'The people who voted take turns.',
      unasked: {
        votes: 'The most wanted song comes next. Nobody is asking for one right now.',
        fair: 'The people who vote take turns. Nobody is asking for a song right now.',
      },
    },
    vote: (/** @type {string} */ title, /** @type {number} */ n) =>
      n > 0 ? `${title}, ${n} ${plural(n, 'vote', 'votes')}` : `${title}, no votes`,
    /** What a row says in place of its vote, short and for screen readers. 0: on air, 1: next. */
    standing: (/** @type {number} */ place) => (place === 0 ? ['On air', 'on air'] : place === 1 ? ['Up next', 'up next']
      : [`No. ${place}`, `number ${place} in the queue`]),
    late: 'It is already on air or in the queue.',
    missing: 'Not playable',
    inAMoment: 'in a moment',
    inMinutes: (/** @type {number} */ n) => `in ${n} min`,
    inHours: (/** @type {number} */ hours, /** @type {number} */ minutes) =>
      minutes > 0 ? `in ${hours} h ${minutes} min` : `in ${hours} h`,
    addedBy: (/** @type {string} */ name) => `added by ${name}`,
    enqueue: 'Add to the queue',
    enqueueNamed: (/** @type {string} */ title) => `Add to the queue: ${title}`,
    moreNamed: (/** @type {string} */ title) => `More for ${title}`,
    playNow: 'Play now',
    playNext: 'Play next',
    toTop: 'To the top',
    moveUp: 'Move up',
    moveDown: 'Move down',
    remove: 'Remove from the queue',
    ask: 'Ask for it',
    withdraw: 'Withdraw your vote',
    removeTrack: 'Remove from the room',
    removeNamed: (/** @type {string} */ title) => `Remove “${title}”?`,
    removeSure: 'It goes for everybody, with its votes and its place in the queue. This cannot be undone.',
    removeYes: 'Remove',
    undo: 'Undo',
    queued: (/** @type {string} */ title) => `In the queue: ${title}`,
    unqueued: (/** @type {string} */ title) => `Removed: ${title}`,
    movedTo: (/** @type {string} */ title, /** @type {number} */ place) => `${title} is number ${place} now.`,
    trackRemoved: (/** @type {string} */ title) => `Removed from the room: ${title}`,
    onAir: 'It is on air. Skip it first.',
    repeated: 'It was played too recently.',
  },

  pool: {
    find: 'Find a song',
    clear: 'Clear the search',
    add: 'Add a song',
    addMusic: 'Add music',
    none: 'No song matches.',
    addThis: (/** @type {string} */ query) => `Add “${query}”`,
    found: (/** @type {string} */ n, /** @type {string} */ of) => `${n} of ${of}`,
    foundSaid: (/** @type {number} */ n) => (n === 1 ? '1 song matches.' : `${n} songs match.`),
    locked: 'For now, DJs decide. Votes still count.',
    wait: (/** @type {string} */ time) => `You can add again in ${time}.`,
    emptyDJ: 'This room has no songs yet.',
    emptyDJMore: 'Add the songs that you want to play. People can ask for them at once.',
    emptyGuestMore: 'Songs show up here by themselves.',
  },
};

export { plural };
