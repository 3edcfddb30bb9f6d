"""Client of one service. Every method raises only AssayError."""

import json
import re
import time
from dataclasses import dataclass
from typing import Any, Dict, Optional
from urllib.parse import urlsplit

import httpx

from .canonical import CanonicalError, canonical_text, text_hash
from .errors import AssayError
from .payment import Budget, minor_of, read_terms, sign_payment
from .receipts import ANY_CHAIN, checks_of, read_keys, verify_receipt

BODY_BYTES_MAX = 32 * 1024 * 1024
FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 8
# Maximum number of requests for one payment, and for an unpaid call that the service asks to repeat.
REQUESTS_MAX, UNPAID_REQUESTS_MAX = 64, 3
UNPAID_WAIT_S_MAX = 5
# Request Timeout, Too Early, Too Many Requests.
WAITS = (408, 425, 429)
OF_CHAIN = object()
DETAILS = ("brief", "standard", "full")


@dataclass(frozen=True)
class Answer:
    """Verified answer: its receipt covers the sent input, the received result and the payment."""

    tool: str
    result: Dict[str, Any]
    receipt: Dict[str, Any]
    # Link to the earlier receipt; None if there is none.
    chain: Optional[Dict[str, Any]]
    # "free" or "paid".
    tier: str
    settlement: Optional[Dict[str, Any]]
    # Free calls of the UTC day; None for tools that are free without limit.
    allowance: Optional[Dict[str, Any]]
    input_hash: str
    # Digest of the receipt; send it as `previous_receipt` to link the next one.
    receipt_hash: str
    # Payment that this library signed; None for a free call.
    payment: Optional[Dict[str, Any]]
    checks: Dict[str, bool]


@dataclass(frozen=True)
class BriefAnswer:
    """Brief answer. It contains no receipt, so tool and price alone were compared: `Client.whole` fetches the whole answer and verifies it."""

    tool: str
    # As the service sent it: headline, reason_code, value, facts, not_checked, price, allowance and others; see /openapi.json.
    body: Dict[str, Any]
    # Stated digest of the receipt, and keccak-256 of the whole result.
    receipt_hash: str
    output_hash: str
    # Address of the whole answer, for 24 hours; None where it is not stored.
    answer_url: Optional[str]
    input_hash: str
    # Receipt that the call asked to link to; None for none.
    previous_receipt: Optional[str]
    payment: Optional[Dict[str, Any]]


@dataclass(frozen=True)
class _Reply:
    status: int
    headers: Any
    # JSON value; None if the body is not JSON.
    body: Any


