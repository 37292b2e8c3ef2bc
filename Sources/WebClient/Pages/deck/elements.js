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
 * @param {Ports} [ports]
 */
export function unlockElements(ports = BROWSER) {
  for (const element of elementsOf(ports)) {
    if (element.src) continue;
    const url = ports.url(silence());
    element.src = url;
    // The promise is refused where a song has taken the element meanwhile.
    element.play().then(() => element.pause(), () => {}).finally(() => ports.free(url));
  }
}

/** A tenth of a second without sound, as a WAV file. */
export function silence() {
  const samples = 800;
  const view = new DataView(new ArrayBuffer(44 + samples));
  const words = [0x52494646, 0, 0x57415645, 0x666d7420];
  words.forEach((word, at) => view.setUint32(4 * at, word));
  view.setUint32(4, 36 + samples, true);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 8000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  view.setUint32(36, 0x64617461);
  view.setUint32(40, samples, true);
  new Uint8Array(view.buffer, 44).fill(128);
  return new Blob([view], { type: 'audio/wav' });
}
