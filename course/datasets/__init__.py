"""Machinery: files that go in. What a record is (``records``), how a file of them is read (``jsonl``), what else people
bring (``shapes``), what is known of a file (``sources``), how two are matched (``pairing``). Nothing is coerced,
nothing is dropped in silence."""
