// What is played in the rooms around, beside their list.

import { t } from '../text/en-statistics.js';
import { number } from './dom.js';
import { ranking } from './ranking.js';

/** @typedef {import('../wire/nearby.js').Trends} Trends */

/**
 * The list, hidden until it is shown.
 *
 * @returns {{node: HTMLElement, show: (trends: Trends | null) => void}} null: the server counts nothing, or has not
 *   answered; then the list is hidden
 */
export function trending() {
  const list = ranking({ name: t.trending.title, ranks: true, level: 2 });
  list.node.hidden = true;
  list.node.classList.add('trending');
  return {
    node: list.node,
    show: (trends) => {
      list.node.hidden = trends === null;
      if (!trends) return;
      const most = trends.tracks[0]?.plays ?? 1;
      list.show(trends.tracks.map(({ title, artist, plays, rooms }) => ({
        key: `${title}\n${artist ?? ''}`, title, artist, amount: t.trending.plays(plays, number(plays)),
        unit: t.trending.rooms(rooms, number(rooms)), part: plays / most,
      })), t.trending.few(number(trends.minimumRooms)));
    },
  };
}
