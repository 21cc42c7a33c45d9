"""Writes the command-line reference, made from the help of the commands. Usage: cli.py AISLE FOLDER."""
import json, os, subprocess, sys

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


def describe(command, path):
    """Yields the lines about a command and its subcommands."""
    path = f"{path} {command['commandName']}"
    arguments = [one for one in command.get("arguments", []) if one["shouldDisplay"] and one["valueName"] not in COMMON]
    children = [one for one in command.get("subcommands", []) if one["shouldDisplay"]]
    yield f"{'#' * path.count(' ')} {path}\n\n{command['abstract']}\n"
    if command.get("discussion"):
        yield " ".join(command["discussion"].split()) + "\n"
    own = [one for one in arguments if one["valueName"] != DATABASE]
    if own:
        yield "| argument | meaning |\n| --- | --- |"
        yield from (f"| `{name(one)}` | {meaning(one)} |" for one in own)
        yield ""
    for child in children:
        yield from describe(child, path)


def reference(aisle):
    """Returns the pages by file name."""
    dump = subprocess.run([aisle, "--experimental-dump-help"], capture_output=True, text=True, check=True, timeout=60)
    commands = [one for one in json.loads(dump.stdout)["command"]["subcommands"] if one["shouldDisplay"] and one["commandName"] != "help"]
    pages = {f"{one['commandName']}.md": "\n".join(describe(one, "aisle")).rstrip() + "\n" for one in commands}
    pages["README.md"] = """# Command line

These pages are generated from the commands by `make docs`. Commands that use the database take `--dsn`; without it, they use
`DATABASE_URL`, libpq's variables, or the private PostgreSQL in `.aisle/`. Every command has `--help`.

| command | |
| --- | --- |
""" + "".join(f"| [{one['commandName']}]({one['commandName']}.md) | {one['abstract']} |\n" for one in commands)
    return pages


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    for file, text in reference(os.path.abspath(sys.argv[1])).items():
        with open(f"{sys.argv[2]}/{file}", "w") as page:
            page.write(text)
