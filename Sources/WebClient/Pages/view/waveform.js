/**
 * The waveform of the song on air, and where it is.
 *
 * Two canvases are drawn once, in device pixels; the played one lies in a clip. A step moves the clip one way and its
 * canvas the other, which costs neither layout nor paint. A timer sleeps until the next whole device pixel.
 */

import { t } from '../text/en.js';
import { duration, h } from './dom.js';

/** @typedef {{ peaks: Uint8Array | null, rms: Uint8Array | null, durationMs: number }} Shape */

/** @typedef {{ heights: number[], bar: number, gap: number }} Bars  heights 0 to 1, widths in device pixels */

/** The share of the height above the line in which the bars are reflected. */
const HORIZON = 0.68;
/** Steps are no closer than this, however short the song and wide the element. */
const SHORTEST_STEP_MS = 200;
/** Key presses within this time make one seek. */
const KEYS_MS = 300;
const ARROW_MS = 5000;
const PAGE_MS = 30_000;

export class WaveForm extends HTMLElement {
  /** @type {Shape} */ #shape = { peaks: null, rms: null, durationMs: 0 };
  /** @type {() => number} */ #position = () => 0;
  #playing = false;
  #seekable = false;
  /** The size in device pixels. */
  #width = 0;
  #height = 0;
  #timer = 0;
  #keyTimer = 0;
  /**
   * Where pointer or keys have moved to, until `letGo`.
   *
   * @type {number | null}
   */
  #target = null;
  #drawn = '';
  #rest = document.createElement('canvas');
  #done = document.createElement('canvas');
  #clip = h('div.played', { 'aria-hidden': 'true' }, this.#done);
  #hint = h('div.hint', { 'aria-hidden': 'true' });
  #sized = new ResizeObserver(() => this.#measure());
  #themed = new MutationObserver(() => this.#draw());
  #seen = () => this.#step();

