"""The shipped signatures, ready to be looked for."""

from collections.abc import Iterable

from triage.ingest.logs.loading import load_signatures
from triage.ingest.logs.signatures import Patterns, Signature, SignatureBook

SHIPPED = load_signatures()
SIGNATURES = SHIPPED.lines


def book_of(signatures: Iterable[Signature]) -> SignatureBook:
    """A book of signatures whose patterns nothing else shares."""
    patterns = Patterns(SHIPPED.lexicon)
    book = SignatureBook(signatures, patterns)
    patterns.compile()
    return book


BOOK = book_of(SIGNATURES)
