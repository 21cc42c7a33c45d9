"""Reads the commands and tables of a page of the documentation, so that the page is the test."""
import os, re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```sh[^\n]*\n(.*?)^```$", re.M | re.S)


class Page:
    """A page of docs/operations, by its headings."""

    def __init__(self, name):
        with open(f"{ROOT}/docs/operations/{name}.md") as file:
            self.text = file.read()
        parts = re.split(r"^##+ (.*)$", self.text, flags=re.M)
        self.sections = {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}

    def commands(self, heading):
        """Returns the commands below a heading as one script."""
        found = BLOCK.findall(self.sections[heading])
        assert found, f"no commands below “{heading}”"
        return "\n".join(found)

    def rows(self, heading):
        """Yields the cells of the tables below a heading, without their heads."""
        lines = self.sections[heading].split("\n")
        for number, line in enumerate(lines):
            if line.startswith("| ") and not (number + 1 < len(lines) and lines[number + 1].startswith("| ---")):
                if not line.startswith("| ---"):
                    yield [cell.strip() for cell in line.strip("|").split("|")]
