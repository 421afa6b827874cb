"""Machinery: files that go in. ``records``: the fields of each kind of record. ``jsonl``: how a file of records is
read.
``other_shapes``: files of a different shape, and what to do with them. ``sources``: what is known about a file.
``pairing``: how two files are matched. Nothing is coerced, and nothing is dropped in silence."""
