import { comparableText, expectType, expectText, expectString } from '../kit/expect.ts'
import { readDecimalDigits, expectInteger } from '../kit/money.ts'
import { readCaip2 } from '../kit/addresses.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding, SpecReference } from '../protocol.ts'
import {
  foldAsset,
  hasNetworkNameForm,
  isOfNamespace,
  networkAt,
  shortenNetworkId,
  SOLANA_NETWORKS,
  V1_NETWORKS,
} from './document-networks.ts'
import {
  amountName,
  assetOf,
  isMissing,
  networkCursor,
  payToOf,
  type RequirementsEntry,
  schemeSpec,
  tokenOf,
  x402Spec,
  type X402View,
} from './view.ts'

const SCHEMES: ReadonlySet<string> = new Set(['exact', 'upto', 'batch-settlement', 'auth-capture'])
const MOST_EVM = 2n ** 256n - 1n
const MOST_SVM = 2n ** 64n - 1n
const LEAST_PLAUSIBLE = 100n
const MOST_PLAUSIBLE = 1_000_000_000_000n

const CAIP_2: SpecReference = { url: 'https://chainagnostic.org/CAIPs/caip-2', section: 'Syntax' }

/** X402-005…011, 017, 027, 028: scheme, network, amount and time of each way to pay. */
export const X402_TERMS_RULES: RuleTable<X402View> = {
  'X402-005': {
    severity: 'both',
    why: 'A client pays only by a scheme that it knows.',
    spec: x402Spec(2, 'Payment schemes'),
    hint: 'Use exact unless the client is known to have another scheme.',
    good: { scheme: 'exact' },
    bad: { scheme: '' },
    check({ error, warning }, { entries }) {
      for (const { cursor } of entries) {
        const scheme = expectText(error, cursor.get('scheme'))
        if (scheme === null || scheme.trim() === '' || SCHEMES.has(scheme)) continue
        const meant = scheme.trim().toLowerCase()
        if (SCHEMES.has(meant)) error(cursor.get('scheme'), 'is a misspelled scheme', { expected: meant })
        else warning(cursor.get('scheme'), 'is not a known scheme', { expected: [...SCHEMES].join(', ') })
      }
    },
  },
  'X402-006': {
    severity: 'both',
    why: 'Version 1 names networks, version 2 has CAIP-2 ids; clients of one do not read the other.',
    spec: CAIP_2,
    hint: 'Write eip155:8453 in version 2, base in version 1.',
    good: { x402Version: 2, accepts: [{ network: 'eip155:8453' }] },
    bad: { x402Version: 2, accepts: [{ network: 'base' }] },
    check(report, { entries }) {
      for (const entry of entries) checkNetworkForm(report, entry)
    },
  },
  'X402-007': {
    why: 'The reference of a Solana network is the beginning of its genesis hash.',
    spec: { url: 'https://namespaces.chainagnostic.org/solana/caip2', section: 'Syntax' },
    hint: 'Use solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp for mainnet.',
    good: { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' },
    bad: { network: 'solana:mainnet' },
    check({ error }, { entries }) {
      for (const { cursor, network } of entries) {
        if (network?.family === 'svm' && !network.known)
          error(networkCursor(cursor), 'is not a Solana genesis hash', { expected: SOLANA_NETWORKS.join(', ') })
      }
    },
  },
  'X402-008': {
    severity: 'warning',
    why: 'Asset and address rules are not known for this network, so they were left out.',
    spec: CAIP_2,
    hint: 'Check asset and payTo yourself.',
    good: { network: 'eip155:8453' },
    bad: { network: 'eip155:999999999' },
    check({ warning }, { entries }) {
      for (const { cursor, network, version } of entries) {
        const at = networkCursor(cursor)
        const isNew = network === null ? version === '1' && hasNetworkNameForm(at.text()) : !network.known && network.family !== 'svm'
        if (isNew) warning(at, 'is not a known network')
      }
    },
  },
  'X402-009': {
    why: 'Clients read the amount with BigInt: a point, a sign or an exponent makes them throw, and a number is rounded.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Send a text of digits in the smallest unit of the token: 0.01 USDC is "10000".',
    good: { amount: '10000' },
    bad: { amount: '0.01' },
    check({ error }, { entries }) {
      for (const entry of entries) {
        const cursor = amountOf(entry)
        if (!expectType(error, cursor, 'string') || cursor.redacted) continue
        if (readDecimalDigits(cursor) === null)
          error(cursor, 'is not a string of decimal digits', { expected: 'digits without sign, point, exponent or leading zero' })
      }
    },
  },
  'X402-010': {
    severity: 'both',
    why: 'A transfer of nothing, or of more than the token can count, cannot be settled.',
    spec: schemeSpec('exact/scheme_exact_evm.md', 'PaymentRequirements'),
    hint: 'Ask for at least one unit.',
    good: { scheme: 'exact', amount: '1' },
    bad: { scheme: 'exact', amount: '0' },
    check({ error, warning }, { entries }) {
      for (const entry of entries) {
        const cursor = amountOf(entry)
        const amount = readDecimalDigits(cursor)
        const most = entry.network?.family === 'evm' ? MOST_EVM : entry.network?.family === 'svm' ? MOST_SVM : null
        if (amount === 0n && entry.scheme === 'exact') error(cursor, 'is zero', { expected: 'at least 1' })
        else if (amount === 0n && entry.scheme === 'upto') warning(cursor, 'is zero')
        else if (amount !== null && most !== null && amount > most) error(cursor, 'is more than the network can transfer')
      }
    },
  },
  'X402-011': {
    severity: 'warning',
    why: 'Such amounts mostly come from dollars written as units, or from scaling twice.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'The unit is the smallest one of the token: 1 USDC is "1000000".',
    good: { amount: '1000000' },
    bad: { amount: '1' },
    check({ warning }, { entries }) {
      for (const entry of entries) {
        const cursor = amountOf(entry)
        const amount = readDecimalDigits(cursor)
        if (amount === null || amount === 0n || tokenOf(entry)?.decimals !== 6) continue
        const isOver = amount > MOST_PLAUSIBLE && amount <= (entry.network?.family === 'svm' ? MOST_SVM : MOST_EVM)
        if (amount < LEAST_PLAUSIBLE) warning(cursor, 'is less than a hundredth of a cent')
        else if (isOver) warning(cursor, 'is more than a million dollars')
      }
    },
  },
  'X402-017': {
    severity: 'both',
    why: 'The authorization of the payer lasts this long: too short fails to settle, too long can be used late.',
    spec: x402Spec(2, 'PaymentRequirements'),
    hint: 'Send whole seconds as a number, such as 60.',
    good: { maxTimeoutSeconds: 60 },
    bad: { maxTimeoutSeconds: '60' },
    check({ error, warning }, { entries }) {
      for (const { cursor } of entries) {
        const time = cursor.get('maxTimeoutSeconds')
        if (isMissing(cursor, 'maxTimeoutSeconds')) error(time, 'is missing', { expected: 'seconds as a number' })
        const seconds = expectInteger(error, time, { min: 1n })
        if (seconds !== null && (seconds < 10n || seconds > 3_600n)) warning(time, 'is an unusual time', { expected: '10 to 3600 seconds' })
      }
    },
  },
  'X402-027': {
    severity: 'warning',
    why: 'A client uses the first entry that suits it; a second one of the same kind is unused or pays another party.',
    spec: x402Spec(2, 'PaymentRequired'),
    hint: 'Leave one entry for each scheme, network and asset.',
    good: { accepts: [{ network: 'eip155:8453' }, { network: 'eip155:1' }] },
    bad: { accepts: [{ network: 'eip155:8453' }, { network: 'eip155:8453' }] },
    check({ warning }, { entries }) {
      reportRepeats(warning, listOffered(entries))
    },
  },
  'X402-028': {
    severity: 'warning',
    types: ['payment_required', 'payment_requirements'],
    why: 'Tokens of a test network are worth nothing.',
    spec: x402Spec(2, 'PaymentRequired'),
    hint: 'Offer test networks only from test deployments, and never together with real ones.',
    good: { accepts: [{ network: 'eip155:8453' }] },
    bad: { accepts: [{ network: 'eip155:8453' }, { network: 'eip155:84532' }] },
    check({ warning }, { document, entries }) {
      const known = listOffered(entries).flatMap(({ network }) => (network?.known === true ? [network.testnet] : []))
      const cursor = document.has('accepts') ? document.get('accepts') : document
      if (known.length === 0 || !known.includes(true)) return
      warning(cursor, known.includes(false) ? 'mixes real and test networks' : 'offers test networks only')
    },
  },
}

/** The amount of an entry under whichever name it has. */
function amountOf({ cursor, version }: RequirementsEntry): JsonCursor {
  const own = cursor.get(amountName(version))
  const other = cursor.get(amountName(version === '1' ? '2' : '1'))
  return own.present || !other.present ? own : other
}

function checkNetworkForm({ error, warning }: FindingReporter, { cursor, version }: RequirementsEntry): void {
  const at = networkCursor(cursor)
  const text = expectString(error, at)
  if (text === null) return
  const caip = V1_NETWORKS.get(text)
  const short = shortenNetworkId(text)
  const isCaip = readCaip2(text) !== null
  if (!isOfNamespace(text))
    error(at, 'is not an EVM network; EVM networks have numbers', { expected: 'the number of the chain, such as eip155:8453' })
  else if (version === '2') {
    const expected = caip ?? short ?? 'a CAIP-2 id such as eip155:8453'
    if (short !== null) warning(at, 'has a longer genesis hash than a CAIP-2 id allows', { expected })
    else if (!isCaip) error(at, caip === undefined ? 'is not a CAIP-2 id' : 'is a name of version 1', { expected })
  } else if (isCaip) {
    const name = [...V1_NETWORKS].find(([, id]) => id === text)?.[0]
    error(at, 'is a CAIP-2 id, for which clients of version 1 refuse the whole message', {
      expected: name ?? 'a network name of version 1',
    })
  } else if (caip === undefined && !hasNetworkNameForm(text)) {
    error(at, 'is not a network name of version 1', { expected: 'a name such as base or solana' })
  }
}

function listOffered(entries: readonly RequirementsEntry[]): RequirementsEntry[] {
  return entries.filter(({ role }) => role === 'offered')
}

function reportRepeats(warning: ReportFinding, entries: readonly RequirementsEntry[]): void {
  const whole = new Set<string>()
  const payees = new Map<string, string>()
  for (const { cursor, scheme } of entries) {
    const holder = cursor.parent?.parent?.path() ?? ''
    const text = `${holder} ${comparableText(cursor.value)}`
    if (whole.has(text)) {
      warning(cursor, 'repeats another entry exactly')
      continue
    }
    whole.add(text)
    const network = networkAt(networkCursor(cursor))
    const [asset, payee] = [assetOf(cursor).text(), payToOf(cursor).text()]
    if (scheme === null || network === null || asset === null || payee === null) continue
    const kind = comparableText([holder, scheme, network.id, foldAsset(asset)])
    const first = payees.get(kind)
    if (first !== undefined && first !== foldAsset(payee)) warning(payToOf(cursor), 'differs from that of another entry for the same asset')
    payees.set(kind, first ?? foldAsset(payee))
  }
}
