import { evmForm, sameAccount } from '../kit/addresses.ts'
import { canonicalText, holdsRedaction, need, needText, textForm } from '../kit/expect.ts'
import { isBase64 } from '../kit/keys.ts'
import { digitText } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { SECRET_WORDS } from '../secrets.ts'
import { networkAt } from './networks.ts'
import { payToPlace } from './rules-terms.ts'
import { eip, schemeSpec, x402Spec } from './spec.ts'
import type { Payload, X402View } from './view.ts'

const PAYLOAD = x402Spec(2, 'PaymentPayload')
const EVM = 'exact/scheme_exact_evm.md'
/** Clocks of payer and checker may differ by so much. */
const SKEW_S = 30n
/** Reference clients date an authorization back by so much. */
const BACKDATED_S = 600n

/** X402-033…038, 042 and 043: what a payer sends, whom it pays, and what it should keep to itself. */
export const PAYLOAD_RULES = [
  rule<X402View>(
    {
      code: 'X402-033',
      severity: 'error',
      types: ['payment_payload', 'verify_request'],
      why: 'A server finds the terms that were chosen, and what was signed, in these members.',
      spec: PAYLOAD,
      hint: 'Version 2 has accepted and payload; version 1 has scheme, network and payload.',
      good: { x402Version: 2, accepted: {}, payload: {} },
      bad: { x402Version: 2, scheme: 'exact', payload: {} },
    },
    ({ error }, { payloads }) => {
      for (const { place, version } of payloads) {
        if (version === '2') need(error, place.get('accepted'), 'object')
        else for (const name of ['scheme', 'network']) needText(error, place.get(name))
        need(error, place.get('payload'), 'object')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-034',
      severity: 'error',
      types: ['payment_payload', 'verify_request'],
      why: 'These very bytes were signed; another form cannot be verified.',
      spec: eip(3009, 'Specification'),
      hint: 'Send addresses and nonce in hexadecimal, and value and times as texts of digits, in seconds.',
      good: { validAfter: '0', validBefore: '1790000000' },
      bad: { validAfter: 0, validBefore: '2026-12-01T00:00:00Z' },
    },
    ({ error }, { payloads }) => {
      for (const payload of payloads) authorizationForm(error, payload)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-035',
      severity: 'error',
      types: ['payment_payload', 'verify_request'],
      why: 'A server refuses a payment to another recipient, or of another amount, than it asked for.',
      spec: schemeSpec(EVM, 'Verification'),
      hint: 'Sign exactly the terms that were chosen.',
      good: { accepted: { amount: '2000' }, payload: { authorization: { value: '2000' } } },
      bad: { accepted: { amount: '2000' }, payload: { authorization: { value: '1000' } } },
    },
    ({ error }, { payloads }) => {
      for (const payload of payloads) agreesWithTerms(error, payload)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-036',
      severity: 'warning',
      types: ['payment_payload', 'verify_request'],
      why: 'A payment that ran out cannot be settled; one that runs too long can be settled late.',
      spec: schemeSpec(EVM, 'Verification'),
      hint: 'Let validBefore lie maxTimeoutSeconds ahead.',
      good: { validBefore: 'now + 60' },
      bad: { validBefore: '1700000000' },
    },
    ({ warning }, { context, payloads }) => {
      for (const payload of payloads) window({ warning, now_s: BigInt(context.now_s) }, payload)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-037',
      severity: 'error',
      types: ['payment_payload', 'verify_request'],
      why: 'On Solana the payer sends the transaction itself, partly signed.',
      spec: schemeSpec('exact/scheme_exact_svm.md', 'PaymentPayload'),
      hint: 'Send payload.transaction in base64.',
      good: { payload: { transaction: 'AQAB…' } },
      bad: { payload: { signature: '…' } },
    },
    ({ error }, { payloads }) => {
      for (const { place, terms } of payloads) {
        const network = networkAt((terms ?? place).get('network'))
        const transaction = place.down('payload', 'transaction')
        if (network?.family !== 'svm' || place.get('payload').kind !== 'object' || !need(error, transaction, 'string')) continue
        const text = transaction.text()
        if (text !== null && !isBase64(text)) error(transaction, 'is not base64')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-038',
      severity: 'error',
      types: ['payment_required', 'verify_request'],
      since: '2',
      why: 'Servers compare what was accepted with what they offered, member by member.',
      spec: PAYLOAD,
      hint: 'Echo the chosen entry unchanged.',
      good: { accepts: [{ amount: '2000' }], accepted: { amount: '2000' } },
      bad: { accepts: [{ amount: '2000' }], accepted: { amount: '1000' } },
    },
    ({ error }, { document, entries }) => {
      const accepted = document.has('paymentPayload') ? document.down('paymentPayload', 'accepted') : document.get('accepted')
      const offers = entries.filter(({ role }) => role === 'offered').map(({ place }) => place)
      if (accepted.kind !== 'object' || offers.length === 0 || [accepted, ...offers].some(holdsRedaction)) return
      const wanted = canonicalText(accepted.value)
      if (!offers.some(({ value }) => canonicalText(value) === wanted)) error(accepted, 'equals none of the terms that were offered')
    },
  ),
  rule<X402View>(
    {
      code: 'X402-042',
      severity: 'both',
      why: 'Money goes to payTo, whatever the shop is called.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Do not pay before the recipient is clear.',
      good: { expected_payee: '0x2096…287C', document: { payTo: '0x2096…287C' } },
      bad: { expected_payee: '0x2096…287C', document: { payTo: '0x8ba1…BA72' } },
    },
    (report, view) => payeeAgrees(report, view),
  ),
  rule<X402View>(
    {
      code: 'X402-043',
      severity: 'warning',
      why: 'A secret that has been sent to a stranger is no secret any more.',
      spec: x402Spec(2, 'Security considerations'),
      hint: 'Replace the value by [REDACTED], and move the funds if the key was a real one.',
      good: { privateKey: '[REDACTED]' },
      bad: { privateKey: '0x…' },
    },
    ({ warning }, { context }) => {
      for (const { place, kind } of context.secrets) warning(place, `looks like ${SECRET_WORDS[kind]}`)
    },
  ),
]

function authorizationOf({ place }: Payload): Place {
  return place.down('payload', 'authorization')
}

function schemeOf({ terms, place }: Payload): string | null {
  return terms?.get('scheme').text() ?? place.get('scheme').text()
}

const NONCE = { pattern: /^0x[0-9a-fA-F]{64}$/, expected: '0x and 64 hexadecimal digits' }
// A key signs with 65 bytes; a contract wallet may return as much as it likes.
const SIGNATURE = { pattern: /^0x(?:[0-9a-fA-F]{2}){65,32768}$/, expected: '0x and at least 130 hexadecimal digits' }

function authorizationForm(error: Say, payload: Payload): void {
  const authorization = authorizationOf(payload)
  const scheme = schemeOf(payload)
  if (authorization.kind !== 'object' || (scheme !== null && scheme !== 'exact')) return
  for (const name of ['from', 'to']) {
    const place = authorization.get(name)
    if (need(error, place, 'string') && !place.redacted && ['none', 'wrong_case'].includes(evmForm(place.text() ?? '')))
      error(place, 'is no EVM address', { expected: '0x and 40 hexadecimal digits' })
  }
  for (const name of ['value', 'validAfter', 'validBefore']) {
    const place = authorization.get(name)
    if (need(error, place, 'string') && !place.redacted && digitText(place) === null) error(place, 'is no text of decimal digits')
  }
  const [after, before] = [digitText(authorization.get('validAfter')), digitText(authorization.get('validBefore'))]
  if (after !== null && before !== null && after >= before) error(authorization.get('validBefore'), 'is not later than validAfter')
  // Beyond this the number counts milliseconds.
  if (before !== null && before > 100_000_000_000n && before < 100_000_000_000_000n)
    error(authorization.get('validBefore'), 'counts milliseconds', { expected: 'seconds' })
  if (need(error, authorization.get('nonce'), 'string')) textForm(error, authorization.get('nonce'), NONCE)
  const signature = payload.place.down('payload', 'signature')
  if (need(error, signature, 'string')) textForm(error, signature, SIGNATURE)
}

function agreesWithTerms(error: Say, payload: Payload): void {
  const { terms, version } = payload
  if (terms === null || schemeOf(payload) !== 'exact') return
  const authorization = authorizationOf(payload)
  const [to, payTo] = [authorization.get('to').text(), terms.get('payTo').text()]
  if (to !== null && payTo !== null && evmForm(to) !== 'none' && !sameAccount(to, payTo))
    error(authorization.get('to'), 'is not the recipient of the terms')
  const value = digitText(authorization.get('value'))
  const amount = digitText(terms.get(version === '1' ? 'maxAmountRequired' : 'amount'))
  if (value !== null && amount !== null && value !== amount) error(authorization.get('value'), 'is not the amount of the terms')
}

function window({ warning, now_s }: { warning: Say; now_s: bigint }, payload: Payload): void {
  const authorization = authorizationOf(payload)
  const before = digitText(authorization.get('validBefore'))
  const most = payload.terms?.get('maxTimeoutSeconds').integer() ?? null
  if (before === null || before > 100_000_000_000n) return
  const after = digitText(authorization.get('validAfter')) ?? 0n
  const place = authorization.get('validBefore')
  // Reference clients start the window at zero or ten minutes back, so its length counts from now on.
  const start = after > now_s ? after : now_s
  if (before <= now_s) warning(place, 'lies in the past')
  else if (most !== null && before - start > most + SKEW_S) warning(place, 'leaves more time than the terms ask for')
  else if (after > now_s + BACKDATED_S) warning(authorization.get('validAfter'), 'lies far ahead')
}

function payeeAgrees({ error, warning }: Report, { context, document, entries, payloads }: X402View): void {
  const { expected_payee } = context
  if (expected_payee === null) return
  const signed = payloads.map(authorizationOf).map((one) => one.get('to'))
  const asked = entries.filter(({ role }) => role === 'offered' || payloads.length > 0).map(({ place }) => payToPlace(place))
  const places = (signed.some((place) => place.text() !== null) ? signed : asked).filter((place) => place.text() !== null)
  const strangers = places.filter((place) => !sameAccount(place.text() ?? '', expected_payee))
  if (places.length === 0) warning(document, 'holds no recipient, so the expected payee was not verified')
  else if (strangers.length === places.length) error(places[0] ?? document, 'is not the expected payee')
  else for (const place of strangers) warning(place, 'is not the expected payee, though another entry pays it')
}
