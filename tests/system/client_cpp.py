# SPDX-License-Identifier: Apache-2.0
"""The C++ client as somebody else uses it: installed, found by find_package(ykd), its example built outside of the tree and run."""
from daemon_support import *

import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ["YK_BIN"]).resolve().parent


def run(*command, **named):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300, **named)
    check(ran.returncode == 0, command, ran.stdout[-3000:], ran.stderr[-3000:])
    return ran


def build_example(folder):
    run("cmake", "--install", BUILD, "--prefix", folder / "installed", "--component", "client")
    example = folder / "example"
    example.mkdir()
    for name in ("CMakeLists.txt", "main.cpp"):
        (example / name).write_text((ROOT / "tests/examples/minimal_rm" / name).read_text())
    run("cmake", "-S", example, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}")
    run("cmake", "--build", folder / "build")
    commands = (folder / "build/CMakeFiles/minimal_rm.dir/flags.make").read_text()
    check(str(ROOT) not in commands, commands)  # nothing is taken from the tree
    return folder / "build/minimal_rm"


def test_the_example_is_a_whole_resource_manager():
    with tempfile.TemporaryDirectory() as folder, Daemon() as daemon:
        program = build_example(pathlib.Path(folder))
        ran = run(program, "ipc://" + daemon.path)
        lines = ran.stdout.splitlines()
        check(sum(" placed on node-" in line for line in lines) == 10 and lines[-1] == "left" and ran.stderr == "", ran)
        gone = subprocess.run([program, "ipc:///nowhere/ykd.sock"], capture_output=True, text=True, check=False)
        check(gone.returncode == 1 and "/nowhere/ykd.sock" in gone.stderr, gone)


main(globals())
