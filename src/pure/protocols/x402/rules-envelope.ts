import {
  describeChoices,
  expectType,
  expectItems,
  expectTypeIfPresent,
  expectPresent,
  expectText,
  expectItemTypes,
  expectArrayIfPresent,
  expectObject,
  expectString,
} from '../kit/expect.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding, FindingReporter } from '../protocol.ts'
import { listCarriedPayments, listPaymentMetadata, PAYMENT_STATES, paymentState } from '../kit/a2a-messages.ts'
import { x402Spec, X402_OVER_A2A, ALIASES, amountName, isMissing, type RequirementsEntry, type X402View } from './view.ts'
import { classifyEvmAddress } from '../kit/addresses.ts'
import { readDecimalDigits } from '../kit/money.ts'
import { hasNetworkNameForm, isOfNamespace, networkAt, shortenNetworkId, V1_NETWORKS } from './document-networks.ts'

/** X402-001…004, 029, 041: versions, member names and objects around the terms. */
export const X402_ENVELOPE_RULES: RuleTable<X402View> = {
  'X402-001': {
    severity: 'both',
    why: 'Clients choose their reader by this number, and throw on anything else.',
    spec: x402Spec(2, 'PaymentRequired'),
    hint: 'Send the number 2, or 1 for old clients.',
    good: { x402Version: 2 },
    bad: { x402Version: '2' },
    check({ error, warning }, { envelopes }) {
      for (const envelope of envelopes) {
        const cursor = envelope.get('x402Version')
        if (!expectType(error, cursor, 'number') || cursor.redacted) continue
        const version = cursor.integer()
        if (version !== 1n && version !== 2n) error(cursor, 'is neither 1 nor 2', { expected: '1 or 2' })
        else if (version === 1n) warning(cursor, 'is 1, a legacy version', { expected: '2' })
      }
    },
  },
  'X402-002': {
    types: ['payment_required', 'resource_list'],
    why: 'A challenge that offers nothing cannot be paid.',
    spec: x402Spec(2, 'PaymentRequired'),
    hint: 'List at least one way to pay.',
    good: { accepts: [{ scheme: 'exact' }] },
    bad: { accepts: [] },
    check({ error }, { context, document, challenges }) {
      if (context.type === 'resource_list') checkListItems(error, document)
      for (const challenge of challenges) {
        if (!challenge.has('accepts') && !isMissing(challenge, 'accepts')) continue
        for (const item of expectItems(error, challenge.get('accepts'))) expectTypeIfPresent(error, item, 'object')
      }
    },
  },
  'X402-003': {
    why: 'Version 1 calls the amount maxAmountRequired, version 2 calls it amount; a reader of one does not see the other.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Name the amount as the version of the document does.',
    good: { x402Version: 2, accepts: [{ amount: '2000' }] },
    bad: { x402Version: 2, accepts: [{ maxAmountRequired: '2000' }] },
    check({ error }, { entries }) {
      for (const { cursor, version } of entries) {
        const own = cursor.get(amountName(version))
        const other = cursor.get(amountName(version === '1' ? '2' : '1'))
        const isSwap = other.present && (!own.present || own.value !== other.value)
        if (isSwap) error(other, `is the amount of version ${version === '1' ? 2 : 1}`, { expected: amountName(version) })
      }
    },
  },
  'X402-004': {
    why: 'No client looks for a member under another name.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Rename the member.',
    good: { payTo: '0x…' },
    bad: { payToAddress: '0x…' },
    check({ error }, { challenges, entries }) {
      for (const challenge of challenges) reportAliases(error, challenge, ['accepts'])
      for (const { cursor } of entries) reportAliases(error, cursor, ['payTo', 'network', 'asset', 'maxTimeoutSeconds'])
    },
  },
  'X402-029': {
    severity: 'both',
    why: 'Readers look for members in extra and extensions; some releases of the official package refuse null.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Send an object, or leave the member out.',
    good: { extra: {} },
    bad: { extra: 'USD Coin' },
    check({ error, warning }, { entries, extensions }) {
      for (const cursor of [...entries.map((entry: RequirementsEntry) => entry.cursor.get('extra')), ...extensions]) {
        if (cursor.kind === 'null') warning(cursor, 'is null', { expected: 'an object, or nothing' })
        else expectTypeIfPresent(error, cursor, 'object')
      }
      // Of a description of outputs null is as good as nothing.
      for (const { cursor } of entries)
        if (cursor.get('outputSchema').kind !== 'null') expectTypeIfPresent(error, cursor.get('outputSchema'), 'object')
    },
  },
  'X402-041': {
    severity: 'both',
    types: ['payment_required'],
    why: 'Version 1 asks for a text that says why a payment is needed; clients of both refuse anything but a text.',
    spec: x402Spec(1, 'PaymentRequirements response'),
    hint: 'Add error, such as "payment required".',
    good: { x402Version: 1, error: 'payment required' },
    bad: { x402Version: 1 },
    check({ error, warning }, { document, version }) {
      const words = document.get('error')
      if (version === '1') expectPresent(warning, words)
      if (version === '1' || words.kind !== 'null') expectTypeIfPresent(error, words, 'string')
    },
  },
}

