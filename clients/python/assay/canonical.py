"""Canonical JSON text, RFC 8785 (June 2020), and its keccak-256."""

import json
import math

from .crypto import keccak256

DEPTH_MAX = 1000
SAFE_INTEGER_MAX = 2**53


class CanonicalError(ValueError):
    """The value cannot be represented in JSON."""


def canonical_text(value, depth=0):
    """RFC 8785 text of a JSON value. An integer beyond 2^53 is written as the double that JSON readers of other languages get."""
    if depth > DEPTH_MAX:
        raise CanonicalError("The value is nested deeper than %d levels." % DEPTH_MAX)
    if value is None or value is True or value is False:
        return json.dumps(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= SAFE_INTEGER_MAX else _number(float(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_text(item, depth + 1) for item in value) + "]"
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise CanonicalError("Names of members must be texts.")
        # Members in the order of their UTF-16 code units (section 3.2.3); the error of a lone surrogate is raised by _string.
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(_string(name) + ":" + canonical_text(value[name], depth + 1) for name in names) + "}"
    raise CanonicalError("A value of type %s has no canonical text." % type(value).__name__)


def _string(text):
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise CanonicalError("A text with a lone surrogate has no canonical text.")
    return json.dumps(text, ensure_ascii=False)


def _number(value):
    """Number::toString of ECMAScript for a finite double: both languages write the shortest digits that give the number back."""
    if not math.isfinite(value):
        raise CanonicalError("A number that is not finite has no canonical text.")
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    all_digits = (whole + fraction).lstrip("0")
    # Place of the decimal point, counted from the first digit that is not zero.
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(all_digits))
    digits = all_digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    head = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return "%s%se%s%d" % (sign, head, "+" if point > 0 else "-", abs(point - 1))


def value_hash(value):
    """0x-prefixed keccak-256 of the canonical text of a value."""
    return text_hash(canonical_text(value))


def text_hash(text):
    return "0x" + keccak256(text.encode("utf-8")).hex()
