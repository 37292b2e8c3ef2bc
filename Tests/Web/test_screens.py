"""Every screen and state in both themes: accessible, whole, and without a line on the console."""

import pytest

import browsers
import screens
import serving


CASES = [
    pytest.param(scene, device, id=f"{scene.__name__}-{device.name}")
    for scene in screens.SCENES
    for device in browsers.DEVICES
    if device.touch or scene not in screens.NARROW
]


@pytest.mark.parametrize("scene, device", CASES)
def test_a_screen(scene, device, chromium, house, authority, tmp_path):
    numbers = iter(range(100))

    def make_server(*options):
        return serving.make_server(authority, tmp_path / str(next(numbers)), *options)

    # Dark on a phone and light on a laptop, or both on a phone. `Scripts/screens` looks at both on both.
    stage = screens.Stage(chromium, house, device, make_server, scheme="dark" if device.touch else "light")
    faults = []
    try:
        for name, page in scene(stage):
            browsers.settle(page)
            faults += [f"{name}: {fault}" for fault in browsers.faults(page)]
            if scene in screens.NARROW:
                # Only colours differ.
                browsers.show_theme(page, "light")
                faults += [f"{name}, light: {fault}" for fault in browsers.Axe(page).violations("color-contrast")]
                browsers.show_theme(page, "dark")
        for watch in stage.watches:
            watch.check()
    finally:
        stage.clear()
    assert not faults, "\n".join(faults)
