import { classifyEvmAddress, sameAccount, isBurnAddress } from '../kit/addresses.ts'
import {
  comparableText,
  containsRedaction,
  expectType,
  expectText,
  expectTypeIfPresent,
  expectTextForm,
  type TextForm,
  expectOneOf,
  reportSecrets,
  expectObject,
} from '../kit/expect.ts'
import { isBase64 } from '../kit/keys.ts'
import { readDecimalDigits } from '../kit/money.ts'
import { each, expectShape, object, textWith } from '../kit/shape.ts'
import { createChannelHashes } from '../../payments/channels.ts'
import { nobleCrypto } from '../../receipts/crypto.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import {
  payToOf,
  schemeOfPayload,
  listAuthorizations,
  amountName,
  type X402Payload,
  type X402View,
  eip,
  schemeSpec,
  x402Spec,
  type SignedAuthorization,
} from './view.ts'
import { type X402Network, networkAt } from './document-networks.ts'

const PAYLOAD = x402Spec(2, 'PaymentPayload')
const EVM = 'exact/scheme_exact_evm.md'
const CHANNELS = 'batch-settlement/scheme_batch_settlement_evm.md'
/** Clocks of payer and checker may differ by so much. */
const SKEW_S = 30n
/** Reference clients date an authorization back by so much. */
const BACKDATED_S = 600n

