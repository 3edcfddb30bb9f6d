"""What needs no service: canonical texts, hashes, receipts, caps and terms. Expected values are those of the standards."""

import base64
import json
import struct
import unittest

from assay.canonical import CanonicalError, canonical_text
from assay.crypto import _keccak256, recover_address
from assay.errors import AssayError
from assay.payment import Budget, minor_of, read_terms, usdc_of
from assay.receipts import verify_link, verify_receipt

# The published receipt of the specification, made with the private key 1 (/.well-known/xdr-1.json, test_vector).
RECEIPT = {
    "v": "XDR-1",
    "tool": "iban-check",
    "tool_version": "1.0.0",
    "input_hash": "0xab7d4ba329e033c4e5d6255c2d728a3ac138727087128fd58edb6c78e177e512",
    "output_hash": "0xd4cd4cf3f762fb5b81b557c9042692be4465ea3ddf84d93c1402b6a12f4ac413",
    "payer": "0x" + "11" * 20,
    "recipient": "0x" + "22" * 20,
    "amount": "5000",
    "nonce": "0x" + "33" * 32,
    "ts": 1790000000,
    "tier": "paid",
    "signer": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
    "signature": "0xf6230ca7fd1f7020073d785cc2397e7ac1b9aec3610fc20081b0bf3f7b09edd27a57dde70efa8c3cf8d572165c62c8c3ac04d550e7db947024dd840faba65ab61b",
}
DIGEST = "0x198802f02d72ad4ba1e4432d3c94178090781739c3d0cdeece5dfef24120a46e"


class Canonical(unittest.TestCase):
    def test_numbers_of_rfc_8785_appendix_b(self):
        cases = {
            "0000000000000000": "0",
            "8000000000000000": "0",
            "0000000000000001": "5e-324",
            "8000000000000001": "-5e-324",
            "7fefffffffffffff": "1.7976931348623157e+308",
            "ffefffffffffffff": "-1.7976931348623157e+308",
            "4340000000000000": "9007199254740992",
            "c340000000000000": "-9007199254740992",
            "4430000000000000": "295147905179352830000",
            "44b52d02c7e14af5": "9.999999999999997e+22",
            "44b52d02c7e14af6": "1e+23",
            "44b52d02c7e14af7": "1.0000000000000001e+23",
            "444b1ae4d6e2ef4e": "999999999999999700000",
            "444b1ae4d6e2ef4f": "999999999999999900000",
            "444b1ae4d6e2ef50": "1e+21",
            "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
            "3eb0c6f7a0b5ed8d": "0.000001",
            "41b3de4355555553": "333333333.3333332",
            "41b3de4355555557": "333333333.33333343",
            "becbf647612f3696": "-0.0000033333333333333333",
            "43143ff3c1cb0959": "1424953923781206.2",
        }
        for bits, text in cases.items():
            self.assertEqual(canonical_text(struct.unpack(">d", bytes.fromhex(bits))[0]), text, bits)

    def test_order_and_texts_of_rfc_8785(self):
        # Section 3.2.3: members by their UTF-16 code units; section 3.2.2.2: texts.
        value = json.loads('{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}')
        self.assertEqual(list(json.loads(canonical_text(value)).values()), [2, 4, 6, 7, 1, 5, 3])
        self.assertEqual(canonical_text("\u20ac$\u000f\nA'B\"\\\\\"/"), '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"')

    def test_what_is_not_json_is_refused(self):
        for value in (float("nan"), float("inf"), "\ud800", {1: 2}, {"a": object()}, b"x"):
            with self.assertRaises(CanonicalError):
                canonical_text(value)


