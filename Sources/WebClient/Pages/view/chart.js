// A chart of bars over time, with a readout of one bar, and its table.

import { h, keyed, text } from './dom.js';

/**
 * @typedef {{from: number, value: number | null, label: string, when: string, words: string, isOpen?: boolean}} Mark
 *   `value` is null where there is none; `label` stands below it, or is empty; `words` say the value; `isOpen`: the time
 *   of the bar is not over
 * @typedef {{marks: Mark[], axis: number[], total: string, centred: boolean, number: (n: number) => string}} Content
 *   `axis` has the marks of the axis of values, 0 first; `centred`: labels stand below the middle of their bars, else
 *   below the beginning
 * @typedef {{name: string, about?: string, kind: string, at: (when: string, words: string) => string, role: string,
 *   table: string, time: string}} Words  texts; `kind` is a class
 */

const NAME = 'http://www.w3.org/2000/svg';
/** The height of the picture, and of what stands above and below the bars, in pixels. */
const HEIGHT = 148;
const ABOVE = 12;
const BELOW = 24;
/** The widest bar. */
const WIDEST = 36;
/** The height of what marks a bar whose value is 0. */
const FLOOR = 2;

let count = 0;

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function shape(tag, attributes) {
  const node = document.createElementNS(NAME, tag);
  change(node, attributes);
  return node;
}

/**
 * @param {Element} node
 * @param {Record<string, string | number>} attributes
 */
function change(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  }
}

/**
 * Makes a chart without bars.
 *
 * It is a slider whose value is a bar: the arrow keys go from bar to bar, and screen readers read each. A pointer does
 * the same.
 *
 * @param {Words} words
 * @returns {{node: HTMLElement, show: (content: Content) => void, destroy: () => void}}
 */