/** X402-033…038, 042, 043, 047 and 048: payloads, payment channels, payees and secrets. */
export const X402_PAYLOAD_RULES: RuleTable<X402View> = {
  'X402-033': {
    types: ['payment_payload', 'verify_request'],
    why: 'A server finds the terms that were chosen, and what was signed, in these members.',
    spec: PAYLOAD,
    hint: 'Version 2 has accepted and payload; version 1 scheme, network and payload; a request paymentPayload and paymentRequirements.',
    hint_by_case: true,
    good: { x402Version: 2, accepted: {}, payload: {} },
    bad: { x402Version: 2, scheme: 'exact', payload: {} },
    check({ error }, { context, document, payloads }) {
      if (context.type === 'verify_request') checkRequestParts(error, document)
      for (const { cursor, version } of payloads) {
        if (version === '2') expectType(error, cursor.get('accepted'), 'object')
        else for (const name of ['scheme', 'network']) expectText(error, cursor.get(name))
        expectType(error, cursor.get('payload'), 'object')
      }
    },
  },
  'X402-034': {
    types: ['payment_payload', 'verify_request'],
    why: 'These very bytes were signed; another form cannot be verified.',
    spec: eip(3009, 'Specification'),
    hint: 'Send the signature and what was signed: addresses in hexadecimal, amount and times as texts of digits, times in seconds.',
    hint_by_case: true,
    good: { validAfter: '0', validBefore: '1790000000' },
    bad: { validAfter: 0, validBefore: '2026-12-01T00:00:00Z' },
    check({ error }, { payloads }) {
      for (const payload of payloads) {
        checkAuthorizations(error, payload)
        checkChannel(error, payload)
      }
    },
  },
  'X402-035': {
    severity: 'both',
    types: ['payment_payload', 'verify_request'],
    why: 'A server refuses a payment to another recipient, or of another amount or token, than it asked for.',
    spec: schemeSpec(EVM, 'Verification'),
    hint: 'Sign exactly the terms that were chosen.',
    good: { accepted: { amount: '2000' }, payload: { authorization: { value: '2000' } } },
    bad: { accepted: { amount: '2000' }, payload: { authorization: { value: '1000' } } },
    check(report, { context, payloads }) {
      for (const payload of payloads) {
        compareWithTerms(report, payload)
        compareChannel(report.error, payload)
        if (listRecipients(payload).length === 0) context.addNotChecked('what the signed transaction pays')
      }
    },
  },
  'X402-036': {
    severity: 'warning',
    types: ['payment_payload', 'verify_request'],
    why: 'A payment that ran out cannot be settled; one that runs too long can be settled late.',
    spec: schemeSpec(EVM, 'Verification'),
    hint: 'Let validBefore lie maxTimeoutSeconds ahead.',
    good: { validBefore: 'now + 60' },
    bad: { validBefore: '1700000000' },
    check({ warning }, { context, payloads }) {
      for (const payload of payloads) checkTimeWindow({ warning, now_s: BigInt(context.now_s) }, payload)
    },
  },
  'X402-037': {
    types: ['payment_payload', 'verify_request'],
    why: 'On Solana the payer sends the transaction itself, partly signed.',
    spec: schemeSpec('exact/scheme_exact_svm.md', 'PaymentPayload'),
    hint: 'Send payload.transaction in base64.',
    good: { payload: { transaction: 'AQAB…' } },
    bad: { payload: { signature: '…' } },
    check({ error }, { payloads }) {
      for (const payload of payloads) {
        const { cursor } = payload
        const transaction = cursor.get('payload', 'transaction')
        // Other schemes have not said how they are paid on Solana.
        const isExact = [null, 'exact'].includes(schemeOfPayload(payload)) && networkOfPayload(payload)?.family === 'svm'
        if (!isExact || cursor.get('payload').kind !== 'object' || !expectType(error, transaction, 'string')) continue
        const text = transaction.text()
        if (text !== null && !isBase64(text)) error(transaction, 'is not base64')
      }
    },
  },
  'X402-038': {
    types: ['payment_required', 'verify_request'],
    since: '2',
    why: 'Servers compare what was accepted with what they offered, member by member.',
    spec: PAYLOAD,
    hint: 'Echo the chosen entry unchanged.',
    good: { accepts: [{ amount: '2000' }], accepted: { amount: '2000' } },
    bad: { accepts: [{ amount: '2000' }], accepted: { amount: '1000' } },
    check({ error }, { document, entries }) {
      const accepted = document.has('paymentPayload') ? document.get('paymentPayload', 'accepted') : document.get('accepted')
      const offers = entries.filter(({ role }) => role === 'offered').map(({ cursor }) => cursor)
      if (accepted.kind !== 'object' || offers.length === 0 || [accepted, ...offers].some(containsRedaction)) return
      const wanted = matcherOfAccepted(accepted, document.has('paymentPayload'))
      if (!offers.some((offer) => wanted(offer))) error(accepted, 'differs from all offered terms')
    },
  },
  'X402-047': {
    types: ['payment_payload', 'verify_request'],
    since: '2',
    why: 'A deposit is collected by exactly one signed authorization; a refund returns a part of what is left.',
    spec: schemeSpec(CHANNELS, 'Client: Payment Construction'),
    hint: 'Send deposit.amount as digits and one of erc3009Authorization and permit2Authorization; leave amount out for a whole refund.',
    hint_by_case: true,
    good: { type: 'deposit', deposit: { amount: '50000', authorization: { erc3009Authorization: {} } } },
    bad: { type: 'deposit', deposit: { amount: 50000 } },
    check({ error }, { payloads }) {
      for (const payload of payloads) {
        if (findChannel(payload) === null) continue
        const body = payload.cursor.get('payload')
        if (body.text('type') === 'deposit') checkDeposit(error, body.get('deposit'))
        if (body.text('type') === 'refund') expectShape(error, body.get('amount'), POSITIVE_DIGITS)
      }
    },
  },
  'X402-048': {
    severity: 'both',
    types: ['payment_payload', 'verify_request'],
    since: '2',
    why: 'A voucher counts for the channel whose settings hash to its id, and must cover the price; a small deposit may be refused.',
    spec: schemeSpec(CHANNELS, 'Server: Verification'),
    hint: 'Sign for the hash of channelConfig; let maxClaimableAmount be the total so far and the price, and deposit at least minDeposit.',
    hint_by_case: true,
    good: { accepted: { amount: '5000' }, payload: { voucher: { maxClaimableAmount: '15000' } } },
    bad: { accepted: { amount: '5000' }, payload: { voucher: { maxClaimableAmount: '4000' } } },
    check(report, { payloads }) {
      for (const payload of payloads) checkVoucher(report, payload)
    },
  },
  'X402-042': {
    severity: 'both',
    why: 'Money goes to payTo, regardless of the shop name.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Do not pay before the recipient is clear.',
    good: { expected_payee: '0x2096…287C', document: { payTo: '0x2096…287C' } },
    bad: { expected_payee: '0x2096…287C', document: { payTo: '0x8ba1…BA72' } },
    check: (report, view) => comparePayee(report, view),
  },
  'X402-043': {
    severity: 'warning',
    why: 'A secret that was sent to a third party is compromised.',
    spec: x402Spec(2, 'Security considerations'),
    hint: 'Replace the value with [REDACTED], and move the funds if the key was real.',
    good: { privateKey: '[REDACTED]' },
    bad: { privateKey: '0x…' },
    check({ warning }, { context }) {
      reportSecrets(warning, context.secrets)
    },
  },
}

