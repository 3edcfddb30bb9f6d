"""keccak-256 and the recovery of a signer on secp256k1, in pure Python. Verification only: nothing here handles a secret."""

ROUNDS = 24
LANES = 25
RATE_BYTES = 136
MASK = (1 << 64) - 1
ROTATIONS = (0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14)


def _round_constants():
    """Constants of the step iota (FIPS 202, section 3.2.5), from the linear feedback shift register."""
    constants, register = [], 1
    for _ in range(ROUNDS):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


CONSTANTS = _round_constants()


def _rotated(lane, count):
    return ((lane << count) | (lane >> (64 - count))) & MASK


def _permute(lanes):
    for constant in CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        mixed = [columns[(x + 4) % 5] ^ _rotated(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = [0] * LANES
        for place in range(LANES):
            x, y = place % 5, place // 5
            moved[y + 5 * ((2 * x + 3 * y) % 5)] = _rotated(lanes[place] ^ mixed[x], ROTATIONS[place])
        lanes = [
            moved[place] ^ (~moved[place - place % 5 + (place + 1) % 5] & moved[place - place % 5 + (place + 2) % 5] & MASK)
            for place in range(LANES)
        ]
        lanes[0] ^= constant
    return lanes


def _keccak256(data):
    """keccak-256 with the padding of the submission (0x01), as Ethereum uses it; not SHA3-256."""
    padded = bytearray(data) + bytearray(RATE_BYTES - len(data) % RATE_BYTES)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * LANES
    for start in range(0, len(padded), RATE_BYTES):
        for place in range(RATE_BYTES // 8):
            lanes[place] ^= int.from_bytes(padded[start + 8 * place : start + 8 * place + 8], "little")
        lanes = _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


try:
    # Brought by eth-account, and faster for large results.
    from eth_utils import keccak as _fast_keccak

    def keccak256(data):
        return _fast_keccak(data)

except ImportError:
    keccak256 = _keccak256

# secp256k1 (SEC 2, section 2.4.1).
P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798, 0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def _doubled(point):
    x, y, z = point
    if y == 0 or z == 0:
        return (0, 1, 0)
    s = 4 * x * y * y % P
    m = 3 * x * x % P
    x3 = (m * m - 2 * s) % P
    return (x3, (m * (s - x3) - 8 * y**4) % P, 2 * y * z % P)


def _added(one, other):
    """Sum of two points in Jacobian coordinates; z = 0 is the point at infinity."""
    x1, y1, z1 = one
    x2, y2, z2 = other
    if z1 == 0:
        return other
    if z2 == 0:
        return one
    u1, u2 = x1 * z2 * z2 % P, x2 * z1 * z1 % P
    s1, s2 = y1 * z2**3 % P, y2 * z1**3 % P
    if u1 == u2:
        return _doubled(one) if s1 == s2 else (0, 1, 0)
    h, r = (u2 - u1) % P, (s2 - s1) % P
    x3 = (r * r - h**3 - 2 * u1 * h * h) % P
    return (x3, (r * (u1 * h * h - x3) - s1 * h**3) % P, h * z1 * z2 % P)


def _times(point, factor):
    total, power = (0, 1, 0), (point[0], point[1], 1)
    while factor:
        if factor & 1:
            total = _added(total, power)
        power = _doubled(power)
        factor >>= 1
    return total


def recover_address(digest, signature):
    """Lower-case address of the key that signed the 32-byte digest; None for a signature that no key made, or with the high s.

    `signature` is 65 bytes r, s, v with v 27 or 28 (or 0 or 1).
    """
    if len(signature) != 65 or len(digest) != 32:
        return None
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    odd = v - 27 if v >= 27 else v
    # Anyone can turn a signature with the low s into one with the high s: only the low one counts.
    if odd not in (0, 1) or not 0 < r < N or not 0 < s <= N // 2:
        return None
    square = (pow(r, 3, P) + 7) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        return None
    if y % 2 != odd:
        y = P - y
    inverse = pow(r, -1, N)
    z = int.from_bytes(digest, "big")
    x, y, depth = _added(_times(G, -z * inverse % N), _times((r, y), s * inverse % N))
    if depth == 0:
        return None
    scale = pow(depth, -1, P)
    public = (x * scale * scale % P).to_bytes(32, "big") + (y * pow(scale, 3, P) % P).to_bytes(32, "big")
    return "0x" + keccak256(public)[12:].hex()