export function barChart(words) {
  count += 1;
  const id = `chart-${count}`;
  const readout = h('p.chart-readout', { 'aria-hidden': 'true' });
  const grid = shape('g', { class: 'chart-grid' }), column = shape('rect', { class: 'chart-column', rx: 4 });
  const bars = shape('g', {}), labels = shape('g', {});
  const picture = shape('svg', { 'aria-hidden': 'true', height: HEIGHT, width: '100%' });
  picture.append(column, grid, bars, labels);
  const plot = h('div.chart-plot', {
    role: 'slider', tabindex: '0', 'aria-labelledby': id, 'aria-roledescription': words.role, 'aria-valuemin': 1,
  }, picture);
  const rows = h('tbody');
  const table = h('details.chart-table', { ontoggle: () => render() },
    h('summary', null, words.table),
    h('div.chart-rows', { tabindex: '0', role: 'group', 'aria-labelledby': id },
      h('table', null, h('thead', null, h('tr', null, h('th', { scope: 'col' }, words.time), h('th', { scope: 'col' }, words.name))), rows)));
  const node = h('div.chart', { class: words.kind, role: 'group', 'aria-labelledby': id },
    h('div.chart-head', null, h('h3', { id }, words.name), readout), plot,
    words.about ? h('p.chart-about', null, words.about) : null, table);

  /** @type {Content} */
  let shown = { marks: [], axis: [0, 1], total: '', centred: false, number: String };
  /** The beginning of the bar that was picked, by which it stays picked when bars move; null: none. */
  let picked = /** @type {number | null} */ (null);
  let width = 0;
  const sizes = new ResizeObserver(() => {
    if (plot.clientWidth === width) return;
    width = plot.clientWidth;
    render();
  });
  sizes.observe(plot);

  const place = () => shown.marks.findIndex((mark) => mark.from === picked);

  /** @param {number} to */
  function pick(to) {
    const last = shown.marks.length - 1;
    picked = last < 0 ? null : shown.marks[Math.min(last, Math.max(0, to))].from;
    render();
  }

  plot.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const last = shown.marks.length - 1, at = place() < 0 ? last : place(), page = Math.max(1, Math.round(last / 6));
    const to = /** @type {Record<string, number>} */ ({
      ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - page, PageUp: at + page, Home: 0, End: last,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    pick(to);
  });
  plot.addEventListener('focus', () => { if (place() < 0) pick(shown.marks.length - 1); });
  const leave = () => {
    picked = null;
    render();
  };
  plot.addEventListener('blur', leave);
  for (const type of ['pointermove', 'pointerdown']) {
    plot.addEventListener(type, (/** @type {PointerEvent} */ event) => {
      const { left } = plot.getBoundingClientRect();
      const { gutter, slot } = layout();
      pick(Math.floor((event.clientX - left - gutter) / slot));
      // A finger leaves when it is lifted: the bar stays picked.
      if (type === 'pointerdown') plot.focus({ preventScroll: true });
    });
  }
  plot.addEventListener('pointerleave', () => { if (document.activeElement !== plot) leave(); });

  /** Where the bars stand: they begin at `gutter`, and each has the width of a slot. */
  function layout() {
    const longest = shown.number(shown.axis[shown.axis.length - 1]).length;
    const gutter = 10 + 7 * longest;
    return { gutter, slot: Math.max(1, (width - gutter) / Math.max(1, shown.marks.length)) };
  }

  function render() {
    const { marks, axis, total, number } = shown;
    const at = place(), mark = marks[at];
    text(readout, mark ? words.at(mark.when, mark.words) : total);
    node.classList.toggle('picking', mark !== undefined);
    const read = mark ?? marks[marks.length - 1];
    change(plot, {
      'aria-valuemax': Math.max(1, marks.length), 'aria-valuenow': (at < 0 ? marks.length - 1 : at) + 1,
      'aria-valuetext': read ? words.at(read.when, read.words) : '',
    });
    if (table.open) {
      keyed(rows, marks, (one) => one.from, () => h('tr', null, h('th', { scope: 'row' }), h('td')), (row, one) => {
        text(row.firstElementChild, one.when);
        text(row.lastElementChild, one.words);
      });
    }
    if (width > 0) draw(axis, marks, at, number);
  }

  /**
   * @param {number[]} axis
   * @param {Mark[]} marks
   * @param {number} at
   * @param {(n: number) => string} number
   */
  function draw(axis, marks, at, number) {
    const { gutter, slot } = layout();
    const bottom = HEIGHT - BELOW, top = axis[axis.length - 1];
    const y = (/** @type {number} */ value) => bottom - (value / top) * (bottom - ABOVE);
    keyed(grid, axis, (value) => value, () => {
      const line = shape('g', {});
      line.append(shape('line', {}), shape('text', { x: gutter - 7, 'text-anchor': 'end' }));
      return line;
    }, (line, value) => {
      const level = Math.round(y(value)) + 0.5;
      change(line.firstChild, { x1: gutter, x2: width, y1: level, y2: level });
      change(line.lastChild, { x: gutter - 7, y: level + 4 });
      text(line.lastChild, number(value));
    });
    const wide = Math.min(WIDEST, Math.max(2, slot * 0.72));
    keyed(bars, marks.filter((mark) => mark.value !== null), (mark) => mark.from, () => shape('rect', {}), (bar, mark) => {
      const index = marks.indexOf(mark), value = mark.value ?? 0;
      const high = value === 0 ? FLOOR : Math.max(3, bottom - y(value));
      change(bar, {
        x: (gutter + slot * index + (slot - wide) / 2).toFixed(2), width: wide.toFixed(2), y: (bottom - high).toFixed(2),
        height: high.toFixed(2), rx: Math.min(4, wide / 2, high / 2).toFixed(2),
        class: `chart-bar${value === 0 ? ' none' : ''}${mark.isOpen ? ' open' : ''}${index === at ? ' picked' : ''}`,
      });
    });
    change(column, { x: (gutter + slot * Math.max(0, at)).toFixed(2), width: slot.toFixed(2), y: 2, height: HEIGHT - BELOW - 2 });
    column.classList.toggle('shown', at >= 0);
    keyed(labels, marks.filter((mark) => mark.label !== ''), (mark) => mark.from, () => shape('text', { y: HEIGHT - 6, 'text-anchor': 'middle' }), (label, mark) => {
      const index = marks.indexOf(mark), half = mark.label.length * 3.4;
      const middle = gutter + slot * (shown.centred ? index + 0.5 : index);
      change(label, { x: Math.min(width - half, Math.max(half, middle)).toFixed(2) });
      text(label, mark.label);
    });
  }

  return {
    node,
    show: (content) => {
      shown = content;
      if (picked !== null && place() < 0) picked = null;
      render();
    },
    destroy: () => sizes.disconnect(),
  };
}
