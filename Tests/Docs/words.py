"""Checks the texts of the project for words and patterns that its style rules out.

Usage: words.py. Reads all files that git tracks, apart from applied migrations, whose checksums are recorded.
"""
import os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Each pattern with the advice for it.
RULES = [
    (r"(?<![A-Za-z])(told|tell|tells|stands|anew|whoever|mend|mended)(?![A-Za-z])", "use an ordinary verb"),
    (r"\bbesides\b", "use “apart from”, “in addition to” or “further”"),
    (r"\b(at a time of its own|as one scrolls|it is meant|is meant by|the least that)\b", "say who does what"),
    (r"(?<![Tt]here )\b(is|are|was|were) no (?!longer|more|such|one)\w+", "use “is not a”, or say what has none"),
    (r"(?:^|[.:;] |[\"(]+|// |-- |/\*\* |# |\* )What (?!is the|are the|happens|to)(?:[a-z]+ ){1,12}[^?]*$", "a relative clause needs a noun"),
    (r"\bnobody's|\bnobody is\b|\bsomebody\b", "name the role: a user, a client, another session"),
    (r"\b(said|says) (so|nothing)\b", "say what is reported"),
    (r"\bin the life of\b|\bforestalled\b|\bwhat is due\b", "use the term of the glossary"),
]
# Files that must quote such texts, and why.
EXCEPTIONS = {
    "Tests/Docs/words.py": "lists the patterns",
}
# Files whose text is data.
DATA = re.compile(r"^(seed-data/.*\.csv|Tests/.*/(Cases|corpora)/|sql/migrations/|LICENSE$)|\.(gif|png|svg|supp)$")


def findings(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for pattern, advice in RULES:
                match = re.search(pattern, line.rstrip())
                if match:
                    yield f"{path}:{number}: “{match[0].strip()[:60]}”: {advice}"


def main():
    paths = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    checked = [path for path in paths if path and path not in EXCEPTIONS and not DATA.search(path)]
    wrong = [finding for path in checked for finding in findings(path)]
    print("\n".join(wrong[:200]))
    print(f"{len(checked)} files checked, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