function networkOfPayload({ terms, cursor }: X402Payload): X402Network | null {
  return networkAt((terms ?? cursor).get('network'))
}

/** Checks a request to a facilitator. A list of requirements is accepted as well. */
function checkRequestParts(error: ReportFinding, document: JsonCursor): void {
  expectType(error, document.get('paymentPayload'), 'object')
  const requirements = document.get('paymentRequirements')
  if (requirements.kind !== 'array') expectType(error, requirements, 'object')
}

function compareWithTerms({ error, warning }: FindingReporter, payload: X402Payload): void {
  const { cursor, terms, version } = payload
  const scheme = schemeOfPayload(payload)
  if (terms === null) return
  for (const name of version === '1' ? ['scheme', 'network'] : []) {
    const [own, asked] = [cursor.text(name), terms.text(name)]
    if (own !== null && asked !== null && own !== asked) error(cursor.get(name), `is not the ${name} of the terms`)
  }
  if (scheme !== 'exact' && scheme !== 'upto') return
  const amount = readDecimalDigits(terms.get(amountName(version)))
  for (const signed of listAuthorizations(payload)) {
    if (isOtherAccount(signed.to, terms.get('payTo'))) error(signed.to, 'is not the recipient of the terms')
    const value = readDecimalDigits(signed.amount)
    if (value !== null && amount !== null && value !== amount) error(signed.amount, 'is not the amount of the terms')
    if (signed.permitted !== null) comparePermit({ error, warning }, signed.permitted, terms)
  }
  if (scheme !== 'upto') return
  const settler = cursor.get('payload', 'permit2Authorization', 'witness', 'facilitator')
  if (isOtherAccount(settler, terms.get('extra', 'facilitatorAddress'))) error(settler, 'is not the facilitatorAddress of the terms')
}

/**
 * Proxies that send the money to the witness and nowhere else: of exact and upto in @x402/evm 2.27.0, and those of the releases before,
 * which other facilitators still have. Another spender may send it to anybody.
 */
const PROXIES: ReadonlySet<string> = new Set(
  [
    '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
    '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
    '0x4020615294c913F045dc10f0a5cdEbd86c280001',
    '0x4020633461b2895a48930Ff97eE8fCdE8E520002',
  ].map((address) => address.toLowerCase()),
)

function comparePermit(
  { error, warning }: FindingReporter,
  { token, spender }: { token: JsonCursor; spender: JsonCursor },
  terms: JsonCursor,
): void {
  if (isOtherAccount(token, terms.get('asset'))) error(token, 'is not the token of the terms')
  const text = spender.text()
  if (text !== null && classifyEvmAddress(text) !== 'none' && !PROXIES.has(text.toLowerCase()))
    warning(spender, 'is not a known x402 proxy and may send the money elsewhere')
}

