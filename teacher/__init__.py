"""The teacher's side: keys, solutions, the students' copy, grading, the exam. README.md says how to use it."""

import course  # noqa: F401  (a command of this folder, too, finds the lab's packages)
