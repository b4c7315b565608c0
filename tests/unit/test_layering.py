"""The house: imports run one way, each library has its room, files stay small, the API is whole."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import networkx
import pytest

import stateweave_graph

PACKAGE = Path(stateweave_graph.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module may import those of its own layer and of the layers before it.
LAYERS = [
    ["version", "errors"],
    [
        "jsontext",
        "timestamps",
        "collation",
        "cyphertext",
        "queries",
        "shipped",
        "wholefile",
        "formats",
        "collector",
        "late_import",
    ],
    ["identity", "statetext"],
    ["javascript"],
    ["validation"],
    ["model"],
    ["results", "hashing", "records"],
    ["attributes", "vocabulary", "mirror"],
    ["mapper", "mermaid", "viewer"],
    ["sessionlog_records", "sessionlog_replay", "sessionlog_writer", "sessionlog"],
    ["stores.base"],
    ["projection", "projection_picture"],
    ["stores"],
    ["repository"],
    ["cli", "testing"],
]
ROOMS = {
    "sqlite3": ("stores",),
    "neo4j": ("stores",),
    "typer": ("cli",),
    "rich": ("cli",),
    "networkx": ("mirror", "testing"),
    "icu": ("collation",),
    "orjson": ("jsontext", "identity"),
    "ladybug": ("projection",),
    "pyarrow": ("projection", "projection_picture", "results", "repository", "cli"),
    "pandas": ("results",),
    "hypothesis": ("testing",),
    "pytest": ("testing",),
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> set[str]:
    """Every module that is imported, wherever in the file; those for type checkers alone left out."""
    tree = ast.parse(path.read_text("utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer_of(name: str) -> int | None:
    matches = [
        (len(room), number)
        for number, layer in enumerate(LAYERS)
        for room in layer
        if name == room or name.startswith(f"{room}.")
    ]
    return max(matches)[1] if matches else None


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_run_one_way(path):
    name = name_of(path)
    if name in ("__init__", "__main__", ""):
        return
    own = layer_of(name)
    assert own is not None, f"{name} has no layer"
    for imported in imports_of(path):
        if not imported.startswith("stateweave_graph."):
            continue
        layer = layer_of(imported.removeprefix("stateweave_graph."))
        if layer is not None:
            assert layer <= own, f"{name} imports {imported}"
            top = LAYERS[-1]
            if own == len(LAYERS) - 1 == layer and name.split(".")[0] in top:
                assert imported.split(".")[1] == name.split(".")[0], f"{name} imports {imported}"


def test_no_module_imports_itself_by_way_of_others():
    modules = {f"stateweave_graph.{name_of(path)}".removesuffix(".__init__"): path for path in MODULES}
    imports = networkx.DiGraph(
        (name, imported)
        for name, path in modules.items()
        for imported in imports_of(path)
        if imported in modules
    )
    assert imports.number_of_edges() > len(modules)
    assert list(networkx.simple_cycles(imports)) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_libraries_stay_in_their_rooms(path):
    room = name_of(path).split(".")[0]
    for imported in imports_of(path):
        library = imported.split(".")[0]
        assert room in ROOMS.get(library, (room,)), f"{name_of(path)} imports {library}"


def test_only_the_command_line_reads_the_environment():
    for path in MODULES:
        text = path.read_text("utf-8")
        if "environ" in text or "getenv" in text:
            assert name_of(path).split(".")[0] == "cli", path


@pytest.mark.parametrize(
    "path",
    [*MODULES, *sorted(PACKAGE.glob("viewer/*.*")), *sorted(Path(__file__).parents[1].rglob("*.py"))],
    ids=lambda path: path.name,
)
def test_files_stay_small(path):
    assert len(path.read_text("utf-8").splitlines()) <= 500


def test_the_public_names_are_sorted_there_and_documented():
    names = stateweave_graph.__all__
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    for name in names:
        value = getattr(stateweave_graph, name)
        if isinstance(value, type) or inspect.isfunction(value):
            assert value.__doc__, name


def test_the_map_of_the_house_is_whole():
    map_text = (PACKAGE.parent / "ARCHITECTURE.md").read_text("utf-8")
    rooms = {name_of(path).split(".")[0] for path in MODULES}
    named = set(re.findall(r"`(\w+)`", map_text))
    assert rooms - named == {"", "__init__", "__main__", "version"} & rooms
    for rules in re.findall(r"^\| [^|]+ \| ([^|]+\.py`) \|$", map_text, re.MULTILINE):
        for file in re.findall(r"`([^`]+)`", rules):
            assert (PACKAGE / file).is_file(), file


def test_every_module_says_what_it_is_for():
    for path in MODULES:
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path


def test_no_merge_left_its_marks():
    root = PACKAGE.parent
    texts = [
        *root.glob("*.*"),
        *(
            path
            for folder in ("docs", "benchmarks", "tests", "cypher")
            for path in (root / folder).rglob("*.*")
        ),
    ]
    for path in [*texts, *MODULES]:
        if path.suffix in (".md", ".py", ".toml", ".yml", ".cypher", ".sql"):
            assert not re.search(r"^(<{7}|>{7}) ", path.read_text("utf-8"), re.MULTILINE), path
