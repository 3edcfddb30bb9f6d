"""Against a running service, through proxies that lose and change answers: started by test/client/python-client.test.ts, which also looks at the chain."""

import dataclasses
import json
import os
import threading
import unittest

from assay import AssayError, Client

SETTINGS = json.loads(os.environ.get("ASSAY_CLIENT_TEST", "null"))
IBAN = {"iban": "GB82 WEST 1234 5698 7654 32"}
CAPS = {"per_call_usdc": "0.05", "session_usdc": "1"}


def instantly(_):
    pass


@unittest.skipIf(SETTINGS is None, "Needs a service: run test/client/python-client.test.ts.")
class Service(unittest.TestCase):
    def client(self, place, payer=None, **options):
        """A client of the service behind one of the proxies; `payer` names a funded key."""
        from eth_account import Account

        wallet = {} if payer is None else {"account": Account.from_key(SETTINGS["keys"][payer]), **CAPS}
        client = Client(SETTINGS["urls"][place], sleep=instantly, **{**wallet, **options})
        self.addCleanup(client.close)
        return client

    def failure(self, call):
        with self.assertRaises(AssayError) as caught:
            call()
        return caught.exception

    def test_a_call_within_the_caps_is_paid_once_and_receipts_are_linked(self):
        client = self.client("plain", "pays")
        first = client.call("iban-check", IBAN)
        self.assertEqual((first.result["valid"], first.tier, set(first.checks.values())), (True, "paid", {True}))
        second = client.call("isbn_check", {"isbn": "978-0-306-40615-7"})
        self.assertEqual(second.chain["prev_receipt_hash"], first.receipt_hash)
        self.assertEqual(client.spending()["signed_usdc"], "0.01")
        self.assertTrue(all(client.verify(first, IBAN).values()))
        self.assertFalse(client.verify(first, {"iban": "x"})["input"])

    def test_a_brief_answer_names_the_hashes_of_the_whole_one(self):
        client = self.client("plain", "briefs", detail="brief")
        brief = client.call("iban-check", IBAN)
        self.assertEqual((brief.body["headline"]["word"], brief.body["price"]["tier"], client.previous_receipt), ("valid", "paid", None))
        whole = client.whole(brief)
        self.assertEqual((whole.receipt_hash, whole.receipt["output_hash"]), (brief.receipt_hash, brief.output_hash))
        self.assertEqual((set(whole.checks.values()), client.previous_receipt), ({True}, whole.receipt_hash))
        second = client.call("iban-check", IBAN, detail="standard")
        self.assertEqual(second.chain["prev_receipt_hash"], whole.receipt_hash)
        other = dataclasses.replace(brief, output_hash="0x" + "ab" * 32)
        self.assertEqual(self.failure(lambda: client.whole(other)).code, "RECEIPT_INVALID")
        self.assertEqual(self.failure(lambda: client.whole(dataclasses.replace(brief, answer_url=None))).code, "NOT_STORED")
        gone = dataclasses.replace(brief, answer_url="/v1/answers/" + "0" * 64)
        self.assertEqual(self.failure(lambda: client.whole(gone)).status, 404)
        self.assertEqual(self.failure(lambda: client.call("iban-check", IBAN, detail="short")).code, "BAD_OPTIONS")
        lied = self.failure(lambda: self.client("cheating", "briefs").call("iban-check", IBAN, detail="brief"))
        self.assertEqual((lied.code, lied.charged, lied.payment["amount_minor"]), ("BAD_RESPONSE", "unknown", "5000"))

    def test_above_the_caps_nothing_is_signed(self):
        dear = self.failure(lambda: self.client("plain", "thrifty", per_call_usdc="0.004999").call("iban-check", IBAN))
        own = self.failure(lambda: self.client("plain", "thrifty").call("iban-check", IBAN, max_usdc="0.001"))
        session = self.failure(lambda: self.client("plain", "thrifty", session_usdc="0.004").call("iban-check", IBAN))
        codes = [error.code for error in (dear, own, session)]
        self.assertEqual(codes, ["ABOVE_CALL_CAP", "ABOVE_CALL_CAP", "ABOVE_SESSION_CAP"])

    def test_threads_never_sign_for_more_than_the_session_may_spend(self):
        client = self.client("plain", "threads", session_usdc="0.012")
        ends = []

        def call():
            try:
                ends.append(client.call("iban-check", IBAN, previous_receipt=None).tier)
            except AssayError as error:
                ends.append(error.code)

        threads = [threading.Thread(target=call) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(ends), ["ABOVE_SESSION_CAP"] * 3 + ["paid"] * 2)

    def test_a_lost_answer_is_fetched_with_the_same_payment(self):
        answer = self.client("losing", "loses").call("iban-check", IBAN)
        self.assertEqual((answer.tier, set(answer.checks.values())), ("paid", {True}))

    def test_when_patience_ends_the_payment_is_resumed_by_a_client_without_account(self):
        error = self.failure(lambda: self.client("lost", "resumes", patience_s=0).call("iban-check", IBAN))
        self.assertEqual((error.code, error.charged, error.retryable), ("NETWORK_ERROR", "unknown", True))
        payment = json.loads(json.dumps(error.payment))
        answer = self.client("plain").resume(payment)
        self.assertEqual(answer.receipt["nonce"], payment["nonce"])
        self.assertEqual(self.failure(lambda: self.client("plain").resume({**payment, "header": "\n"})).code, "BAD_OPTIONS")

    def test_an_answer_that_its_receipt_does_not_cover_is_refused(self):
        error = self.failure(lambda: self.client("lying", "is_told_lies").call("iban-check", IBAN))
        self.assertEqual((error.code, error.charged), ("RECEIPT_INVALID", "unknown"))
        self.assertFalse(error.answer.checks["result"])

    def test_terms_that_pay_another_are_refused(self):
        error = self.failure(lambda: self.client("diverting", "thrifty").call("iban-check", IBAN))
        self.assertEqual((error.code, "recipient" in error.detail), ("TERMS_REFUSED", True))

    def test_keys_that_are_pinned_detect_an_impostor(self):
        pins = {"keys": ["0x" + "12" * 20], "pay_to": "0x" + "34" * 20, "chain_id": 84532}
        self.assertEqual(self.failure(lambda: self.client("plain", "thrifty", **pins).call("iban-check", IBAN)).code, "TERMS_REFUSED")

    def test_a_refusal_of_the_service_ends_the_call(self):
        poor = self.failure(lambda: self.client("plain", "poor").call("iban-check", IBAN))
        self.assertEqual((poor.code, poor.charged), ("INSUFFICIENT_FUNDS", False))
        unpaid = self.failure(lambda: self.client("plain").call("iban-check", IBAN))
        self.assertEqual((unpaid.code, unpaid.status), ("PAYMENT_REQUIRED", 402))
        wrong = self.failure(lambda: self.client("plain", "thrifty").call("iban-check", {"number": 1}))
        self.assertEqual(wrong.code, "INPUT_SCHEMA_INVALID")
        gone = Client("http://127.0.0.1:1", sleep=instantly)
        self.assertEqual(self.failure(lambda: gone.call("iban-check", IBAN)).code, "KEYS_UNAVAILABLE")


if __name__ == "__main__":
    unittest.main()
