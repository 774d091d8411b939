"""What a walk in a browser says and hears besides keys and pictures: where it is, where to go, why it ended."""

from textual.drivers.web_driver import WebDriver

from triage.tui.messages import LinkFollowed


class WalkDriver(WebDriver):
    """Textual's driver for browsers with addresses."""

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Take what the page says."""
        if packet_type == "go":
            self._app.post_message(LinkFollowed(str(payload.get("link", ""))))
        else:
            super().on_meta(packet_type, payload)

    def show_place(self, link: str, title: str) -> None:
        """Let the browser show where the walk is.

        :param link: as :func:`triage.tui.places.link` makes it
        """
        self.write_meta({"type": "at", "link": link, "title": title})

    def say_why_it_ended(self, why: str) -> None:
        """Let the page say what went wrong."""
        self.write_meta({"type": "ended", "why": why})
