"""Writes the command-line reference, made from the help of the commands. Usage: generate.py [--man] AISLE FOLDER.

Without --man it writes Markdown, with it man pages in the mdoc language: aisle.1 and one per command, such as aisle-sort.1.
"""
import datetime, json, os, subprocess, sys, time

# Options that every command has.
COMMON = {"version", "help"}
DATABASE = "dsn"


def name(argument):
    label = argument["valueName"]
    if argument["kind"] == "positional":
        return f"<{label}>" + ("…" if argument.get("isRepeating") else "")
    preferred = argument["preferredName"]
    option = ("--" if preferred["kind"] == "long" else "-") + preferred["name"]
    return option if argument["kind"] == "flag" else f"{option} <{label}>"


def meaning(argument):
    text = " ".join(argument.get("abstract", "").split())
    values = argument.get("allValues")
    if values and not all(value in text for value in values):
        text += f" One of {', '.join(f'`{value}`' for value in values)}."
    if argument.get("defaultValue"):
        text += f" Default: `{argument['defaultValue']}`."
    return text.replace("|", "\\|")


def discussed(text):
    """Yields paragraphs; indented lines are a list, whose items begin with a name."""
    lines = text.split("\n")
    prose = " ".join(" ".join(line for line in lines if not line.startswith("  ")).split())
    items = [f"- `{name}`: {meaning.strip()}" for name, _, meaning in (line.strip().partition(":") for line in lines if line.startswith("  "))]
    yield prose + "\n"
    if items:
        yield "\n".join(items) + "\n"


def describe(command, path):
    """Yields the lines about a command and its subcommands."""
    path = f"{path} {command['commandName']}"
    arguments = [one for one in command.get("arguments", []) if one["shouldDisplay"] and one["valueName"] not in COMMON]
    children = [one for one in command.get("subcommands", []) if one["shouldDisplay"]]
    yield f"{'#' * path.count(' ')} {path}\n\n{command['abstract']}\n"
    if command.get("discussion"):
        yield from discussed(command["discussion"])
    own = [one for one in arguments if one["valueName"] != DATABASE]
    if own:
        yield "| argument | meaning |\n| --- | --- |"
        yield from (f"| `{name(one)}` | {meaning(one)} |" for one in own)
        yield ""
    for child in children:
        yield from describe(child, path)


def root(aisle):
    """Returns the description of the program, and those of its commands."""
    dump = subprocess.run([aisle, "--experimental-dump-help"], capture_output=True, text=True, check=True, timeout=60)
    program = json.loads(dump.stdout)["command"]
    return program, [one for one in program["subcommands"] if one["shouldDisplay"] and one["commandName"] != "help"]


def reference(aisle):
    """Returns the pages in Markdown by file name."""
    _, commands = root(aisle)
    pages = {f"{one['commandName']}.md": "\n".join(describe(one, "aisle")).rstrip() + "\n" for one in commands}
    pages["README.md"] = """# Command line

These pages are generated from the commands by `make docs`; `make install` installs them as man pages, such as `man aisle-sort`.
Commands that use the database take `--dsn`; without it, they use `DATABASE_URL`, the file of `AISLE_DATABASE_URL_FILE`, libpq's
variables, or the private PostgreSQL in `.aisle/`. Every command has `--help`. [Completions](../install.md#install-for-all-users) know the commands, their options, and the
names of stores and shelves.

| command | |
| --- | --- |
""" + "".join(f"| [{one['commandName']}]({one['commandName']}.md) | {one['abstract']} |\n" for one in commands)
    return pages


def roff(text):
    """Returns text as one line of roff: a backslash, and a dot or quote at the start, would be instructions."""
    text = " ".join(text.replace("\\", "\\e").split())
    return f"\\&{text}" if text[:1] in (".", "'") else text


def words(text):
    """Returns text as the argument of a macro, where short words could be macros themselves."""
    return '"' + roff(text).replace('"', "\\(dq") + '"'


def roff_arguments(command):
    """Yields the synopsis of each argument, and the lines of its description, in mdoc."""
    for one in command.get("arguments", []):
        if not one["shouldDisplay"] or one["valueName"] in COMMON:
            continue
        value = words(one["valueName"])
        if one["kind"] == "positional":
            macro = f"Ar {value}" + (" ..." if one.get("isRepeating") else "")
        else:
            preferred = one["preferredName"]
            # Fl writes one dash itself.
            option = ("\\-" if preferred["kind"] == "long" else "") + preferred["name"]
            macro = f"Fl {option}" + ("" if one["kind"] == "flag" else f" Ar {value}")
        yield one, macro, roff(meaning(one).replace("\\|", "|").replace("`", "")) or "The value."


def roff_command(command, path):
    """Yields the lines about a command and its subcommands."""
    for child in [one for one in command.get("subcommands", []) if one["shouldDisplay"] and one["commandName"] != "help"]:
        name = f"{path} {child['commandName']}"
        yield from [f".Ss {name}", roff(child["abstract"])]
        yield from roff_body(child)
        yield from roff_command(child, name)


def roff_body(command):
    if command.get("discussion"):
        yield ".Pp"
        yield from (roff(line) + "\n.br" if "\n  " in command["discussion"] else roff(line) for line in command["discussion"].split("\n"))
    arguments = list(roff_arguments(command))
    if arguments:
        yield ".Bl -tag -width Ds"
        for _, macro, text in arguments:
            yield from [f".It {macro}", text]
        yield ".El"


def manuals(aisle):
    """Returns the man pages by file name."""
    program, commands = root(aisle)
    version = subprocess.run([aisle, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()

    # Packages that are built again with SOURCE_DATE_EPOCH are the same.
    day = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()), datetime.timezone.utc)

    def page(name, abstract, synopsis, body):
        head = [f".Dd {day:%B} {day.day}, {day.year}", f".Dt {name.upper()} 1", f".Os aisle {version}", ".Sh NAME", f".Nm {name}", f".Nd {roff(abstract).rstrip('.')}"]
        return "\n".join([*head, ".Sh SYNOPSIS", *synopsis, ".Sh DESCRIPTION", roff(abstract), *body]) + "\n"

    pages = {}
    for one in commands:
        name = f"aisle-{one['commandName']}"
        title = words(f"aisle {one['commandName']}")
        synopsis = [f".Nm {title}"]
        if [child for child in one.get("subcommands", []) if child["shouldDisplay"]]:
            synopsis.append(".Ar command")
        for argument, macro, _ in roff_arguments(one):
            synopsis.append(f".{'Op ' if argument['isOptional'] else ''}{macro}")
        body = [*roff_body(one), *roff_command(one, f"aisle {one['commandName']}"), ".Sh SEE ALSO", ".Xr aisle 1"]
        pages[f"{name}.1"] = page(name, one["abstract"], synopsis, body)
    body = [".Pp", *[roff(line) for line in program["discussion"].split("\n") if line], ".Sh COMMANDS", ".Bl -tag -width Ds"]
    for one in commands:
        body += [f".It Xr aisle-{one['commandName']} 1", roff(one["abstract"])]
    pages["aisle.1"] = page("aisle", program["abstract"], [".Nm aisle", ".Ar command", ".Op Ar argument ..."], [*body, ".El"])
    return pages


if __name__ == "__main__":
    arguments = [one for one in sys.argv[1:] if one != "--man"]
    make = manuals if "--man" in sys.argv[1:] else reference
    os.makedirs(arguments[1], exist_ok=True)
    for file, text in make(os.path.abspath(arguments[0])).items():
        with open(f"{arguments[1]}/{file}", "w") as page:
            page.write(text)
