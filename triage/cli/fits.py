"""``triage fits``: whether a model fits some cards for so many requests, and how fast it can be at best."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_format_flag, examples
from triage.errors import ExitCode, InputMissingError, UsageError

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.engine.physics.accelerators import Accelerator
    from triage.engine.physics.shape import ModelShape
    from triage.engine.physics.sizing import Load

_COUNT = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([kKmM]?)", re.ASCII)
_TIMES = {"": 1, "k": 1024, "m": 1024**2}


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "fits",
        help="whether a model fits some cards for so many requests, and how fast it can be at best",
        description="Works out from a model's config.json and a card's data sheet whether the model fits, how many requests the "
        "KV cache holds, the floors of TTFT and ITL, and what binds; with the arithmetic. Nothing is run and nothing is asked. "
        "It ends with 0 if all requests run at once, and with 1 if not.",
        epilog=examples(
            "triage fits ./Llama-3.1-70B --gpu A100-80GB --tp 4 --context 32k --concurrency 40",
            "triage fits Qwen3-32B --gpu H200 --context 8k --concurrency 64 --dtype fp8 --kv-dtype fp8",
            "triage fits config.json --gpu 'NVIDIA H100 80GB HBM3' --context 4096 --concurrency 1 --format json",
        ),
    )
    parser.add_argument(
        "model", metavar="MODEL", help="a config.json of Hugging Face, a folder that holds one, or the name of a well-known model"
    )
    parser.add_argument("--gpu", metavar="NAME", required=True, help="the card, as nvidia-smi -L or people call it (A100-80GB)")
    parser.add_argument(
        "--context", metavar="TOKENS", required=True, help="tokens of one request, prompt and answer (32k are 32768)"
    )
    parser.add_argument("--concurrency", metavar="N", required=True, help="requests at once")
    parser.add_argument("--tp", metavar="N", default="1", help="cards that share one copy of the model (1)")
    parser.add_argument("--dtype", metavar="NAME", help="of the weights: bfloat16, fp8, awq, nvfp4 … (the config's)")
    parser.add_argument("--kv-dtype", metavar="NAME", default="", help="of the KV cache: bfloat16, fp8 … (that of the model)")
    parser.add_argument("--memory-share", metavar="SHARE", default="0.9", help="share of the card that the engine may use (0.9)")
    add_format_flag(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Work it out and show it."""
    from triage.cli.fitstext import as_document, as_text
    from triage.cli.jsontext import answered
    from triage.engine.physics.sizing import sized

    shape, cards, load = shape_of(args.model, args.dtype), cards_of(args.gpu), _load(args)
    sizing = sized(shape, cards[0], load)
    if sizing is None:
        raise UsageError(f"too little is known of {args.model} on {cards[0].name}: {_unknown(shape, cards[0])}", _TELL)
    if args.format == "json":
        answered("fits", as_document(args.model, shape, cards, sizing))
    else:
        sys.stdout.write(as_text(args.model, shape, cards, sizing))
    return ExitCode.HEALTHY if sizing.holds else ExitCode.DEGRADED


_TELL = "give the config.json that its maker publishes, and say --dtype where it does not tell"


def _load(args: argparse.Namespace) -> "Load":
    """What is to be served, as the flags say.

    :raises UsageError: one of them is no such number, or no dtype
    """
    from triage.engine.physics.precision import bytes_of
    from triage.engine.physics.sizing import Load

    if args.kv_dtype not in ("", "auto") and bytes_of(args.kv_dtype) is None:
        raise UsageError(f"--kv-dtype {args.kv_dtype!r} is not known", "write bfloat16, float16, fp8, int8 or auto")
    return Load(
        context=count("--context", args.context),
        concurrency=count("--concurrency", args.concurrency),
        cards=count("--tp", args.tp),
        cache_dtype=args.kv_dtype,
        share=_share(args.memory_share),
    )


def count(flag: str, text: str) -> int:
    """A number of things: ``40``, ``32k`` (1024 each), ``1m``.

    :raises UsageError: it is none, or nothing
    """
    found = _COUNT.fullmatch(text.strip())
    value = float(found[1]) * _TIMES[found[2].lower()] if found else 0.0
    if value < 1 or value != int(value):
        raise UsageError(f"{flag} {text!r} is not a whole number above 0", "write 40, 4096 or 32k (32768)")
    return int(value)


def _share(text: str) -> float:
    """A share above 0, at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise UsageError(f"--memory-share {text!r} is not a share", "write a number above 0 and at most 1: 0.9")
    return value


def shape_of(model: str, dtype: str | None) -> "ModelShape":
    """The shape of a model by its file, folder or name, with the dtype that was asked for.

    :raises TriageError: it is not known, its file is wrong, or there is no such dtype
    """
    shape = _named(model)
    if dtype is None:
        return shape
    from dataclasses import replace

    from triage.engine.physics.precision import bytes_of, quantised_bits

    plain, bits = bytes_of(dtype), quantised_bits(dtype)
    if bits is not None:
        return replace(shape, quantisation=dtype, bits=bits, experts_only=False)
    if plain is None:
        raise UsageError(f"--dtype {dtype!r} is not known", "write bfloat16, float16, fp8, int8, awq, mxfp4 or nvfp4")
    return replace(shape, dtype=dtype, quantisation="", bits=None, experts_only=False)


def _named(model: str) -> "ModelShape":
    """The shape in a file or folder, or of a well-known model."""
    from triage.engine.physics.families import TABLE, family
    from triage.engine.physics.huggingface import read_model_config

    path = Path(model)
    file = path / "config.json" if path.is_dir() else path
    if path.exists():
        try:
            return read_model_config(file.read_bytes())
        except OSError as error:
            raise InputMissingError(f"{file} cannot be read: {error.strerror or error}", "name a config.json") from error
    known = family(model)
    if known is None:
        names = ", ".join(one.source.rpartition("/")[2] for one in TABLE)
        raise UsageError(
            f"there is no file {model}, and no well-known model of that name", f"give its config.json, or one of {names}"
        )
    return known


def cards_of(name: str) -> "tuple[Accelerator, ...]":
    """The cards that a name may mean, the fastest first: they differ in speed, never in memory.

    :raises UsageError: there is none, or its memory is left open
    """
    from triage.engine.physics.accelerators import TABLE, meant

    found = sorted(meant(name), key=lambda card: -card.bandwidth)
    if not found:
        raise UsageError(f"no card is called {name!r}", f"known cards: {', '.join(card.name for card in TABLE)}")
    if len({card.memory for card in found}) > 1:
        raise UsageError(f"{name!r} may be any of {', '.join(card.name for card in found)}", "say which, as nvidia-smi -L does")
    return tuple(found)


def _unknown(shape: "ModelShape", card: "Accelerator") -> str:
    """What is missing, in words."""
    from triage.engine.physics.memory import kv_bytes_per_token, weight_bytes
    from triage.engine.physics.roofline import peak_flops
    from triage.engine.physics.sizing import arithmetic_bits

    if weight_bytes(shape) is None:
        return f"the size of its weights ({shape.quantisation or shape.dtype or 'no dtype'})"
    if kv_bytes_per_token(shape) is None:
        return "what a token takes in its KV cache"
    if peak_flops(card, arithmetic_bits(shape)) is None:
        return "nobody publishes the card's dense arithmetic"
    return "its widths"