/** The items of a list are objects; one under `resources` may also name bare URLs. */
function checkListItems(error: ReportFinding, document: JsonCursor): void {
  const items = document.get('items')
  const list = items.present ? items : document.get('resources')
  expectTypeIfPresent(error, list, 'array')
  for (const item of list.items()) if (items.present || item.kind !== 'string') expectTypeIfPresent(error, item, 'object')
}

function reportAliases(error: ReportFinding, holder: JsonCursor, names: readonly string[]): void {
  for (const name of names) {
    if (holder.has(name)) continue
    for (const alias of ALIASES[name] ?? []) {
      if (holder.has(alias)) error(holder.get(alias), 'is not the name of this member in the protocol', { expected: name })
    }
  }
}

/** X402-039, 040, 044 and 045: answers of facilitators, servers and directories. */
export const X402_ANSWER_RULES: RuleTable<X402View> = {
  'X402-039': {
    severity: 'both',
    types: ['settlement_response'],
    why: 'A payer reads from these members whether its money moved, and where.',
    spec: x402Spec(2, 'SettlementResponse'),
    hint: 'Send success, transaction (an empty text if nothing was sent to the chain), network, and errorReason after a failure.',
    good: { success: true, transaction: '0x…', network: 'eip155:8453' },
    bad: { success: 'true', transaction: null },
    check(report, { document, version }) {
      const { error } = report
      const success = document.get('success')
      expectType(error, success, 'boolean')
      checkTransaction(report, document)
      checkNetwork(report, document.get('network'), version)
      if (success.value === false) expectType(error, document.get('errorReason'), 'string')
      expectTextsOrNull(error, document, success.value === false ? ['payer', 'errorMessage'] : ['payer', 'errorReason', 'errorMessage'])
      checkPayer(error, document)
      checkSettledAmount(error, document.get('amount'))
      checkSchemeData(error, document)
    },
  },
  'X402-040': {
    types: ['verify_response'],
    why: 'A server accepts a call on isValid and sends invalidReason to the payer.',
    spec: x402Spec(2, 'VerifyResponse'),
    hint: 'Send isValid as a boolean, and invalidReason as a text when it is false.',
    good: { isValid: false, invalidReason: 'insufficient_funds' },
    bad: { isValid: false },
    check({ error }, { document }) {
      expectType(error, document.get('isValid'), 'boolean')
      const isRefused = document.get('isValid').value === false
      if (isRefused) expectType(error, document.get('invalidReason'), 'string')
      expectTextsOrNull(error, document, isRefused ? ['payer', 'invalidMessage'] : ['payer', 'invalidReason', 'invalidMessage'])
      checkSchemeData(error, document)
    },
  },
  'X402-044': {
    severity: 'both',
    types: ['supported_response'],
    why: 'Servers choose by these kinds, at their start, what they offer to be paid by.',
    spec: x402Spec(2, 'SupportedResponse'),
    hint: 'Send kinds, each with x402Version, scheme and network; and in version 2 extensions and signers, empty if there are none.',
    good: { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }], extensions: [], signers: {} },
    bad: { kinds: [{ scheme: 'exact', network: 'eip155:8453' }] },
    check(report, { document }) {
      const { error, warning } = report
      for (const kind of document.items('kinds')) if (expectObject(error, kind)) checkSupportedKind(report, kind)
      const isNew = document.items('kinds').some((kind) => kind.integer('x402Version') === 2n)
      const [extensions, signers] = [document.get('extensions'), document.get('signers')]
      for (const [cursor, kind] of [
        [extensions, 'array'],
        [signers, 'object'],
      ] as const)
        if (cursor.present) expectTypeIfPresent(error, cursor, kind)
        else if (isNew)
          warning(cursor, 'is missing', { expected: kind === 'array' ? 'a list, which may be empty' : 'an object, which may be empty' })
      expectItemTypes(error, extensions, 'string')
      for (const list of signers.members()) expectArrayIfPresent(error, list, 'string')
    },
  },
  'X402-045': {
    types: ['resource_list'],
    why: 'Clients call what a directory lists by these members.',
    spec: x402Spec(2, 'Discovered Resource Fields'),
    hint: 'Send resource, type and x402Version with each item.',
    good: { items: [{ resource: 'https://api.example.com/report', type: 'http', x402Version: 2, accepts: [] }] },
    bad: { items: [{ x402Version: 2, accepts: [] }] },
    check({ error }, { document }) {
      const version = document.get('x402Version')
      if (expectTypeIfPresent(error, version, 'number') && !version.redacted) expectVersionNumber(error, version)
      for (const item of document.items('items')) {
        if (item.kind !== 'object') continue
        for (const name of ['resource', 'type']) expectText(error, item.get(name))
        if (!['string', 'number'].includes(item.get('lastUpdated').kind)) expectTypeIfPresent(error, item.get('lastUpdated'), 'number')
        expectTypeIfPresent(error, item.get('metadata'), 'object')
      }
    },
  },
}

