"""Colours: a dark and a light theme whose red, amber, green and violet differ in lightness, too."""

from textual.theme import Theme

DARK = Theme(
    name="triage-dark",
    primary="#4ea1d3",
    secondary="#7fa8c9",
    accent="#b99cf0",
    warning="#e3a23c",
    error="#f2675f",
    success="#5dbb8b",
    foreground="#d8dee6",
    background="#0f1318",
    surface="#151b22",
    panel="#1d252e",
    dark=True,
    variables={"footer-key-foreground": "#7cc0ea", "border": "#4ea1d3"},
)
LIGHT = Theme(
    name="triage-light",
    primary="#1c6ea4",
    secondary="#3a6c91",
    accent="#7040a8",
    warning="#8a5a00",
    error="#b3261e",
    success="#1a6e46",
    foreground="#1c232b",
    background="#f8f9fa",
    surface="#f0f2f4",
    panel="#e4e8ec",
    dark=False,
    variables={"footer-key-foreground": "#1c5f8d", "border": "#1c6ea4"},
)
THEMES = {"dark": DARK, "light": LIGHT}
"""By the names of the flag."""
