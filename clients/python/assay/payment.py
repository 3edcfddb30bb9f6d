"""Terms of a 402, caps, and the one transfer that is signed for a call (x402 version 2, EIP-3009)."""

import base64
import json
import re
import secrets
import threading
from urllib.parse import urlsplit

from .errors import AssayError
from .receipts import ZERO_ADDRESS

# USDC by chain: what may be signed for, whatever terms say. Addresses as Circle publishes them.
TOKENS = {
    8453: ("USD Coin", "2", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    84532: ("USDC", "2", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
}
TRANSFER = {
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ]
}
DECIMALS = 6
TIMEOUT_S_MAX = 3600
ENTRIES_MAX = 32


def minor_of(usdc, name):
    """"0.05" becomes 50000. Raises BAD_OPTIONS for another form."""
    parts = re.fullmatch(r"(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?", usdc) if isinstance(usdc, str) else None
    if parts is None:
        raise AssayError("BAD_OPTIONS", '%s must be USDC as decimal text, such as "0.05".' % name)
    return int(parts[1] + (parts[2] or "").ljust(DECIMALS, "0"))


def usdc_of(minor):
    whole, fraction = divmod(minor, 10**DECIMALS)
    decimals = ("%06d" % fraction).rstrip("0")
    return str(whole) + ("." + decimals if decimals else "")


class Budget:
    """Spending caps. An amount is reserved before signing and returned only if the signer fails, so that threads cannot exceed the session cap."""

    def __init__(self, per_call_usdc, session_usdc):
        self.call_minor = minor_of(per_call_usdc, "per_call_usdc")
        self.session_minor = minor_of(session_usdc, "session_usdc")
        self.signed_minor = 0
        self._lock = threading.Lock()

    def take(self, minor, own_cap_minor):
        cap = self.call_minor if own_cap_minor is None else min(self.call_minor, own_cap_minor)
        with self._lock:
            left = self.session_minor - self.signed_minor
            if minor > cap:
                detail = "The call costs %s USDC, and one call may cost %s. Nothing was signed." % (usdc_of(minor), usdc_of(cap))
                raise AssayError("ABOVE_CALL_CAP", detail)
            if minor > left:
                detail = "The call costs %s USDC, and %s are left to this session. Nothing was signed." % (usdc_of(minor), usdc_of(left))
                raise AssayError("ABOVE_SESSION_CAP", detail)
            self.signed_minor += minor

    def give_back(self, minor):
        with self._lock:
            self.signed_minor -= minor

    def spending(self):
        left = self.session_minor - self.signed_minor
        amounts = {"per_call": self.call_minor, "session": self.session_minor, "signed": self.signed_minor, "left": left}
        return {name + "_usdc": usdc_of(minor) for name, minor in amounts.items()}


def read_terms(header, tool, facts, payer):
    """(required, entry) of PAYMENT-REQUIRED that may be signed. Raises TERMS_REFUSED with the reason for the first entry."""
    try:
        required = json.loads(base64.b64decode(header or "", validate=True))
    except ValueError:
        required = None
    if not isinstance(required, dict) or required.get("x402Version") != 2:
        raise _refused("the answer carries no terms of x402 version 2")
    resource, accepts = required.get("resource"), required.get("accepts")
    url = urlsplit(resource.get("url")) if isinstance(resource, dict) and isinstance(resource.get("url"), str) else None
    if url is None or not url.path.endswith("/v1/tools/%s/call" % tool) or url.query != "":
        raise _refused("they are for another call")
    if not isinstance(accepts, list) or not 0 < len(accepts) <= ENTRIES_MAX:
        raise _refused("they offer nothing")
    reasons = []
    for entry in accepts:
        reason = _objection(entry, facts, payer)
        if reason is None:
            return required, entry
        reasons.append(reason)
    raise _refused(reasons[0])


def _objection(entry, facts, payer):
    """Why an entry is not signed; None if it may be."""
    chain_id, pay_to = facts["chain_id"], facts["pay_to"]
    if chain_id not in TOKENS:
        return "no USDC is known on the chain %s, which the service names" % chain_id
    name, version, token = TOKENS[chain_id]
    if not isinstance(entry, dict) or entry.get("scheme") != "exact":
        return "their scheme is not exact"
    extra = entry.get("extra") if isinstance(entry.get("extra"), dict) else {}
    timeout = entry.get("maxTimeoutSeconds")
    if entry.get("network") != "eip155:%d" % chain_id:
        return "they are not for the chain eip155:%d" % chain_id
    if str(entry.get("asset")).lower() != token.lower():
        return "their asset is not the USDC of this chain"
    if extra.get("name") != name or extra.get("version") != version:
        return "they name another signing domain"
    if extra.get("paymentFlow", "authorization") != "authorization":
        return "they ask for another way of paying"
    if not isinstance(entry.get("amount"), str) or not re.fullmatch("[1-9][0-9]{0,30}", entry["amount"]):
        return "their amount is none"
    if str(entry.get("payTo")).lower() != pay_to:
        return "their recipient is not the one of this service"
    if pay_to in (payer, ZERO_ADDRESS):
        return "their recipient is the payer or the zero address"
    if isinstance(timeout, bool) or not isinstance(timeout, int) or not 1 <= timeout <= TIMEOUT_S_MAX:
        return "their time for settling is out of bounds"
    return None


def _refused(why):
    return AssayError("TERMS_REFUSED", "The terms of payment were refused: %s. Nothing was signed." % why, status=402)


def sign_payment(account, required, entry, facts, purpose, now_s):
    """One transfer of the exact amount with a random nonce, as plain JSON that can be stored and resumed.

    The payment-identifier id is a secret that is not written to the chain: with it the same request can fetch the answer from another
    network. Raises SIGNING_FAILED if the account does not sign.
    """
    name, version, token = TOKENS[facts["chain_id"]]
    nonce, valid_before = secrets.token_bytes(32), now_s + entry["maxTimeoutSeconds"]
    domain = {"name": name, "version": version, "chainId": facts["chain_id"], "verifyingContract": token}
    message = {"from": account.address, "to": facts["pay_to"], "value": int(entry["amount"]), "validAfter": 0, "validBefore": valid_before}
    try:
        signature = bytes(account.sign_typed_data(domain, TRANSFER, {**message, "nonce": nonce}).signature)
    except Exception as cause:
        raise AssayError("SIGNING_FAILED", "The account did not sign the payment. Nothing was sent.") from cause
    authorization = {**{key: str(value) for key, value in message.items()}, "nonce": "0x" + nonce.hex()}
    extensions = {"payment-identifier": {"info": {"required": False, "id": secrets.token_hex(16)}}}
    payload = {"signature": "0x" + signature.hex(), "authorization": authorization}
    header = {"x402Version": 2, "resource": required["resource"], "accepted": entry, "payload": payload, "extensions": extensions}
    return {
        "v": 1,
        **purpose,
        "payer": account.address.lower(),
        "pay_to": facts["pay_to"],
        "nonce": "0x" + nonce.hex(),
        "amount_minor": entry["amount"],
        "chain_id": facts["chain_id"],
        "asset": token,
        "valid_before_s": valid_before,
        "header": base64.b64encode(json.dumps(header, separators=(",", ":")).encode("utf-8")).decode("ascii"),
    }
