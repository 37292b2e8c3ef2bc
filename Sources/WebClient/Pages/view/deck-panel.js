// How this device plays: its volume, fades, loudness; and the end of it.

import { PART } from '../room/room.js';
import { t } from '../text/en-deck.js';
import { untilClosed } from './choose.js';
import { field, toggle } from './controls.js';
import { dialog, follow } from './dialog.js';
import { h, number, text } from './dom.js';
import { volumeSlider } from './play-here.js';

/** The longest fade, in seconds. */
const LONGEST_FADE = 12;

/**
 * Opens it.
 *
 * @param {import('./dom.js').App} app
 */
export function open(app) {
  const device = app.playing;
  if (!device) return null;
  const looking = h('p.setting-about'), unkept = h('p.setting-about');
  const volume = volumeSlider(app);
  const fade = h('input.slider', { type: 'range', min: 0, max: LONGEST_FADE, step: 1, value: String(Math.round(device.fadeMs / 1000)) });
  const fadeField = field(t.deck.fade, '', fade);
  const level = toggle(device.levelled, (on) => { device.levelled = on; });
  const tellFade = () => {
    const seconds = Number(fade.value);
    const told = seconds > 0 ? t.deck.seconds(seconds) : t.deck.noFade;
    fadeField.describe(`${told}. ${t.deck.fadeAbout}`);
    fade.setAttribute('aria-valuetext', told);
    fade.style.setProperty('--part', String(seconds / LONGEST_FADE));
  };
  fade.addEventListener('input', () => {
    device.fadeMs = Number(fade.value) * 1000;
    tellFade();
  });
  tellFade();
  const stop = h('button.pill', {
    type: 'button',
    onclick: () => {
      shown.close();
      device.stop().catch(app.refused);
    },
  }, t.deck.stop);
  const controls = device.canSetVolume
    ? [field(t.deck.volume, '', volume).node, fadeField.node, field(t.deck.level, t.deck.levelAbout, level, { beside: true }).node]
    : [h('p.device-fixed', null, t.deck.fixed)];
  const shown = dialog({
    title: t.deck.here, className: 'deck-panel', body: h('div', null, controls, unkept, looking), foot: h('footer.dialog-foot', null, stop), onClose: () => unwatch(),
  });
  const render = () => {
    if (app.playing !== device || device.phase !== 'on') return shown.close();
    volume.show();
    text(unkept, untilClosed(device));
    const { waiting } = device.analysis?.state ?? { waiting: 0 };
    text(looking, waiting > 0 ? t.deck.looking(waiting, number(waiting)) : '');
  };
  const unwatch = follow(app, PART.deck, () => shown, render);
  render();
  return shown;
}
