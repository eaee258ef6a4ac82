# SPDX-License-Identifier: Apache-2.0
"""A killed writer's file opens in h5py and pandas without any code of ours."""
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import pandas
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "killed.h5")
    subprocess.run(
        [sys.argv[1], "--gtest_also_run_disabled_tests", "--gtest_filter=*WriteForPython"],
        check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, TANDEM_HDF5_KILLED=path))
    with h5py.File(path, "r", libver="latest", swmr=True) as file:
        group = file["t"]
        n = group.attrs["rows"]
        frame = pandas.DataFrame({k: group[k][:n] for k in group})
        assert n == 1000 and len(frame) == 1000, n
        assert list(frame.columns) == ["i", "x", "s"], frame.columns
        assert (frame.i == range(1000)).all()
        assert (frame.x == frame.i / 2).all()
        assert frame.s[999] == b"s5", frame.s[999]
        assert group["i"].attrs["unit"] == "ps"
        assert file.attrs["format"] == "tandem"
        assert file["config/chip"].asstr()[()] == "clock: 1 GHz\n"
