#!/usr/bin/env python3
"""Makes the fonts of this folder from the published ones.

    pip install fonttools==4.68.0
    python3 subset.py FOLDER NotoSansCJK-Regular.ttc

FOLDER has NotoSans-Regular.ttf, NotoSans-Bold.ttf and a NotoSans…-Regular.ttf for each of
the OTHER_SCRIPTS.
"""

import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTCollection, TTFont

SIMPLIFIED_CHINESE = 2  # the order of the faces in the collection: JP, KR, SC, TC, HK

# The blocks of each script, first and last. Of Arabic the ligatures of whole words are left
# out, but not the letters in fixed forms, which old programs write.
OTHER_SCRIPTS = {
    "Arabic": [(0x0600, 0x06FF), (0x0750, 0x077F), (0xFB50, 0xFBB1), (0xFBD3, 0xFBFF), (0xFE70, 0xFEFC)],
    "Armenian": [(0x0530, 0x058F), (0xFB13, 0xFB17)],
    "Bengali": [(0x0980, 0x09FF)],
    "Devanagari": [(0x0900, 0x097F), (0xA8E0, 0xA8FF)],
    "Ethiopic": [(0x1200, 0x137F)],
    "Georgian": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)],
    "Gujarati": [(0x0A80, 0x0AFF)],
    "Gurmukhi": [(0x0A00, 0x0A7F)],
    "Hebrew": [(0x0590, 0x05FF), (0xFB1D, 0xFB4F)],
    "Kannada": [(0x0C80, 0x0CFF)],
    "Khmer": [(0x1780, 0x17FF)],
    "Lao": [(0x0E80, 0x0EFF)],
    "Malayalam": [(0x0D00, 0x0D7F)],
    "Myanmar": [(0x1000, 0x109F)],
    "Sinhala": [(0x0D80, 0x0DFF)],
    "Tamil": [(0x0B80, 0x0BFF)],
    "Telugu": [(0x0C00, 0x0C7F)],
    "Thai": [(0x0E00, 0x0E7F)],
}
# Shaping wants a space, the joiners, and a circle for a mark that has lost its letter.
FOR_SHAPING = {0x20, 0x200C, 0x200D, 0x25CC}


def characters_of(codec, lead, trail):
    """Every character that a double-byte character set can spell."""
    found = set()
    for first in lead:
        for second in trail:
            try:
                text = bytes([first, second]).decode(codec)
            except UnicodeDecodeError:
                continue
            found.update(map(ord, text))
    return found


def east_asian():
    """The characters of the national standards: names need more than a newspaper does."""
    gb2312 = characters_of("gb2312", range(0xA1, 0xF8), range(0xA1, 0xFF))
    big5 = characters_of("big5", range(0xA1, 0xFA), range(0x40, 0xFF))
    jis_x_0208 = characters_of("euc_jp", range(0xA1, 0xF5), range(0xA1, 0xFF))
    ks_x_1001_hangul = characters_of("euc_kr", range(0xB0, 0xC9), range(0xA1, 0xFF))
    forms = set(range(0x3000, 0x3100)) | set(range(0xFF00, 0xFFF0))
    given_names = set(map(ord, "喆堃犇骉赟燊翊彧玥玮"))
    wanted = given_names | gb2312 | big5 | jis_x_0208 | ks_x_1001_hangul | forms
    # Noto Sans has the scripts of Europe, in both weights.
    return {c for c in wanted if c >= 0x2E80}


def options(features):
    chosen = subset.Options()
    chosen.hinting = False  # a PDF viewer has its own
    chosen.layout_features = features
    chosen.name_IDs = ["*"]
    chosen.notdef_outline = True
    chosen.drop_tables += ["DSIG", "BASE", "VORG", "vhea", "vmtx"]
    return chosen


def make(font, wanted, features, target):
    subsetter = subset.Subsetter(options(features))
    subsetter.populate(unicodes=wanted)
    subsetter.subset(font)
    font["head"].modified = font["head"].created  # the same input, the same bytes
    font.recalcTimestamp = False
    font.save(target)


def main(folder, cjk):
    folder = pathlib.Path(folder)
    for name in ["NotoSans-Regular.ttf", "NotoSans-Bold.ttf"]:
        font = TTFont(folder / name)
        make(font, font.getBestCmap().keys(), ["ccmp", "kern", "mark", "mkmk", "locl"], name)
    for script, blocks in OTHER_SCRIPTS.items():
        name = f"NotoSans{script}-Regular.ttf"
        wanted = {c for first, last in blocks for c in range(first, last + 1)} | FOR_SHAPING
        # These scripts are written by their features: joining, conjuncts, marks.
        make(TTFont(folder / name), wanted, subset.Options().layout_features, name)
    font = TTCollection(cjk).fonts[SIMPLIFIED_CHINESE]
    make(font, east_asian(), ["ccmp"], "NotoSansCJKsc-Regular-subset.otf")


if __name__ == "__main__":
    main(*sys.argv[1:])