function isOtherAccount(signed: JsonCursor, asked: JsonCursor): boolean {
  const [one, other] = [signed.text(), asked.text()]
  return one !== null && other !== null && classifyEvmAddress(one) !== 'none' && !sameAccount(one, other)
}

function checkTimeWindow({ warning, now_s }: { warning: ReportFinding; now_s: bigint }, payload: X402Payload): void {
  const most = payload.terms?.integer('maxTimeoutSeconds') ?? null
  for (const { after, before } of listAuthorizations(payload)) {
    const end = readDecimalDigits(before)
    if (end === null || end > 100_000_000_000n) continue
    const first = readDecimalDigits(after) ?? 0n
    // Reference clients start the window at zero or ten minutes back, so its length counts from now on.
    const start = first > now_s ? first : now_s
    if (end <= now_s) warning(before, 'is in the past')
    else if (most !== null && end - start > most + SKEW_S) warning(before, 'leaves more time than the terms allow')
    else if (first > now_s + BACKDATED_S) warning(after, 'is far in the future')
  }
}

/**
 * Returns a test whether an offer equals the accepted terms. With upto a facilitator may settle less than was accepted: then all members
 * but the amount must be equal (scheme_upto_evm, settle-time verification).
 */
function matcherOfAccepted(accepted: JsonCursor, is_request: boolean): (offer: JsonCursor) => boolean {
  const most = readDecimalDigits(accepted.get('amount'))
  const wanted = comparableText(accepted.value)
  const beside = textWithoutAmount(accepted)
  return (offer) => {
    if (comparableText(offer.value) === wanted) return true
    const amount = readDecimalDigits(offer.get('amount'))
    if (!is_request || accepted.text('scheme') !== 'upto' || most === null || amount === null) return false
    return amount <= most && textWithoutAmount(offer) === beside
  }
}

function textWithoutAmount({ value }: JsonCursor): string {
  return comparableText({ ...(value as Record<string, unknown>), amount: null })
}

/** Recipients that the payer signed for; none if unreadable, as in a transaction, a delegation or a voucher. */
function signedRecipients(payload: X402Payload): JsonCursor[] {
  // Here the payer signs for a contract that collects the money first.
  if (schemeOfPayload(payload) === 'auth-capture') return []
  return listAuthorizations(payload).flatMap(({ to }) => (to.present ? [to] : []))
}

/** Readable recipients of a payment: the signed ones, or the receiver of the channel. */
function listRecipients(payload: X402Payload): JsonCursor[] {
  const receiver = findChannel(payload)?.get('receiver')
  return receiver?.present === true ? [receiver] : signedRecipients(payload)
}

function comparePayee({ error, warning }: FindingReporter, { context, document, entries, payloads }: X402View): void {
  const { expected_payee } = context
  // Documents inside a message are compared one by one.
  if (expected_payee === null || context.type === 'a2a_message') return
  const named = (cursors: readonly JsonCursor[]) => cursors.filter((cursor) => cursor.text() !== null)
  const isStranger = (cursor: JsonCursor) => !sameAccount(cursor.text() ?? '', expected_payee)
  const signed = named(payloads.flatMap(listRecipients))
  // Every signed payment can be executed; of offers only one is chosen.
  if (signed.length > 0) {
    for (const cursor of signed.filter(isStranger)) error(cursor, 'is not the expected payee')
    return
  }
  const asked = entries.filter(({ role }) => role === 'offered' || payloads.length > 0)
  const cursors = named(asked.map(({ cursor }) => payToOf(cursor)))
  const strangers = cursors.filter(isStranger)
  if (cursors.length === 0) warning(document, 'names no recipient, so the expected payee was not verified')
  else if (strangers.length === cursors.length) error(cursors[0] ?? document, 'is not the expected payee')
  else for (const cursor of strangers) warning(cursor, 'is not the expected payee, though another entry pays it')
}

