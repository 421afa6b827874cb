"""What a shard leaves where somebody else may interfere: a folder that was taken away is not made again.

An example: Ctrl-C removes the hidden folder of a worker that is still at it. Its next batch of rows is an error then,
and not a new folder with half a shard in it.
"""

from pathlib import Path

import pytest
from clusters import names, shard
from conftest import Lab

from course.artifacts.records import BEGUN, RESULTS, SHARDS, Begun, Details, Result
from course.artifacts.writing import RunWriter
from course.errors import UserError
from course.shards import growing_run, measure_shard, remove_hidden, shard_names

BEGUN_HERE = Begun(["a"], None, None, None, None)
ROW = Result("q1", "Question 1?", 7, "Final: 7", 1.0, Details("ok", "7"))


def test_a_worker_whose_folder_was_removed_ends_and_makes_no_other(tmp_path: Path) -> None:
    (tmp_path / SHARDS).mkdir()
    with RunWriter(tmp_path / SHARDS / ".a") as run:
        run.append(RESULTS, ROW)
        assert len(names(tmp_path / SHARDS)) == 1
        remove_hidden(tmp_path)
        with pytest.raises(FileNotFoundError):
            run.append(RESULTS, ROW)
    assert names(tmp_path / SHARDS) == []


def test_a_worker_without_the_shared_folder_writes_nothing(lab: Lab) -> None:
    shard(lab, "a", [True])
    with pytest.raises(UserError, match="nowhere: expected a folder that all machines share"):
        measure_shard(Path("nowhere"), Path("in"), "a", BEGUN_HERE)
    assert names(Path()) == ["in"]


def test_a_shard_has_no_name_until_the_command_gives_it_one(lab: Lab) -> None:
    shard(lab, "a", [True])
    with growing_run(Path("run.partial"), BEGUN_HERE) as (grown, begun):
        found = measure_shard(Path("run.partial"), Path("in"), "a", begun)
        assert found.place
        assert [name[0] for name in names(Path("run.partial") / SHARDS)] == ["."]
        grown.add(found)
        Path("run.partial/shards/.0123456789abcdef.partial").mkdir()  # of a worker that was killed
    assert names(Path("run.partial")) == [BEGUN, SHARDS]
    assert names(Path("run.partial/shards")) == ["a"]


def test_where_nothing_was_finished_nothing_stays(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), growing_run(tmp_path / "run.partial", BEGUN_HERE):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_shards_come_in_the_order_of_their_names(lab: Lab) -> None:
    for name in ("b", "a-b", "a", "part-10", "part-9"):
        shard(lab, name, [True])
    assert shard_names(lab.folder / "in") == ["a", "a-b", "b", "part-10", "part-9"]
