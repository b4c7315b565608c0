"""The reference of the command line, made from the commands themselves.

python -m stateweave_graph.cli.reference > docs/cli.md
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import typer

from stateweave_graph.cli.app import NAME, app
from stateweave_graph.cli.exits import MEANINGS
from stateweave_graph.cli.options import DATABASE_VARIABLE, DEFAULT_DATABASE

_HEAD = f"""# The command line

This page is made by `python -m stateweave_graph.cli.reference > docs/cli.md`; change the commands instead.

`{NAME}` works on the store that `--db` names, else on the one in `${DATABASE_VARIABLE}`,
else on `{DEFAULT_DATABASE}`. Commands that only look never make a file. `-` is standard input or output.
With `--json` a command prints one JSON document and nothing else; its errors are then JSON, too, on standard
error: `{{"error": {{"type": …, "message": …}}}}`, with more fields where the error has them. `NO_COLOR` is
honoured. Control characters in texts are shown as escapes and never obeyed.

| exit code | meaning |
| --- | --- |
"""


def reference() -> str:
    """The text of ``docs/cli.md``."""
    exits = "".join(f"| {code} | {meaning} |\n" for code, meaning in MEANINGS.items())
    return _HEAD + exits + "".join(map(_section, commands().values()))


def commands() -> dict[str, Any]:
    """Every command by its name, in the order of the help."""
    group: Any = typer.main.get_command(app)
    found: dict[str, Any] = group.commands
    return found


def _section(command: Any) -> str:
    text, _, example = inspect.cleandoc(command.help).partition("Example: ")
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join([NAME, command.name, "[OPTIONS]", *(argument.metavar for argument in arguments)])
    rows = [(f"`{argument.metavar.strip('[]')}`", argument.help) for argument in arguments]
    rows += [(_spelled(option), _explained(option)) for option in options]
    table = "".join(f"| {name} | {meaning} |\n" for name, meaning in rows)
    return (
        f"\n## {command.name}\n\n```\n{usage}\n```\n\n{text.strip()}\n\n"
        f"```console\n$ {' '.join(example.split())}\n```\n\n"
        f"| argument or option | meaning |\n| --- | --- |\n{table}"
    )


def _spelled(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    return names if option.is_flag else f"{names} `{option.metavar}`"


def _explained(option: Any) -> str:
    shown = not option.is_flag and option.default not in (None, "") and option.show_default
    return f"{option.help} Default: `{option.default}`." if shown else str(option.help)


if __name__ == "__main__":
    sys.stdout.buffer.write(reference().encode())
