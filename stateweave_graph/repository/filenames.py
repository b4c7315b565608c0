"""Which file a string means that was given for a store; a ``pathlib.Path`` always means itself."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from stateweave_graph.errors import InvalidRequestError

_MEMORY = ":memory:"
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):(.*)", re.IGNORECASE | re.DOTALL)  # two letters: C:\\ is a drive
_NO_HOST = re.compile(r"//(?:localhost)?(?=/)|(?!//)")


def file_of(text: str) -> str:
    """The path of the file that a string means.

    A ``file:`` URI means what it means to SQLite (https://www.sqlite.org/uri.html), as far as it says nothing
    but where the file is.

    >>> file_of("sqlite:///app.db"), file_of("file:app.db"), file_of("app.db"), file_of("file::memory:")
    ('app.db', 'app.db', 'app.db', ':memory:')

    Raises:
        InvalidRequestError: it is not a path, and not a URI that is known.
    """
    match = _SCHEME.fullmatch(text)
    if match is None:
        return text
    scheme, rest = match[1].lower(), match[2]
    if scheme == "file":
        return _file_uri(text, rest)
    if scheme == "sqlite" and rest.startswith("///"):
        return _without_parameters(text, rest[3:])
    if rest.startswith("//"):
        raise InvalidRequestError(
            f"no store has a URI like {text!r}; give the path of a SQLite file, ':memory:', "
            "sqlite:///path, or the bolt:// or neo4j:// URI of a server"
        )
    raise InvalidRequestError(
        f"{text!r} could be a URI or the name of a file; write sqlite:///path, the bolt:// or neo4j:// URI "
        f"of a server, or './{text}' if this is the name of a file"
    )


def _file_uri(text: str, rest: str) -> str:
    address, _, query = rest.partition("#")[0].partition("?")
    parameters = parse_qsl(query, keep_blank_values=True)
    match = _NO_HOST.match(address)
    if match is None:
        raise InvalidRequestError(f"{text!r} names a file of another host; give the path of a file here")
    path = unquote(address[match.end() :])
    if parameters == [("mode", "memory")] or (path == _MEMORY and not parameters):
        return _MEMORY
    if parameters not in ([], [("mode", "rwc")]):
        raise InvalidRequestError(
            f"{text!r}: the parameters of a file: URI are not supported, but for mode=rwc and mode=memory; "
            "give the path alone"
        )
    return path


def _without_parameters(text: str, path: str) -> str:
    if "?" in path:
        raise InvalidRequestError(
            f"{text!r}: a sqlite:/// URI takes no parameters; give the path alone, as a pathlib.Path if its "
            "name really has a question mark"
        )
    return path
