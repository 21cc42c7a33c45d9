"""Shared by the tests of operations: the commands and tables of the documentation, which are what the tests run and compare."""
import os, re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The commands that the tests of the documentation do not run.
BLOCK = re.compile(r"^```sh notest\n(.*?)^```$", re.M | re.S)


def binaries():
    """Returns the folder of the latest PostgreSQL's programs."""
    versions = sorted((int(name) for name in os.listdir("/usr/lib/postgresql") if name.isdigit()), reverse=True)
    return f"/usr/lib/postgresql/{versions[0]}/bin"


class Page:
    """A page of docs/operations, by its headings."""

    def __init__(self, name):
        with open(f"{ROOT}/docs/operations/{name}.md") as file:
            self.text = file.read()
        parts = re.split(r"^##+ (.*)$", self.text, flags=re.M)
        self.sections = {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}

    def commands(self, heading):
        """Returns the commands below a heading as one script; empty if there are none."""
        return "\n".join(BLOCK.findall(self.sections[heading]))

    def rows(self, heading):
        """Yields the cells of the tables below a heading, without their heads."""
        lines = self.sections[heading].split("\n")
        for number, line in enumerate(lines):
            if line.startswith("| ") and not (number + 1 < len(lines) and lines[number + 1].startswith("| ---")):
                if not line.startswith("| ---"):
                    yield [cell.strip() for cell in line.strip("|").split("|")]
