#!/usr/bin/env python3
"""Makes the three fonts of this folder from the published ones.

    pip install fonttools==4.68.0
    python3 subset.py NotoSans-Regular.ttf NotoSans-Bold.ttf NotoSansCJK-Regular.ttc
"""

import sys

from fontTools import subset
from fontTools.ttLib import TTCollection, TTFont

SIMPLIFIED_CHINESE = 2  # the order of the faces in the collection: JP, KR, SC, TC, HK


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


def main(regular, bold, cjk):
    for source, target in [(regular, "NotoSans-Regular.ttf"), (bold, "NotoSans-Bold.ttf")]:
        font = TTFont(source)
        make(font, font.getBestCmap().keys(), ["ccmp", "kern", "mark", "mkmk", "locl"], target)
    font = TTCollection(cjk).fonts[SIMPLIFIED_CHINESE]
    make(font, east_asian(), ["ccmp"], "NotoSansCJKsc-Regular-subset.otf")


if __name__ == "__main__":
    main(*sys.argv[1:])