/** X402-052: payments in the metadata of messages and tasks of A2A. */
export const X402_MESSAGE_RULES: RuleTable<X402View> = {
  'X402-052': {
    severity: 'both',
    types: ['a2a_message'],
    why: 'Clients read the state of a payment, and then the member of the metadata that belongs to it.',
    spec: X402_OVER_A2A,
    hint: 'Send x402.payment.status with x402.payment.required, x402.payment.payload or x402.payment.receipts.',
    good: { metadata: { 'x402.payment.status': 'payment-required', 'x402.payment.required': { x402Version: 2, accepts: [] } } },
    bad: { metadata: { 'x402.payment.status': 'payment-required' } },
    check({ error, warning }, { context, document }) {
      const metadata = listPaymentMetadata(document)
      if (metadata.length === 0) error(document, 'has no metadata of a payment', { expected: 'x402.payment.status in metadata' })
      for (const one of metadata) checkPaymentState({ error, warning }, one)
      const carried = listCarriedPayments(metadata)
      for (const { cursor, type } of carried) {
        if (cursor.kind === 'object') context.delegate('x402', cursor, type)
        // Around this message the rules of A2A say so.
        else if (!context.nested) expectTypeIfPresent(error, cursor, 'object')
      }
      if (carried.length === 0 && context.expected_payee !== null)
        warning(document, 'names no recipient, so the expected payee was not verified')
    },
  },
}

function checkPaymentState({ error, warning }: FindingReporter, metadata: JsonCursor): void {
  const state = paymentState(metadata)
  if (!expectType(error, state, 'string') || state.redacted) return
  const name = state.text() ?? ''
  const needed = Object.hasOwn(PAYMENT_STATES, name) ? PAYMENT_STATES[name] : undefined
  if (needed === undefined) warning(state, 'is not a known state', { expected: describeChoices(Object.keys(PAYMENT_STATES)) })
  else if (needed !== null && needed === 'x402.payment.receipts') expectType(error, metadata.get(needed), 'array')
  else if (needed !== null) expectPresent(error, metadata.get(needed), { expected: 'an object' })
}

