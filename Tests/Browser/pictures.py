#!/usr/bin/env python3
"""Takes the README's screenshots of the running page. Usage: pictures.py AISLE FOLDER

The frames follow the animation's own clock, so they are the same on every machine."""
import io, os, sys

from PIL import Image

import harness

WIDTH, HEIGHT = 1040, 640
FRAMES, DURATION = 14, 700
STOPS = ["price", "unit_price", "-popularity"]

# Animations are paused as soon as they start, and their time is set by the script.
HOLD = """() => {
    const play = Element.prototype.animate;
    window.held = [];
    Element.prototype.animate = function (frames, options) {
        const one = play.call(this, frames, options);
        one.pause();
        window.held.push(one);
        return one;
    };
}"""


def frame(page):
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize((WIDTH * 3 // 4, HEIGHT * 3 // 4), Image.LANCZOS)


def main(aisle, folder):
    os.makedirs(folder, exist_ok=True)
    server = harness.Server(aisle)
    try:
        with harness.browser() as browser:
            place = f"{server.base}/?store=corner&shelf=cheese&sort="
            tab = harness.Tab(browser, viewport={"width": 1280, "height": 820}).open(place + "unit_price")
            tab.sort("-unit_price")
            tab.shows(server.order("corner/cheese", "sort=-unit_price"))
            still = Image.open(io.BytesIO(tab.page.screenshot())).convert("RGB").quantize(200, dither=Image.Dither.NONE)
            still.save(os.path.join(folder, "shop.png"), optimize=True)
            tab.close()

            tab = harness.Tab(browser, viewport={"width": WIDTH, "height": HEIGHT}).open(place + STOPS[-1])
            tab.page.evaluate(HOLD)
            frames, times = [], []
            for sort in STOPS:
                frames.append(frame(tab.page))
                times.append(1200)
                tab.page.evaluate("() => { window.held = []; }")
                tab.sort(sort)
                tab.wait("() => window.held.length > 0 && window.held.every((one) => one.playState === 'paused')")
                for step in range(1, FRAMES):
                    tab.page.evaluate("(part) => { for (const one of window.held) one.currentTime = one.effect.getTiming().duration * part; }", step / FRAMES)
                    frames.append(frame(tab.page))
                    times.append(DURATION // FRAMES)
                tab.page.evaluate("() => { for (const one of window.held) one.finish(); }")
                tab.shows(server.order("corner/cheese", f"sort={sort}"))
            colours = Image.new("RGB", (frames[0].width, frames[0].height * 3))
            for index, one in enumerate((frames[0], frames[FRAMES // 2], frames[-1])):
                colours.paste(one, (0, index * one.height))
            palette = colours.quantize(96, dither=Image.Dither.NONE)
            frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
            frames[0].save(os.path.join(folder, "resort.gif"), save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    finally:
        server.close()
    for name, bound in (("shop.png", 300_000), ("resort.gif", 1_500_000)):
        size = os.path.getsize(os.path.join(folder, name))
        print(f"{name}: {size} bytes")
        if size >= bound:
            sys.exit(f"{name} has more than {bound} bytes")


main(sys.argv[1], sys.argv[2])
