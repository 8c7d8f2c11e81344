"""The parser of the language's grammar. Its LALR tables are computed once and kept.

Building them takes Lark about 0.3 s and loading them about 0.01 s, so they lie beside the grammar, made by
`python -m vgraph.compiler.frontend.tables`. For another version of Lark, whose tables may differ, they are built when
first needed and kept in the cache. Tables are pickled objects, and whoever can write a pickle can have code run: those
in the cache are signed as code is, and those beside the grammar are part of the package.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgraph.cache import cached_object
from vgraph.garbage import uncollected

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.indenter import Indenter

GRAMMAR = Path(__file__).parent / "operator.lark"
TABLES = GRAMMAR.with_suffix(".tables")
_DIGEST = 32


_lock = threading.Lock()


@functools.cache
def parser() -> Lark:
    """The parser, with its tables from where they are to be had soonest."""
    digest = _key()
    tables = _read(TABLES, digest)
    if tables is None:
        parts = ("tables of the grammar", digest.hex())
        tables, _ = cached_object(parts, build, {"what": "tables of the grammar"})
    return _load(tables)


def parse(text: str) -> Tree[Token]:
    """The tree of a function; its first line may be indented, as long as the others are so, too. Raises LarkError."""
    margin = text[: len(text) - len(text.lstrip())]
    with _lock:  # the indenter keeps its state between tokens
        lark = parser()
        indenter: Any = lark.options.postlex
        indenter.margin = margin.count(" ") + margin.count("\t") * indenter.tab_len
        return lark.parse(f"{text.rstrip()}\n{margin}")


def build() -> bytes:
    """Compute the tables from the grammar."""
    import io

    from lark import Lark

    lark = Lark(
        GRAMMAR.read_text("utf-8"),
        parser="lalr",
        lexer="basic",
        postlex=_indenter(),
        propagate_positions=True,
    )
    out = io.BytesIO()
    lark.save(out, exclude_options=("postlex",))
    return out.getvalue()


def _load(tables: bytes) -> Lark:
    from lark import Lark

    with uncollected():
        return Lark.__new__(Lark)._load(pickle.loads(tables), postlex=_indenter())


def _indenter() -> Indenter:
    from lark.indenter import PythonIndenter

    class IndentedText(PythonIndenter):
        """Python's indentation for a function that may itself be indented in its file."""

        margin = 0

        def process(self, stream: Iterator[Token]) -> Iterator[Token]:
            self.paren_level = 0
            self.indent_level = [self.margin]
            return self._to_end(stream)

        def _to_end(self, stream: Iterator[Token]) -> Iterator[Token]:
            from lark import Token

            token = None
            for token in stream:
                if token.type == self.NL_type:
                    yield from self.handle_NL(token)
                else:
                    yield token
                if token.type in self.OPEN_PAREN_types:
                    self.paren_level += 1
                elif token.type in self.CLOSE_PAREN_types:
                    self.paren_level -= 1
            assert token is not None
            for _ in self.indent_level[1:]:
                yield Token.new_borrow_pos(self.DEDENT_type, "", token)

    return IndentedText()


def _key() -> bytes:
    import lark

    return hashlib.sha256(lark.__version__.encode() + b"\n" + GRAMMAR.read_bytes()).digest()


def _read(path: Path, digest: bytes) -> bytes | None:
    """The tables in a file if they are those of this grammar and this Lark."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if content[:_DIGEST] != digest:
        return None
    try:
        return zlib.decompress(content[_DIGEST:])
    except zlib.error:
        return None


def main() -> None:
    """Write the tables beside the grammar."""
    TABLES.write_bytes(_key() + zlib.compress(build(), 9))


if __name__ == "__main__":
    main()
