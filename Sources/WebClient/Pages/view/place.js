// The place of a room in its settings.

import { t } from '../text/en-more.js';
import { field } from './controls.js';
import { currentLocale, h } from './dom.js';

/** @typedef {import('./controls.js').Field} Field */

/**
 * Where this device is, asked once. The browser asks the person first.
 *
 * @returns {Promise<{lat: number, lon: number}>} rejects with the reason in plain words
 */
export function whereAmI() {
  return new Promise((resolve, reject) => {
    if (!('geolocation' in navigator)) return reject(new Error(t.nearby.unknown));
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => resolve({ lat: coords.latitude, lon: coords.longitude }),
      (error) => reject(new Error(error.code === error.PERMISSION_DENIED ? t.nearby.refused : t.nearby.unknown)),
      { enableHighAccuracy: false, maximumAge: 60_000, timeout: 15_000 },
    );
  });
}

/**
 * The field: sets the place to where this device is, or removes it.
 *
 * @param {import('./dom.js').App} app
 * @param {(at: Field, change: object) => Promise<void>} update
 * @returns {{node: HTMLElement, show: (room: import('../room/room.js').Room) => void}}
 */
export function placeField(app, update) {
  const use = h('button.pill', {
    type: 'button',
    onclick: async () => {
      at.say(null);
      at.busy(true);
      use.disabled = true;
      try {
        const { lat, lon } = await whereAmI();
        await update(at, { location: { lat, lon } });
      } catch (error) {
        at.say(/** @type {Error} */ (error).message);
      } finally {
        at.busy(false);
        use.disabled = false;
      }
    },
  }, t.nearby.use);
  const remove = h('button.pill', { type: 'button', onclick: () => update(at, { clearLocation: true }) }, t.settings.placeRemove);
  const buttons = h('div.buttons', { role: 'group' }, use, remove);
  const at = field(t.settings.place, t.settings.placeNone, buttons);
  return {
    node: at.node,
    show: (room) => {
      remove.hidden = room.location === undefined;
      if (room.location === undefined) return at.describe(t.settings.placeNone);
      const degrees = new Intl.NumberFormat(currentLocale(), { minimumFractionDigits: 3, maximumFractionDigits: 3 });
      at.describe(`${t.settings.placeAt(degrees.format(room.location.lat), degrees.format(room.location.lon))} ${
        room.visibility === 'unlisted' ? t.settings.placeUnlisted : t.settings.placeWithin}`);
    },
  };
}
