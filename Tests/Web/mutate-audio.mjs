// Changes and cuts files of music at random, and has the page's readers of tags and packets read them.
//   node Tests/Web/mutate-audio.mjs MINUTES [SEED [ROUND]]   with a round only that one; Scripts/mutate-audio explains
import { readFileSync } from 'node:fs';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { readTags } from '../../Sources/WebClient/Pages/deck/tags/read.js';
import { examine } from './examine.mjs';
import { countedSource, inTime, mutated, random, seedOfRun } from './mutations.mjs';
import { NAMES, tone } from './tones.mjs';

/** A file is read within this time. */
const LIMIT_MS = 5000;
/** What the process may hold. */
const MOST_MEMORY = 1 << 30;
/** The bytes of a file that are read: enough for its headers and some packets. */
const MOST_BYTES = 60_000;

/** Reads one changed file after the other, in a thread that can be ended. */
async function read({ files, seed, from, to, ms }) {
  const end = performance.now() + ms;
  for (let round = from; round < to && performance.now() < end; round += 1) {
    parentPort.postMessage({ round });
    const { name, bytes } = files[round % files.length];
    const copy = mutated(bytes, random(seed + round), name.includes('front') ? 6000 : 2048);
    try {
      await inTime(Promise.all([readTags(countedSource(copy, name)), examine(copy, name)]), LIMIT_MS);
    } catch (error) {
      parentPort.postMessage({ round, failed: `${name}: ${error.stack ?? error}` });
      return;
    }
  }
  parentPort.postMessage({ done: true });
}

/** Starts the thread and watches it: resolves with its rounds, rejects with what was found. */
function watch(data) {
  const worker = new Worker(new URL(import.meta.url), { workerData: data, resourceLimits: { maxOldGenerationSizeMb: 512 } });
  return new Promise((resolve, reject) => {
    let at = data.from, before = -1;
    const fail = (why) => reject(new Error(`FAILED in round ${at}: ${why}\nTo repeat it: Scripts/mutate-audio --seed ${data.seed} --round ${at}`));
    const watching = setInterval(() => {
      if (at === before) fail(`not done after ${2 * LIMIT_MS} ms`);
      if (process.memoryUsage().rss > MOST_MEMORY) fail('too much memory');
      before = at;
    }, 2 * LIMIT_MS);
    worker.on('message', ({ round = at, failed, done }) => {
      at = round;
      if (failed) fail(failed);
      if (done) resolve(at + 1 - data.from);
    });
    worker.on('error', (error) => fail(error.stack ?? error));
    worker.on('exit', () => { clearInterval(watching); fail('the thread ended'); });
  }).finally(() => worker.terminate());
}

if (isMainThread) {
  const [minutes = '10', seed = seedOfRun(), round] = process.argv.slice(2);
  const files = NAMES.filter((name) => !/^(silence|surround)/.test(name)).map((name) => {
    const bytes = new Uint8Array(readFileSync(tone(name)));
    // An MP4 whose tables stand at its end is read whole.
    return { name, bytes: /music\.m4a|\.mov$|alac|mp3\.mp4/.test(name) ? bytes : bytes.slice(0, MOST_BYTES) };
  });
  console.log(`seed ${seed}, ${files.length} files, ${round === undefined ? `${minutes} minutes` : `round ${round}`}`);
  const from = Number(round ?? 0);
  try {
    const rounds = await watch({ files, seed: Number(seed), from, to: round === undefined ? Infinity : from + 1, ms: Number(minutes) * 60_000 });
    console.log(`nothing found in ${rounds} files`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
} else await read(workerData);
