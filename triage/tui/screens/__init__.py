"""One screen a module. A screen shows a look and posts messages; the app answers them."""
