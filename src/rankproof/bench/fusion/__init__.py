"""Fusion: several rankings of the same queries become one.

A `Pool` holds what any of them returned, one row a document and one column a ranking. A method is a function from
the columns of a pool to one score a row; a `Recipe` is a method with everything that is set about it.
"""
