"""XDR-1 receipts: their digest, their signature, the published keys, and the checks of an answer."""

import re

from .canonical import CanonicalError, value_hash
from .crypto import keccak256, recover_address

SIGNED_FIELDS = ["v", "tool", "tool_version", "input_hash", "output_hash", "payer", "recipient", "amount", "nonce", "ts", "tier"]
FIELD_CHARS_MAX = 1024
ZERO_ADDRESS = "0x" + "0" * 40
# Chain of an address that was pinned without one.
ANY_CHAIN = 0


def digest_of(receipt):
    """32 bytes: keccak-256 of the signed text. None for a receipt whose fields cannot be part of it."""
    if not isinstance(receipt, dict):
        return None
    values = []
    for name in SIGNED_FIELDS:
        value = receipt.get(name)
        if name == "ts":
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**53:
                return None
            values.append(str(value))
        elif _is_field(value):
            values.append(value)
        else:
            return None
    successor, stream_state = receipt.get("successor"), receipt.get("stream_state")
    if not all(tail is None or _is_field(tail) for tail in (successor, stream_state)) or values[0] != "XDR-1":
        return None
    if successor or stream_state:
        values += [successor or "", stream_state or "active"]
    return keccak256("|".join(values).encode("utf-8"))


def _is_field(value):
    return isinstance(value, str) and len(value) <= FIELD_CHARS_MAX and "|" not in value and not re.search("[\ud800-\udfff]", value)


def verify_receipt(receipt):
    """(digest, signer) as 0x-prefixed texts if the declared signer signed exactly this receipt, else (digest or None, None)."""
    digest = digest_of(receipt)
    if digest is None:
        return None, None
    signer, declared = recover_address(digest, _bytes(receipt.get("signature"))), receipt.get("signer")
    good = signer is not None and isinstance(declared, str) and declared.lower() == signer
    return "0x" + digest.hex(), signer if good else None


def _bytes(text):
    return bytes.fromhex(text[2:]) if isinstance(text, str) and re.fullmatch("0x(?:[0-9a-fA-F]{2})*", text) else b""


def verify_link(link, receipt_hash, signer):
    """Whether the signer of the receipt has linked it to `link["prev_receipt_hash"]`."""
    if not isinstance(link, dict) or not all(isinstance(link.get(name), str) for name in ("prev_receipt_hash", "link_digest")):
        return False
    digest = keccak256(("XDR-1-LINK|%s|%s" % (receipt_hash, link["prev_receipt_hash"])).encode("utf-8"))
    return link["link_digest"] == "0x" + digest.hex() and recover_address(digest, _bytes(link.get("link_signature"))) == signer


def read_keys(document):
    """Published keys, an array or a document with `keys`; None if it is not such a list."""
    rows = document.get("keys") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        return None
    keys = [_read_key(row) for row in rows]
    return None if None in keys else keys


def _read_key(row):
    if not isinstance(row, dict) or not isinstance(row.get("address"), str) or not re.fullmatch("0x[0-9a-fA-F]{40}", row["address"]):
        return None
    times = [row.get("not_before"), row.get("not_after"), row.get("revoked_at")]
    if row.get("status") not in ("active", "retired", "revoked") or not isinstance(times[0], int) or not isinstance(row.get("chain_id"), int):
        return None
    if not all(time is None or isinstance(time, int) for time in times):
        return None
    return {**row, "address": row["address"].lower()}


def is_good_at(keys, signer, ts):
    """Whether the signer is on the list and its key was valid at the time of the receipt. Any revocation counts for all its periods."""
    lives = [key for key in keys if key["address"] == signer]
    revoked = any((life["status"] == "revoked" or life.get("revoked_at") is not None) and ts >= (life.get("revoked_at") or 0) for life in lives)
    return not revoked and any(life["not_before"] <= ts and (life.get("not_after") is None or ts <= life["not_after"]) for life in lives)


def checks_of(body, tool, input_hash, previous, payment, keys):
    """Names of the properties of an answer, each with True or False: signature, key, tool, input, result, payment, settlement, link."""
    receipt = body.get("receipt") if isinstance(body.get("receipt"), dict) else {}
    digest, signer = verify_receipt(receipt)
    listed = signer is not None and is_good_at(keys, signer, receipt["ts"])
    chains = [key["chain_id"] for key in keys if key["address"] == signer]
    here = payment is None or any(chain in (ANY_CHAIN, payment["chain_id"]) for chain in chains)
    if payment is None:
        wanted = {"tier": "free", "payer": ZERO_ADDRESS, "amount": "0"}
    else:
        wanted = {"tier": "paid", "payer": payment["payer"], "amount": payment["amount_minor"], "nonce": payment["nonce"], "recipient": payment["pay_to"]}
    link = body.get("chain")
    if previous is None:
        linked = link is None
    else:
        linked = isinstance(link, dict) and link.get("prev_receipt_hash") == previous and signer is not None and verify_link(link, digest, signer)
    return {
        "signature": signer is not None,
        "key": listed and here,
        "tool": receipt.get("tool") == tool,
        "input": receipt.get("input_hash") == input_hash,
        "result": _covers(receipt, body.get("result")),
        "payment": body.get("tier") == wanted["tier"] and all(receipt.get(name) == value for name, value in wanted.items()),
        "settlement": _settles(body.get("settlement"), payment),
        "link": linked,
    }


def _covers(receipt, result):
    try:
        return receipt.get("output_hash") == value_hash(result)
    except CanonicalError:
        return False


def _settles(settlement, payment):
    if payment is None:
        return settlement is None
    return (
        isinstance(settlement, dict)
        and settlement.get("network") == "eip155:%d" % payment["chain_id"]
        and settlement.get("payer") == payment["payer"]
        and settlement.get("amount_minor") == payment["amount_minor"]
        and re.fullmatch("0x[0-9a-f]{64}", str(settlement.get("transaction"))) is not None
    )
