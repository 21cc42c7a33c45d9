"""Checks that the sentences of comments and documents are short, and that each has few relative clauses.

Usage: sentences.py. Reads the Swift and Markdown files that git tracks. Tables, code blocks, grammars and headings are not prose.
"""
import os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_WORDS = 25
MAX_RELATIVES = 2
# Relative and personal pronouns: a reader looks up what each of them refers to.
MAX_PRONOUNS = 4
RELATIVE = r"that|which|who|whom|whose"
PRONOUN = RELATIVE + r"|it|its|they|them|their|those|one|ones|another|others"
# Generated files, records of past decisions, data, and applied migrations, whose checksums are recorded.
UNCHECKED = re.compile(r"^(docs/(cli|decisions)/|Tests/(Fuzz/corpora|.*/Cases)/|sql/migrations/|LICENSE)")
# Releases in the changelog do not change.
RELEASED = re.compile(r"^## \d", re.MULTILINE)
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) +")


def comment_lines(text):
    """Yields the text of the comment in each line; empty if there is none."""
    for line in text.split("\n"):
        match = re.match(r"\s*///?(?!/)(.*)", line)
        if match:
            yield match[1].removeprefix(" ")
            continue
        yield ""


def paragraphs(lines):
    """Yields the number of the first line and the text of each paragraph and list item."""
    start, parts, is_code = 0, [], False
    for number, line in enumerate([*lines, ""], 1):
        is_fence = line.lstrip().startswith("```")
        is_code = is_code != is_fence
        is_prose = not (is_code or is_fence or re.match(r"\s*$|\s*[|<#]|MARK:", line) or (not parts and re.match(r" {4}", line)))
        item = ITEM.match(line)
        if parts and (item or not is_prose):
            yield start, " ".join(parts)
            parts = []
        if is_prose:
            start = start if parts else number
            parts.append(line[item.end() if item else 0:].strip().removeprefix("> "))


def sentences(paragraph):
    """Yields the sentences of a paragraph. A code span is one word, and an independent clause after a colon is a sentence."""
    text = re.sub(r"(`+)[^`]*\1", "`X`", paragraph)
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    for part in re.split(r"(?<=[.;!?])[)”\"*]*\s+(?=[A-Z“\"`\[(*])|(?<=\.)[)”\"*]*\s+(?=\d)|:\**\s", text):
        yield part.replace("*", "")


def count_words(alternatives, sentence):
    return len(re.findall(rf"\b({alternatives})\b", sentence, re.IGNORECASE))


def findings(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        text = file.read()
    if path == "CHANGELOG.md":
        text = RELEASED.split(text)[0]
    for number, paragraph in paragraphs(comment_lines(text) if path.endswith(".swift") else text.split("\n")):
        for sentence in sentences(paragraph):
            words = sum(1 for word in sentence.split() if re.search(r"\w", word))
            for count, limit, name in [
                (words, MAX_WORDS, "words"),
                (count_words(RELATIVE, sentence), MAX_RELATIVES, "relative pronouns"),
                (count_words(PRONOUN, sentence), MAX_PRONOUNS, "pronouns"),
            ]:
                if count > limit:
                    yield f"{path}:{number}: {count} {name}: {sentence}"
            if re.search(rf"\b(\w+ ({RELATIVE})) \1\b", sentence):
                yield f"{path}:{number}: repeated words: {sentence}"


def main():
    paths = subprocess.run(["git", "ls-files", "*.swift", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    checked = [path for path in paths if not UNCHECKED.search(path)]
    wrong = [finding for path in checked for finding in findings(path)]
    print("\n".join(wrong))
    print(f"{len(checked)} files checked, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
