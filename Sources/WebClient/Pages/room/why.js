// The reason for the song on air, read from the events before its start.

/**
 * The rule by which the room chose what is on air. `passed` counts the entries that were passed over just before,
 * because they had been played too recently.
 * @typedef {{rule: 'votes', votes: number, passed: number}
 *   | {rule: 'fair', member: number | null, round: number, passed: number}
 *   | {rule: 'repeatAfterPlays', since: number, needed: number, passed: number}} Why
 */

/**
 * Tells by which rule the room chose the entry on air.
 *
 * The room writes the choice at most three events before the start (`entryEnqueued` with `why`, `votesCleared`), so
 * the events after `startedSeq − 4` are enough. Where a member started the entry, where the entry came from the queue,
 * or where the events do not show the choice (older logs have no `why`), the answer is null, unless entries were
 * passed over before it: then it is the rule `repeatAfterPlays` with the numbers of the last one.
 *
 * @param {{seq: number, type: string, entry?: number, by?: number,
 *   why?: {rule: string, rank: number[], turnOf?: number}}[]} events in ascending order; others than those named are ignored
 * @param {{playback: {status: string, entry?: number, startedBy?: number, startedSeq?: number}}} room
 * @returns {Why | null}
 */
export function whyOnAir(events, room) {
  const playback = room.playback;
  if (playback.status === 'stopped' || playback.startedBy !== undefined) return null;
  const until = playback.startedSeq ?? 0;
  let passed = 0;
  /** @type {Why | null} */
  let why = null;
  for (const event of events) {
    if (event.seq > until || event.seq < until - 3) continue;
    const rank = event.why?.rank ?? [];
    if (event.type === 'entryRemoved' && event.by === undefined && event.why?.rule === 'repeatAfterPlays') {
      passed += 1;
      why = { rule: 'repeatAfterPlays', since: rank[0] ?? 0, needed: rank[1] ?? 0, passed };
    } else if (event.type === 'entryEnqueued' && event.entry === playback.entry && event.why !== undefined) {
      if (event.why.rule === 'votes') why = { rule: 'votes', votes: rank[0] ?? 0, passed };
      else if (event.why.rule === 'fair') why = { rule: 'fair', member: event.why.turnOf ?? null, round: rank[0] ?? 0, passed };
    }
  }
  return why;
}
