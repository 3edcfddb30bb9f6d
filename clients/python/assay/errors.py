"""The error of every failed call."""


class AssayError(Exception):
    """Has a code of the service (`/.well-known/x402-errors.json`) or of this library.

    Codes of this library: BAD_OPTIONS, INPUT_NOT_JSON, NETWORK_ERROR, REDIRECTED, BAD_RESPONSE, TERMS_REFUSED, ABOVE_CALL_CAP,
    ABOVE_SESSION_CAP, SIGNING_FAILED, KEYS_UNAVAILABLE, NOT_STORED, RECEIPT_INVALID. If there is a `payment`, pass it to `Client.resume` instead of
    calling again: a new call would sign a second payment.
    """

    def __init__(self, code, detail, *, retryable=False, charged=False, status=None, payment=None, answer=None, problem=None):
        super().__init__("%s: %s" % (code, detail))
        self.code = code
        self.detail = detail
        self.retryable = retryable
        # False, True or "unknown".
        self.charged = charged
        # HTTP status; None without a response.
        self.status = status
        # Payment signed for the call, as plain JSON.
        self.payment = payment
        # Answer whose verification failed; do not trust it.
        self.answer = answer
        # Problem document (RFC 9457) of the service.
        self.problem = problem