class Crypto(unittest.TestCase):
    def test_known_answers_of_keccak_256(self):
        self.assertEqual(_keccak256(b"").hex(), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
        self.assertEqual(_keccak256(b"abc").hex(), "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45")
        # Longer than one block, and exactly one block.
        for length in (135, 136, 137, 272):
            self.assertEqual(len(_keccak256(b"a" * length)), 32)

    def test_the_high_s_and_wrong_lengths_are_no_signatures(self):
        digest, signature = bytes.fromhex(DIGEST[2:]), bytes.fromhex(RECEIPT["signature"][2:])
        self.assertEqual(recover_address(digest, signature), RECEIPT["signer"])
        order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
        high = (order - int.from_bytes(signature[32:64], "big")).to_bytes(32, "big")
        self.assertIsNone(recover_address(digest, signature[:32] + high + bytes([28])))
        self.assertIsNone(recover_address(digest, signature[:64]))
        self.assertIsNone(recover_address(digest, bytes(65)))


class Receipts(unittest.TestCase):
    def test_the_published_receipt_verifies_and_no_changed_one_does(self):
        self.assertEqual(verify_receipt(RECEIPT), (DIGEST, RECEIPT["signer"]))
        for name in RECEIPT:
            changed = dict(RECEIPT)
            changed[name] = 1 if name == "ts" else str(RECEIPT[name]).replace("1", "2", 1) if "1" in str(RECEIPT[name]) else "x"
            self.assertIsNone(verify_receipt(changed)[1], name)
            del changed[name]
            self.assertIsNone(verify_receipt(changed)[1], name)
        for nothing in (None, [], {}, {**RECEIPT, "tool": "a|b"}, {**RECEIPT, "ts": True}):
            self.assertIsNone(verify_receipt(nothing)[1])

    def test_a_link_needs_its_signature(self):
        link = {"prev_receipt_hash": "0x" + "44" * 32, "link_digest": "0x8e0544a37535f1ba7dab476e3185b1450a9393d0511d7d103efd2d9cc2124ffd"}
        self.assertFalse(verify_link(link, DIGEST, RECEIPT["signer"]))
        self.assertFalse(verify_link({**link, "link_signature": RECEIPT["signature"]}, DIGEST, RECEIPT["signer"]))


class Money(unittest.TestCase):
    def test_amounts_and_caps(self):
        self.assertEqual([minor_of(text, "x") for text in ("0.05", "1", "0.000001")], [50000, 1000000, 1])
        self.assertEqual([usdc_of(minor) for minor in (50000, 1000000, 1)], ["0.05", "1", "0.000001"])
        for text in ("1.0000001", "01", "-1", "1e3", "", None, 1):
            self.assertRaises(AssayError, minor_of, text, "x")
        budget = Budget("0.05", "0.08")
        budget.take(50000, None)
        for minor, own, code in ((30001, None, "ABOVE_SESSION_CAP"), (50001, None, "ABOVE_CALL_CAP"), (2, 1, "ABOVE_CALL_CAP")):
            with self.assertRaises(AssayError) as caught:
                budget.take(minor, own)
            self.assertEqual(caught.exception.code, code)
        budget.give_back(50000)
        self.assertEqual(budget.spending()["left_usdc"], "0.08")

    def test_terms_that_are_not_for_this_call_are_refused(self):
        facts = {"chain_id": 84532, "pay_to": "0x" + "22" * 20}
        entry = {
            "scheme": "exact",
            "network": "eip155:84532",
            "amount": "5000",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo": "0x" + "22" * 20,
            "maxTimeoutSeconds": 60,
            "extra": {"name": "USDC", "version": "2"},
        }
        required = {"x402Version": 2, "resource": {"url": "https://x.example/v1/tools/iban-check/call"}, "accepts": [entry]}

        def read(change=None, **more):
            terms = {**required, **more, "accepts": [{**entry, **(change or {})}]}
            return read_terms(base64.b64encode(json.dumps(terms).encode()), "iban-check", facts, "0x" + "11" * 20)

        self.assertEqual(read()[1], entry)
        lies = [
            {"scheme": "upto"},
            {"network": "eip155:1"},
            {"asset": "0x" + "33" * 20},
            {"payTo": "0x" + "44" * 20},
            {"amount": "0"},
            {"amount": 5000},
            {"maxTimeoutSeconds": 3601},
            {"maxTimeoutSeconds": True},
            {"extra": {"name": "USD Coin", "version": "2"}},
            {"extra": {"name": "USDC", "version": "2", "paymentFlow": "permit2"}},
        ]
        for change in lies:
            with self.assertRaises(AssayError, msg=str(change)) as caught:
                read(change)
            self.assertEqual(caught.exception.code, "TERMS_REFUSED")
        self.assertRaises(AssayError, read, None, resource={"url": "https://x.example/v1/tools/lei-check/call"})
        self.assertRaises(AssayError, read, None, x402Version=1)
        self.assertRaises(AssayError, read_terms, None, "iban-check", facts, "0x" + "11" * 20)


if __name__ == "__main__":
    unittest.main()
