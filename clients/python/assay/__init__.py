"""Client of assay: calls tools, pays within caps, verifies receipts. See README.md."""

from .canonical import CanonicalError, canonical_text, value_hash
from .client import Answer, BriefAnswer, Client
from .errors import AssayError
from .receipts import verify_link, verify_receipt

__all__ = ["Answer", "AssayError", "BriefAnswer", "CanonicalError", "Client", "canonical_text", "value_hash", "verify_link", "verify_receipt"]
