// Whether something else is at work still: a worker, or a decoder, that says nothing for long is given up.

/**
 * Waits for the next sign. It is counted in two halves: after a sleep the clock is late, and nothing had time for a sign.
 *
 * @param {number} ms  without a sign
 * @param {() => void} over  called once, at most half as long later
 * @returns {{ heard(): void, end(): void }}  `heard`: there was a sign
 */
export function watchQuiet(ms, over) {
  let isHeard = true, quiet = 0, timer = /** @type {any} */ (0);
  const look = () => {
    quiet = isHeard ? 0 : quiet + 1;
    isHeard = false;
    if (quiet > 1) over();
    else timer = setTimeout(look, ms / 2);
  };
  look();
  return { heard: () => { isHeard = true; }, end: () => clearTimeout(timer) };
}
