"""Takes out of a log line what must not be kept: escape sequences, control characters, secrets, users' and models' words."""

from triage.patterns import Pattern

MAX_TEXT = 500
"""Longest text that is kept of a line, in characters."""

_MAX_INPUT = 16 * 1024

_ESCAPE = r"(?:\x1b|#033|\\x1b|\\u001b)(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
_ESCAPES = Pattern(_ESCAPE.encode())
_ESCAPES_OF_TEXT = Pattern(_ESCAPE)
_CONTROL = Pattern(r"[\x00-\x1f\x7f-\x9f\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{2069}\x{feff}]+")

_PROMPT = Pattern(
    rb"(?i)(?:received request .*?|receive: obj=|finish: obj=|request (?:body|data|payload).*?)?"
    rb"[\"']?\b(?:prompt(?:_token_ids|_text)?|messages|input_ids|inputs|text)[\"']?\s*[:=]\s*[\"'\[{(]"
)
_PROMPT_WORDS = (
    b"eceived request", b"obj=", b'"messages"', b"'messages'", b'"prompt"', b"'prompt'", b"prompt:", b"prompt_token_ids",
    b"input_ids", b'"inputs"',
)  # fmt: skip

_ANSWER = Pattern(
    rb"(?i)(?:generated (?:response|text|output)|model(?:'s)? (?:output|answer))\b.*?[:=]\s"
    rb"|[\"']role[\"']\s*:\s*[\"'](?:user|assistant|system|tool)\b."
)
_ANSWER_WORDS = (b"enerated ", b"odel output", b"odel answer", b"odel's ", b'"role"', b"'role'")
"""How engines and parsers of tool calls begin to repeat what a model wrote, and the messages of a chat."""

_VALUE = r"(?:\"[^\"]*\"?|'[^']*'?|\[[^\]]*\]?|[^\s\"',;}\[\]&]+)"
"""A value as programs write it: quoted, a list, or a bare word."""

_SECRETS: tuple[tuple[str, str], ...] = (
    (r"(?i)\b((?:set-)?cookie[\"']?\s*[:=])\s*.*", r"\1 [removed]"),
    (
        r"(?i)\b((?:proxy-)?authorization|x-api-key|api-key|x-auth-token)([\"']?\s*[:=]\s*)(?:(?:bearer|basic|token)\s+)?"
        + _VALUE,
        r"\1\2[removed]",
    ),
    (r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/._~=-]{8,}", r"\1 [removed]"),
    (
        r"(?i)([\w-]*(?:api[_-]?key|access[_-]?key|secret|passwd|password|pwd|private[_-]?key|client[_-]?secret"
        r"|(?:access|auth|refresh|session|hf|id)[_-]?token|credentials?))([\"']?\s*[:=]\s*)" + _VALUE,
        r"\1\2[removed]",
    ),
    (r"\b(?:AKIA[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,})|\b(?:sk|pk|rk|nvapi)-[A-Za-z0-9_-]{8,}", "[removed]"),
    (r"\bhf_[A-Za-z0-9]{8,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bxox[abprs]-[A-Za-z0-9-]{8,}", "[removed]"),
    (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", "[removed]"),
    (r"(://[^/\s:@]+):[^@/\s]+@", r"\1:[removed]@"),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", "[removed]"),
)
_SUSPECT = Pattern(
    r"(?i)cookie|authorization|api[_-]?key|auth[_-]?token|bearer|basic|access[_-]?key|secret|passw|pwd|private|[_-]token|credential"
    r"|\b(?:sk|pk|rk|nvapi)-|hf_|gh[pousr]_|xox|AKIA|AIza|eyJ|://[^/\s:@]+:"
)
"""What every secret that is looked for has in common with many other texts: without it, nothing needs to be looked for."""

_SECRET_PATTERNS = tuple((Pattern(pattern), replacement) for pattern, replacement in _SECRETS)


def without_escapes(line: bytes) -> bytes:
    """The line without terminal escape sequences, also where syslog wrote the escape as ``#033``."""
    if b"\x1b" not in line and b"#033" not in line and b"x1b" not in line and b"u001b" not in line:
        return line
    return bytes(_ESCAPES.sub(b"", line))


def without_prompt(line: bytes) -> bytes:
    """The line up to where it repeats what a user asked or a model wrote: neither is kept or read as the program's."""
    for pattern, words in ((_PROMPT, _PROMPT_WORDS), (_ANSWER, _ANSWER_WORDS)):
        found = pattern.search(line) if any(word in line for word in words) else None
        if found is not None:
            line = line[: found.end() - 1] + b"[removed]"
    return line


def redacted(text: str, limit: int = MAX_TEXT) -> str:
    """One line of plain text: no control characters, no secrets, at most ``limit`` characters."""
    text = text[:_MAX_INPUT]
    if _CONTROL.search(text) is not None:
        text = _CONTROL.sub(" ", _ESCAPES_OF_TEXT.sub("", text))
    text = text.strip()
    if _SUSPECT.search(text) is not None:
        for pattern, replacement in _SECRET_PATTERNS:
            text = pattern.sub(replacement, text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def redacted_bytes(line: bytes, limit: int = MAX_TEXT) -> str:
    """As :func:`redacted`, of bytes that may not be UTF-8."""
    return redacted(line.decode("utf-8", "replace"), limit)
