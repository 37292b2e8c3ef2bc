"""The page's QR encoder, compared module by module with another encoder (qrcode)."""

import json
import pathlib
import random
import shutil
import subprocess

import pytest
import qrcode
import qrcode.constants
import qrcode.util

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/WebClient/Pages"
CAPACITY = [14, 26, 42, 62, 84, 106]  # Bytes of level M, versions 1 to 6.

PROGRAM = """
import { modules, penalty, path } from %s;
import { readFileSync } from 'node:fs';
const asked = JSON.parse(readFileSync(0, 'utf8'));
const answers = asked.map(({ text, ...choice }) => {
  try {
    const code = modules(text, choice);
    const rows = [];
    for (let y = 0; y < code.size; y += 1) rows.push([...code.dark.subarray(y * code.size, (y + 1) * code.size)].join(''));
    return { rows, version: code.version, mask: code.mask, penalty: penalty(code.dark, code.size), path: path(code) };
  } catch (error) {
    return { error: error.name };
  }
});
process.stdout.write(JSON.stringify(answers));
"""


def encode(asked: list[dict]) -> list[dict]:
    """Answers of the page's encoder, run by node."""
    node = shutil.which("node") or shutil.which("nodejs")
    assert node is not None, "node is needed (apt: nodejs)"
    program = PROGRAM % json.dumps((PAGES / "view/qr.js").as_uri())
    done = subprocess.run(
        [node, "--input-type=module", "--eval", program],
        input=json.dumps(asked), capture_output=True, text=True, timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def reference(text: str, version: int, mask: int) -> list[str]:
    """The rows of the other encoder, without the quiet zone."""
    code = qrcode.QRCode(
        version=version, error_correction=qrcode.constants.ERROR_CORRECT_M, border=0, mask_pattern=mask,
    )
    code.add_data(qrcode.util.QRData(text.encode(), mode=qrcode.util.MODE_8BIT_BYTE))
    code.make(fit=False)
    return ["".join(str(int(module)) for module in row) for row in code.get_matrix()]


def texts(seed: int) -> list[tuple[int, str]]:
    """Texts for every version: the shortest and longest that need it, and random ones, ASCII and not."""
    rng = random.Random(seed)
    result = []
    for version, longest in enumerate(CAPACITY, start=1):
        shortest = CAPACITY[version - 2] + 1 if version > 1 else 1
        for length in {shortest, longest, rng.randint(shortest, longest)}:
            result.append((version, "".join(chr(rng.randint(33, 126)) for _ in range(length))))
        umlauts = "é" * (rng.randint(shortest + 1, longest) // 2)
        result.append((version, umlauts + "x" * max(0, shortest - 2 * len(umlauts))))
    result.append((2, "https://ranch.example/r/7K3M9Q"[:26]))
    return result


def test_every_version_and_mask_equals_the_other_encoder(seed):
    asked = [(version, text, mask) for version, text in texts(seed) for mask in range(8)]
    answers = encode([{"text": text, "version": version, "mask": mask} for version, text, mask in asked])
    for (version, text, mask), answer in zip(asked, answers, strict=True):
        assert answer["rows"] == reference(text, version, mask), f"version {version}, mask {mask}, {text!r}"


def test_the_smallest_version_and_the_mask_of_least_penalty_are_chosen(seed):
    for version, text in texts(seed):
        chosen, *others = encode([{"text": text}, *({"text": text, "mask": mask} for mask in range(8))])
        assert chosen["version"] == version
        assert chosen["penalty"] == min(other["penalty"] for other in others)
        assert chosen["rows"] == others[chosen["mask"]]["rows"] == reference(text, version, chosen["mask"])


def naive_penalty(rows: list[str]) -> int:
    """The penalty as the standard words it, written for reading."""
    size = len(rows)
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    points = 0
    for line in rows + columns:
        run = 1
        for before, here in zip(line, line[1:] + " ", strict=True):
            if before == here:
                run += 1
                continue
            points += run - 2 if run >= 5 else 0
            run = 1
        for at in range(size - 10):
            points += 40 if line[at : at + 11] in ("00001011101", "10111010000") else 0
    for y in range(size - 1):
        for x in range(size - 1):
            block = rows[y][x : x + 2] + rows[y + 1][x : x + 2]
            points += 3 if block in ("0000", "1111") else 0
    dark = sum(row.count("1") for row in rows)
    return points + 10 * int(abs(dark * 20 / (size * size) - 10))


def test_the_penalty_is_that_of_the_standard(seed):
    answers = encode([{"text": text, "mask": mask} for _, text in texts(seed) for mask in range(8)])
    for answer in answers:
        assert answer["penalty"] == naive_penalty(answer["rows"])


def test_the_path_draws_exactly_the_dark_modules():
    (answer,) = encode([{"text": "https://localhost:8443/r/7K3M9Q"}])
    size = len(answer["rows"])
    drawn = [[0] * (size + 8) for _ in range(size + 8)]
    for part in answer["path"].split("M")[1:]:
        start, rest = part.split("h", 1)
        x, y = map(int, start.split())
        width = int(rest.split("v")[0])
        assert rest == f"{width}v1h-{width}z"
        for column in range(x, x + width):
            drawn[y][column] += 1
    assert ["".join(map(str, row[4:-4])) for row in drawn[4:-4]] == answer["rows"]
    assert sum(map(sum, drawn)) == sum(row.count("1") for row in answer["rows"])


@pytest.mark.parametrize("text", ["x" * 107, "é" * 54])
def test_a_text_that_does_not_fit_is_refused(text):
    assert encode([{"text": text}]) == [{"error": "RangeError"}]
