"""Every screen and state, on a phone in the dark theme and on a laptop in the light one: accessible, whole, and without a line on the console."""

import pytest

import browsers
import screens
import serving


@pytest.mark.parametrize("device", browsers.DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("scene", screens.SCENES, ids=lambda scene: scene.__name__)
def test_a_screen(scene, device, chromium_shell, house, authority, tmp_path):
    numbers = iter(range(100))

    def make_server(*options):
        return serving.make_server(authority, tmp_path / str(next(numbers)), *options)

    # Every screen is seen in both themes; `Scripts/screens` looks at both on both devices.
    stage = screens.Stage(chromium_shell, house, device, make_server, scheme="dark" if device.touch else "light")
    faults = []
    try:
        for name, page in scene(stage):
            browsers.settle(page)
            faults += [f"{name}: {fault}" for fault in browsers.faults(page)]
        for watch in stage.watches:
            watch.check()
    finally:
        stage.clear()
    assert not faults, "\n".join(faults)
