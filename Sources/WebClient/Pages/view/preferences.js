// What a person chooses for this browser: language, theme, keys. Also what this page is.

import { t } from '../text/en-more.js';
import { choice, field, toggle } from './controls.js';
import { dialog } from './dialog.js';
import { h } from './dom.js';

/**
 * Opens them. A choice holds at once.
 *
 * @param {import('./dom.js').App} app
 */
export function open(app) {
  const { preferences } = app;
  let again = false;
  // Names of languages are in their own language.
  const language = choice([['auto', t.preferences.asSystem], ['en', 'English'], ['de', 'Deutsch']], preferences.language, (value) => {
    // The page is shown anew in the other language, and closes this dialog.
    again = true;
    preferences.set('language', value);
  });
  const theme = choice([['auto', t.preferences.asSystem], ['dark', t.preferences.dark], ['light', t.preferences.light]], preferences.theme,
    (value) => preferences.set('theme', value));
  const keys = toggle(preferences.keys, (on) => preferences.set('keys', on));
  const certificate = h('p.setting-about', { hidden: true }, t.preferences.untrusted);
  const shown = dialog({
    title: t.menu.preferences,
    body: h('div.settings', null,
      field(t.preferences.language, '', language.node).node,
      field(t.preferences.theme, '', theme.node).node,
      field(t.menu.keys, t.preferences.keysAbout, keys, { beside: true }).node,
      h('section.about-page', null,
        h('h3', null, t.preferences.about),
        h('p.setting-about', null, t.preferences.privacy),
        certificate,
        h('p.setting-about', null, t.preferences.version, ' ', h('code', null, version())))),
    onClose: () => { if (again) app.open('preferences'); },
  });
  isTrusted(app).then((trusted) => { certificate.hidden = trusted; });
  return shown;
}

/** The version of the page, from the address of its files; empty where it is served from a folder. */
function version() {
  return /\/assets\/([^/]+)\//.exec(import.meta.url)?.[1] ?? '';
}

/**
 * Whether the browser lets this page have a service worker, which it refuses where it does not trust the certificate.
 *
 * @param {import('./dom.js').App} app
 */
async function isTrusted(app) {
  if (app.workerRefused) return false;
  if (!('serviceWorker' in navigator)) return window.isSecureContext;
  return !app.preferences.get('workerRefused') || await navigator.serviceWorker.getRegistration() !== undefined;
}
