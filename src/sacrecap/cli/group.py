"""Commands and groups of them: options as their help shows them, under headings, and what a command takes them as."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from sacrecap.errors import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])

HEADINGS = ("Files", "Metrics", "Judge", "Statistics", "Output", "Engine")
"""The headings of options in the help of a command, in their order."""
OTHERS = "Other commands"
"""The section of the help for commands of other packages that declare none."""


class Option(click.Option):
    """An option with a heading of its own in its command's help."""

    def __init__(self, *args: Any, heading: str | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heading = heading


def declared(table: str, **settings: Mapping[str, Any]) -> list[click.Option]:
    """Options as their help shows them, such as `-o, --output FILE  Where to print it.`: names, what stands for the
    value, two blanks, and the help, whose further lines are indented.

    A line such as `Output:` is the heading of those below, where it is not that of the value that the command makes of
    them; `settings` have, by option, what click has to know beside that, and `name`, its parameter, if it is called
    otherwise.
    """
    options: list[click.Option] = []
    heading = None
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(table).strip()):
        if not entry.startswith("-"):
            heading = entry.removesuffix(":")
            continue
        head, _, text = entry.partition("  ")
        *names, last = re.split(r", (?=-)", head)
        flag, _, metavar = last.partition(" ")
        names.append(flag)
        more = dict(settings.get(flag.partition("/")[0].strip("-").replace("-", "_"), {}))
        if "name" in more:
            names.append(more.pop("name"))
        more = {"metavar": metavar or None, "help": " ".join(text.split()), **more}
        options.append(Option(names, heading=heading, **more))
    return options


def takes(table: str, **settings: Mapping[str, Any]) -> Callable[[F], F]:
    """The decorator that gives the options of a table to a command."""
    return taking(*declared(table, **settings))


def taking(*options: click.Option) -> Callable[[F], F]:
    """The decorator that gives these options to a command that is not made yet."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            click.option(*option.opts, cls=lambda *_, option=option, **__: option)(function)  # type: ignore[arg-type]
        return function

    return decorate


class Value(NamedTuple):
    """Options that a command takes as one value, under one heading of the help."""

    name: str
    heading: str
    make: Callable[..., Any]
    """Makes the value of what the options were given, by their names."""
    options: Sequence[click.Option]


class Command(click.Command):
    """A command some of whose options become `values`, and whose help stands under headings.

    `-h` shows the `common` options alone, such as `("--metrics", "--format")`, each with the beginning of its help, and
    `--help-all` the others, too; without any, `-h` shows all in one list. `section` is the section of the help of
    `sacrecap` that has the command, where it is of another package.
    """

    def __init__(
        self, *args: Any, values: Sequence[Value] = (), common: Sequence[str] = (), section: str = OTHERS, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.values = values
        self.common = common
        self.section = section
        self.params += [option for value in values for option in value.options]
        if common:
            self.params.append(_HELP_ALL)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command with its values; the context keeps what was given."""
        parameters = dict(ctx.params)
        for value in self.values:
            names = [option.name for option in value.options if option.name in parameters]
            parameters[value.name] = value.make(**{str(name): parameters.pop(name) for name in names})
        assert self.callback is not None
        return ctx.invoke(self.callback, **parameters)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the command does; its first paragraph where only the common options are shown."""
        if not self.common or ctx.meta.get(_WHOLE):
            super().format_help_text(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(inspect.cleandoc(self.help or "").partition("\n\n")[0])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The common options in their order; of the whole help, then the others by heading."""
        headings = {option.name: value.heading for value in self.values for option in value.options}
        sections: dict[str, dict[str, tuple[str, str]]] = {heading: {} for heading in ("", *HEADINGS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or isinstance(parameter, click.Argument) or parameter is _HELP_ALL:
                continue
            name = max(parameter.opts, key=len)
            if name == "--help" and self.common:
                record = f"{record[0]}, --help-all", "Show these options, or all of them."
            heading = getattr(parameter, "heading", None) or headings.get(parameter.name, "More")
            is_first = not self.common or name in (*self.common, "--help")
            sections.setdefault("" if is_first else heading, {})[name] = record
        first = sections.pop("")
        rows = [first[name] for name in dict.fromkeys((*self.common, *first)) if name in first]
        is_whole = not self.common or ctx.meta.get(_WHOLE)
        if not is_whole:
            # Of each the beginning, up to the first semicolon or sentence, with what it is by default.
            parts = [(names, *text.partition("  [default: ")) for names, text in rows]
            rows = [
                (names, re.split(r"[.;] ", words)[0].removesuffix(".") + "".join(default))
                for names, words, *default in parts
            ]
        with formatter.section("Options"):
            formatter.write_dl(rows)
        if not is_whole:
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help-all shows all options, and says more.")
            return
        for heading, records in sections.items():
            entries: list[tuple[str, str]] = []
            for names, text in records.values():
                # Options with one text, one after the other, stand in one entry.
                before = entries.pop()[0].rpartition(" ")[0] + ", " if entries and entries[-1][1] == text else ""
                entries.append((before + names, text))
            if entries:
                with formatter.section(heading):
                    formatter.write_dl(entries)


_WHOLE = "sacrecap.cli.whole"
"""The key of a context that shows the whole help."""


def _show_all(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        ctx.meta[_WHOLE] = True
        click.echo(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all)


class Group(click.Group):
    """Shows its help if a subcommand is needed but not given, and suggests the nearest name for an unknown one.

    Its help has the options `-h` and `--help`, also where it is run without the command that it belongs to: click keeps
    the names that it had first. The help of its commands shows the defaults of options. `section`: as of a `Command`.
    """

    def __init__(self, *args: Any, section: str = OTHERS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section
        self.context_settings.setdefault("help_option_names", ["-h", "--help"])
        self.context_settings.setdefault("show_default", True)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name)):
            names = self.list_commands(ctx)
            ctx.fail(f"no command {name!r}{did_you_mean(name, names)}; commands: {', '.join(names)}")
        return super().resolve_command(ctx, args)
