"""The page about several systems, section by section."""
