"""Screens that stay mounted when the walk leaves them, for the next place of the same kind."""

from collections import defaultdict

from triage.tui.screens.walk import WalkScreen


class Kept:
    """Mounted screens that nobody looks at, by their kinds."""

    def __init__(self) -> None:
        self._free: defaultdict[type[WalkScreen], list[WalkScreen]] = defaultdict(list)
        self._known: set[type[WalkScreen]] = set()

    def know(self, screen: WalkScreen) -> None:
        """It will be given back."""
        self._known.add(type(screen))

    def has(self, like: WalkScreen) -> bool:
        """Whether there is one of the same kind, on the screen or not."""
        return type(like) in self._known

    def take(self, like: WalkScreen) -> WalkScreen | None:
        """One of the same kind that is whole, the one that was left last; None if there is none."""
        return next((self._taken(one) for one in reversed(self._free[type(like)]) if one.is_whole), None)

    def give(self, screen: WalkScreen) -> None:
        """It is not on the screen any more."""
        self._free[type(screen)].append(screen)

    def _taken(self, screen: WalkScreen) -> WalkScreen:
        self._free[type(screen)].remove(screen)
        return screen
