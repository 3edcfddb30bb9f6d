import { evmForm } from '../kit/addresses.ts'
import { need, needText, optional } from '../kit/expect.ts'
import { digitText } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { isOfNamespace, networkAt, shortened, V1_NETWORKS } from './networks.ts'
import { isName } from './rules-terms.ts'
import { x402Spec } from './spec.ts'
import type { X402View } from './view.ts'

/** X402-039, 040, 044 and 045: what facilitators, servers and directories answer. */
export const ANSWER_RULES = [
  rule<X402View>(
    {
      code: 'X402-039',
      severity: 'both',
      types: ['settlement_response'],
      why: 'A payer reads from these members whether its money moved, and where.',
      spec: x402Spec(2, 'SettlementResponse'),
      hint: 'Send success, transaction (an empty text if nothing was sent to the chain), network, and errorReason after a failure.',
      good: { success: true, transaction: '0x…', network: 'eip155:8453' },
      bad: { success: 'true', transaction: null },
    },
    (report, { document, version }) => {
      const { error } = report
      const success = document.get('success')
      need(error, success, 'boolean')
      settledTransaction(report, document)
      settledNetwork(report, document.get('network'), version)
      if (success.value === false) need(error, document.get('errorReason'), 'string')
      texts(error, document, success.value === false ? ['payer', 'errorMessage'] : ['payer', 'errorReason', 'errorMessage'])
      payerForm(error, document)
      settledAmount(error, document.get('amount'))
      schemeData(error, document)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-040',
      severity: 'error',
      types: ['verify_response'],
      why: 'A server lets a call through on isValid, and tells the payer invalidReason.',
      spec: x402Spec(2, 'VerifyResponse'),
      hint: 'Send isValid as a boolean, and invalidReason as a text when it is false.',
      good: { isValid: false, invalidReason: 'insufficient_funds' },
      bad: { isValid: false },
    },
    ({ error }, { document }) => {
      need(error, document.get('isValid'), 'boolean')
      const isRefused = document.get('isValid').value === false
      if (isRefused) need(error, document.get('invalidReason'), 'string')
      texts(error, document, isRefused ? ['payer', 'invalidMessage'] : ['payer', 'invalidReason', 'invalidMessage'])
      schemeData(error, document)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-044',
      severity: 'both',
      types: ['supported_response'],
      why: 'Servers choose by these kinds, at their start, what they offer to be paid by.',
      spec: x402Spec(2, 'SupportedResponse'),
      hint: 'Send kinds, each with x402Version, scheme and network; and in version 2 extensions and signers, empty if there are none.',
      good: { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }], extensions: [], signers: {} },
      bad: { kinds: [{ scheme: 'exact', network: 'eip155:8453' }] },
    },
    (report, { document }) => {
      const { error, warning } = report
      for (const kind of document.get('kinds').items()) if (need(error, kind, 'object') && !kind.redacted) supportedKind(report, kind)
      const isNew = document
        .get('kinds')
        .items()
        .some((kind) => kind.get('x402Version').integer() === 2n)
      const [extensions, signers] = [document.get('extensions'), document.get('signers')]
      for (const [place, kind] of [
        [extensions, 'array'],
        [signers, 'object'],
      ] as const)
        if (place.present) optional(error, place, kind)
        else if (isNew)
          warning(place, 'is missing', { expected: kind === 'array' ? 'a list, which may be empty' : 'an object, which may be empty' })
      for (const name of extensions.items()) optional(error, name, 'string')
      for (const list of signers.members())
        if (optional(error, list, 'array')) for (const one of list.items()) optional(error, one, 'string')
    },
  ),
  rule<X402View>(
    {
      code: 'X402-045',
      severity: 'error',
      types: ['resource_list'],
      why: 'Clients call what a directory lists by these members.',
      spec: x402Spec(2, 'Discovered Resource Fields'),
      hint: 'Send resource, type and x402Version with each item.',
      good: { items: [{ resource: 'https://api.example.com/report', type: 'http', x402Version: 2, accepts: [] }] },
      bad: { items: [{ x402Version: 2, accepts: [] }] },
    },
    ({ error }, { document }) => {
      const version = document.get('x402Version')
      if (optional(error, version, 'number') && !version.redacted) oneVersion(error, version)
      for (const item of document.get('items').items()) {
        if (item.kind !== 'object') continue
        for (const name of ['resource', 'type']) needText(error, item.get(name))
        if (!['string', 'number'].includes(item.get('lastUpdated').kind)) optional(error, item.get('lastUpdated'), 'number')
        optional(error, item.get('metadata'), 'object')
      }
    },
  ),
]

