# Random values as Python's json module writes them, each text followed by a zero byte.
import json, random, struct, sys

rng = random.Random(7)
CHARACTERS = ['"', "\\", "/", "\b", "\f", "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "<", ">", "&", "'", "a", " ", "é", "\u2028", "\u2029", "\ufeff", "\uffff", "日", "😀", "\U0010ffff"]
FIXED = [0, -0.0, 0.0, 1, -1, 64.0, 1e-7, 1e-5, 0.0001, 1e16, 9999999999999998.0, 1e21, 1e22, 1.5e300, 5e-324, 1.7976931348623157e308, 2**63, 10**40, -(10**63), 0.1, 1 / 3, 123456.789e3]


def number():
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(FIXED)
    if kind == 1:
        return rng.randrange(-(10 ** rng.randrange(1, 30)), 10 ** rng.randrange(1, 30))
    if kind == 2:
        return round(rng.uniform(-1000, 1000), rng.randrange(6))
    if kind == 3:
        return rng.randrange(1, 1000) * 10.0 ** rng.randrange(-20, 25)
    value = struct.unpack("<d", rng.randbytes(8))[0]
    return value if value - value == 0 else 2.5


def text():
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(6)))


def value(depth):
    kind = rng.randrange(8 if depth else 6)
    if kind < 3:
        return number()
    if kind < 5:
        return text()
    if kind == 5:
        return rng.choice([None, True, False])
    if kind == 6:
        return [value(depth - 1) for _ in range(rng.randrange(4))]
    return {text() + str(at): value(depth - 1) for at in range(rng.randrange(4))}


for _ in range(300):
    it = value(3)
    ascii = rng.random() < 0.5
    for style in [{}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"indent": 0}]:
        sys.stdout.buffer.write(json.dumps(it, ensure_ascii=ascii, **style).encode() + b"\0")
for _ in range(400):
    sys.stdout.buffer.write(json.dumps(number()).encode() + b"\0")