class Client:
    """Calls tools of a service, pays for calls within the caps, and verifies every receipt.

    `account` signs EIP-712 typed data as an account of eth-account does; it comes with both caps, USDC as decimal text. `keys` (a published
    list, or addresses), `pay_to` and `chain_id` pin what otherwise the service states; only pinned keys detect an impostor. `detail` is the level
    of detail of answers: "brief", "standard" or "full", which is the same as "standard". Times are in seconds. `transport` is that of httpx. A client may be used by several threads; its chain of receipts is then no single line.
    """

    def __init__(self, url, *, account=None, per_call_usdc=None, session_usdc=None, keys=None, pay_to=None, chain_id=None,
                 previous_receipt=None, detail="standard", request_s=30, patience_s=90, transport=None, sleep=time.sleep):
        parts = urlsplit(url) if isinstance(url, str) else None
        if parts is None or parts.scheme not in ("http", "https") or parts.username or parts.query or parts.fragment:
            raise AssayError("BAD_OPTIONS", "url must be the http or https address of a service, such as https://assay.example.")
        if not (account is None) == (per_call_usdc is None) == (session_usdc is None):
            raise AssayError("BAD_OPTIONS", "account, per_call_usdc and session_usdc come together, or not at all.")
        self._url = url.rstrip("/")
        self._account = account
        self._budget = None if account is None else Budget(per_call_usdc, session_usdc)
        self._pins = {"keys": _pinned_keys(keys), "pay_to": _pinned_address(pay_to), "chain_id": chain_id}
        self._facts = None
        self._previous = _receipt_hash(previous_receipt)
        self._detail = _level(detail)
        self._patience_s = patience_s
        self._sleep = sleep
        self._http = httpx.Client(timeout=request_s, follow_redirects=False, transport=transport)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._http.close()

    @property
    def previous_receipt(self):
        """Digest of the receipt that the next call links to; None for none."""
        return self._previous

    def spending(self):
        """Caps, signed total and rest as decimal texts; None without an account."""
        return None if self._budget is None else self._budget.spending()

    def call(self, tool, value, *, max_usdc=None, previous_receipt=OF_CHAIN, detail=None):
        """Calls a tool with an input. Returns a verified `Answer`, after a free call or one payment within the caps; with `detail="brief"` a
        `BriefAnswer`, which is part of the client's chain of receipts only after `whole`."""
        own_cap = None if max_usdc is None else minor_of(max_usdc, "max_usdc")
        brief = _level(self._detail if detail is None else detail) == "brief"
        purpose = self._purpose(tool, value, previous_receipt)
        # Keys are read first, because without them no answer could be verified.
        facts = self._read_facts()
        reply = self._send_unpaid(purpose, brief)
        if reply.status == 200:
            return self._accepted(purpose, reply.body, None, brief)
        if reply.status != 402 or self._account is None:
            raise _problem(reply, None) or _not_ours(reply, None)
        payer = self._account.address.lower()
        required, entry = read_terms(reply.headers.get("payment-required"), purpose["tool"], facts, payer)
        amount_minor = int(entry["amount"])
        # Reserved before signing, so that threads cannot spend the same rest.
        self._budget.take(amount_minor, own_cap)
        try:
            payment = sign_payment(self._account, required, entry, facts, purpose, int(time.time()))
        except AssayError:
            self._budget.give_back(amount_minor)
            raise
        return self._accepted(purpose, self._deliver(payment, brief), payment, brief)

    def whole(self, brief):
        """Fetches the whole answer of a `BriefAnswer` and verifies it, also that result and receipt are those that the brief answer named.
        Uses no free call and signs nothing. Raises NOT_STORED where there is no whole answer."""
        path = _answer_path(brief.answer_url)
        if path is None:
            raise AssayError("NOT_STORED", "The whole answer is not stored. Call with detail=\"standard\" instead.")
        self._read_facts()
        reply = self._send("GET", path)
        if isinstance(reply, AssayError):
            raise reply
        if reply.status != 200:
            raise _problem(reply, None) or _not_ours(reply, None)
        purpose = {"tool": brief.tool, "previous_receipt": brief.previous_receipt}
        return self._verified(purpose, reply.body, brief.payment, brief)

    def resume(self, payment):
        """Sends the payment of an error again, without signing. Returns the whole paid answer, or raises if the payment failed."""
        if not _is_payment(payment):
            raise AssayError("BAD_OPTIONS", "The payment was not made by this library.")
        self._read_facts()
        purpose = {name: payment[name] for name in ("tool", "input_text", "previous_receipt")}
        return self._verified(purpose, self._deliver(payment, False), payment)

    def verify(self, answer, value):
        """Checks a stored answer again with the current keys: names of properties with True or False."""
        self._facts = None
        body = {name: getattr(answer, name) for name in ("result", "receipt", "chain", "tier", "settlement")}
        previous = None if answer.chain is None else answer.chain.get("prev_receipt_hash")
        return checks_of(body, answer.tool, text_hash(_text_of(value)), previous, answer.payment, self._read_facts()["keys"])

    def _purpose(self, tool, value, previous_receipt):
        tool_id = tool.replace("_", "-") if isinstance(tool, str) else ""
        if not re.fullmatch("[a-z0-9-]{1,64}", tool_id):
            raise AssayError("BAD_OPTIONS", "A tool is named by lower-case letters, digits and hyphens.")
        previous = self._previous if previous_receipt is OF_CHAIN else _receipt_hash(previous_receipt)
        return {"tool": tool_id, "input_text": _text_of(value), "previous_receipt": previous}

    def _send(self, method, path, headers=None, body=None):
        """A `_Reply`, or the AssayError of a request whose end is unknown. Redirects are not followed, so that payments go nowhere else."""
        try:
            with self._http.stream(method, self._url + path, headers=headers, content=body) as response:
                if 300 <= response.status_code < 400:
                    return AssayError("REDIRECTED", "The service answers with a redirect, which is not followed.")
                text = bytearray()
                for piece in response.iter_bytes():
                    text += piece
                    if len(text) > BODY_BYTES_MAX:
                        return AssayError("NETWORK_ERROR", "The answer is too long.", retryable=True)
                return _Reply(response.status_code, response.headers, _parsed(bytes(text)))
        except httpx.HTTPError as cause:
            error = AssayError("NETWORK_ERROR", "The service gave no answer.", retryable=True)
            error.__cause__ = cause
            return error

    def _send_call(self, purpose, brief, header=None):
        headers = {"content-type": "application/json"}
        if brief:
            headers["x-detail"] = "brief"
        if purpose["previous_receipt"] is not None:
            headers["x-prev-receipt-hash"] = purpose["previous_receipt"]
        if header is not None:
            headers["payment-signature"] = header
        # Exactly the text that was hashed.
        body = ('{"input":%s}' % purpose["input_text"]).encode("utf-8")
        return self._send("POST", "/v1/tools/%s/call" % purpose["tool"], headers, body)

    def _send_unpaid(self, purpose, brief):
        for sent in range(1, UNPAID_REQUESTS_MAX + 1):
            reply = self._send_call(purpose, brief)
            # Not repeated: the tool may have run, and not every tool may run twice.
            if isinstance(reply, AssayError):
                raise reply
            problem = _problem(reply, None)
            wait_s = _retry_after_s(reply)
            wait_s = UNPAID_WAIT_S_MAX if wait_s is None else wait_s
            passing = reply.status == 503 and problem is not None and problem.retryable
            if not passing or sent == UNPAID_REQUESTS_MAX or wait_s > UNPAID_WAIT_S_MAX:
                return reply
            self._sleep(wait_s)

    def _deliver(self, payment, brief):
        """Sends one signed payment, always the same bytes, until its outcome is known. No code here can sign."""
        give_up = time.monotonic() + self._patience_s
        wait_s, last = FIRST_WAIT_S, None
        for _ in range(REQUESTS_MAX):
            reply = self._send_call(payment, brief, payment["header"])
            body, last, pause_s = self._outcome(reply, payment, brief)
            if body is not None:
                return body
            if pause_s is None:
                raise last
            pause_s = max(pause_s, wait_s)
            # If the service asks for a longer pause than the time that is left, no further request is sent.
            if time.monotonic() + pause_s > give_up:
                break
            self._sleep(pause_s)
            wait_s = min(wait_s * 2, LONGEST_WAIT_S)
            # Stored answers are whole.
            found = self._stored_answer(payment, reply) if last.code == "PAYMENT_PENDING" and not brief else None
            if found is not None:
                return found
        raise last

    @staticmethod
    def _outcome(reply, payment, brief):
        """(body, None, None) of an answer; (None, error, None) of a final refusal; (None, error, seconds) while the outcome is unknown."""
        if isinstance(reply, AssayError):
            detail = "Of the paid call nothing is known: %s Resume the payment; a new call would sign another one." % reply.detail
            return None, AssayError(reply.code, detail, retryable=True, charged="unknown", payment=payment), 0
        if reply.status == 200 and (_is_brief(reply.body) if brief else _is_answer(reply.body)):
            return reply.body, None, None
        if reply.status == 200 and _is_answer(reply.body):
            detail = "The service sends no brief answers. Resume the payment to get the whole answer."
            return None, AssayError("BAD_RESPONSE", detail, status=200, charged="unknown", payment=payment), None
        problem = None if reply.status == 200 else _problem(reply, payment)
        if problem is None:
            return None, _not_ours(reply, payment), 0
        pause_s = _retry_after_s(reply) or 0
        if problem.code == "PAYMENT_PENDING":
            return None, problem, pause_s
        # The service will not retry this transfer; the error says until when another party may execute it.
        if problem.code == "SETTLEMENT_FAILED":
            return None, problem, None
        passing = problem.charged == "unknown" or (problem.retryable and (reply.status >= 500 or reply.status in WAITS))
        return None, problem, pause_s if passing else None

    def _stored_answer(self, payment, pending):
        """The answer of a payment that has settled meanwhile; None if the call must be sent again. Only this service is asked."""
        status = self._send("GET", "/v1/payments/%s/%s" % (payment["payer"], payment["nonce"]))
        if isinstance(status, AssayError) or not isinstance(status.body, dict) or status.body.get("state") != "settled":
            return None
        location = pending.headers.get("location") or (pending.body or {}).get("answer_url")
        path = _answer_path(location)
        stored = None if path is None else self._send("GET", path)
        return stored.body if isinstance(stored, _Reply) and stored.status == 200 and _is_answer(stored.body) else None

    def _accepted(self, purpose, body, payment, brief):
        return self._compared(purpose, body, payment) if brief else self._verified(purpose, body, payment)

    @staticmethod
    def _compared(purpose, body, payment):
        """Compares what a brief answer states with the call and its payment."""
        charged = False if payment is None else "unknown"
        price = ("free", "0") if payment is None else ("paid", payment["amount_minor"])
        if not _is_brief(body) or body["tool"] != purpose["tool"] or (body["price"].get("tier"), body["price"].get("amount_minor")) != price:
            detail = "The brief answer is not one of this service, or names another tool or price."
            raise AssayError("BAD_RESPONSE", detail, status=200, charged=charged, payment=payment)
        hashes = {"receipt_hash": body["receipt_digest"], "output_hash": body["output_hash"], "input_hash": text_hash(purpose["input_text"])}
        previous, url = purpose["previous_receipt"], body.get("answer_url")
        return BriefAnswer(tool=purpose["tool"], body=body, **hashes, answer_url=url, previous_receipt=previous, payment=payment)

    def _verified(self, purpose, body, payment, brief=None):
        if not _is_answer(body):
            raise AssayError("BAD_RESPONSE", "The answer is not one of this service.", status=200)
        charged = False if payment is None else "unknown"
        digest, signer = verify_receipt(body["receipt"])
        keys = self._keys_for(signer, payment, charged)
        input_hash = text_hash(purpose["input_text"]) if brief is None else brief.input_hash
        checks = checks_of(body, purpose["tool"], input_hash, purpose["previous_receipt"], payment, keys)
        members = {name: body.get(name) for name in ("result", "receipt", "chain", "tier", "settlement", "allowance")}
        answer = Answer(tool=purpose["tool"], **members, input_hash=input_hash, receipt_hash=digest or "", payment=payment, checks=checks)
        wrong = [name for name, good in checks.items() if not good]
        if brief is not None and (brief.receipt_hash, brief.output_hash) != (digest, body["receipt"].get("output_hash")):
            wrong.append("hashes of the brief answer")
        if wrong:
            detail = "The receipt does not prove the answer: %s." % ", ".join(wrong)
            raise AssayError("RECEIPT_INVALID", detail, status=200, charged=charged, payment=payment, answer=answer)
        if purpose["previous_receipt"] == self._previous:
            self._previous = digest
        return answer

    def _keys_for(self, signer, payment, charged):
        """The keys are read again for a signer that is not on the list, because it may have been added."""
        keys = self._read_facts()["keys"]
        if signer is None or self._pins["keys"] is not None or any(key["address"] == signer for key in keys):
            return keys
        try:
            newer = self._fetch_facts()["keys"]
        except AssayError as cause:
            detail = "The answer is signed by a new key, and the list of keys cannot be read now."
            raise AssayError("KEYS_UNAVAILABLE", detail, retryable=True, charged=charged, payment=payment) from cause
        # Recipient and chain must not change during the life of the client.
        self._facts = {**self._facts, "keys": newer}
        return newer

    def _read_facts(self):
        if self._facts is None:
            whole = all(pin is not None for pin in self._pins.values())
            found = {} if whole else self._fetch_facts()
            self._facts = {**found, **{name: pin for name, pin in self._pins.items() if pin is not None}}
        return self._facts

    def _fetch_facts(self):
        reply = self._send("GET", "/.well-known/xdr-1.json")
        if isinstance(reply, AssayError) or reply.status != 200:
            detail = "The receipt keys of the service cannot be read, so its answers could not be verified."
            raise AssayError("KEYS_UNAVAILABLE", detail, retryable=True)
        document = reply.body if isinstance(reply.body, dict) else {}
        keys, chain_id, pay_to = read_keys(document), document.get("chain_id"), document.get("payment_address")
        if not keys or not isinstance(chain_id, int) or not isinstance(pay_to, str):
            raise AssayError("KEYS_UNAVAILABLE", "The address does not publish receipt keys as this service does.")
        return {"keys": keys, "chain_id": chain_id, "pay_to": pay_to.lower()}