const NONCES: Readonly<Record<SignedAuthorization['method'], TextForm>> = {
  eip3009: { pattern: /^0x[0-9a-fA-F]{64}$/, expected: '0x and 64 hexadecimal digits' },
  permit2: { pattern: /^(?:0|[1-9][0-9]{0,77}|0x[0-9a-fA-F]{1,64})$/, expected: 'an integer of at most 256 bits' },
}
// A key signs with 65 bytes; a contract wallet may return as much as it likes.
const SIGNATURE_FORM = { pattern: /^0x(?:[0-9a-fA-F]{2}){65,32768}$/, expected: '0x and at least 130 hexadecimal digits' }

/** Checks presence and form of signed authorizations on EVM networks (exact and upto). */
function checkAuthorizations(error: ReportFinding, payload: X402Payload): void {
  const [scheme, network] = [schemeOfPayload(payload), networkOfPayload(payload)]
  if ((network !== null && network.family !== 'evm') || (scheme !== null && scheme !== 'exact' && scheme !== 'upto')) return
  if (network !== null && scheme !== null) expectAuthorization(error, payload, scheme)
  const signed = listAuthorizations(payload)
  for (const one of signed) checkAuthorization(error, one)
  const signature = payload.cursor.get('payload', 'signature')
  if (signed.length > 0 && expectType(error, signature, 'string')) expectTextForm(error, signature, SIGNATURE_FORM)
}

/** Of exact an authorization of either kind must be there, unless money is moved by delegation; of upto one of Permit2. */
function expectAuthorization(error: ReportFinding, { cursor, terms }: X402Payload, scheme: string): void {
  const body = cursor.get('payload')
  const extra = (terms ?? cursor).get('extra')
  const method = extra.get('assetTransferMethod')
  if (body.kind !== 'object' || extra.redacted || method.redacted || method.text() === 'erc7710') return
  const permit = body.get('permit2Authorization')
  const either = scheme === 'upto' ? [permit] : [body.get('authorization'), permit]
  const given = either.filter(({ present, kind }) => present && kind !== 'null')
  for (const one of given) expectTypeIfPresent(error, one, 'object')
  if (given.length === 0) expectType(error, scheme === 'upto' || method.text() === 'permit2' ? permit : body.get('authorization'), 'object')
}

function checkAuthorization(error: ReportFinding, { method, addresses, amount, after, before, nonce }: SignedAuthorization): void {
  for (const cursor of addresses) {
    if (expectType(error, cursor, 'string') && !cursor.redacted && ['none', 'wrong_case'].includes(classifyEvmAddress(cursor.text() ?? '')))
      error(cursor, 'is not an EVM address', { expected: '0x and 40 hexadecimal digits' })
  }
  for (const cursor of [amount, after, before]) {
    if (expectType(error, cursor, 'string') && !cursor.redacted && readDecimalDigits(cursor) === null)
      error(cursor, 'is not a string of decimal digits')
  }
  const [start, end] = [readDecimalDigits(after), readDecimalDigits(before)]
  if (start !== null && end !== null && start >= end) error(before, 'is not later than validAfter')
  // Beyond this the number counts milliseconds.
  if (end !== null && end > 100_000_000_000n && end < 100_000_000_000_000n) error(before, 'counts milliseconds', { expected: 'seconds' })
  if (expectType(error, nonce, 'string')) expectTextForm(error, nonce, NONCES[method])
}

/** Payments out of a channel (scheme_batch_settlement_evm, Client: Payment Construction). */

/** Configuration of the payment channel; null for payments of other schemes and networks. */
function findChannel(payload: X402Payload): JsonCursor | null {
  const isEvm = networkOfPayload(payload)?.family === 'evm'
  return schemeOfPayload(payload) === 'batch-settlement' && isEvm ? payload.cursor.get('payload', 'channelConfig') : null
}

const HASH = { pattern: /^0x[0-9a-fA-F]{64}$/, expected: '0x and 64 hexadecimal digits' }
const VOUCHER_SIGNATURE = { pattern: /^0x(?:[0-9a-fA-F]{2}){65,32768}$/, expected: '0x and at least 130 hexadecimal digits' }

