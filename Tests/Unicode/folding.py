"""Prints the table of folded characters for search.

Usage: folding.py > Sources/Catalog/Search/FoldingTable.swift. Reads the Unicode data of Python's standard library. With --check, it
fails if the file differs from the table of this Unicode version. Of another version, such as 15.0 in Python 3.12, it prints a note and compares nothing.

A character is decomposed for compatibility, its case is folded, its accents are dropped, and the letters below are replaced. This repeats
until nothing changes. Syllables of Hangul and ASCII are left out: the code decomposes the former and has a table of the latter.
"""
import os, sys, unicodedata

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/Catalog/Search/FoldingTable.swift")

# Letters whose base letter no decomposition has.
LETTERS = {
    "æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "ŋ": "n", "œ": "oe", "ŧ": "t", "ƀ": "b", "ƶ": "z",
    "ǥ": "g", "ɨ": "i", "ʉ": "u",
}
# Letters of their own in spite of their decomposition.
KEPT = "йїў"
# Apostrophes, which the code ignores between letters, in spite of their decomposition.
APOSTROPHES = "´ʹʻʼʽˈ`‘’‛′＇"
# Trade marks would become a part of the word before them.
SEPARATORS = "™℠🅪🅫🅬"
# Accents and points: marks that readers leave out.
ACCENTS = [
    (0x300, 0x36F), (0x483, 0x489), (0x591, 0x5C7), (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC),
    (0x6DF, 0x6E4), (0x6E7, 0x6E8), (0x6EA, 0x6ED), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F), (0xE0100, 0xE01EF),
]


def is_ignored(character):
    code = ord(character)
    if any(first <= code <= last for first, last in ACCENTS):
        return unicodedata.category(character)[0] in "ML"
    return unicodedata.category(character) == "Cf" and not 0x600 <= code <= 0x605


def folded(character):
    """Returns the folded text of a character; empty for an ignored one."""
    if character in SEPARATORS:
        return " "
    if character == "٫":
        return "."
    # Upper case of the letters that are kept.
    if unicodedata.normalize("NFC", character.lower()) in KEPT:
        return unicodedata.normalize("NFC", character.lower())
    text = character
    while True:
        # An iota below a Greek letter is an accent, unless its case is folded.
        plain = "".join("'" if part in APOSTROPHES else part for part in text if not is_ignored(part))
        parts = "".join(part if part in KEPT else unicodedata.normalize("NFKD", part) for part in plain)
        parts = "".join(part if part in KEPT else part.casefold() for part in parts if not is_ignored(part))
        parts = "".join(part if part in KEPT else unicodedata.normalize("NFKD", part) for part in parts)
        next = "".join(LETTERS.get(part, part) for part in parts if not is_ignored(part))
        if len(next) == 1 and unicodedata.category(next) == "Nd":
            next = str(unicodedata.decimal(next))
        # A spacing accent, such as a cedilla, separates words.
        next = " " if next.isspace() else next
        if next == text:
            return text
        text = next


def runs():
    """Yields runs of characters: the first one, the number of them, the step between them, the folded text, and its step."""
    found = {}
    for code in [*range(0x80, 0xAC00), *range(0xD7A4, 0xD800), *range(0xE000, 0x110000)]:
        character = chr(code)
        if unicodedata.category(character) in ("Cn", "Co"):
            continue
        text = folded(character)
        if text != character:
            found[code] = text
    codes = sorted(found)
    used = set()
    for code in codes:
        if code in used:
            continue
        best = (1, 1, 0)
        for step in (1, 2):
            for change in (0, 1, 2):
                if change and len(found[code]) != 1:
                    continue
                count = 1
                while (next := code + count * step) in found and next not in used and (
                    found[next] == found[code] if not change
                    else found[next] == chr(ord(found[code]) + count * change)
                ):
                    count += 1
                if count > best[0]:
                    best = (count, step, change)
        count, step, change = best
        used.update(code + number * step for number in range(count))
        yield code, count, step, found[code], change


def line(run):
    code, count, step, text, change = run
    source = f"{code:X}" + (f"*{count:X}" + ("/2" if step == 2 else "") if count > 1 else "")
    return source + ":" + ",".join(f"{ord(part):X}" for part in text) + (f"+{change}" if change else "")


def table():
    """Returns the text of the Swift file."""
    lines, row = [], ""
    for part in map(line, runs()):
        if len(row) + len(part) + 1 > 110:
            lines.append(row)
            row = ""
        row += (" " if row else "") + part
    lines.append(row)
    return "\n".join([
        f"// Generated by Tests/Unicode/folding.py from Unicode {unicodedata.unidata_version}.",
        "",
        "extension CharacterFolding {",
        "    /// Runs of characters with their folded texts, in hexadecimal digits.",
        "    ///",
        "    /// A run has its first character, and then `*` and the number of characters, unless it has one. `/2` follows if every second",
        "    /// character belongs to the run. Then come `:` and the folded text. `+` is before the step to the next folded character.",
        '    static let table = """',
        *("        " + row for row in lines),
        '        """',
        "}",
        "",
    ])


def check():
    """Compares the file with the table of this Unicode version; returns an error, or nothing."""
    with open(TABLE, encoding="utf-8") as file:
        stored = file.read()
    version = stored.split("\n", 1)[0].split()[-1].removesuffix(".")
    if version != unicodedata.unidata_version:
        print(f"FoldingTable.swift has Unicode {version}, and this Python {unicodedata.unidata_version}: not compared")
    elif stored != table():
        return "FoldingTable.swift differs from the output of Tests/Unicode/folding.py: write it again"


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    sys.stdout.write(table())


if __name__ == "__main__":
    sys.exit(main())
