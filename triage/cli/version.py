"""``triage --version``: the program's version and the digest of the rule set that it ships."""

import argparse
import sys
from typing import Any


class ShowVersion(argparse.Action):
    """Prints the version and leaves. The digest is worked out only here, so that other commands do not wait for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, default=argparse.SUPPRESS, help="version of the program and digest of its rule set", **options)

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        """Print and end the program."""
        from triage import __version__
        from triage.digest import digest

        sys.stdout.write(f"triage {__version__}, rule set {digest()}\n")
        parser.exit()
