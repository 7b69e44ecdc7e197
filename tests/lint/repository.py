# SPDX-License-Identifier: Apache-2.0
"""What several lints ask of the repository: its files, the code in them, and how a list of exceptions was before."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREES = ("libcore", "protocol", "ykd", "ykctl", "tests")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                     r"(?<!\w)'(?:\\.|[^'\\\n])+'", re.S)


def code_of(path):
    """The text of a source without comments, strings and characters, its lines where they were."""
    return NO_CODE.sub(lambda noise: "\n" * noise.group().count("\n"), path.read_text())


def comments_of(path):
    """(line number, text) of each line of the comments of a source."""
    text = path.read_text()
    for noise in NO_CODE.finditer(text):
        if noise.group().startswith("/"):
            yield from enumerate(noise.group().splitlines(), text.count("\n", 0, noise.start()) + 1)


def git(*words):
    """What git says, or None if it fails."""
    run = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


def tracked():
    """The paths of all files that git knows or would add, if they are there; of all files where there is no git."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = listed.split("\0") if listed else [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")
                                               if path.relative_to(ROOT).parts[0] not in ("build", ".git")]
    return sorted(name for name in names if (ROOT / name).is_file())


def base():
    """The commit to compare with: $YK_LINT_BASE, where HEAD left origin (main without a remote), or the last commit."""
    given = os.environ.get("YK_LINT_BASE")
    if given:
        return given if git("rev-parse", "--verify", f"{given}^{{commit}}") else sys.exit(f"YK_LINT_BASE={given} is no commit")
    left = git("merge-base", "HEAD", "origin/HEAD") or git("merge-base", "HEAD", "main")
    return left.strip() if left and left != git("rev-parse", "HEAD") else "HEAD~1"


def list_before(name):
    """The lines of a list of exceptions at base(), without comments; None if it was not there."""
    if git("rev-parse", "--verify", f"{base()}^{{commit}}") is None:
        print(f"SKIPPED: whether {name} grew; {base()} is not in this clone")
    text = git("show", f"{base()}:{name}")
    return None if text is None else entries(text)


def entries(text):
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