/** Texts that may be left out, or be null. */
function expectTextsOrNull(error: ReportFinding, holder: JsonCursor, names: readonly string[]): void {
  for (const name of names) if (holder.get(name).kind !== 'null') expectTypeIfPresent(error, holder.get(name), 'string')
}

/** Checks the data that a scheme adds to an answer. */
function checkSchemeData(error: ReportFinding, document: JsonCursor): void {
  if (document.get('extra').kind !== 'null') expectTypeIfPresent(error, document.get('extra'), 'object')
}

const TRANSACTION = /^0x[0-9a-fA-F]{64}$/

function checkTransaction({ error, warning }: FindingReporter, document: JsonCursor): void {
  const [transaction, isDone] = [document.get('transaction'), document.get('success').value === true]
  if (!expectType(error, transaction, 'string')) return
  const text = transaction.text()
  // Of upto nothing may have been used, and a voucher of batch-settlement is cashed later: then the amount says so.
  if (text === '' && isDone && !['0', ''].includes(document.text('amount') ?? 'none'))
    warning(transaction, 'is empty though the settlement succeeded', { expected: 'the hash of the transaction' })
  if (text === null || text === '' || networkAt(document.get('network'))?.family !== 'evm' || TRANSACTION.test(text)) return
  warning(transaction, 'is not a transaction hash of this network', { expected: '0x and 64 hexadecimal digits' })
}

function checkPayer(error: ReportFinding, document: JsonCursor): void {
  const payer = document.get('payer')
  const form =
    payer.text() === null || networkAt(document.get('network'))?.family !== 'evm' ? 'checked' : classifyEvmAddress(payer.text() ?? '')
  if (form === 'none') error(payer, 'is not an address of this network', { expected: '0x and 40 hexadecimal digits' })
  else if (form === 'wrong_case') error(payer, 'breaks the checksum of EIP-55')
}

/** Expects digits; empty if nothing was settled on the chain, as with vouchers. */
function checkSettledAmount(error: ReportFinding, amount: JsonCursor): void {
  if (amount.kind === 'null' || !expectTypeIfPresent(error, amount, 'string') || amount.redacted || amount.text() === '') return
  if (readDecimalDigits(amount) === null)
    error(amount, 'is not a string of decimal digits', { expected: 'digits without sign, point, exponent or leading zero' })
}

function checkNetwork({ error, warning }: FindingReporter, cursor: JsonCursor, version: '1' | '2'): void {
  const text = expectString(error, cursor)
  if (text === null) return
  // Settlements have no version, so names of version 1 are allowed.
  const isKnown = networkAt(cursor) !== null || (version === '1' && text !== '')
  if (shortenNetworkId(text) !== null)
    warning(cursor, 'has a longer genesis hash than a CAIP-2 id allows', { expected: shortenNetworkId(text) ?? '' })
  else if (!isKnown && hasNetworkNameForm(text) && isOfNamespace(text)) warning(cursor, 'is not a known network')
  else if (!isKnown) error(cursor, 'is not a network', { expected: 'a CAIP-2 id such as eip155:8453' })
}

function expectVersionNumber(error: ReportFinding, cursor: JsonCursor): void {
  const version = cursor.integer()
  if (version !== 1n && version !== 2n) error(cursor, 'is neither 1 nor 2', { expected: '1 or 2' })
}

function checkSupportedKind({ error, warning }: FindingReporter, kind: JsonCursor): void {
  const [version, scheme, network] = ['x402Version', 'scheme', 'network'].map((name) => kind.get(name))
  if (version === undefined || scheme === undefined || network === undefined) return
  if (expectType(error, version, 'number') && !version.redacted) expectVersionNumber(error, version)
  expectText(error, scheme)
  if (kind.get('extra').kind !== 'null') expectTypeIfPresent(error, kind.get('extra'), 'object')
  const isNamed = version.integer() === 2n && V1_NETWORKS.has(network.text() ?? '')
  if (isNamed) error(network, 'is a name of version 1', { expected: V1_NETWORKS.get(network.text() ?? '') ?? '' })
  else checkNetwork({ error, warning }, network, version.integer() === 1n ? '1' : '2')
}