  connectedCallback() {
    if (!this.#rest.parentNode) {
      this.append(this.#rest, this.#clip, this.#hint);
      this.#listen();
    }
    this.#sized.observe(this);
    this.#themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    document.addEventListener('visibilitychange', this.#seen);
  }

  disconnectedCallback() {
    this.#sized.disconnect();
    this.#themed.disconnect();
    document.removeEventListener('visibilitychange', this.#seen);
    clearTimeout(this.#timer);
    clearTimeout(this.#keyTimer);
    this.#target = null;
  }

  /**
   * Shows a song. Drawn again only where the shape, the size or the colours differ.
   *
   * @param {Shape} shape  1,024 peaks and RMS values, or null for a calm line; a length of 0 is unknown
   * @param {() => number} position  in ms, asked at each step
   * @param {boolean} playing  whether the position moves by itself
   */
  show(shape, position, playing) {
    this.#shape = shape;
    this.#position = position;
    this.#playing = playing;
    this.#draw();
    this.#describe();
  }

  /**
   * Lets go of where pointer or keys have moved to, and shows where the song is: for another song, and after a seek.
   *
   * @param {number | null} [ms]  only where this is what they have moved to last
   */
  letGo(ms = this.#target) {
    if (this.#target !== ms) return;
    clearTimeout(this.#keyTimer);
    this.#target = null;
    this.#step();
    this.#describe();
  }

  /** Whether pointer and keys dispatch `seek`, with the position in ms as its detail. */
  get seekable() {
    return this.#seekable;
  }

  set seekable(value) {
    if (this.#seekable === value) return;
    this.#seekable = value;
    for (const [name, of] of Object.entries({ role: 'slider', tabindex: '0', 'aria-label': t.onAir.seek, 'aria-valuemin': '0' })) {
      if (value) this.setAttribute(name, of);
      else this.removeAttribute(name);
    }
    if (!value) {
      for (const name of ['aria-valuemax', 'aria-valuenow', 'aria-valuetext']) this.removeAttribute(name);
      this.letGo();
    }
    this.#describe();
  }

  /** Tells assistive technology the position; not at each step, which would be read aloud. */
  #describe() {
    const { durationMs } = this.#shape;
    if (!this.#seekable) return;
    const at = this.#target ?? this.#position();
    this.setAttribute('aria-valuemax', String(Math.round(Math.max(durationMs, at) / 1000)));
    this.setAttribute('aria-valuenow', String(Math.round(at / 1000)));
    this.setAttribute('aria-valuetext', t.onAir.seekText(duration(at), duration(durationMs)));
  }

  #measure() {
    const ratio = devicePixelRatio || 1;
    const width = Math.round(this.clientWidth * ratio);
    const height = Math.round(this.clientHeight * ratio);
    if (width === this.#width && height === this.#height) return;
    this.#width = width;
    this.#height = height;
    for (const canvas of [this.#rest, this.#done]) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.setProperty('width', `${width / ratio}px`);
      canvas.style.setProperty('height', `${height / ratio}px`);
    }
    this.#drawn = '';
    this.#draw();
  }

  #draw() {
    if (!this.#width) return;
    const style = getComputedStyle(this);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const colours = [colour('--bar'), colour('--vivid'), colour('--vivid-2')];
    const { peaks, rms } = this.#shape;
    const key = `${colours} ${this.#width} ${this.#height}`;
    if (this.#drawn !== key || this.#bytes !== peaks) {
      this.#drawn = key;
      this.#bytes = peaks;
      const bars = this.#bars(peaks, rms);
      const played = /** @type {CanvasRenderingContext2D} */ (this.#done.getContext('2d')).createLinearGradient(0, 0, this.#width, 0);
      played.addColorStop(0, colours[1]);
      played.addColorStop(0.75, colours[2]);
      this.#paint(this.#rest, bars, colours[0]);
      this.#paint(this.#done, bars, played);
    }
    this.#step();
  }

  /**
   * What the canvases show.
   *
   * @type {Uint8Array | null}
   */
  #bytes = null;

  /**
   * The heights of the bars, 0 to 1: mostly loudness, which has a shape where the peaks of a loud master have none.
   *
   * @param {Uint8Array | null} peaks
   * @param {Uint8Array | null} rms
   * @returns {Bars | null}
   */
  #bars(peaks, rms) {
    if (!peaks || !rms || peaks.length === 0) return null;
    const ratio = devicePixelRatio || 1;
    const [wide, between] = this.#width / ratio >= 600 ? [3, 2] : [2, 1];
    const bar = Math.max(1, Math.round(wide * ratio));
    const gap = Math.max(1, Math.round(between * ratio));
    const count = Math.floor((this.#width + gap) / (bar + gap));
    const loudest = Math.max(1, ...rms);
    const highest = Math.max(1, ...peaks);
    const heights = Array.from({ length: count }, (_, i) => {
      const from = Math.floor((i * peaks.length) / count);
      const to = Math.max(from + 1, Math.floor(((i + 1) * peaks.length) / count));
      let sum = 0;
      let peak = 0;
      for (let column = from; column < to; column += 1) {
        sum += rms[column];
        peak = Math.max(peak, peaks[column]);
      }
      return 0.68 * (sum / (to - from) / loudest) + 0.32 * (peak / highest);
    });
    return { heights, bar, gap };
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Bars | null} bars
   * @param {string | CanvasGradient} fill
   */
  #paint(canvas, bars, fill) {
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const [width, height] = [this.#width, this.#height];
    const ratio = devicePixelRatio || 1;
    context.clearRect(0, 0, width, height);
    context.fillStyle = fill;
    const horizon = Math.round(height * HORIZON);
    if (!bars) {
      const line = Math.max(2, Math.round(4 * ratio));
      const top = Math.round((height - line) / 2);
      const r = line / 2;
      context.beginPath();
      context.arc(r, top + r, r, Math.PI / 2, 1.5 * Math.PI);
      context.arc(width - r, top + r, r, 1.5 * Math.PI, Math.PI / 2);
      context.fill();
      return;
    }
    const { heights, bar, gap } = bars;
    const start = Math.floor((width - (heights.length * (bar + gap) - gap)) / 2);
    const seam = Math.max(1, Math.round(ratio));
    heights.forEach((of, i) => {
      const up = Math.max(Math.round(2 * ratio), Math.round(of * horizon));
      const x = start + i * (bar + gap);
      context.globalAlpha = 1;
      rounded(context, x, horizon - up, bar, up, bar / 2);
      context.globalAlpha = 0.4;
      context.fillRect(x, horizon + seam, bar, Math.max(seam, Math.round(of * (height - horizon - seam))));
    });
    context.globalAlpha = 1;
  }

  /** Puts the clip where the song is, and sleeps until it has to move. */
  #step() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#width || document.hidden) return;
    const { durationMs } = this.#shape;
    const at = this.#target ?? this.#position();
    const x = durationMs > 0 ? Math.max(0, Math.min(this.#width, Math.floor((at / durationMs) * this.#width))) : 0;
    const shift = (this.#width - x) / (devicePixelRatio || 1);
    this.#clip.style.transform = `translateX(${-shift}px)`;
    this.#done.style.transform = `translateX(${shift}px)`;
    if (!this.#playing || durationMs <= 0 || x >= this.#width || this.#target !== null) return;
    const next = ((x + 1) / this.#width) * durationMs - at;
    this.#timer = window.setTimeout(() => this.#step(), Math.max(SHORTEST_STEP_MS, Math.ceil(next)));
  }

  #listen() {
    let dragging = false;
    /** @param {PointerEvent} event */
    const under = (event) => {
      const box = this.getBoundingClientRect();
      const part = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
      this.#hint.style.setProperty('--at', String(part));
      const ms = Math.round(part * this.#shape.durationMs);
      this.#hint.dataset.time = duration(ms);
      this.#hint.dataset.side = part > 0.5 ? 'end' : 'start';
      return ms;
    };
    const can = () => this.#seekable && this.#shape.durationMs > 0 && this.getAttribute('aria-disabled') !== 'true';
    const mark = (/** @type {boolean} */ on) => this.#hint.classList.toggle('on', on);
    this.addEventListener('pointerdown', (event) => {
      if (!can() || event.button !== 0) return;
      dragging = true;
      this.setPointerCapture(event.pointerId);
      under(event);
      mark(true);
    });
    this.addEventListener('pointermove', (event) => {
      if (!can() || (!dragging && event.pointerType !== 'mouse')) return;
      under(event);
      mark(true);
    });
    this.addEventListener('pointerleave', () => { if (!dragging) mark(false); });
    this.addEventListener('pointercancel', () => { dragging = false; mark(false); });
    this.addEventListener('pointerup', (event) => {
      if (!dragging) return;
      dragging = false;
      mark(event.pointerType === 'mouse');
      this.#seek(under(event));
    });
    this.addEventListener('focus', () => this.#describe());
    this.addEventListener('keydown', (event) => {
      if (!can() || event.altKey || event.ctrlKey || event.metaKey) return;
      const { durationMs } = this.#shape;
      const at = this.#target ?? this.#position();
      /** @type {Record<string, number>} */
      const places = {
        ArrowRight: at + ARROW_MS, ArrowUp: at + ARROW_MS, ArrowLeft: at - ARROW_MS, ArrowDown: at - ARROW_MS,
        PageUp: at + PAGE_MS, PageDown: at - PAGE_MS, Home: 0, End: durationMs,
      };
      const to = places[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.#target = Math.round(Math.max(0, Math.min(Math.max(durationMs, at), to)));
      this.#describe();
      this.#step();
      clearTimeout(this.#keyTimer);
      this.#keyTimer = window.setTimeout(() => { if (this.#target !== null) this.#seek(this.#target); }, KEYS_MS);
    });
  }

  /** @param {number} ms */
  #seek(ms) {
    clearTimeout(this.#keyTimer);
    this.#target = ms;
    this.#step();
    this.dispatchEvent(new CustomEvent('seek', { detail: ms }));
  }
}

/**
 * Fills a bar with a round upper end.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} radius
 */
function rounded(context, x, y, width, height, radius) {
  const r = Math.min(radius, height / 2, width / 2);
  context.beginPath();
  context.moveTo(x, y + height);
  context.lineTo(x, y + r);
  context.arcTo(x, y, x + r, y, r);
  context.arcTo(x + width, y, x + width, y + r, r);
  context.lineTo(x + width, y + height);
  context.fill();
}

customElements.define('wave-form', WaveForm);