/** Checks the form of channel and voucher, which all three kinds of payment have. */
function checkChannel(error: ReportFinding, payload: X402Payload): void {
  const channel = findChannel(payload)
  const body = payload.cursor.get('payload')
  if (channel === null || body.kind !== 'object') return
  if (expectType(error, body.get('type'), 'string')) expectOneOf(error, body.get('type'), ['deposit', 'voucher', 'refund'])
  if (expectObject(error, channel)) {
    for (const name of ['payer', 'payerAuthorizer', 'receiver', 'receiverAuthorizer', 'token']) expectEvmAddress(error, channel.get(name))
    expectType(error, channel.get('withdrawDelay'), 'number')
    if (expectType(error, channel.get('salt'), 'string')) expectTextForm(error, channel.get('salt'), HASH)
  }
  const voucher = body.get('voucher')
  if (!expectObject(error, voucher)) return
  if (expectType(error, voucher.get('channelId'), 'string')) expectTextForm(error, voucher.get('channelId'), HASH)
  if (expectType(error, voucher.get('signature'), 'string')) expectTextForm(error, voucher.get('signature'), VOUCHER_SIGNATURE)
  const most = voucher.get('maxClaimableAmount')
  if (expectType(error, most, 'string') && !most.redacted && readDecimalDigits(most) === null)
    error(most, 'is not a string of decimal digits')
}

function expectEvmAddress(error: ReportFinding, cursor: JsonCursor): void {
  if (expectType(error, cursor, 'string') && !cursor.redacted && ['none', 'wrong_case'].includes(classifyEvmAddress(cursor.text() ?? '')))
    error(cursor, 'is not an EVM address', { expected: '0x and 40 hexadecimal digits' })
}

/** Reports where the channel differs from the terms: it pays its own receiver in its own token. */
function compareChannel(error: ReportFinding, payload: X402Payload): void {
  const channel = findChannel(payload)
  const { terms } = payload
  if (channel === null || terms === null) return
  const pairs: [JsonCursor, JsonCursor, string][] = [
    [channel.get('receiver'), terms.get('payTo'), 'is not the recipient of the terms'],
    [channel.get('token'), terms.get('asset'), 'is not the token of the terms'],
    [channel.get('receiverAuthorizer'), terms.get('extra', 'receiverAuthorizer'), 'is not the receiverAuthorizer of the terms'],
  ]
  for (const [own, asked, words] of pairs) {
    const [one, other] = [own.text(), asked.text()]
    if (one !== null && other !== null && classifyEvmAddress(one) !== 'none' && !isBurnAddress(other) && !sameAccount(one, other))
      error(own, words)
  }
  const [own, asked] = [channel.integer('withdrawDelay'), terms.integer('extra', 'withdrawDelay')]
  if (own !== null && asked !== null && own !== asked) error(channel.get('withdrawDelay'), 'is not the withdrawDelay of the terms')
}

const DIGITS = textWith((found) => (DIGITS_FORM.test(found) ? null : 'is not a string of decimal digits'), 'decimal digits, such as "5000"')
const DIGITS_FORM = /^(?:0|[1-9][0-9]{0,77})$/
const POSITIVE_DIGITS = textWith(
  (found) => (/^[1-9][0-9]{0,77}$/.test(found) ? null : 'is not a positive amount in decimal digits'),
  'decimal digits, such as "5000"',
)
const WORD = textWith((found) => (HASH.pattern.test(found) ? null : 'is not 32 bytes in hexadecimal'), HASH.expected)
const SIGNATURE = textWith((found) => (SIGNATURE_FORM.pattern.test(found) ? null : 'is not a signature'), SIGNATURE_FORM.expected)
const ACCOUNT = textWith(
  (found) => (['none', 'wrong_case'].includes(classifyEvmAddress(found)) ? 'is not an EVM address' : null),
  '0x and 40 hexadecimal digits',
)

