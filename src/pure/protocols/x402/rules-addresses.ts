import { classifyEvmAddress, isBurnAddress, isSolanaAddress, sameAccount } from '../kit/addresses.ts'
import { expectType, expectText, expectOneOf } from '../kit/expect.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import { tokensOf, type AddressFamily, X402_TOKENS, foldAsset } from './document-networks.ts'
import { assetOf, payToOf, tokenOf, eip, schemeSpec, x402Spec, isMissing, type RequirementsEntry, type X402View } from './view.ts'
import { expectInteger, readDecimalDigits } from '../kit/money.ts'
import { each, expectShape, integer, object, textWith } from '../kit/shape.ts'

const EVM = 'exact/scheme_exact_evm.md'
const SVM = 'exact/scheme_exact_svm.md'
const METHODS = ['eip3009', 'permit2', 'erc7710'] as const
/** Other accounts than the recipient that the payer signs for (upto, batch-settlement, auth-capture). */
const PARTIES = ['facilitatorAddress', 'receiverAuthorizer', 'captureAuthorizer', 'feeRecipient'] as const

/** X402-012…016 and 018…023: asset, recipient, and the data that the payer needs to sign. */
export const X402_ADDRESS_RULES: RuleTable<X402View> = {
  'X402-012': {
    why: 'The asset is the address of the token contract, not its symbol.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Send the address of the token on that network.',
    good: { network: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    bad: { network: 'eip155:8453', asset: 'USDC' },
    check({ error }, { entries }) {
      for (const { cursor, network } of entries) {
        if (isMissing(cursor, 'asset')) error(cursor.get('asset'), 'is missing', { expected: 'the address of the token' })
        else expectAddress(error, assetOf(cursor), network?.family ?? 'other')
      }
    },
  },
  'X402-013': {
    why: 'On this network the address is empty or another contract: the payment fails, or pays in something else.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Take the address of the token from its issuer, for this very network.',
    good: { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    bad: { network: 'eip155:8453', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    check({ error }, { entries }) {
      for (const entry of entries) {
        const elsewhere = findOtherNetwork(entry)
        if (elsewhere !== null) error(assetOf(entry.cursor), `is the address of a token on ${elsewhere}`)
      }
    },
  },
  'X402-014': {
    severity: 'warning',
    why: 'Clients pay by default only in tokens that they know.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Check that the payers you expect hold this token and allow it.',
    good: { network: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    bad: { network: 'eip155:8453', asset: '0x…' },
    check({ warning }, { entries }) {
      for (const entry of entries) {
        const { network, cursor } = entry
        const asset = assetOf(cursor).text()
        if (network === null || asset === null || !isAddress(asset, network.family) || tokensOf(network).length === 0) continue
        if (tokenOf(entry) === null && findOtherNetwork(entry) === null) warning(assetOf(cursor), 'is not a known token')
      }
    },
  },
  'X402-015': {
    severity: 'both',
    why: 'What is sent to a wrong address is lost.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Send the address of the recipient on that network.',
    good: { payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
    bad: { payTo: '0x0000000000000000000000000000000000000000' },
    check(report, { entries }) {
      for (const entry of entries) checkRecipient(report, entry)
    },
  },
  'X402-016': {
    severity: 'both',
    why: 'The capitals of an EVM address are a checksum; when they break, a character is wrong.',
    spec: eip(55, 'Specification'),
    hint: 'Copy the address again, with its capital letters.',
    good: { payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
    bad: { payTo: '0x209693bc6afc0C5328bA36FaF03C514EF312287C' },
    check({ error, warning }, { entries }) {
      for (const { cursor } of entries) {
        for (const at of [payToOf(cursor), assetOf(cursor), ...PARTIES.map((name) => cursor.get('extra', name))]) {
          const form = classifyEvmAddress(at.text() ?? '')
          if (form === 'wrong_case') error(at, 'breaks the checksum of EIP-55')
          else if (form === 'one_case') warning(at, 'has no checksum: its letters are all of one case')
        }
      }
    },
  },
  'X402-018': {
    why: 'The payer signs EIP-712 data for this name and version; without them it cannot sign.',
    spec: schemeSpec(EVM, 'PaymentRequirements'),
    hint: 'Add extra.name and extra.version of the token contract.',
    hint_by_case: true,
    good: { extra: { name: 'USD Coin', version: '2' } },
    bad: { extra: {} },
    check({ error }, { entries }) {
      for (const { cursor, scheme, network } of entries) {
        if (scheme !== 'exact' || network?.family !== 'evm' || !isEip3009(cursor) || !hasReadableExtra(cursor)) continue
        expectText(error, cursor.get('extra', 'name'))
        expectText(error, cursor.get('extra', 'version'))
      }
    },
  },
  'X402-019': {
    why: 'A signature for another EIP-712 domain never verifies.',
    spec: eip(712, 'Definition of domainSeparator'),
    hint: 'Send the name and version that the token contract itself returns.',
    good: { network: 'eip155:84532', extra: { name: 'USDC', version: '2' } },
    bad: { network: 'eip155:84532', extra: { name: 'USD Coin', version: '2' } },
    check({ error }, { entries }) {
      for (const entry of entries) {
        const token = tokenOf(entry)
        if (token === null || !isEip3009(entry.cursor)) continue
        for (const part of ['name', 'version'] as const) {
          const cursor = entry.cursor.get('extra', part)
          const text = cursor.text()
          if (text !== null && text.trim() !== '' && token[part] !== null && text !== token[part])
            error(cursor, `is not the ${part} of this token's signing domain`, { expected: token[part] })
        }
      }
    },
  },
  'X402-020': {
    severity: 'both',
    why: 'The payer signs for one way of moving the token, and the token must have it.',
    spec: schemeSpec(EVM, 'Asset transfer methods'),
    hint: 'Use eip3009 where the token has it, else permit2.',
    good: { extra: { assetTransferMethod: 'permit2' } },
    bad: { extra: { assetTransferMethod: 'approve' } },
    check({ error, warning }, { entries }) {
      for (const entry of entries) {
        const cursor = entry.cursor.get('extra', 'assetTransferMethod')
        const method = expectOneOf(error, cursor, METHODS)
        if (tokenOf(entry)?.transfer !== 'permit2' || entry.scheme !== 'exact' || !hasReadableExtra(entry.cursor)) continue
        if (method === 'eip3009' || !cursor.present)
          warning(cursor, 'should be permit2: this token has no EIP-3009', { expected: 'permit2' })
      }
    },
  },
  'X402-021': {
    why: 'On Solana the facilitator pays the fee; the payer must put its key into the transaction.',
    spec: schemeSpec(SVM, 'PaymentRequirements'),
    hint: 'Add extra.feePayer, as the facilitator lists it.',
    hint_by_case: true,
    good: { extra: { feePayer: 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd' } },
    bad: { extra: {} },
    check({ error }, { entries }) {
      for (const { cursor, scheme, network } of entries) {
        if (scheme !== 'exact' || network?.family !== 'svm' || !hasReadableExtra(cursor)) continue
        const payer = cursor.get('extra', 'feePayer')
        if (expectType(error, payer, 'string')) expectAddress(error, payer, 'svm')
        const memo = cursor.text('extra', 'memo')
        if (memo !== null && new TextEncoder().encode(memo).length > 256) error(cursor.get('extra', 'memo'), 'is longer than 256 bytes')
      }
    },
  },
  'X402-022': {
    why: 'The payer of an upto payment signs which facilitator may settle it.',
    spec: schemeSpec('upto/scheme_upto_evm.md', 'PaymentRequirements'),
    hint: 'Add extra.name, extra.version and extra.facilitatorAddress.',
    hint_by_case: true,
    good: { scheme: 'upto', extra: { name: 'USD Coin', version: '2', facilitatorAddress: '0x…' } },
    bad: { scheme: 'upto', extra: { name: 'USD Coin', version: '2' } },
    check({ error }, { entries }) {
      for (const { cursor, scheme, network } of entries) {
        // The scheme is written down for EVM networks alone.
        if (scheme !== 'upto' || network?.family !== 'evm' || !hasReadableExtra(cursor)) continue
        expectText(error, cursor.get('extra', 'name'))
        expectText(error, cursor.get('extra', 'version'))
        const facilitator = cursor.get('extra', 'facilitatorAddress')
        if (expectType(error, facilitator, 'string')) expectAddress(error, facilitator, network.family)
      }
    },
  },
  'X402-023': {
    severity: 'warning',
    why: 'Wallets scale the displayed amount by these decimals.',
    spec: eip(20, 'decimals'),
    hint: 'Leave decimals out, or send those of the token.',
    good: { extra: { decimals: 6 } },
    bad: { extra: { decimals: 18 } },
    check({ warning }, { entries }) {
      for (const entry of entries) {
        const token = tokenOf(entry)
        const cursor = entry.cursor.get('extra', 'decimals')
        if (token === null || !cursor.present || cursor.redacted) continue
        if (cursor.value !== token.decimals)
          warning(cursor, 'is not the number of decimals of this token', { expected: String(token.decimals) })
      }
    },
  },
}

const EXPECTED: Readonly<Record<AddressFamily, string>> = {
  evm: '0x and 40 hexadecimal digits',
  svm: 'base58 of 32 bytes',
  other: 'a text that is not empty',
}

function isAddress(text: string, family: AddressFamily): boolean {
  switch (family) {
    case 'evm':
      return classifyEvmAddress(text) !== 'none'
    case 'svm':
      return isSolanaAddress(text)
    case 'other':
      return text.trim() !== ''
  }
}

/** Expects the text to be an address of the family; silent about absent and redacted values. */
function expectAddress(error: ReportFinding, cursor: JsonCursor, family: AddressFamily): boolean {
  if (!cursor.present || cursor.redacted) return false
  const text = cursor.text()
  const fits = text !== null && isAddress(text, family)
  if (!fits) error(cursor, 'is not an address of this network', { expected: EXPECTED[family] })
  return fits
}

/** Returns whether a text is a role constant such as `merchant` instead of an address. */
function isRole(text: string): boolean {
  return /^[a-z][a-z_-]{1,30}$/.test(text)
}

function checkRecipient({ error, warning }: FindingReporter, { cursor, network }: RequirementsEntry): void {
  const at = payToOf(cursor)
  const text = at.text()
  if (isMissing(cursor, 'payTo')) error(at, 'is missing', { expected: 'the address of the recipient' })
  else if (text !== null && isRole(text)) warning(at, 'is a role, not an address', { expected: EXPECTED[network?.family ?? 'other'] })
  else if (expectAddress(error, at, network?.family ?? 'other') && text !== null) {
    const asset = assetOf(cursor).text()
    if (isBurnAddress(text)) error(at, 'is an address that cannot spend')
    else if (asset !== null && sameAccount(text, asset)) error(at, 'is the token contract itself')
  }
}

/** EIP-3009 is meant unless extra says otherwise. */
function isEip3009(cursor: JsonCursor): boolean {
  const method = cursor.get('extra', 'assetTransferMethod')
  return !method.present || method.text() === 'eip3009'
}

/** Returns whether extra is an object, absent or null; X402-029 reports other types. */
function hasReadableExtra(cursor: JsonCursor): boolean {
  return ['object', 'absent', 'null'].includes(cursor.get('extra').kind)
}

/** Another network on which an asset is a known token, if it is not one here; null otherwise. */
function findOtherNetwork(entry: RequirementsEntry): string | null {
  const asset = assetOf(entry.cursor).text()
  const { network } = entry
  if (asset === null || network === null || !isAddress(asset, network.family) || tokenOf(entry) !== null) return null
  // An unknown network may well carry a token at the address that it has elsewhere.
  if (tokensOf(network).length === 0) return null
  return networksOf(asset)[0] ?? null
}

/** Networks on which an asset is a known token. */
function networksOf(asset: string): readonly string[] {
  return (X402_TOKENS.view.by_asset.get(foldAsset(asset)) ?? []).map(({ network }) => network)
}

/** A quarter of an hour, and thirty days. */
const DELAY_S = { min: 900n, max: 2_592_000n }
const MOST_BPS = 10_000n

/** X402-046 and 049: extra data of the schemes with delayed capture, on EVM networks. */
export const X402_SCHEME_RULES: RuleTable<X402View> = {
  'X402-046': {
    severity: 'both',
    why: 'The payer signs for these parties and times; without them it cannot sign, or the payment cannot be settled.',
    spec: schemeSpec('batch-settlement/scheme_batch_settlement_evm.md', '402 Response (PaymentRequirements)'),
    hint: 'Send in extra what the scheme asks for, with accounts as addresses, times in seconds and fees in hundredths of a per cent.',
    good: { scheme: 'batch-settlement', extra: { receiverAuthorizer: '0x…', withdrawDelay: 900, name: 'USD Coin', version: '2' } },
    bad: { scheme: 'batch-settlement', extra: { withdrawDelay: 60 } },
    check(report, { context, entries }) {
      for (const { cursor, scheme, network } of entries) {
        if (network?.family !== 'evm' || !hasReadableExtra(cursor)) continue
        if (scheme === 'batch-settlement') checkBatchSettlement(report.error, cursor)
        if (scheme === 'auth-capture') checkAuthCapture(report, cursor.get('extra'), BigInt(context.now_s))
        if ((scheme === 'batch-settlement' || scheme === 'auth-capture') && isEip3009(cursor))
          for (const name of ['name', 'version']) expectText(report.error, cursor.get('extra', name))
      }
    },
  },
  'X402-049': {
    since: '2',
    why: 'A client that lost its state takes the total and its last voucher from here, checks the signature, and signs the next one.',
    spec: schemeSpec('batch-settlement/scheme_batch_settlement_evm.md', 'Recovery'),
    hint: 'Send amounts as digits, withdrawRequestedAt as a number, and the last voucher with its signature; no less than was claimed.',
    hint_by_case: true,
    good: { extra: { channelState: { chargedCumulativeAmount: '15000', totalClaimed: '10000' } } },
    bad: { extra: { channelState: { chargedCumulativeAmount: 15000 } } },
    check({ error }, { entries }) {
      for (const { cursor, scheme, network } of entries)
        if (scheme === 'batch-settlement' && network?.family === 'evm') checkCorrection(error, cursor.get('extra'))
    },
  },
}

const DIGITS = textWith(
  (found) => (/^(?:0|[1-9][0-9]{0,77})$/.test(found) ? null : 'is not a string of decimal digits'),
  'decimal digits, such as "5000"',
)
const CHANNEL_ID = textWith(
  (found) => (/^0x[0-9a-fA-F]{64}$/.test(found) ? null : 'is not 32 bytes in hexadecimal'),
  '0x and 64 hexadecimal digits',
)
const VOUCHER_SIGNATURE = textWith(
  (found) => (/^0x(?:[0-9a-fA-F]{2}){65,32768}$/.test(found) ? null : 'is not a signature'),
  '0x and at least 130 hexadecimal digits',
)
const CORRECTIONS = object(
  {},
  {
    minDeposit: DIGITS,
    channelState: object({
      channelId: CHANNEL_ID,
      ...each(DIGITS, 'balance', 'totalClaimed', 'refundNonce', 'chargedCumulativeAmount'),
      withdrawRequestedAt: integer(0n),
    }),
    voucherState: object({ signedMaxClaimable: DIGITS, signature: VOUCHER_SIGNATURE }),
  },
)

/** Reports what a client could not take over: it signs the next voucher from these numbers. */
function checkCorrection(error: ReportFinding, extra: JsonCursor): void {
  expectShape(error, extra, CORRECTIONS)
  const state = extra.get('channelState')
  const [charged, claimed] = [readDecimalDigits(state.get('chargedCumulativeAmount')), readDecimalDigits(state.get('totalClaimed'))]
  if (charged !== null && claimed !== null && charged < claimed) error(state.get('chargedCumulativeAmount'), 'is less than totalClaimed')
  const signed = readDecimalDigits(extra.get('voucherState', 'signedMaxClaimable'))
  if (charged !== null && signed !== null && signed < charged)
    error(extra.get('voucherState', 'signedMaxClaimable'), 'is less than was charged')
}

function checkBatchSettlement(error: ReportFinding, entry: JsonCursor): void {
  const extra = entry.get('extra')
  expectSigner(error, extra.get('receiverAuthorizer'))
  if (expectType(error, extra.get('withdrawDelay'), 'number')) expectInteger(error, extra.get('withdrawDelay'), DELAY_S)
}

function expectSigner(error: ReportFinding, cursor: JsonCursor): void {
  if (!expectType(error, cursor, 'string') || !expectAddress(error, cursor, 'evm')) return
  if (isBurnAddress(cursor.text() ?? '')) error(cursor, 'is an address that cannot sign')
}

function checkAuthCapture({ error, warning }: FindingReporter, extra: JsonCursor, now_s: bigint): void {
  expectSigner(error, extra.get('captureAuthorizer'))
  if (expectType(error, extra.get('feeRecipient'), 'string')) expectAddress(error, extra.get('feeRecipient'), 'evm')
  const number = (name: string, max?: bigint) =>
    expectType(error, extra.get(name), 'number')
      ? expectInteger(error, extra.get(name), { min: 0n, ...(max === undefined ? {} : { max }) })
      : null
  const [end, refundable] = [number('captureDeadline'), number('refundDeadline')]
  const [least, most] = [number('minFeeBps', MOST_BPS), number('maxFeeBps', MOST_BPS)]
  if (end !== null && refundable !== null && refundable < end) error(extra.get('refundDeadline'), 'is earlier than captureDeadline')
  if (least !== null && most !== null && least > most) error(extra.get('minFeeBps'), 'is more than maxFeeBps')
  if (end !== null && end <= now_s) warning(extra.get('captureDeadline'), 'has passed, so that nothing can be captured')
}
