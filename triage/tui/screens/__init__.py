"""One screen a module. A screen shows a snapshot and posts messages; the app answers them."""