const TRANSFER = object({ ...each(DIGITS, 'validAfter', 'validBefore'), salt: WORD, signature: SIGNATURE })
const PERMIT = object({
  ...each(ACCOUNT, 'from', 'spender'),
  permitted: object({ token: ACCOUNT, amount: POSITIVE_DIGITS }),
  ...each(DIGITS, 'nonce', 'deadline'),
  witness: object({ channelId: WORD }),
  signature: SIGNATURE,
})

function checkDeposit(error: ReportFinding, deposit: JsonCursor): void {
  if (!expectObject(error, deposit)) return
  expectShape(error, deposit, object({ amount: POSITIVE_DIGITS, authorization: object({}) }))
  const authorization = deposit.get('authorization')
  if (authorization.kind !== 'object') return
  const [transfer, permit] = [authorization.get('erc3009Authorization'), authorization.get('permit2Authorization')]
  if (!transfer.present && !permit.present) expectType(error, transfer, 'object')
  if (transfer.present && permit.present) error(permit, 'is a second authorization next to erc3009Authorization')
  expectShape(error, transfer, TRANSFER)
  expectShape(error, permit, PERMIT)
  // A number that was signed with Permit2 is the amount that is collected.
  const [amount, permitted] = [readDecimalDigits(deposit.get('amount')), readDecimalDigits(permit.get('permitted', 'amount'))]
  if (amount !== null && permitted !== null && amount !== permitted)
    error(permit.get('permitted', 'amount'), 'is not the amount of the deposit')
}

function checkVoucher({ error, warning }: FindingReporter, payload: X402Payload): void {
  const channel = findChannel(payload)
  if (channel === null) return
  const body = payload.cursor.get('payload')
  const [given, computed] = [body.text('voucher', 'channelId'), channelIdOf(channel, networkOfPayload(payload)?.id ?? '')]
  if (given !== null && computed !== null && HASH.pattern.test(given) && given.toLowerCase() !== computed)
    error(body.get('voucher', 'channelId'), 'is not the id of this channelConfig', { expected: computed })
  const { terms } = payload
  if (terms === null || body.text('type') === 'refund') return
  const [most, price] = [readDecimalDigits(body.get('voucher', 'maxClaimableAmount')), readDecimalDigits(terms.get('amount'))]
  if (most !== null && price !== null && most < price)
    error(body.get('voucher', 'maxClaimableAmount'), 'is less than the price of the terms')
  const [deposit, least] = [readDecimalDigits(body.get('deposit', 'amount')), readDecimalDigits(terms.get('extra', 'minDeposit'))]
  if (deposit !== null && least !== null && deposit < least)
    warning(body.get('deposit', 'amount'), 'is less than the minDeposit of the terms')
}

/** Id of a channel on a network; null where its settings cannot be read. */
function channelIdOf(channel: JsonCursor, network: string): string | null {
  const [payer, payer_authorizer, receiver, receiver_authorizer, token] = [
    'payer',
    'payerAuthorizer',
    'receiver',
    'receiverAuthorizer',
    'token',
  ].map((name) => channel.text(name))
  const [salt, delay, chain_id] = [channel.text('salt'), channel.integer('withdrawDelay'), Number(network.replace('eip155:', ''))]
  if (payer == null || payer_authorizer == null || receiver == null || receiver_authorizer == null || token == null) return null
  const accounts = { payer, payer_authorizer, receiver, receiver_authorizer, token }
  if (Object.values(accounts).some((account) => classifyEvmAddress(account) === 'none')) return null
  if (salt === null || !HASH.pattern.test(salt) || delay === null || delay < 0n || !Number.isSafeInteger(chain_id)) return null
  const config = { ...accounts, withdraw_delay_s: Number(delay), salt: salt.toLowerCase() }
  const lower = Object.fromEntries(Object.entries(accounts).map(([name, account]) => [name, account.toLowerCase()])) as typeof accounts
  return createChannelHashes(chain_id, nobleCrypto).channelId({ ...config, ...lower })
}
