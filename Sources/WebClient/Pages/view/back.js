/**
 * The browser's Back. Each sheet that is open is a step in the browser's history, so that Back closes the one on top,
 * and a sheet that is closed in another way takes its step with it. Another screen is shown only where the page may
 * leave the one that is shown.
 */

/** @typedef {{ at: number, sheets: number }} Step of the history: its place among the page's, and the sheets open there */

/**
 * What closes each sheet that is open, the one on top last.
 *
 * @type {(() => void)[]}
 */
const open = [];
/** A move through the history that the page has begun itself: the browser makes it later. */
let moving = false;
/**
 * What waits until the page stands still in the history.
 *
 * @type {(() => void)[]}
 */
const waiting = [];
/** The place in the history where the page stands. */
let place = 0;
/** The person has agreed to leave. */
let agreed = false;

/** @returns {Step} */
const step = () => history.state;

/** Gives an entry that the browser has made a step of its own. */
function arrive() {
  if (step()?.at === undefined) history.replaceState({ at: place + 1, sheets: 0 }, '');
  place = step().at;
}

/** @param {number} by */
function travel(by) {
  moving = true;
  history.go(by);
}

/** Makes the steps of the history as many as the sheets. */
function settle() {
  if (moving) return;
  const { sheets } = step();
  for (let n = sheets + 1; n <= open.length; n += 1) {
    place += 1;
    history.pushState({ at: place, sheets: n }, '');
  }
  if (sheets > open.length) travel(open.length - sheets);
}

/**
 * Does something once the page stands still in the history.
 *
 * @param {() => void} act
 */
function whenStill(act) {
  if (moving) waiting.push(act);
  else act();
}

/**
 * A sheet has been opened.
 *
 * @param {() => void} close
 * @returns {() => void} to be called when it has been closed
 */
export function sheetOpened(close) {
  open.push(close);
  settle();
  return () => {
    const index = open.indexOf(close);
    if (index < 0) return;
    open.splice(index, 1);
    settle();
  };
}

/** Closes all sheets, the one on top first. */
export function closeSheets() {
  for (const close of open.splice(0).reverse()) close();
  settle();
}

/**
 * Goes to an address of this page. Sheets that are open end with the screen under them.
 *
 * @param {string} path
 * @param {boolean} replace  whether it takes the place of the address that is shown
 * @param {() => void} show
 */
export function goTo(path, replace, show) {
  whenStill(() => {
    if (path !== location.pathname) {
      const takesPlace = replace || step().sheets > 0;
      open.splice(0).reverse().forEach((close) => close());
      if (!takesPlace) place += 1;
      history[takesPlace ? 'replaceState' : 'pushState']({ at: place, sheets: 0 }, '', path);
    }
    show();
  });
}

/**
 * Follows the history from now on.
 *
 * @param {object} page
 * @param {() => string} page.shown  the address of the screen that is shown
 * @param {() => void} page.show  shows the screen of the address
 * @param {() => boolean} page.mayLeave  whether the screen that is shown is left without a question
 * @param {() => Promise<boolean>} page.ask
 */
export function followHistory(page) {
  place = -1;
  // A page that is loaded again, or copied to another tab, has none of its sheets.
  if (step()?.sheets >= history.length) history.replaceState({ at: 0, sheets: 0 }, '');
  arrive();
  settle();
  addEventListener('popstate', () => {
    const from = place;
    const own = moving;
    moving = false;
    arrive();
    const by = place - from;
    if (location.pathname === page.shown()) {
      // One that has been opened since the page began its own move has no step yet.
      if (!own) for (const close of open.splice(step().sheets).reverse()) close();
    } else if (agreed || by === 0 || page.mayLeave()) {
      agreed = false;
      for (const close of open.splice(0).reverse()) close();
      page.show();
    } else {
      const path = location.pathname;
      travel(-by);
      waiting.push(async () => {
        if (!await page.ask()) return;
        // The step of the question has taken the place of what was ahead.
        if (by > 0) return goTo(path, false, page.show);
        agreed = true;
        whenStill(() => travel(by));
      });
    }
    settle();
    while (!moving && waiting.length > 0) waiting.shift()?.();
  });
}
