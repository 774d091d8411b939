"""A traceback as one statement: what was raised, what was raised first, and where in the program's own code."""

from itertools import pairwise

from triage.ingest.logs.joining import Raised, Trace
from triage.ingest.logs.redaction import redacted_bytes
from triage.patterns import Pattern

_FRAME = Pattern(rb"File \"([^\"]+)\", line (\d+), in ([\w<>.]+)")
_INDENTED = Pattern(rb"(?:^|[^ ]) {4,}[^ ]|\t")
"""A line of a program's text stands further in than the line of its frame, behind whatever a logger writes before it."""
_LIBRARY = Pattern(
    rb"/lib/python\d|<frozen|^<"
    rb"|^(?:site|dist)-packages/(?:torch|triton|numpy|asyncio|uvicorn|uvloop|starlette|fastapi|anyio|concurrent|multiprocessing|zmq|grpc|ray|click|typer"
    rb"|huggingface_hub|transformers|requests|urllib3|aiohttp|httpx|httpcore|openai|pydantic\w*|safetensors|tokenizers|redis|prisma|sqlalchemy"
    rb"|pynvml|jinja2|xgrammar|outlines|botocore|boto3)/"
)
_OWN = 60


def fields_of(trace: Trace) -> dict[str, str]:
    """``exception``, ``message``, ``where`` (``file:function``, the innermost frame of the program's own code), ``first_raised``.

    The name is that of the last exception which is not merely a word about another; ``first_raised`` is what the first
    traceback of a chain ended in, if that is another one.
    """
    cause = trace.cause
    if cause is None:
        return {}
    fields = {"exception": _short(cause.name), "message": redacted_bytes(cause.message, 200), "where": where(trace, cause)}
    telling = next((one for one in trace.raised if not one.is_wrapper), cause)
    if telling is not cause:
        fields["first_raised"] = redacted_bytes(telling.name + b": " + telling.message, 200)
    return {key: value for key, value in fields.items() if value}


def lines_of_code(trace: Trace) -> frozenset[bytes]:
    """The lines of a traceback that show the program's text: it says what is called, not what went wrong."""
    below = (line for above, line in pairwise(trace.lines) if _FRAME.search(above) and not _FRAME.search(line))
    return frozenset(line for line in below if _INDENTED.search(line) is not None)


def _short(name: bytes) -> str:
    """The class without its module."""
    return redacted_bytes(name, 80).rpartition(".")[2]


def _within(path: bytes) -> bytes:
    """The path from its folder of installed packages on, if it lies in one: the interpreter's own path does not matter, then."""
    at = max(path.rfind(b"site-packages/"), path.rfind(b"dist-packages/"))
    return path[at:] if at >= 0 else path


def where(trace: Trace, cause: Raised) -> str:
    """The innermost frame in the program's own code above the cause, as ``folder/file:function``; empty if none was printed."""
    own = innermost = b""
    for line in trace.lines:
        frame = _FRAME.search(line)
        if frame is not None:
            path, _, function = frame.groups()
            innermost = b"/".join(path.rsplit(b"/", 2)[-2:]) + b":" + function
            if not _LIBRARY.search(_within(path)):
                own = innermost
        elif own and line.rstrip().endswith(cause.message.strip() or b"\0") and cause.name in line:
            break
    return redacted_bytes(own or innermost or (cause.frames[-1] if cause.frames else b""), _OWN)
