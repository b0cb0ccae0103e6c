"""Writes golden.bin: blocks, and a digest of what Arm's astcenc decodes each to.

    pip install astc-encoder-py numpy; python golden.py

A record is the profile (0 linear, 1 sRGB, 2 high range), the footprint's width and height, the block's 16 bytes, and the FNV-1a
digest (64 bits, little-endian) of the texels row by row: red to alpha, two bytes each, half floats or sRGB codes. Where
astcenc has NaN for an invalid block, magenta stands. Alpha beside sRGB counts as 0: this version of astcenc widens it as the
specification did before 1.4.0 (astc-encoder, issue 547), which can change its last bit.
"""

import random

import astc_encoder as astc
import numpy

SIZES = [(4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8)]
SIZES += [(10, 5), (10, 6), (10, 8), (10, 10), (12, 10), (12, 12)]
PROFILES = [astc.ASTCProfile.LDR, astc.ASTCProfile.LDR_SRGB, astc.ASTCProfile.HDR]
MAGENTA = [[0x3C00, 0, 0x3C00, 0x3C00], [255, 0, 255, 0], [0x3C00, 0, 0x3C00, 0x3C00]]
BLOCKS = 64


def constant(rng):
    """A void-extent block, most of them valid."""
    extent = [0x1FFF] * 4 if rng.random() < 0.5 else [rng.randrange(0x2000) for _ in range(4)]
    if rng.random() < 0.8 and extent != [0x1FFF] * 4:
        extent = sorted(extent[:2]) + sorted(extent[2:])
    word = 0x1FC | rng.randrange(2) << 9 | (3 if rng.random() < 0.9 else rng.randrange(4)) << 10
    for index, value in enumerate(extent):
        word |= value << (12 + 13 * index)
    for index in range(4):
        # Finite half floats.
        word |= min(rng.randrange(0x8000), 0x7BFF) << (64 + 16 * index)
    return word.to_bytes(16, "little")


def decoded_as(components, dtype, profile, size, blocks):
    context = astc.ASTCContext(astc.ASTCConfig(PROFILES[profile], size[0], size[1]))
    image = astc.ASTCImage(components, size[0] * len(blocks), size[1])
    out = context.decompress(b"".join(blocks), image, astc.ASTCSwizzle.from_str("RGBA"))
    array = numpy.frombuffer(out.data if out is not None else image.data, dtype=dtype)
    return array.reshape(size[1], len(blocks), size[0], 4).transpose(1, 0, 2, 3).astype(numpy.uint16)


def decode(profile, size, blocks):
    """Texels of each block as an array of 16-bit components."""
    halves = decoded_as(astc.ASTCType.F16, numpy.uint16, profile, size, blocks)
    invalid = ((halves & 0x7FFF) > 0x7C00).all(axis=3, keepdims=True)
    texels = halves
    if profile == 1:
        texels = decoded_as(astc.ASTCType.U8, numpy.uint8, profile, size, blocks)
        texels[..., 3] = 0
    magenta = numpy.array(MAGENTA[profile], dtype=numpy.uint16)
    return numpy.where(invalid, magenta, texels).astype(numpy.uint16)


def digest(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    rng = random.Random(1)
    with open("golden.bin", "wb") as file:
        for profile in range(3):
            for size in SIZES:
                blocks = [rng.randbytes(16) for _ in range(1500)]
                texels = decode(profile, size, blocks)
                valid = [bool((block != MAGENTA[profile]).any()) for block in texels]
                good = [block for block, is_valid in zip(blocks, valid) if is_valid][: BLOCKS - 12]
                bad = [block for block, is_valid in zip(blocks, valid) if not is_valid][:6]
                chosen = good + bad + [constant(rng) for _ in range(6)]
                for block, texels in zip(chosen, decode(profile, size, chosen)):
                    file.write(bytes([profile, *size]) + block)
                    file.write(digest(texels.astype("<u2").tobytes()).to_bytes(8, "little"))


main()
