// The statistics of a room: plays, votes and listeners over time, and the songs behind them. Live while it is open.

import { PART } from '../room/room.js';
import { sumOf } from '../room/counts.js';
import { MINUTE, SPANS, hasLabel, marksOf, offsetOf } from '../room/spans.js';
import { Counted } from '../store/counted.js';
import { t } from '../text/en-statistics.js';
import { barChart } from './chart.js';
import { choice } from './controls.js';
import { dialog, follow, sentenceOf } from './dialog.js';
import { currentLocale, h, number, stylesheet, svg, text } from './dom.js';
import { ranking } from './ranking.js';
import { labelOf, lengthOf, timeOf, whenOf } from './statistics-words.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/counts.js').Bar} Bar
 * @typedef {import('../room/spans.js').SpanName} SpanName
 */

/** The charts, and what their bars show. */
const CHARTS = /** @type {const} */ (['plays', 'votes', 'peak']);
/** Songs of the lists of what is wanted, and of the viewer's own. */
const WANTED = 5;
const OWN = 50;

/**
 * @param {(typeof CHARTS)[number]} kind
 * @param {Bar} bar
 */
const valueOf = (kind, bar) => (kind === 'peak' ? bar.peak : bar.counts[kind] ?? 0);

/**
 * Opens them.
 *
 * @param {App} app
 */
