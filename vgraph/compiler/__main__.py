"""`python -m vgraph.compiler`: textual IR in, passes by name, textual IR out.

python -m vgraph.compiler sssp.ir --verify --passes lower-pull,lower-push --print-between-passes
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, Pass, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.verify import verify
from vgraph.errors import VGraphError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; 0 if all went well, 1 for a fault in the program or a pass, 2 for a wrong option."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for file in options.load:
        load(file)
    known = pipeline()
    if options.list:
        print(describe(known))
        return 0
    try:
        passes = chosen(known, options.passes)
    except KeyError as error:
        parser.error(f"no pass is called {error.args[0]}; the passes are {', '.join(p.name for p in known)}")
    name, text = _read(options.file)
    try:
        program = _run(parse_program(text, name), passes, options)
    except VGraphError as error:
        print(error, file=sys.stderr)
        return 1
    print(print_program(program), end="")
    return 0


def pipeline() -> tuple[Pass, ...]:
    """Every pass of the compiler and of the modules loaded, in the order in which they run."""
    from vgraph.compiler import user_passes

    return user_passes.pipeline()


def describe(passes: Sequence[Pass]) -> str:
    """One line per pass: its name and the levels that it joins."""
    width = max((len(p.name) for p in passes), default=0)
    return "\n".join(f"{p.name:{width}}  {p.takes.value} -> {p.gives.value}" for p in passes)


def chosen(known: Sequence[Pass], names: str) -> list[Pass]:
    """The passes named in `a,b,c`; `all` is the whole pipeline. Raises KeyError for an unknown name."""
    if names == "all":
        return list(known)
    by_name = {p.name: p for p in known}
    return [by_name[name.strip()] for name in names.split(",") if name.strip()]


def load(file: str) -> None:
    """Run a user's Python file, which registers its passes."""
    try:
        runpy.run_path(file, run_name=Path(file).stem)
    except OSError as error:
        raise SystemExit(f"{file}: {error.strerror or error}") from None


def _run(program: ir.Program, passes: Sequence[Pass], options: argparse.Namespace) -> ir.Program:
    if options.level is not None or options.verify:
        verify(program, None if options.level is None else ir.Level(options.level))

    def show(step: Pass, result: ir.Program) -> None:
        if options.print_between_passes:
            print(f"# after {step.name}\n{print_program(result)}")

    manager = PassManager(Context(threads=options.threads))
    return manager.run(program, passes, verify=options.verify, on_pass=show)


def _read(file: str) -> tuple[str, str]:
    """The name and the text of the input; `-` is the standard input."""
    if file == "-":
        return "<stdin>", sys.stdin.read()
    try:
        return file, Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{file}: {error}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m vgraph.compiler",
        description="Run passes of the compiler on a program in the text form of the IR.",
    )
    parser.add_argument(
        "file", nargs="?", default="-", help="a file with textual IR; - (the default) is stdin"
    )
    parser.add_argument("--passes", default="", metavar="NAMES", help="passes to run: a,b,c, or all")
    parser.add_argument(
        "--load", action="append", default=[], metavar="FILE.py", help="run a module that registers passes"
    )
    parser.add_argument("--list", action="store_true", help="list the passes in the order of the pipeline")
    levels = [level.value for level in ir.Level]
    parser.add_argument("--level", choices=levels, help="the input must be valid at this level")
    parser.add_argument("--verify", action="store_true", help="verify the input and what each pass gives")
    parser.add_argument("--print-between-passes", action="store_true", help="print the IR after each pass")
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="compile for N threads; 0: any number"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
