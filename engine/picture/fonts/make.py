"""Makes the fonts beside this file again: what pictures draw that DejaVu Sans Mono lacks.

    /usr/bin/python3 engine/picture/fonts/make.py

It needs npm, and fonttools 4.38 with brotli (Debian: fonttools, python3-brotli). The packages are pinned
with their sums, so the same tools make the same bytes. Outlines are rounded to 1/256 em: at twice the
usual size that is an eighth of a pixel.
"""

import base64
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.ttLib.scaleUpem import scale_upem

UNITS_PER_EM = 256

# (file, npm package, its sha512 as npm prints it, the font in it, which characters)
FONTS = [
    (
        "nerd",
        "@azurity/pure-nerd-font@3.0.5",  # the icons of Nerd Fonts 3.4.0
        "/uiaszK8TN9hf5OG+UUiijXkxykjgKEh4+b937jdOWwfXIelgAjYOOS/o1X1+SYD4DwTvgFsW5iHxE7PqlEkqA==",
        "PureNerdFont.woff2",
        lambda c: 0xE000 <= c < 0xF900 or c >= 0xF0000,
    ),
    (
        "emoji",
        "@expo-google-fonts/noto-emoji@0.4.7",
        "Gs7URwtKmCzzdGUTYbG8MIohyaQPgGxIaQG5hvyEAaQiEGJpQy6gyP3NDICE0EJkOJFoe1JFD3Hf1L4a3qe4KA==",
        "400Regular/NotoEmoji_400Regular.ttf",
        lambda c: 0x2000 <= c < 0xE000 or 0x1F000 <= c < 0x20000,
    ),
    (
        "symbols2",
        "@expo-google-fonts/noto-sans-symbols-2@0.4.1",
        "jFymG5s4OLlXpy9E9FQvSXpSnf43BIYcJiPXEHSw6LFNvbahkjmUWb/cj4vsX/KdUksGLTPbjB9iRuu8L3yJ8A==",
        "400Regular/NotoSansSymbols2_400Regular.ttf",
        lambda c: 0x2300 <= c < 0x2500 or 0x2600 <= c < 0x2800 or 0x2900 <= c < 0x2C00
        or 0x1F650 <= c < 0x1F680
        or 0x1F780 <= c < 0x1F900 or 0x1FB3C <= c < 0x1FC00,
    ),
    (
        "symbols",
        "@expo-google-fonts/noto-sans-symbols@0.4.1",
        "LlXM1nLfz0FO1UA/COHlVau8DcDsvex3uWVA/BqeT8tJt+Hk8ju5XfmoShdjiW8IP4Z3ukKp7VFh4DDmNImYKA==",
        "400Regular/NotoSansSymbols_400Regular.ttf",
        lambda c: 0x2000 <= c < 0x2200 or 0x2300 <= c < 0x2500 or 0x2600 <= c < 0x2C00,
    ),
    (
        "math",
        "@expo-google-fonts/noto-sans-math@0.4.2",
        "Kgj0kKibznTLYcbpR8Tk2ybr76uMOyrlyoP5F9G+0UiJzAMA4zG/XIlrgXKzfFGERhA0Rc3vbwDeeTxwXPlaYg==",
        "400Regular/NotoSansMath_400Regular.ttf",
        lambda c: 0x27F0 <= c < 0x2800 or 0x2900 <= c < 0x2920 or 0x2980 <= c < 0x2A00,
    ),
]


def fetch(package, sum, path):
    """The bytes of a file of an npm package."""
    with tempfile.TemporaryDirectory() as dir:
        subprocess.run(["npm", "pack", "--silent", package], cwd=dir, check=True,
                       stdout=subprocess.DEVNULL)
        [name] = os.listdir(dir)
        data = open(os.path.join(dir, name), "rb").read()
    got = base64.b64encode(hashlib.sha512(data).digest()).decode()
    if got != sum:
        sys.exit(f"{package}: its sum is {got}, not {sum}")
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return tar.extractfile("package/" + path).read()


def cut(data, wanted):
    """A font with the wanted characters' outlines and nothing else."""
    font = TTFont(io.BytesIO(data), recalcTimestamp=False)
    options = subset.Options()
    options.layout_features, options.name_IDs = [], [0, 13, 14]  # the licence stays with it
    options.hinting = options.glyph_names = options.notdef_outline = False
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "STAT", "vmtx", "vhea", "DSIG", "FFTM", "meta"]
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[c for c in font.getBestCmap() if wanted(c)])
    cutter.subset(font)
    scale_upem(font, UNITS_PER_EM)
    font["head"].created = font["head"].modified = 0
    font.flavor = None
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    for name, package, sum, path, wanted in FONTS:
        ttf = cut(fetch(package, sum, path), wanted)
        packed = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as z:
            z.write(ttf)
        with open(os.path.join(folder, name + ".ttf.gz"), "wb") as f:
            f.write(packed.getvalue())
        print(f"{name}: {len(ttf)} bytes, {len(packed.getvalue())} packed")


main()
