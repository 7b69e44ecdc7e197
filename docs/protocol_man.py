#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes man/ykd-protocol.7 (mdoc) from docs/protocol.md, so that there is one text: docs/protocol_man.py > man/ykd-protocol.7

It knows the Markdown that docs/protocol.md uses and nothing more: headings, paragraphs, lists, tables, blocks of code,
`code`, **bold** and *emphasis*. tests/system/protocol_man.sh checks that the page is current.
"""
import pathlib
import re
import textwrap

HEAD = """.\\" Made by docs/protocol_man.py from docs/protocol.md: change that.
.Dd November 20, 2026
.Dt YKD-PROTOCOL 7
.Os
.Sh NAME
.Nm ykd-protocol
.Nd messages and framing between ykd and its clients
.Sh DESCRIPTION
"""
TAIL = """.Sh SEE ALSO
.Xr ykctl 1 ,
.Xr ykd 8
"""


def inline(text):
    """Text with its fonts, one sentence to a line as mdoc wants it."""
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)", text)
    out = ""
    for part in parts:
        plain = part.strip("`*") if part[:1] in "`*" and len(part) > 2 else part
        plain = plain.replace("\\", "\\e").replace("→", "\\(->").replace("-", "\\-" if part[:1] == "`" else "-")
        if part.startswith("**") or part.startswith("`"):
            out += "\\fB" + plain + "\\fR"
        elif part.startswith("*") and len(part) > 2:
            out += "\\fI" + plain + "\\fR"
        else:
            out += plain
    return re.sub(r"(?<=[A-Za-z0-9)\]}][.?:]) (?=[A-Z\\])", "\n", out)


def safe(text):
    """Short lines, none of which begins like a request."""
    lines = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)
    return "".join("\\&" + line + "\n" if line[:1] in ".'" else line + "\n" for line in lines)


def paragraph(lines):
    return safe(inline(" ".join(line.strip() for line in lines)))


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def table(rows):
    """One tagged paragraph per row: the first column is the tag; the last one, without its heading, is the text."""
    heads, body = cells(rows[0]), [cells(row) for row in rows[2:]]
    out = ".Bl -tag -width 4n\n"
    for row in body:
        if len(row) == 2 or row[0].isdigit():
            tag = row[0] if len(row) == 2 else " ".join(row[:2])
            text = [row[1]] if len(row) == 2 else [row[2]] if len(row) == 3 else []
            text = text or [f"{head}: {cell}." for head, cell in zip(heads[2:], row[2:]) if cell]
        elif len(row) == 3:
            tag, text = " ".join(row[:2]).strip(), [row[2]]
        else:  # the kinds of requests
            tag = f"{row[0]} ({row[2]}{', M' if row[1] else ''})"
            text = [f"{head}: {cell}." for head, cell in zip(heads[3:], row[3:]) if cell]
        name, _, rest = tag.partition(" ")
        out += ".It \\fB" + inline(name) + "\\fR" + (" " + inline(rest) if rest else "") + "\n"
        out += safe(inline(" ".join(text))) if any(text) else ""
    return out + ".El\n"


def items(lines, pattern):
    """The items of a list, each with its continuation lines."""
    found = []
    for line in lines:
        if re.match(pattern, line):
            found.append([re.sub(pattern, "", line)])
        else:
            found[-1].append(line)
    return found


def block(lines, after_heading):
    first = lines[0]
    if first.startswith("### "):
        return f".Ss {first[4:]}\n"
    if first.startswith("## "):
        return f".Sh {first[3:].upper()}\n"
    if first.startswith("```"):
        return ".Bd -literal -offset indent\n" + "\n".join(lines[1:-1]) + "\n.Ed\n"
    if first.startswith("|"):
        return table(lines)
    for pattern, kind in ((r"- ", "bullet"), (r"\d+\. ", "enum")):
        if re.match(pattern, first):
            return f".Bl -{kind}\n" + "".join(".It\n" + paragraph(item) for item in items(lines, pattern)) + ".El\n"
    return ("" if after_heading else ".Pp\n") + paragraph(lines)


def blocks(text):
    """Runs of lines between empty ones; a block of code is one run."""
    current, in_code = [], False
    for line in text.splitlines() + [""]:
        in_code ^= line.startswith("```")
        if line or in_code:
            current.append(line)
        elif current:
            yield current
            current = []


def main():
    text = (pathlib.Path(__file__).parent / "protocol.md").read_text(encoding="utf-8")
    out, after_heading = HEAD, True
    for lines in blocks(text):
        if lines[0].startswith("# "):
            continue
        out += block(lines, after_heading)
        after_heading = lines[0].startswith("#")
    print(out + TAIL, end="")


if __name__ == "__main__":
    main()
