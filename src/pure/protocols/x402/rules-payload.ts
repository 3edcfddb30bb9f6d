import { evmForm, sameAccount } from '../kit/addresses.ts'
import { canonicalText, holdsRedaction, need, needText } from '../kit/expect.ts'
import { isBase64 } from '../kit/keys.ts'
import { digitText } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { SECRET_WORDS } from '../secrets.ts'
import { authorizationForms } from './authorization-form.ts'
import { channelAgrees, channelForms, channelOf } from './channel.ts'
import { payToPlace } from './rules-terms.ts'
import { isProxy, networkOf, recipientsOf, schemeOf, signedBy } from './signed.ts'
import { eip, schemeSpec, x402Spec } from './spec.ts'
import { amountName, type Payload, type X402View } from './view.ts'

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
      hint: 'Version 2 has accepted and payload; version 1 scheme, network and payload; a request paymentPayload and paymentRequirements.',
      hint_by_case: true,
      good: { x402Version: 2, accepted: {}, payload: {} },
      bad: { x402Version: 2, scheme: 'exact', payload: {} },
    },
    ({ error }, { context, document, payloads }) => {
      if (context.type === 'verify_request') requestParts(error, document)
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
      hint: 'Send the signature and what was signed: addresses in hexadecimal, amount and times as texts of digits, times in seconds.',
      hint_by_case: true,
      good: { validAfter: '0', validBefore: '1790000000' },
      bad: { validAfter: 0, validBefore: '2026-12-01T00:00:00Z' },
    },
    ({ error }, { payloads }) => {
      for (const payload of payloads) {
        authorizationForms(error, payload)
        channelForms(error, payload)
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-035',
      severity: 'both',
      types: ['payment_payload', 'verify_request'],
      why: 'A server refuses a payment to another recipient, or of another amount or token, than it asked for.',
      spec: schemeSpec(EVM, 'Verification'),
      hint: 'Sign exactly the terms that were chosen.',
      good: { accepted: { amount: '2000' }, payload: { authorization: { value: '2000' } } },
      bad: { accepted: { amount: '2000' }, payload: { authorization: { value: '1000' } } },
    },
    (report, { context, payloads }) => {
      for (const payload of payloads) {
        agreesWithTerms(report, payload)
        channelAgrees(report.error, payload)
        if (paidBy(payload).length === 0) context.notChecked('what the signed transaction pays')
      }
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
      for (const payload of payloads) {
        const { place } = payload
        const transaction = place.down('payload', 'transaction')
        // Other schemes have not said how they are paid on Solana.
        const isExact = [null, 'exact'].includes(schemeOf(payload)) && networkOf(payload)?.family === 'svm'
        if (!isExact || place.get('payload').kind !== 'object' || !need(error, transaction, 'string')) continue
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
      const wanted = wantedOf(accepted, document.has('paymentPayload'))
      if (!offers.some((offer) => wanted(offer))) error(accepted, 'equals none of the terms that were offered')
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

/** What a facilitator is sent. Several requirements at once are read as well. */
function requestParts(error: Say, document: Place): void {
  need(error, document.get('paymentPayload'), 'object')
  const requirements = document.get('paymentRequirements')
  if (requirements.kind !== 'array') need(error, requirements, 'object')
}

function agreesWithTerms({ error, warning }: Report, payload: Payload): void {
  const { place, terms, version } = payload
  const scheme = schemeOf(payload)
  if (terms === null) return
  for (const name of version === '1' ? ['scheme', 'network'] : []) {
    const [own, asked] = [place.get(name).text(), terms.get(name).text()]
    if (own !== null && asked !== null && own !== asked) error(place.get(name), `is not the ${name} of the terms`)
  }
  if (scheme !== 'exact' && scheme !== 'upto') return
  const amount = digitText(terms.get(amountName(version)))
  for (const signed of signedBy(payload)) {
    if (isOther(signed.to, terms.get('payTo'))) error(signed.to, 'is not the recipient of the terms')
    const value = digitText(signed.amount)
    if (value !== null && amount !== null && value !== amount) error(signed.amount, 'is not the amount of the terms')
    if (signed.permitted !== null) permittedAgrees({ error, warning }, signed.permitted, terms)
  }
}

function permittedAgrees({ error, warning }: Report, { token, spender }: { token: Place; spender: Place }, terms: Place): void {
  if (isOther(token, terms.get('asset'))) error(token, 'is not the token of the terms')
  const text = spender.text()
  if (text !== null && evmForm(text) !== 'none' && !isProxy(text))
    warning(spender, 'is no proxy of x402 that is known here, and may send the money to anybody')
}

function isOther(signed: Place, asked: Place): boolean {
  const [one, other] = [signed.text(), asked.text()]
  return one !== null && other !== null && evmForm(one) !== 'none' && !sameAccount(one, other)
}

function window({ warning, now_s }: { warning: Say; now_s: bigint }, payload: Payload): void {
  const most = payload.terms?.get('maxTimeoutSeconds').integer() ?? null
  for (const { after, before } of signedBy(payload)) {
    const end = digitText(before)
    if (end === null || end > 100_000_000_000n) continue
    const first = digitText(after) ?? 0n
    // Reference clients start the window at zero or ten minutes back, so its length counts from now on.
    const start = first > now_s ? first : now_s
    if (end <= now_s) warning(before, 'lies in the past')
    else if (most !== null && end - start > most + SKEW_S) warning(before, 'leaves more time than the terms ask for')
    else if (first > now_s + BACKDATED_S) warning(after, 'lies far ahead')
  }
}

/**
 * Whether an offer is what was accepted. Of upto a facilitator is told to settle less than was accepted: then all but the amount must be
 * the same (scheme_upto_evm, settle-time verification).
 */
function wantedOf(accepted: Place, is_request: boolean): (offer: Place) => boolean {
  const most = digitText(accepted.get('amount'))
  const wanted = canonicalText(accepted.value)
  const beside = beyondAmount(accepted)
  return (offer) => {
    if (canonicalText(offer.value) === wanted) return true
    const amount = digitText(offer.get('amount'))
    if (!is_request || accepted.get('scheme').text() !== 'upto' || most === null || amount === null) return false
    return amount <= most && beyondAmount(offer) === beside
  }
}

function beyondAmount({ value }: Place): string {
  return canonicalText({ ...(value as Record<string, unknown>), amount: null })
}

/** Whom a payment pays, as far as that can be read: who was signed for, or the receiver of the channel. */
function paidBy(payload: Payload): Place[] {
  const receiver = channelOf(payload)?.get('receiver')
  return receiver?.present === true ? [receiver] : recipientsOf(payload)
}

function payeeAgrees({ error, warning }: Report, { context, document, entries, payloads }: X402View): void {
  const { expected_payee } = context
  if (expected_payee === null) return
  const named = (places: readonly Place[]) => places.filter((place) => place.text() !== null)
  const isStranger = (place: Place) => !sameAccount(place.text() ?? '', expected_payee)
  const signed = named(payloads.flatMap(paidBy))
  // Whatever was signed can be spent; of offers one is chosen.
  if (signed.length > 0) {
    for (const place of signed.filter(isStranger)) error(place, 'is not the expected payee')
    return
  }
  const asked = entries.filter(({ role }) => role === 'offered' || payloads.length > 0)
  const places = named(asked.map(({ place }) => payToPlace(place)))
  const strangers = places.filter(isStranger)
  if (places.length === 0) warning(document, 'holds no recipient, so the expected payee was not verified')
  else if (strangers.length === places.length) error(places[0] ?? document, 'is not the expected payee')
  else for (const place of strangers) warning(place, 'is not the expected payee, though another entry pays it')
}
