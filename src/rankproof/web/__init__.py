"""The app in a browser: what a folder holds, page by page, from the same results as the command line."""
