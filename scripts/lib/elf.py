"""Edits where a program or library looks for the libraries that it needs."""
import struct

SECTION_HEADERS = "<16x24xQ10xHH"  # in the file's header: their offset, the size of one, how many
SECTION = "<4xI16xQQI"  # type, offset, size, link
DYNAMIC_SECTION = 6
ENTRY = "<QQ"  # of the dynamic section: tag, value
RUN_PATH = 29


def set_run_path(path, folders):
    """Replaces the run path of a 64-bit little-endian ELF file; without folders there is none.

    The new text lies where the old one was, so it must not be longer.
    """
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        if data[:6] != b"\x7fELF\2\1":
            raise ValueError(f"{path} is no 64-bit little-endian ELF file")
        start, size, count = struct.unpack_from(SECTION_HEADERS, data)
        sections = [struct.unpack_from(SECTION, data, start + size * i) for i in range(count)]
        _, offset, length, link = next(one for one in sections if one[0] == DYNAMIC_SECTION)
        texts = sections[link][1]
        kept = []
        for tag, value in struct.iter_unpack(ENTRY, bytes(data[offset:offset + length])):
            if tag != RUN_PATH:
                kept.append((tag, value))
                continue
            old = data[texts + value:data.index(0, texts + value)]
            new = folders.encode()
            if len(new) > len(old):
                raise ValueError(f"{path} has no room for a run path of {len(new)} bytes")
            data[texts + value:texts + value + len(old)] = new.ljust(len(old), b"\0")
            if new:
                kept.append((tag, value))
        # Zeros end the section.
        entries = b"".join(struct.pack(ENTRY, *entry) for entry in kept)
        data[offset:offset + length] = entries.ljust(length, b"\0")
        file.seek(0)
        file.write(data)
