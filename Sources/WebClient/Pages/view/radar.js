// A radar: rings at thirds of the radius, a dot for each room by distance and bearing. No map.

import { t } from '../text/en-more.js';
import { currentLocale } from './dom.js';

/**
 * @typedef {import('../wire/messages').NearbyRoom} NearbyRoom
 * @typedef {{lat: number, lon: number}} Place
 */

const NAME = 'http://www.w3.org/2000/svg';

/** Half of the picture's side, and the radius of the outermost ring, in the picture's units. */
const HALF = 180;
const OUTER = 156;

/**
 * A distance in the language's words: metres below one kilometre, to two digits; a room's place is rounded to about 100 m.
 *
 * @param {number} metres
 * @returns {string}
 */
export function distance(metres) {
  const far = metres >= 950;
  return new Intl.NumberFormat(currentLocale(), {
    style: 'unit', unit: far ? 'kilometer' : 'meter', maximumSignificantDigits: far && metres < 100_000 ? 2 : far ? 3 : 1,
  }).format(far ? Math.max(1, metres / 1000) : Math.max(100, Math.round(metres / 100) * 100));
}

/**
 * The bearing of the great circle from one place to another.
 *
 * @param {Place} from
 * @param {Place} to
 * @returns {number} radians clockwise from north, −π … π
 */
export function bearing(from, to) {
  const radians = Math.PI / 180;
  const [a, b, turn] = [from.lat * radians, to.lat * radians, (to.lon - from.lon) * radians];
  return Math.atan2(Math.sin(turn) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(turn));
}

/**
 * The radius that the outermost ring stands for: the one searched; for the whole world the distance of the farthest
 * room, rounded up to 1, 2 or 5 times a power of ten, as else all dots would lie at the centre.
 *
 * @param {number} radius
 * @param {readonly {distanceMeters: number}[]} rooms
 * @returns {number} metres
 */
export function scaleOf(radius, rooms) {
  if (radius < 1_000_000) return radius;
  const farthest = Math.max(1000, ...rooms.map((room) => room.distanceMeters));
  const power = 10 ** Math.floor(Math.log10(farthest));
  const step = [1, 2, 5, 10].find((of) => of * power >= farthest) ?? 10;
  return Math.min(radius, step * power);
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 */
function shape(tag, attributes, ...children) {
  const node = document.createElementNS(NAME, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/**
 * The picture. The list beside it says the same to screen readers, so its dots are not in the order of focus.
 *
 * @param {(id: string | null) => void} over called with the room under the pointer
 * @param {(id: string) => void} choose called with the room that was tapped
 * @returns {{node: Element, mark: (id: string | null) => void, show: (place: Place, radius: number, rooms: readonly NearbyRoom[]) => void}}
 */
export function radar(over, choose) {
  const labels = [1, 2, 3].map((ring) => shape('text', { class: 'radar-label', x: 0, y: -(OUTER * ring) / 3 - 5 }));
  const dots = shape('g', {});
  const node = shape('svg', { class: 'radar', viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: 'img' },
    ...[3, 2, 1].map((ring) => shape('circle', { class: 'radar-ring', r: (OUTER * ring) / 3 })),
    shape('path', { class: 'radar-cross', d: `M0 ${-OUTER}V${OUTER}M${-OUTER} 0H${OUTER}` }),
    ...labels, shape('circle', { class: 'radar-you', r: 5 }), dots);
  /** @type {Map<string, Element>} */
  let drawn = new Map();
  /** @param {Event} event */
  const roomAt = (event) => (event.target instanceof Element ? event.target.closest('[data-room]')?.getAttribute('data-room') ?? null : null);
  node.addEventListener('pointerover', (event) => over(roomAt(event)));
  node.addEventListener('pointerleave', () => over(null));
  node.addEventListener('click', (event) => {
    const id = roomAt(event);
    if (id !== null) choose(id);
  });
  return {
    node,
    mark: (id) => {
      for (const [of, dot] of drawn) dot.classList.toggle('marked', of === id);
      const marked = id === null ? undefined : drawn.get(id);
      if (marked && marked !== dots.lastElementChild) dots.append(marked);
    },
    show: (place, radius, rooms) => {
      const scale = scaleOf(radius, rooms);
      labels.forEach((label, at) => { label.textContent = distance((scale * (at + 1)) / 3); });
      node.setAttribute('aria-label', t.nearby.radar(rooms.length, distance(scale)));
      const before = drawn;
      drawn = new Map();
      for (const room of rooms) {
        if (!room.location) continue;
        const part = Math.min(1, room.distanceMeters / scale) * OUTER;
        const angle = bearing(place, room.location);
        const dot = before.get(room.id) ?? shape('g', { class: 'radar-dot', 'data-room': room.id },
          shape('circle', { class: 'radar-touch', r: 16 }), shape('circle', { class: 'radar-glow', r: 11 }), shape('circle', { class: 'radar-core', r: 5 }));
        dot.setAttribute('transform', `translate(${(Math.sin(angle) * part).toFixed(1)} ${(-Math.cos(angle) * part).toFixed(1)})`);
        dot.classList.toggle('playing', room.nowPlaying !== undefined);
        drawn.set(room.id, dot);
        if (!dot.isConnected) dots.append(dot);
      }
      for (const [id, dot] of before) if (!drawn.has(id)) dot.remove();
    },
  };
}
