"""Packs functions for Lambda, as scripts/zips has them packed:

    pack-zips.py [--without TEXT]… FOLDER LIMIT NAME…

FOLDER/NAME/bootstrap becomes FOLDER/NAME.zip, at most so many bytes. The same program always gives
the same bytes: a zip has no time, no owner and no folder in it. A program with one of the texts in
it is not packed: with the folder it was built in it would be another one elsewhere.
"""

import argparse
import pathlib
import sys
import zipfile
import zlib


def is_packed(packed, code):
    """Whether a zip has just this program in it."""
    try:
        with zipfile.ZipFile(packed) as archive:
            inside = [(entry.filename, entry.CRC, entry.file_size) for entry in archive.infolist()]
    except (FileNotFoundError, zipfile.BadZipFile):
        return False
    return inside == [("bootstrap", zlib.crc32(code), len(code))]


def pack(packed, code):
    entry = zipfile.ZipInfo("bootstrap", (1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o755 << 16
    entry.create_system = 3
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(entry, code, zipfile.ZIP_DEFLATED, 9)


def main(folder, limit, functions, without):
    # Fonts are data, and do not count where tickets are drawn.
    fonts = [font.read_bytes() for font in pathlib.Path("crates/tickets/fonts").glob("*.?tf")]
    large = []
    for name in functions:
        packed = folder / f"{name}.zip"
        code = (folder / name / "bootstrap").read_bytes()
        for text in without:
            if text.encode() in code:
                sys.exit(f"zips: {name} has {text} in it, so other folders would give other bytes")
        if not is_packed(packed, code):
            pack(packed, code)
        size = packed.stat().st_size
        data = sum(len(zlib.compress(font)) for font in fonts if font in code)
        print(f"zips: {name} {size:,} bytes" + (f", {data:,} of them fonts" if data else ""))
        if size - data > limit:
            large.append(name)
    if large:
        sys.exit(f"zips: more than {limit:,} bytes: {', '.join(large)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("limit", type=int)
    parser.add_argument("functions", nargs="+")
    main(**vars(parser.parse_args()))
