// What the browser makes of a file: the one place that decides what this device plays.

/** How long the browser is asked, in ms. */
const LONGEST_LOOK_MS = 5000;
/** The longest duration of a track, in ms. */
const LONGEST_DURATION = 604_800_000;

/**
 * What was heard: whether it is played here, which is absent where the browser did not say so in time; how long it is, if
 * the browser knows.
 *
 * @typedef {{ plays?: boolean, durationMs?: number }} Heard
 */

/**
 * Whether the browser says that it does not play a type. It may open a file of it all the same, of which nothing is heard.
 *
 * @param {string} type  empty: nobody asks
 */
export const isForeign = (type) => type !== '' && new Audio().canPlayType(type) === '';

/**
 * Opens a file as the deck does, up to where its decoder is chosen.
 *
 * @param {File} file with its type
 * @returns {Promise<Heard>}
 */
export async function heard(file) {
  const audio = new Audio(), url = URL.createObjectURL(file);
  let timer = 0;
  const plays = await new Promise((/** @type {(plays?: boolean) => void} */ resolve) => {
    audio.onloadedmetadata = () => resolve(true);
    audio.onerror = () => resolve(false);
    timer = setTimeout(resolve, LONGEST_LOOK_MS);
    audio.preload = 'metadata';
    audio.src = url;
  });
  clearTimeout(timer);
  const ms = Math.round(audio.duration * 1000);
  audio.onloadedmetadata = audio.onerror = null;
  audio.removeAttribute('src');
  // A browser opens only so many at once, and lets go of one that is told.
  audio.load();
  URL.revokeObjectURL(url);
  return { plays, durationMs: ms >= 1 && ms <= LONGEST_DURATION ? ms : undefined };
}
