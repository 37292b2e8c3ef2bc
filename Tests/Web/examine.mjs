// Reads a file as the page does, tags and packets, and fails for what no file may bring about.
import assert from 'node:assert/strict';
import { open } from '../../Sources/WebClient/Pages/deck/demux/open.js';
import { LARGEST_PACKET, MOST_AT_ONCE, Refused } from '../../Sources/WebClient/Pages/deck/demux/window.js';
import { countedSource } from './mutations.mjs';

/** What a file of this size may make a reader read in all. */
const mostBytes = (size) => 8 * size + 17 * MOST_AT_ONCE;

/**
 * Reads all packets of a file.
 *
 * @param {Uint8Array} bytes
 * @param {string} name
 * @returns {Promise<string>} what became of it: a refusal, or the packets' number
 */
export async function examine(bytes, name) {
  const source = countedSource(bytes, name);
  const most = { asked: 0 };
  const { read } = source;
  source.read = (offset, length) => {
    most.asked = Math.max(most.asked, length);
    return read(offset, length);
  };
  let count = 0, sum = 0;
  try {
    const { config, packets, durationMs, trim } = await open(source);
    assert.ok(durationMs === undefined || durationMs >= 0, `${durationMs} ms`);
    for (const samples of Object.values(trim ?? {})) assert.ok(samples === undefined || (Number.isSafeInteger(samples) && samples >= 0), `trim: ${samples}`);
    if (config) assert.ok(config.sampleRate > 0 && config.numberOfChannels > 0 && typeof config.codec === 'string', JSON.stringify(config));
    for await (const packet of packets) {
      count += 1;
      if (packet.samples) {
        sum += packet.samples[0].length;
        assert.ok(packet.samples.every((plane) => plane.length > 0 && plane.length === packet.samples[0].length));
      } else {
        sum += packet.data.length;
        assert.ok(packet.data.length > 0 && packet.data.length <= LARGEST_PACKET, `a packet of ${packet.data.length} bytes`);
        assert.ok(Number.isSafeInteger(packet.timestampUs) && packet.timestampUs >= 0, `at ${packet.timestampUs} µs`);
        assert.ok(packet.durationUs === undefined || (packet.durationUs >= 0 && packet.durationUs < Infinity), `for ${packet.durationUs} µs`);
      }
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.message;
  } finally {
    assert.ok(most.asked <= MOST_AT_ONCE && source.bytesRead <= mostBytes(bytes.length), `${source.bytesRead} bytes were read, ${most.asked} at once`);
    assert.ok(count <= bytes.length && sum <= 2 * bytes.length + LARGEST_PACKET, `${count} packets of ${sum} bytes`);
  }
  return `${count} packets`;
}
