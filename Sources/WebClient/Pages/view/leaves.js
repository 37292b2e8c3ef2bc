// Asks before the screen is left on which this device plays the room's music.

import { t } from '../text/en-deck.js';
import { confirm } from './dialog.js';

/** @returns {Promise<boolean>} whether the person leaves */
export const leaves = () => confirm({ title: t.deck.leaveTitle, text: t.deck.leaveText, action: t.deck.leave, cancel: t.deck.stayHere });
