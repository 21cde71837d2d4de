"""Makes the fonts beside this file again: what pictures draw that DejaVu Sans Mono lacks.

    /usr/bin/python3 engine/picture/fonts/make.py [NAME...]

It needs npm, and fonttools 4.38 with brotli (Debian: fonttools, python3-brotli). The packages are pinned
with their sums, so the same tools make the same bytes. Outlines are rounded to 1/256 em: at twice the
usual size that is an eighth of a pixel.

An emoji of several characters is a glyph without a character in its font, which rules of layout lead to.
Here each such glyph gets a character for private use, and emoji-sequences.txt.gz says what it stands for:
a line for each, in their order from U+100000 on. So no reader of layout tables is needed.
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
SEQUENCES = 0x100000  # the first character for an emoji of several
VARIATION = 0xFE0F  # says that a character is an emoji; it changes nothing else

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


def sequences(font):
    """The glyphs of the emoji of several characters, by those characters."""
    names = {}
    for char, name in sorted(font.getBestCmap().items()):
        if not 0xE000 <= char < 0xF900 and char < 0xF0000:  # characters of before there were sequences
            names.setdefault(name, char)
    found = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for sub in lookup.SubTable:
            sub = getattr(sub, "ExtSubTable", sub)
            for first, ligatures in getattr(sub, "ligatures", {}).items():
                for ligature in ligatures:
                    parts = [first, *ligature.Component]
                    if ligature.LigGlyph in names or any(part not in names for part in parts):
                        continue  # as one character, or made of what has none
                    chars = tuple(names[part] for part in parts if names[part] != VARIATION)
                    if len(chars) > 1:
                        found.setdefault(chars, ligature.LigGlyph)
    return dict(sorted(found.items()))


def cut(data, wanted, sequences={}):
    """A font with the outlines of the wanted characters and sequences and nothing else."""
    font = TTFont(io.BytesIO(data), recalcTimestamp=False)
    options = subset.Options()
    options.layout_features, options.name_IDs = [], [0, 13, 14]  # the licence stays with it
    options.hinting = options.glyph_names = options.notdef_outline = False
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "STAT", "vmtx", "vhea", "DSIG", "FFTM", "meta"]
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[c for c in font.getBestCmap() if wanted(c)], glyphs=list(sequences.values()))
    cutter.subset(font)
    if sequences:
        for table in font["cmap"].tables:
            if table.format == 12:
                table.cmap = table.cmap | {SEQUENCES + i: name for i, name in enumerate(sequences.values())}
    scale_upem(font, UNITS_PER_EM)
    font["head"].created = font["head"].modified = 0
    font.flavor = None
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    only = sys.argv[1:]

    def write(name, data):
        packed = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as z:
            z.write(data)
        with open(os.path.join(folder, name + ".gz"), "wb") as f:
            f.write(packed.getvalue())
        print(f"{name}: {len(data)} bytes, {len(packed.getvalue())} packed")

    for name, package, sum, path, wanted in FONTS:
        if only and name not in only:
            continue
        data = fetch(package, sum, path)
        several = {}
        if name == "emoji":
            several = sequences(TTFont(io.BytesIO(data)))
            lines = [" ".join(f"{c:x}" for c in chars) + "\n" for chars in several]
            write("emoji-sequences.txt", "".join(lines).encode())
        write(name + ".ttf", cut(data, wanted, several))


main()