def _text_of(value):
    if not isinstance(value, dict):
        raise AssayError("INPUT_NOT_JSON", "The input is a dict with the fields of the tool.")
    try:
        return canonical_text(value)
    except CanonicalError as cause:
        raise AssayError("INPUT_NOT_JSON", str(cause)) from cause


def _parsed(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_answer(body):
    if not isinstance(body, dict) or not isinstance(body.get("result"), dict) or not isinstance(body.get("receipt"), dict):
        return False
    return body.get("tier") in ("free", "paid") and isinstance(body.get("chain"), (dict, type(None)))


def _is_brief(body):
    if not isinstance(body, dict) or body.get("detail") != "brief" or not isinstance(body.get("tool"), str):
        return False
    hashes = all(re.fullmatch("0x[0-9a-f]{64}", str(body.get(name))) for name in ("receipt_digest", "output_hash"))
    return hashes and all(isinstance(body.get(name), dict) for name in ("headline", "facts", "price"))


def _answer_path(address):
    """Path of a stored answer; only this service is asked, for any origin in the address."""
    found = re.search("/v1/answers/[0-9a-f]{64}$", address) if isinstance(address, str) else None
    return None if found is None else found[0]


def _level(detail):
    if detail not in DETAILS:
        raise AssayError("BAD_OPTIONS", "detail must be \"brief\", \"standard\" or \"full\".")
    return detail


def _problem(reply, payment):
    """Problem of the service (RFC 9457) as an error; None for anything else."""
    body = reply.body if isinstance(reply.body, dict) else {}
    code, charged = body.get("code"), body.get("charged")
    if not isinstance(code, str) or not re.fullmatch("[A-Z][A-Z0-9_]{2,63}", code) or charged not in (True, False, "unknown"):
        return None
    detail = str(body.get("detail", code))[:2000]
    retryable = body.get("retryable") is True
    return AssayError(code, detail, retryable=retryable, charged=charged, status=reply.status, payment=payment, problem=body)


def _not_ours(reply, payment):
    if payment is None:
        detail = "Status %d came from something that is not this service." % reply.status
        return AssayError("BAD_RESPONSE", detail, status=reply.status, retryable=reply.status >= 500)
    detail = "The paid call was answered with status %d by something that is not this service. Resume the payment." % reply.status
    return AssayError("BAD_RESPONSE", detail, status=reply.status, retryable=True, charged="unknown", payment=payment)


def _retry_after_s(reply):
    text = reply.headers.get("retry-after", "")
    return int(text) if re.fullmatch("[0-9]{1,6}", text) else None


def _receipt_hash(text):
    if text is None:
        return None
    if not isinstance(text, str) or not re.fullmatch("0x[0-9a-fA-F]{64}", text):
        raise AssayError("BAD_OPTIONS", "previous_receipt must be 0x and 64 hexadecimal digits.")
    return text.lower()


def _pinned_keys(keys):
    if keys is None:
        return None
    if isinstance(keys, list):
        life = {"status": "active", "not_before": 0, "not_after": None, "revoked_at": None, "chain_id": ANY_CHAIN}
        keys = [{"address": key, **life} if isinstance(key, str) else key for key in keys]
    read = read_keys(keys)
    if not read:
        raise AssayError("BAD_OPTIONS", "keys must be a published key list, or addresses.")
    return read


def _pinned_address(address):
    if address is None:
        return None
    if not isinstance(address, str) or not re.fullmatch("0x[0-9a-fA-F]{40}", address):
        raise AssayError("BAD_OPTIONS", "pay_to must be an address: 0x and 40 hexadecimal digits.")
    return address.lower()


def _is_payment(payment):
    """Only the members that are sent and compared."""
    forms = {"tool": "[a-z0-9-]{1,64}", "payer": "0x[0-9a-f]{40}", "nonce": "0x[0-9a-f]{64}", "header": "[A-Za-z0-9+/=]+"}
    if not isinstance(payment, dict) or payment.get("v") != 1 or not isinstance(payment.get("input_text"), str):
        return False
    previous = payment.get("previous_receipt")
    if previous is not None and not (isinstance(previous, str) and re.fullmatch("0x[0-9a-f]{64}", previous)):
        return False
    return all(isinstance(payment.get(name), str) and re.fullmatch(form, payment[name]) for name, form in forms.items())
