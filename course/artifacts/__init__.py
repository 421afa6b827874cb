"""A run: what a command leaves behind, so that its number can be checked by somebody who was not there.

``records`` and ``learning``: what stands in a run's files. ``instrument``: which scorer measured, and does it keep the
golden sets. ``policy_file`` and ``drawn``: a trained policy, and completions that it drew. ``goodhart``: where two
rewards part.
``writing`` and ``reading``: the only way in and out; a run is written whole or not at all, and believed only after
its digests and its rewards have been computed again. ``room``: were two runs measured in the same locked room.
``holdout``: how often the holdout was looked at. ``environment``: all that may differ between two equal runs.
"""
