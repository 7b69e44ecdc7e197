# SPDX-License-Identifier: Apache-2.0
"""Tests of the core, which need no daemon: python3 -m unittest discover -s clients/python/tests -t clients/python."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src"))
