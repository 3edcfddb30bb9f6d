"""Calls assay from Python: a free call, a 402, a paid call, and a receipt verified without asking the service.

    pip install requests eth-account
    python3 docs/python-quickstart.py --key-file var/sandbox/payer.key

eth-account brings eth-utils and eth-keys with it. Nothing else is needed, and nothing here is particular to one deployment.
"""

import argparse
import base64
import json
import math
import secrets
import sys
import time
from urllib.parse import urlsplit

import requests

# USDC by chain: what may be signed for, whatever terms say. Addresses as Circle publishes them.
TOKENS = {
    8453: ("USD Coin", "2", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    84532: ("USDC", "2", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
}
SIGNED_FIELDS = ["v", "tool", "tool_version", "input_hash", "output_hash", "payer", "recipient", "amount", "nonce", "ts", "tier"]
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
# Half the order of secp256k1, rounded down.
HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
ZERO_ADDRESS = "0x" + "0" * 40
TRIES = 8


class Refused(Exception):
    """Something does not agree with what was asked; the message says what. Nothing was signed because of it."""


class Unknown(Exception):
    """The end of a payment is not known. Send exactly it again later; do not sign another one."""

    def __init__(self, payment):
        super().__init__("the payment %s of %s may be on its way" % (payment["nonce"], payment["from"]))
        self.payment = payment


def canonical(value):
    """RFC 8785 text of a JSON value. Numbers that Python and JSON write differently are refused, not guessed."""
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > 2**53 - 1:
            raise Refused("a whole number beyond 2^53 has no canonical text: send it as text")
        return str(value)
    if isinstance(value, float):
        return canonical_float(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    if isinstance(value, dict):
        # Members in the order of their UTF-16 code units.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    raise Refused("a value of type %s is not JSON" % type(value).__name__)


def canonical_float(value):
    if not math.isfinite(value):
        raise Refused("a number that is not finite is not JSON")
    if value == int(value):
        return canonical(int(value))
    text = repr(value)
    if "e" in text:
        raise Refused("this number needs a full RFC 8785 library")
    return text


def keccak(text):
    from eth_utils import keccak as keccak_256

    return keccak_256(text.encode("utf-8"))


def value_hash(value):
    return "0x" + keccak(canonical(value)).hex()


def signed_text(receipt):
    """The text that the receipt's signature covers."""
    parts = [str(receipt[name]) for name in SIGNED_FIELDS]
    if receipt.get("successor") or receipt.get("stream_state"):
        parts += [receipt.get("successor") or "", receipt.get("stream_state") or "active"]
    return "|".join(parts)


def recovered_signer(receipt):
    """Lower-case address of the key that signed the receipt; None for a signature that no receipt has."""
    from eth_keys import keys

    raw = bytes.fromhex(receipt["signature"][2:])
    # Anybody can turn a signature with the low s into one with the high s: only the low one counts.
    if len(raw) != 65 or raw[64] not in (27, 28) or int.from_bytes(raw[32:64], "big") > HALF_ORDER:
        return None
    signature = keys.Signature(raw[:64] + bytes([raw[64] - 27]))
    return signature.recover_public_key_from_msg_hash(keccak(signed_text(receipt))).to_address().lower()


def is_good_key(key, ts):
    """Whether the published key may have signed at that time."""
    until = key.get("not_after")
    revoked_at = key.get("revoked_at")
    if (key["status"] == "revoked" or revoked_at is not None) and ts >= (revoked_at or 0):
        return False
    return ts >= key["not_before"] and (until is None or ts <= until)


def faults_of(answer, tool, value, published, payment=None):
    """What is wrong with an answer; empty when its receipt covers exactly this tool, input, result and payment."""
    receipt = answer["receipt"]
    if payment is None:
        paid = {"tier": "free", "payer": ZERO_ADDRESS, "amount": "0"}
    else:
        paid = {
            "tier": "paid",
            "payer": payment["from"].lower(),
            "recipient": payment["to"].lower(),
            "amount": payment["value"],
            "nonce": payment["nonce"],
        }
    wanted = {"tool": tool, "input_hash": value_hash(value), "output_hash": value_hash(answer["result"])}
    wanted.update(paid)
    faults = [name for name, expected in wanted.items() if receipt.get(name) != expected]
    signer = recovered_signer(receipt)
    if signer is None or signer != receipt["signer"]:
        faults.append("signature")
    if not any(key["address"] == signer and is_good_key(key, receipt["ts"]) for key in published["keys"]):
        faults.append("key")
    return faults


def post(url, tool, value, headers=None):
    """One call. The input goes out as its canonical text, so that the hash in the receipt can be held against it."""
    body = '{"input":%s}' % canonical(value)
    all_headers = {"content-type": "application/json", **(headers or {})}
    # A payment follows no redirect.
    return requests.post("%s/v1/tools/%s/call" % (url, tool), data=body.encode("utf-8"), headers=all_headers, timeout=30, allow_redirects=False)


def read_terms(header, tool, published, cap_minor):
    """The entry of PAYMENT-REQUIRED that may be signed. Raises Refused for terms that are not for this call, token, payee or cap."""
    required = json.loads(base64.b64decode(header))
    if not urlsplit(required["resource"]["url"]).path.endswith("/v1/tools/%s/call" % tool):
        raise Refused("the terms are for another call")
    chain_id = published["chain_id"]
    name, version, address = TOKENS[chain_id]
    for entry in required["accepts"]:
        if entry["scheme"] != "exact" or entry["network"] != "eip155:%d" % chain_id:
            continue
        if entry["asset"].lower() != address.lower() or entry["extra"] != {"name": name, "version": version}:
            raise Refused("the terms name another token")
        if entry["payTo"].lower() != published["payment_address"].lower():
            raise Refused("the terms pay somebody else")
        if not entry["amount"].isdecimal() or not 0 < int(entry["amount"]) <= cap_minor:
            raise Refused("the call costs %s minor units, more than the cap" % entry["amount"])
        if not 0 < entry["maxTimeoutSeconds"] <= 3600:
            raise Refused("the terms leave no sensible time for settling")
        return required, entry
    raise Refused("the terms offer no payment on this chain")


def sign(key, required, entry, chain_id, now_s):
    """Signs one EIP-3009 transfer of exactly that amount. Returns what was signed, and the value of PAYMENT-SIGNATURE."""
    from eth_account import Account

    account = Account.from_key(key)
    nonce = secrets.token_bytes(32)
    message = {
        "from": account.address,
        "to": entry["payTo"],
        "value": int(entry["amount"]),
        "validAfter": 0,
        "validBefore": now_s + entry["maxTimeoutSeconds"],
        "nonce": nonce,
    }
    domain = {**entry["extra"], "chainId": chain_id, "verifyingContract": entry["asset"]}
    signed = account.sign_typed_data(domain_data=domain, message_types=TRANSFER, message_data=message)
    texts = {name: str(message[name]) for name in ("value", "validAfter", "validBefore")}
    payment = {"from": account.address, "to": entry["payTo"], **texts, "nonce": "0x" + nonce.hex()}
    payload = {"signature": "0x" + bytes(signed.signature).hex(), "authorization": payment}
    whole = {"x402Version": 2, "resource": required["resource"], "accepted": entry, "payload": payload}
    return payment, base64.b64encode(json.dumps(whole).encode("utf-8")).decode("ascii")


def problem_of(response):
    """The problem that the service tells; None when something else answered."""
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) and "code" in body and "charged" in body else None


def deliver(url, tool, value, payment, header, wait=time.sleep):
    """Sends a signed payment until its end is known: the same bytes each time, so that nothing can be paid twice."""
    for attempt in range(TRIES):
        if attempt > 0:
            wait(min(2 ** (attempt - 2), 8))
        try:
            response = post(url, tool, value, {"payment-signature": header})
        except requests.RequestException:
            continue
        if response.status_code == 200:
            return response.json()
        problem = problem_of(response)
        if problem is None or problem["charged"] == "unknown":
            continue
        if problem["retryable"] and (response.status_code >= 500 or response.status_code in (408, 425, 429)):
            continue
        raise Refused("%s: %s (charged: %s)" % (problem["code"], problem["detail"], problem["charged"]))
    raise Unknown(payment)


def call(url, tool, value, published, key=None, cap_minor=0):
    """The answer, its receipt verified. Uses the free call of the day while there is one, else pays at most `cap_minor`."""
    response = post(url, tool, value)
    payment = None
    if response.status_code == 402 and key is not None:
        required, entry = read_terms(response.headers["payment-required"], tool, published, cap_minor)
        payment, header = sign(key, required, entry, published["chain_id"], int(time.time()))
        answer = deliver(url, tool, value, payment, header)
    elif response.status_code == 200:
        answer = response.json()
    else:
        problem = problem_of(response) or {"code": "BAD_RESPONSE", "detail": "status %d" % response.status_code}
        raise Refused("%s: %s" % (problem["code"], problem["detail"]))
    faults = faults_of(answer, tool, value, published, payment)
    if faults:
        raise Refused("the receipt does not fit: %s" % ", ".join(faults))
    return answer


def main():
    parser = argparse.ArgumentParser(description="Calls iban-check until it has to be paid, then pays once.")
    parser.add_argument("--url", default="http://127.0.0.1:8402")
    parser.add_argument("--key-file", help="file with the payer's private key in hex; without it only free calls are made")
    parser.add_argument("--cap-minor", type=int, default=50_000, help="most that a call may cost, in millionths of a USDC")
    given = parser.parse_args()
    key = open(given.key_file, encoding="ascii").read().strip() if given.key_file else None
    published = requests.get(given.url + "/.well-known/xdr-1.json", timeout=30).json()
    for _ in range(20):
        try:
            answer = call(given.url, "iban-check", {"iban": "GB82 WEST 1234 5698 7654 32"}, published, key, given.cap_minor)
        except Refused as error:
            sys.exit("refused: %s" % error)
        receipt = answer["receipt"]
        digest = keccak(signed_text(receipt)).hex()
        print("%s  valid: %s  amount: %s  receipt 0x%s verified" % (answer["tier"], answer["result"]["valid"], receipt["amount"], digest))
        if answer["tier"] == "paid":
            print("settled in %s on %s" % (answer["settlement"]["transaction"], answer["settlement"]["network"]))
            break


if __name__ == "__main__":
    main()
