"""Wraps the paragraphs of Markdown at 100 columns.

Only paragraphs and items of lists with a longer line change. Tables, code, headings, HTML and link
definitions stay as they are.
"""
import re
import sys

WIDTH = 100
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)")
# Words that would mean something else at the start of a line.
MARKS = re.compile(r"^([-*+]|#+|\d+[.)]|>.*|\|.*|=+|~~~.*|```.*)$")


def is_verbatim(line):
    return not line.strip() or re.match(r"\s*(\||#|<|>|\[[^\]]+\]: |```|~~~|---+\s*$|===+\s*$)", line)


def split(text):
    """The words of a paragraph; code between back quotes is one word."""
    return re.findall(r"(?:`[^`]+`|[^\s`]|`(?![^`]+`))+", text)


def wrapped(words, first, rest):
    """The words in lines of at most WIDTH columns, behind the prefixes of the first and the other lines."""
    lines, line = [], first + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) <= WIDTH or MARKS.match(word):
            line += " " + word
        else:
            lines.append(line)
            line = rest + word
    return lines + [line]


def block_end(lines, start):
    """The end of the paragraph or item that begins at `start`."""
    end = start + 1
    while end < len(lines) and not is_verbatim(lines[end]) and not ITEM.match(lines[end]):
        end += 1
    return end


def reflow(text):
    lines, result, at = text.split("\n"), [], 0
    fence = None
    while at < len(lines):
        line = lines[at]
        mark = re.match(r"\s*(```|~~~)", line)
        if fence or mark:
            if mark and (fence is None or fence == mark.group(1)):
                fence = None if fence else mark.group(1)
            result.append(line)
            at += 1
            continue
        is_code = line.startswith("    ") and not ITEM.match(
            line) and (not result or not result[-1].strip())
        if is_verbatim(line) or is_code:
            result.append(line)
            at += 1
            continue
        end = block_end(lines, at)
        block = lines[at:end]
        at = end
        # Two spaces at the end of a line break it there.
        if all(len(part) <= WIDTH for part in block) or any(part.endswith("  ") for part in block):
            result += block
            continue
        item = ITEM.match(block[0])
        first = item.group() if item else re.match(r"\s*", block[0]).group()
        rest = " " * len(first) if item else first
        text = " ".join([block[0][len(first):], *(part.strip() for part in block[1:])])
        result += wrapped(split(text), first, rest)
    return "\n".join(result)


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        changed = reflow(text)
        if changed != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(changed)


if __name__ == "__main__":
    main()
