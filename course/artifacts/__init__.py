"""Machinery: a run, which is what a command leaves behind so that its number can be checked by somebody else.

``records``, ``learning`` and ``token_rows``: what stands in a run's files. ``summary`` and ``inference``: what follows
from them. ``writing`` and ``reading``: the only way in and out; a run is written whole or not at all, and believed only
after its digests and its rewards have been computed again. ``scorer_identity``: which scorer measured.
``locked_room``: were two runs measured under the same conditions. ``run_log``: which runs there are, and how often a
holdout was looked at. ``rollout_files``: completions of a policy as files for Loops A and B. ``environment``: all that
may differ between two equal runs.
"""
