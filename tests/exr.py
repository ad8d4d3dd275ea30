"""Reads OpenEXR images as pelt writes them: one part, scan lines, not compressed."""
import array
import struct


def _text(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def _attributes(data):
    at, found = 8, {}
    while data[at]:
        name, at = _text(data, at)
        kind, at = _text(data, at)
        size, = struct.unpack_from("<i", data, at)
        found[name] = (kind, data[at + 4:at + 4 + size])
        at += 4 + size
    return found, at + 1


def read(path):
    """Width, height and an array of each channel, rows from the top."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == bytes((0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0))
    attributes, offsets = _attributes(data)
    assert attributes["compression"] == ("compression", b"\0")
    assert attributes["lineOrder"] == ("lineOrder", b"\0")
    left, top, right, bottom = struct.unpack("<4i", attributes["dataWindow"][1])
    assert (left, top) == (0, 0) and attributes["displayWindow"] == attributes["dataWindow"]
    width, height = right + 1, bottom + 1

    listed, at, channels = attributes["channels"][1], 0, {}
    while listed[at]:
        name, at = _text(listed, at)
        kind, _, x_sampling, y_sampling = struct.unpack_from("<4i", listed, at)
        assert (x_sampling, y_sampling) == (1, 1)
        channels[name] = array.array({0: "I", 2: "f"}[kind])
        at += 16
    assert list(channels) == sorted(channels)

    end = offsets + 8 * height
    for y in range(height):
        at, = struct.unpack_from("<Q", data, offsets + 8 * y)
        assert at == end and struct.unpack_from("<2i", data, at) == (y, 4 * width * len(channels))
        at += 8
        for values in channels.values():
            values.frombytes(data[at:at + 4 * width])
            at += 4 * width
        end = at
    assert end == len(data)
    return width, height, channels
