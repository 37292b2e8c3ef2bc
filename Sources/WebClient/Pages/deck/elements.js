// The page's two audio elements. A tap makes them playable before the deck is loaded: it is over by then.

/** @typedef {import('./voice.js').Ports} Ports */

/** @type {Ports} */
export const BROWSER = {
  elements: [],
  element: () => new Audio(),
  now: () => performance.now(),
  after: (run, ms) => setTimeout(run, ms),
  cancel: (timer) => clearTimeout(timer),
  url: (file) => URL.createObjectURL(file),
  free: (url) => URL.revokeObjectURL(url),
};

/** @param {Ports} ports */
export function elementsOf({ elements, element }) {
  while (elements.length < 2) elements.push(element());
  return elements;
}

/**
 * Makes the elements playable later, as `Player.unlock` does, where nothing is open in them: to be called in a tap.
 *
 * A browser that wants a tap for each element takes a load within one, also of nothing. A silent file would still be opening
 * when the song is put in its place, and an element of WebKitGTK may stop the page for good where that happens.
 *
 * @param {Ports} [ports]
 */
export function unlockElements(ports = BROWSER) {
  for (const element of elementsOf(ports)) if (!element.src) element.load();
}
