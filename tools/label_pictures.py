"""Make the pictures of the labelling page for the guide: docs/guide/labelling_*.png.

    python tools/label_pictures.py

It needs Chromium and Playwright. The digits of scikit-learn are written as images, the page is
opened for them, and 80 rows are answered with their true labels by keys.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

PLACE = Path(__file__).resolve().parent.parent / "docs" / "guide"
ANSWERS = 80
WIDTHS = {"labelling_wide": (1300, "light"), "labelling_narrow": (412, "dark")}


def until(page: Any, condition: str) -> None:
    end = time.monotonic() + 120
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.02)


def answer(page: Any, truth: np.ndarray) -> None:
    """Answer by keys; three answers are wrong, so that there is something to look at again."""
    until(page, "state && shown !== null")
    for k in range(ANSWERS):
        row = page.evaluate("shown")
        page.keyboard.press(str((truth[row] + (k in (30, 45, 60))) % 10))
        until(page, f"!busy && shown !== {row} && state.current")
    until(page, "state.current && map.colours.predicted.length > 0")


def take(browser: Any, address: str, truth: np.ndarray) -> None:
    for number, (name, (width, scheme)) in enumerate(WIDTHS.items()):
        shape = {"width": width, "height": 900}
        context = browser.new_context(viewport=shape, color_scheme=scheme)
        page = context.new_page()
        page.goto(address)
        if number == 0:
            answer(page, truth)
        until(page, "state && state.current && map.colours.predicted.length > 0 && shown !== null")
        time.sleep(1)  # the image of the row
        page.screenshot(path=PLACE / f"{name}.png", full_page=number == 0)
        print(PLACE / f"{name}.png")
        context.close()


def main() -> None:
    digits = load_digits()
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder, "images")
        images.mkdir()
        for k, values in enumerate(digits.images):
            picture = Image.fromarray((values * (255 / 16)).astype(np.uint8))
            picture.resize((28, 28), Image.Resampling.BICUBIC).save(images / f"{k:04d}.png")
        command = [sys.executable, "-m", "graphkm.cli", "label", str(images), "--no-browser"]
        command += ["--out", str(Path(folder, "labels.csv")), "--classes", "0,1,2,3,4,5,6,7,8,9"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        address = process.stdout.readline().strip()
        try:
            with sync_playwright() as driver:
                safe = [] if os.getuid() else ["--no-sandbox"]
                chromium = shutil.which("chromium") or shutil.which("google-chrome")
                browser = driver.chromium.launch(executable_path=chromium, args=safe)
                take(browser, address, digits.target)
                browser.close()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


if __name__ == "__main__":
    main()
