"""The project's scripts: what they say of themselves, and what they give the toolchain."""

import os
import pathlib
import re
import subprocess

import pytest

SCRIPTS = pathlib.Path(__file__).parents[2] / "Scripts"


@pytest.mark.parametrize("name", ["test", "night", "mutants", "steady", "screens"])
def test_a_script_says_from_any_folder_what_it_does(name, tmp_path):
    said = subprocess.run([SCRIPTS / name, "--help"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[0] == (SCRIPTS / name).read_text().splitlines()[1].removeprefix("# ")
    assert not [line for line in said.splitlines() if line.startswith(("#", "set "))]


def test_the_toolchain_gets_only_the_variables_that_matter_to_a_build(tmp_path):
    """It begins to link where any variable has changed: a folder's name must not be among them."""
    swift = tmp_path / "swift"
    swift.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\nenv\n")
    swift.chmod(0o755)
    kept = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": "/home/of/mina", "TOOLCHAINS": "swift", "XDG_CACHE_HOME": "/cache"}
    # What the package itself asks for.
    asked = re.findall(r'Context\.environment\["(\w+)"\]', (SCRIPTS.parent / "Package.swift").read_text())
    assert "PURE" in asked
    kept |= dict.fromkeys(set(asked) - {"PURE"}, "1")
    said = subprocess.run(
        ["bash", "-c", f"source {SCRIPTS}/prerequisites; PURE=1 swift build --product backline"],
        cwd=tmp_path, env={**kept, "OLDPWD": "/before", "BACKLINE_PORT": "1"}, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[:3] == ["build", "--product", "backline"]
    # What the shell of the pretended toolchain adds.
    found = sorted(line for line in said[3:] if not line.startswith(("PWD=", "_=", "SHLVL=")))
    assert found == sorted([*(f"{name}={value}" for name, value in kept.items()), "PURE=1", "SWIFT_DETERMINISTIC_HASHING=1"])