/** Texts that may be left out, or be null. */
function texts(error: Say, holder: Place, names: readonly string[]): void {
  for (const name of names) if (holder.get(name).kind !== 'null') optional(error, holder.get(name), 'string')
}

/** What a scheme adds to an answer. */
function schemeData(error: Say, document: Place): void {
  if (document.get('extra').kind !== 'null') optional(error, document.get('extra'), 'object')
}

const TRANSACTION = /^0x[0-9a-fA-F]{64}$/

function settledTransaction({ error, warning }: Report, document: Place): void {
  const [transaction, isDone] = [document.get('transaction'), document.get('success').value === true]
  if (!need(error, transaction, 'string')) return
  const text = transaction.text()
  // Of upto nothing may have been used, and a voucher of batch-settlement is cashed later: then the amount says so.
  if (text === '' && isDone && !['0', ''].includes(document.get('amount').text() ?? 'none'))
    warning(transaction, 'is empty though the settlement succeeded', { expected: 'the hash of the transaction' })
  if (text === null || text === '' || networkAt(document.get('network'))?.family !== 'evm' || TRANSACTION.test(text)) return
  warning(transaction, 'is no hash of a transaction on this network', { expected: '0x and 64 hexadecimal digits' })
}

function payerForm(error: Say, document: Place): void {
  const payer = document.get('payer')
  const form = payer.text() === null || networkAt(document.get('network'))?.family !== 'evm' ? 'checked' : evmForm(payer.text() ?? '')
  if (form === 'none') error(payer, 'is no address of this network', { expected: '0x and 40 hexadecimal digits' })
  else if (form === 'wrong_case') error(payer, 'breaks the checksum of EIP-55')
}

/** Digits; empty where nothing was settled on the chain, as with vouchers. */
function settledAmount(error: Say, amount: Place): void {
  if (amount.kind === 'null' || !optional(error, amount, 'string') || amount.redacted || amount.text() === '') return
  if (digitText(amount) === null)
    error(amount, 'is no text of decimal digits', { expected: 'digits without sign, point, exponent or leading zero' })
}

function settledNetwork({ error, warning }: Report, place: Place, version: '1' | '2'): void {
  if (!need(error, place, 'string')) return
  const text = place.text()
  if (text === null) return
  // Settlements carry no version, so any name of version 1 may stand there.
  const isKnown = networkAt(place) !== null || (version === '1' && text !== '')
  if (shortened(text) !== null) warning(place, 'has more of the genesis hash than a CAIP-2 id holds', { expected: shortened(text) ?? '' })
  else if (!isKnown && isName(text) && isOfNamespace(text)) warning(place, 'is a network that is not known here')
  else if (!isKnown) error(place, 'names no network', { expected: 'a CAIP-2 id such as eip155:8453' })
}

function oneVersion(error: Say, place: Place): void {
  const version = place.integer()
  if (version !== 1n && version !== 2n) error(place, 'is neither 1 nor 2', { expected: '1 or 2' })
}

function supportedKind({ error, warning }: Report, kind: Place): void {
  const [version, scheme, network] = ['x402Version', 'scheme', 'network'].map((name) => kind.get(name))
  if (version === undefined || scheme === undefined || network === undefined) return
  if (need(error, version, 'number') && !version.redacted) oneVersion(error, version)
  needText(error, scheme)
  if (kind.get('extra').kind !== 'null') optional(error, kind.get('extra'), 'object')
  const isNamed = version.integer() === 2n && V1_NETWORKS.has(network.text() ?? '')
  if (isNamed) error(network, 'is a name of version 1', { expected: V1_NETWORKS.get(network.text() ?? '') ?? '' })
  else settledNetwork({ error, warning }, network, version.integer() === 1n ? '1' : '2')
}
