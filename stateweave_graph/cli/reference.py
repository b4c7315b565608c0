"""The reference of the command line, made from the commands themselves.

python -m stateweave_graph.cli.reference > docs/cli.md
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import typer

from stateweave_graph import errors
from stateweave_graph.cli.app import NAME, app
from stateweave_graph.cli.exits import MEANINGS
from stateweave_graph.cli.options import DATABASE_VARIABLE, DEFAULT_DATABASE

_HEAD = f"""# The command line

This page is made by `python -m stateweave_graph.cli.reference > docs/cli.md`; change the commands instead.

`{NAME}` works on the store that `--db` names, else on the one in `${DATABASE_VARIABLE}`,
else on `{DEFAULT_DATABASE}`. Commands that only look never make a file. `-` is standard input or output.
With `--json` a command prints one JSON document and nothing else; its errors are then JSON, too, on standard
error: `{{"error": {{"type": …, "message": …}}}}`, with the fields that *Errors as JSON* lists. `NO_COLOR` is
honoured. Control characters in texts are shown as escapes and never obeyed.

| exit code | meaning |
| --- | --- |
"""


_FIELDS = {
    "type": "the name of the error's class",
    "message": "what happened and what to do, for people",
    "retryable": "whether the same command may succeed later without any change",
    "violations": "the rules that are broken: a list of objects with `rule`, `path`, `message` and `value`",
    "parents": "the ids of the parents that are missing",
    "agent_id": "the agent",
    "expected": "the revision that was expected",
    "actual": "the revision that is there",
    "sequence": "the sequence of the first node that differs, or null",
    "stored": "what is stored there",
    "given": "what the input has there",
    "commit_id": "the commit id",
    "revision": "the revision that the commit id belongs to",
    "rule": "the rule of the format that is broken",
    "line": "the line of the file, from 1; 0 for the file as a whole",
    "reason": "what is wrong there",
    "package": "the Python package that is missing",
    "command": "the command that installs it",
    "outcome_unknown": "whether what was asked may have been done",
}
"""What each field of an error as JSON means."""


def reference() -> str:
    """The text of ``docs/cli.md``."""
    exits = "".join(f"| {code} | {meaning} |\n" for code, meaning in MEANINGS.items())
    return _HEAD + exits + _errors() + "".join(map(_section, commands().values()))


def commands() -> dict[str, Any]:
    """Every command by its name, in the order of the help."""
    group: Any = typer.main.get_command(app)
    found: dict[str, Any] = group.commands
    return found


def _errors() -> str:
    """The fields of errors as JSON, each with the errors that have it."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and "FIELDS" in vars(kind)]
    having = {field: [kind.__name__ for kind in kinds if field in vars(kind)["FIELDS"]] for field in _FIELDS}
    rows = [
        f"| `{field}` | {meaning} | {', '.join(having[field]) or 'every error'} |\n"
        for field, meaning in _FIELDS.items()
    ]
    return (
        "\n## Errors as JSON\n\nAn error has these fields and no others; a class also has those of the class "
        "that it extends. A command line that can't be understood has the type `UsageError`, and `type` and "
        "`message` only.\n\n| field | meaning | errors |\n| --- | --- | --- |\n" + "".join(rows)
    )


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
