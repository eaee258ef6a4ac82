# SPDX-License-Identifier: Apache-2.0
"""Reads a trace with h5py and pandas alone and holds it against itself: read_trace.py MODE FILE."""
import sys

import h5py
import pandas

CAUSES = [
    "compute", "tile_quantisation", "fill_drain", "vector_compute", "hbm_bandwidth", "hbm_overhead", "noc",
    "buffer_stall", "launch", "dependency", "tensor_communication", "pipeline_communication", "data_communication",
    "bubble", "software"]


def table(group):
    """A table up to its committed rows."""
    rows = int(group.attrs["rows"])
    for name, column in group.items():
        assert len(column) >= rows, (group.name, name)
        assert "unit" in column.attrs, (group.name, name)
    return pandas.DataFrame({name: column[:rows] for name, column in group.items()})


def texts(column):
    return [value.decode() if isinstance(value, bytes) else value for value in column]


def names(trace, enumeration):
    rows = table(trace["names"][enumeration])
    return dict(zip(rows["code"], texts(rows["name"])))


def check_attributes(trace, complete):
    for name in ("format", "version", "tandem_version", "command_line", "seed", "created", "detail"):
        assert name in trace.attrs, name
    assert trace.attrs["complete"] == complete
    for name in ("chip", "cluster", "model", "plan", "assumptions"):
        assert len(trace["config"][name][()]) > 0, name
        assert len(trace["config"][name].attrs["hash"]) == 16, name


def check_sums(frame, time):
    for whose in ("simulated", "predicted"):
        parts = sum(frame[f"{whose}_{cause}_ps"] for cause in CAUSES)
        assert (parts == time(whose)).all(), whose


def check_summary(summary):
    operators, slices = table(summary["operators"]), table(summary["slices"])
    layers, stages, iteration = table(summary["layers"]), table(summary["stages"]), table(summary["iteration"])
    assert len(operators) > 20 and len(slices) > 5 and len(layers) == 3 and len(stages) == 2 and len(iteration) == 1
    for frame in (operators, slices, iteration):
        check_sums(frame, lambda whose, frame=frame: frame[f"{whose}_ps"])
    check_sums(layers, lambda whose: layers[f"{whose}_forward_ps"] + layers[f"{whose}_backward_ps"])
    check_sums(stages, lambda whose: iteration[f"{whose}_ps"][0])
    assert (operators["utilisation"] <= 1).all() and (operators["utilisation"] >= 0).all()
    assert 0 < iteration["simulated_mfu"][0] < 1
    links = table(summary["links"])
    assert links["bytes"].sum() > 0 and (links["utilisation"] <= 1).all()
    return operators, stages, iteration


def check_complete(trace):
    operators, stages, iteration = check_summary(trace["summary"])
    end = iteration["simulated_ps"][0]
    units, events = table(trace["units"]), table(trace["events"])
    kinds = names(trace, "event_kind")
    seen = {kinds[code] for code in events["kind"]}
    assert {"forward", "backward", "send", "update"} <= seen, seen
    assert (events["end_ps"] >= events["start_ps"]).all() and events["end_ps"].max() <= end
    assert events["unit"].between(0, len(units) - 1).all()
    assert (units["id"] == range(len(units))).all()
    assert "chip0.tensor_core3" in texts(units["name"])
    forwards = events[events["kind"] == {v: k for k, v in kinds.items()}["forward"]]
    assert len(forwards) == 2 * 4, "stages times microbatches"

    assert len(table(trace["operators"])) == len(operators)
    runs = table(trace["slice_runs"])
    assert runs["slice"].nunique() == len(trace["slices"]), "every slice ran"
    assert runs["start_ps"].max() < end
    for name, group in trace["slices"].items():
        tiles = table(group["events"])
        assert len(tiles) > 0, name
        assert tiles["operator"].max() < len(operators) and len(group.attrs["name"]) > 0

    memory = table(trace["memory"])
    positions = {name: i for i, name in zip(units["id"], texts(units["name"]))}
    for stage, row in stages.iterrows():
        held = memory[memory["unit"] == positions[f"stage{stage}.dp0.cp0"]]
        for category in ("parameters", "gradients", "optimizer", "stash", "workspace"):
            assert held[category].max() == row[f"{category}_bytes"], (stage, category)
        assert held["stash"].iloc[-1] == 0, "all activations are freed"
    for name, group in trace["counters"].items():
        assert len(table(group)) > 0, name


def check_killed(trace):
    events = table(trace["events"])
    assert len(events) >= 196608 // 2, len(events)
    assert (events["start_ps"] == 10 * events["bytes"]).all() and (events["bytes"] == range(len(events))).all()
    assert texts(table(trace["units"])["name"]) == ["chip0"]


def main(mode, path):
    with h5py.File(path, "r", swmr=mode == "killed") as trace:
        check_attributes(trace, complete=1 if mode == "complete" else 0)
        if mode == "complete":
            check_complete(trace)
        elif mode == "killed":
            check_killed(trace)
        else:
            assert len(table(trace["units"])) > 4
            assert len(table(trace["events"])) > 0


if __name__ == "__main__":
    main(*sys.argv[1:])
