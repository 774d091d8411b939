"""What is known while samplers are still at it, shown to who waits."""

import argparse

from triage.cli.effective import Judging
from triage.cli.progress import Screen
from triage.cli.report import diagnosed, speak_in
from triage.collect import SoFar
from triage.model.recording import Recording


def first_word(args: argparse.Namespace, judging: Judging, screen: Screen, whole: float) -> SoFar | None:
    """Judges what was sampled so far as it judges all of it, and shows the answer in short, with the seconds that it rests on.

    None where nobody watches.

    :param whole: seconds that are sampled in all
    """
    can = screen.terminal
    if can is None:
        return None
    from triage.render.text import to_first_word

    speak_in(args.lang)

    def show(recording: Recording, sampled: float) -> None:
        word = to_first_word(diagnosed(recording, judging), sampled, whole, width=can.width, colour=can.colour, utf8=can.utf8)
        screen.say(word)

    return show
