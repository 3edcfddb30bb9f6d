import { evmForm, isBurnAddress, isSolanaAddress, sameAccount } from '../kit/addresses.ts'
import { need, needText, oneOf } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { networksOf, tokensOf, type Family } from './networks.ts'
import { assetPlace, payToPlace, tokenOf } from './rules-terms.ts'
import { eip, schemeSpec, x402Spec } from './spec.ts'
import { isMissing, type Entry, type X402View } from './view.ts'

const EVM = 'exact/scheme_exact_evm.md'
const SVM = 'exact/scheme_exact_svm.md'
const METHODS = ['eip3009', 'permit2', 'erc7710'] as const
/** Accounts that the payer signs for beside the recipient, by scheme: upto, batch-settlement, auth-capture. */
const PARTIES = ['facilitatorAddress', 'receiverAuthorizer', 'captureAuthorizer', 'feeRecipient'] as const

/** X402-012…016 and 018…023: what is paid, to whom, and what the payer must know to sign. */
export const ADDRESS_RULES = [
  rule<X402View>(
    {
      code: 'X402-012',
      severity: 'error',
      why: 'The asset is the address of the token contract, not its symbol.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Send the address of the token on that network.',
      good: { network: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
      bad: { network: 'eip155:8453', asset: 'USDC' },
    },
    ({ error }, { entries }) => {
      for (const { place, network } of entries) {
        if (isMissing(place, 'asset')) error(place.get('asset'), 'is missing', { expected: 'the address of the token' })
        else addressForm(error, assetPlace(place), network?.family ?? 'other')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-013',
      severity: 'error',
      why: 'On this network the address is empty or another contract: the payment fails, or pays in something else.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Take the address of the token from its issuer, for this very network.',
      good: { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
      bad: { network: 'eip155:8453', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    },
    ({ error }, { entries }) => {
      for (const entry of entries) {
        const elsewhere = tokenElsewhere(entry)
        if (elsewhere !== null) error(assetPlace(entry.place), `is the address of a token on ${elsewhere}`)
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-014',
      severity: 'warning',
      why: 'Clients pay by default only in tokens that they know.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Check that the payers you expect hold this token and allow it.',
      good: { network: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
      bad: { network: 'eip155:8453', asset: '0x…' },
    },
    ({ warning }, { entries }) => {
      for (const entry of entries) {
        const { network, place } = entry
        const asset = assetPlace(place).text()
        if (network === null || asset === null || !isAddress(asset, network.family) || tokensOf(network).length === 0) continue
        if (tokenOf(entry) === null && tokenElsewhere(entry) === null) warning(assetPlace(place), 'is a token that is not known here')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-015',
      severity: 'both',
      why: 'What is sent to a wrong address is lost.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Send the address of the recipient on that network.',
      good: { payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
      bad: { payTo: '0x0000000000000000000000000000000000000000' },
    },
    (report, { entries }) => {
      for (const entry of entries) payee(report, entry)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-016',
      severity: 'both',
      why: 'The capitals of an EVM address are a checksum; when they break, a character is wrong.',
      spec: eip(55, 'Specification'),
      hint: 'Copy the address anew, with its capitals.',
      good: { payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
      bad: { payTo: '0x209693bc6afc0C5328bA36FaF03C514EF312287C' },
    },
    ({ error, warning }, { entries }) => {
      for (const { place } of entries) {
        for (const at of [payToPlace(place), assetPlace(place), ...PARTIES.map((name) => place.down('extra', name))]) {
          const form = evmForm(at.text() ?? '')
          if (form === 'wrong_case') error(at, 'breaks the checksum of EIP-55')
          else if (form === 'one_case') warning(at, 'has no checksum: its letters are all of one case')
        }
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-018',
      severity: 'error',
      why: 'The payer signs EIP-712 data for this name and version; without them it cannot sign.',
      spec: schemeSpec(EVM, 'PaymentRequirements'),
      hint: 'Add extra.name and extra.version of the token contract.',
      hint_by_case: true,
      good: { extra: { name: 'USD Coin', version: '2' } },
      bad: { extra: {} },
    },
    ({ error }, { entries }) => {
      for (const { place, scheme, network } of entries) {
        if (scheme !== 'exact' || network?.family !== 'evm' || !isEip3009(place) || !hasExtra(place)) continue
        needText(error, place.down('extra', 'name'))
        needText(error, place.down('extra', 'version'))
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-019',
      severity: 'error',
      why: 'A signature for another EIP-712 domain never verifies.',
      spec: eip(712, 'Definition of domainSeparator'),
      hint: 'Send the name and version that the token contract itself returns.',
      good: { network: 'eip155:84532', extra: { name: 'USDC', version: '2' } },
      bad: { network: 'eip155:84532', extra: { name: 'USD Coin', version: '2' } },
    },
    ({ error }, { entries }) => {
      for (const entry of entries) {
        const token = tokenOf(entry)
        if (token === null || !isEip3009(entry.place)) continue
        for (const part of ['name', 'version'] as const) {
          const place = entry.place.down('extra', part)
          const text = place.text()
          if (text !== null && text.trim() !== '' && token[part] !== null && text !== token[part])
            error(place, `is not the ${part} of this token's signing domain`, { expected: token[part] })
        }
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-020',
      severity: 'both',
      why: 'The payer signs for one way of moving the token, and the token must have it.',
      spec: schemeSpec(EVM, 'Asset transfer methods'),
      hint: 'Use eip3009 where the token has it, else permit2.',
      good: { extra: { assetTransferMethod: 'permit2' } },
      bad: { extra: { assetTransferMethod: 'approve' } },
    },
    ({ error, warning }, { entries }) => {
      for (const entry of entries) {
        const place = entry.place.down('extra', 'assetTransferMethod')
        const method = oneOf(error, place, METHODS)
        if (tokenOf(entry)?.transfer !== 'permit2' || entry.scheme !== 'exact' || !hasExtra(entry.place)) continue
        if (method === 'eip3009' || !place.present) warning(place, 'should be permit2: this token has no EIP-3009', { expected: 'permit2' })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-021',
      severity: 'error',
      why: 'On Solana the facilitator pays the fee; the payer must put its key into the transaction.',
      spec: schemeSpec(SVM, 'PaymentRequirements'),
      hint: 'Add extra.feePayer, as the facilitator lists it.',
      hint_by_case: true,
      good: { extra: { feePayer: 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd' } },
      bad: { extra: {} },
    },
    ({ error }, { entries }) => {
      for (const { place, scheme, network } of entries) {
        if (scheme !== 'exact' || network?.family !== 'svm' || !hasExtra(place)) continue
        const payer = place.down('extra', 'feePayer')
        if (need(error, payer, 'string')) addressForm(error, payer, 'svm')
        const memo = place.down('extra', 'memo').text()
        if (memo !== null && new TextEncoder().encode(memo).length > 256) error(place.down('extra', 'memo'), 'is longer than 256 bytes')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-022',
      severity: 'error',
      why: 'The payer of an upto payment signs which facilitator may settle it.',
      spec: schemeSpec('upto/scheme_upto_evm.md', 'PaymentRequirements'),
      hint: 'Add extra.name, extra.version and extra.facilitatorAddress.',
      hint_by_case: true,
      good: { scheme: 'upto', extra: { name: 'USD Coin', version: '2', facilitatorAddress: '0x…' } },
      bad: { scheme: 'upto', extra: { name: 'USD Coin', version: '2' } },
    },
    ({ error }, { entries }) => {
      for (const { place, scheme, network } of entries) {
        // The scheme is written down for EVM networks alone.
        if (scheme !== 'upto' || network?.family !== 'evm' || !hasExtra(place)) continue
        needText(error, place.down('extra', 'name'))
        needText(error, place.down('extra', 'version'))
        const facilitator = place.down('extra', 'facilitatorAddress')
        if (need(error, facilitator, 'string')) addressForm(error, facilitator, network.family)
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-023',
      severity: 'warning',
      why: 'Whoever shows the amount scales it by these decimals.',
      spec: eip(20, 'decimals'),
      hint: 'Leave decimals out, or send those of the token.',
      good: { extra: { decimals: 6 } },
      bad: { extra: { decimals: 18 } },
    },
    ({ warning }, { entries }) => {
      for (const entry of entries) {
        const token = tokenOf(entry)
        const place = entry.place.down('extra', 'decimals')
        if (token === null || !place.present || place.redacted) continue
        if (place.value !== token.decimals)
          warning(place, 'is not the number of decimals of this token', { expected: String(token.decimals) })
      }
    },
  ),
]

const EXPECTED: Readonly<Record<Family, string>> = {
  evm: '0x and 40 hexadecimal digits',
  svm: 'base58 of 32 bytes',
  other: 'a text that is not empty',
}

function isAddress(text: string, family: Family): boolean {
  switch (family) {
    case 'evm':
      return evmForm(text) !== 'none'
    case 'svm':
      return isSolanaAddress(text)
    case 'other':
      return text.trim() !== ''
  }
}

/** The text here must be an address of the family; nothing is said of what is absent or redacted. */
export function addressForm(error: Say, place: Place, family: Family): boolean {
  if (!place.present || place.redacted) return false
  const text = place.text()
  const fits = text !== null && isAddress(text, family)
  if (!fits) error(place, 'is no address of this network', { expected: EXPECTED[family] })
  return fits
}

/** Role constants of the specification, such as `merchant`, where an address is meant. */
function isRole(text: string): boolean {
  return /^[a-z][a-z_-]{1,30}$/.test(text)
}

function payee({ error, warning }: Report, { place, network }: Entry): void {
  const at = payToPlace(place)
  const text = at.text()
  if (isMissing(place, 'payTo')) error(at, 'is missing', { expected: 'the address of the recipient' })
  else if (text !== null && isRole(text)) warning(at, 'is a role, not an address', { expected: EXPECTED[network?.family ?? 'other'] })
  else if (addressForm(error, at, network?.family ?? 'other') && text !== null) {
    const asset = assetPlace(place).text()
    if (isBurnAddress(text)) error(at, 'is an address that nobody can spend from')
    else if (asset !== null && sameAccount(text, asset)) error(at, 'is the token itself')
  }
}

/** EIP-3009 is meant unless extra says otherwise. */
export function isEip3009(place: Place): boolean {
  const method = place.down('extra', 'assetTransferMethod')
  return !method.present || method.text() === 'eip3009'
}

/** Whether extra can be looked into, or lacks everything, as an absent one and null do; of any other type, another rule speaks. */
export function hasExtra(place: Place): boolean {
  return ['object', 'absent', 'null'].includes(place.get('extra').kind)
}

/** Where else an asset is a known token, when it is not one here; null otherwise. */
function tokenElsewhere(entry: Entry): string | null {
  const asset = assetPlace(entry.place).text()
  const { network } = entry
  if (asset === null || network === null || !isAddress(asset, network.family) || tokenOf(entry) !== null) return null
  // An unknown network may well carry a token at the address that it has elsewhere.
  if (tokensOf(network).length === 0) return null
  return networksOf(asset)[0] ?? null
}