export async function open(app) {
  await stylesheet('statistics');
  const first = app.store.room;
  if (!first) return null;
  const words = t.statistics;
  const writing = { locale: currentLocale() };
  const offsetMinutes = offsetOf(new Date().getTimezoneOffset());
  /** @type {SpanName} */
  const begin = app.preferences.get('statisticsSpan') in SPANS ? app.preferences.get('statisticsSpan') : 'evening';

  const spans = choice(/** @type {SpanName[]} */ (Object.keys(SPANS)).map((name) => [name, words.spans[name]]), begin, (name) => {
    app.preferences.set('statisticsSpan', name);
    counted.show(/** @type {SpanName} */ (name));
  });
  spans.node.setAttribute('aria-label', words.span);
  const bar = h('div.statistics-spans', null, spans.node);
  const note = h('p.statistics-note', { role: 'status' });
  const off = h('div.statistics-empty', { hidden: true }, svg('chart'), h('h3', null, words.off), h('p', null, words.offMore));
  const emptyName = h('h3');
  const empty = h('div.statistics-empty', { hidden: true }, svg('chart'), emptyName, h('p', null, words.emptyMore));
  const tiles = /** @type {const} */ (['plays', 'votes', 'peak', 'music']).map((kind) => {
    const value = h('dd');
    return { kind, value, node: h('div.tile', { class: kind }, h('dt', null, kind === 'music' ? words.music : words[kind].name), value) };
  });
  const charts = CHARTS.map((kind) => ({
    kind,
    ...barChart({
      name: words[kind].name, about: /** @type {{about?: string}} */ (words[kind]).about, kind, at: words.at, role: words.bars,
      table: words.table, time: words.time,
    }),
  }));
  const top = ranking({ name: words.top, ranks: true });
  const wanted = ranking({ name: words.wanted, about: words.wantedAbout, ranks: true });
  const yours = ranking({ name: words.yours, about: words.yoursAbout });
  const figures = h('div.statistics-figures', null, h('dl.tiles', null, tiles.map(({ node }) => node)), charts.map(({ node }) => node));
  const parts = h('div.statistics-parts', null, figures, empty, h('div.statistics-lists', null, top.node, wanted.node, yours.node));
  const body = h('div.statistics', { 'aria-busy': 'true' }, bar, note, off, parts);

  const shown = dialog({ title: t.menu.statistics, body, wide: true, className: 'tall numbers', onClose: () => end() });
  const counted = new Counted(app.store, app.http.request, { offsetMinutes, span: begin, changed: () => render() });

  /** @type {any} */
  let timer;
  /** Bars move on when a minute is over. */
  const tick = () => {
    const now = app.store.clock.now();
    timer = setTimeout(() => {
      counted.look();
      tick();
    }, MINUTE - (now % MINUTE) + 20);
  };
  tick();

  function end() {
    clearTimeout(timer);
    counted.close();
    for (const chart of charts) chart.destroy();
    stop();
  }

  /** Why the newest counts are not here, if they are not. */
  function trouble() {
    const refusal = counted.refusal ?? counted.silence;
    const why = app.store.link.state !== 'live' ? words.lost : refusal?.code === 'unavailable' ? words.unavailable : refusal ? sentenceOf(refusal) : '';
    if (!why) return counted.isRead ? '' : words.counting;
    return counted.readAt ? words.stays(why, timeOf('hour', counted.readAt, writing)) : why;
  }

  function render() {
    const { span, bars } = counted;
    off.hidden = !counted.isOff;
    bar.hidden = parts.hidden = counted.isOff;
    text(note, counted.isOff ? '' : trouble());
    body.setAttribute('aria-busy', String(!counted.isRead && !counted.isOff));
    if (counted.isOff) return;
    const sums = sumOf(bars.map((bar) => bar.counts));
    const seen = bars.some((bar) => bar.peak !== null);
    const isEmpty = counted.isRead && !sums.plays && !sums.skips && !sums.playedMs && !sums.votes && bars.every((bar) => bar.listenedMs === 0);
    figures.hidden = isEmpty;
    empty.hidden = !isEmpty;
    text(emptyName, words.empty[span]);
    const peak = Math.max(0, ...bars.map((bar) => bar.peak ?? 0));
    const values = { plays: number(sums.plays ?? 0), votes: number(sums.votes ?? 0), peak: seen ? words.mostShort(number(peak)) : words.none, music: lengthOf(sums.playedMs ?? 0, words) };
    for (const { kind, value } of tiles) text(value, values[kind]);
    for (const { kind, show } of charts) {
      const largest = Math.max(0, ...bars.map((bar) => valueOf(kind, bar) ?? 0));
      const total = kind === 'peak' && !seen ? words.peak.unseen : kind === 'peak' ? words.most(words.peak.value(peak, number(peak))) : words[kind].value(sums[kind] ?? 0, values[kind]);
      show({
        axis: marksOf(largest), number, centred: span === 'week', total,
        marks: bars.map((bar, index) => {
          const value = valueOf(kind, bar);
          return {
            from: bar.from, value, when: whenOf(span, bar, writing), isOpen: index === bars.length - 1,
            label: hasLabel(span, bar.from, offsetMinutes) ? labelOf(span, bar, writing) : '',
            words: value === null ? words.peak.unseen : words[kind].value(value, number(value)),
          };
        }),
      });
    }
    top.node.hidden = isEmpty;
    renderLists(span);
  }

  /** @param {SpanName} span */
  function renderLists(span) {
    const room = app.store.room;
    const most = counted.tracks[0]?.plays ?? 1;
    top.show(counted.tracks.map(({ track, title, artist, plays }) => ({
      key: track, title, artist, amount: number(plays), unit: words.count(plays), part: plays / most,
    })), counted.isRead ? words.topEmpty : words.counting);
    const requests = room?.requests.slice(0, WANTED) ?? [];
    const votes = requests[0]?.votes ?? 1;
    wanted.show(requests.map((track) => ({
      key: track.track, title: track.title, artist: track.artist, amount: number(track.votes), unit: words.wantedCount(track.votes), part: track.votes / votes,
    })), words.wantedEmpty);
    // One row a song, with the times at which it began.
    /** @type {Map<number, import('./ranking.js').Song & {times: string[]}>} */
    const songs = new Map();
    for (const play of counted.own) {
      const song = songs.get(play.track) ?? { key: play.track, title: play.title, artist: play.artist, times: [] };
      songs.set(play.track, song);
      const time = timeOf(span, play.startedAt, writing);
      song.times.unshift(play.isPlay ? time : words.early(time));
    }
    const list = new Intl.ListFormat(writing.locale, { type: 'unit', style: 'short' });
    yours.show([...songs.values()].slice(0, OWN).map((song) => ({ ...song, second: list.format(song.times) })),
      !room?.you ? words.yoursLooking : counted.isRead ? words.yoursEmpty : words.counting);
  }

  let member = first.you?.member;
  render();
  const stop = follow(app, PART.votes | PART.pool | PART.you | PART.link, () => shown, () => {
    const now = app.store.room?.you?.member;
    if (now !== member) counted.again();
    member = now;
    render();
  });
  return shown;
}
