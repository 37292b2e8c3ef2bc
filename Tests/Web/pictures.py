"""Pictures with few colours, so that they are small files."""

import base64
import struct
import zlib

# Cuts the box of colours with the widest side at its median until there are 256, and gives each pixel the mean colour of
# its box. Colours are compared with six bits a channel.
CUT = """async source => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const {width, height} = image;
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const {data} = context.getImageData(0, 0, width, height);
    const counts = new Map();
    const keyAt = i => (data[i] >> 2) << 12 | (data[i + 1] >> 2) << 6 | data[i + 2] >> 2;
    for (let i = 0; i < data.length; i += 4) counts.set(keyAt(i), (counts.get(keyAt(i)) ?? 0) + 1);
    const channel = (key, of) => key >> (12 - 6 * of) & 63;
    const measure = keys => {
        let widest = 0, side = -1;
        for (const of of [0, 1, 2]) {
            let low = 63, high = 0;
            for (const key of keys) { low = Math.min(low, channel(key, of)); high = Math.max(high, channel(key, of)); }
            if (high - low > side) [side, widest] = [high - low, of];
        }
        const pixels = keys.reduce((sum, key) => sum + counts.get(key), 0);
        return {keys, widest, weight: side * Math.sqrt(pixels), pixels};
    };
    let boxes = [measure([...counts.keys()])];
    while (boxes.length < 256) {
        const at = boxes.reduce((best, box, i) => box.keys.length > 1 && (best < 0 || box.weight > boxes[best].weight) ? i : best, -1);
        if (at < 0) break;
        const {keys, widest, pixels} = boxes[at];
        keys.sort((a, b) => channel(a, widest) - channel(b, widest));
        let middle = 0, seen = 0;
        while (middle < keys.length - 2 && seen + counts.get(keys[middle]) <= pixels / 2) seen += counts.get(keys[middle++]);
        boxes.splice(at, 1, measure(keys.slice(0, middle + 1)), measure(keys.slice(middle + 1)));
    }
    const indexOf = new Map(), palette = [];
    boxes.forEach(({keys, pixels}, index) => {
        keys.forEach(key => indexOf.set(key, index));
        palette.push([0, 1, 2].map(of => Math.min(255, Math.round(4 * keys.reduce((sum, key) => sum + channel(key, of) * counts.get(key), 0) / pixels + 1.5))));
    });
    const indexes = new Uint8Array(width * height);
    for (let i = 0; i < indexes.length; i++) indexes[i] = indexOf.get(keyAt(4 * i));
    let text = '';
    for (let i = 0; i < indexes.length; i += 8192) text += String.fromCharCode(...indexes.subarray(i, i + 8192));
    return {width, height, palette, indexes: btoa(text)};
}"""


def with_few_colours(page, picture):
    """A PNG of at most 256 colours that looks like another PNG. An empty page of a browser counts."""
    made = page.evaluate(CUT, "data:image/png;base64," + base64.b64encode(picture).decode())
    width, height = made["width"], made["height"]
    indexes = base64.b64decode(made["indexes"])
    rows = b"".join(b"\0" + indexes[row * width:(row + 1) * width] for row in range(height))
    palette = b"".join(bytes(colour) for colour in made["palette"])
    return b"\x89PNG\r\n\x1a\n" + b"".join((
        _chunk(b"IHDR", struct.pack("!IIBBBBB", width, height, 8, 3, 0, 0, 0)), _chunk(b"PLTE", palette),
        _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b"")))


def _chunk(name, content):
    return struct.pack("!I", len(content)) + name + content + struct.pack("!I", zlib.crc32(name + content))
