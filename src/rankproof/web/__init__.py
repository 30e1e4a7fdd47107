"""The app in a browser: the content of a folder, page by page, from the same results as the command line."""
