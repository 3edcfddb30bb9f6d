import { canonicalText, need, needText } from '../kit/expect.ts'
import { digitText, integer } from '../kit/money.ts'
import { readCaip2 } from '../kit/addresses.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { foldAsset, isOfNamespace, knownToken, networkAt, shortened, SOLANA_NETWORKS, V1_NETWORKS } from './networks.ts'
import { CAIP_2, schemeSpec, x402Spec } from './spec.ts'
import { amountOf, isMissing, type Entry, type X402View } from './view.ts'

const SCHEMES: ReadonlySet<string> = new Set(['exact', 'upto', 'batch-settlement', 'auth-capture'])
const MOST_EVM = 2n ** 256n - 1n
const MOST_SVM = 2n ** 64n - 1n
const LEAST_PLAUSIBLE = 100n
const MOST_PLAUSIBLE = 1_000_000_000_000n

/** X402-005…011, 017, 027, 028: scheme, network, amount and time of each way to pay. */
export const TERMS_RULES = [
  rule<X402View>(
    {
      code: 'X402-005',
      severity: 'both',
      why: 'A client pays only by a scheme that it knows.',
      spec: x402Spec(2, 'Payment schemes'),
      hint: 'Use exact unless the client is known to have another scheme.',
      good: { scheme: 'exact' },
      bad: { scheme: '' },
    },
    ({ error, warning }, { entries }) => {
      for (const { place } of entries) {
        const scheme = needText(error, place.get('scheme'))
        if (scheme === null || scheme.trim() === '' || SCHEMES.has(scheme)) continue
        const meant = scheme.trim().toLowerCase()
        if (SCHEMES.has(meant)) error(place.get('scheme'), 'is a scheme in another spelling', { expected: meant })
        else warning(place.get('scheme'), 'is no scheme that is known here', { expected: [...SCHEMES].join(', ') })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-006',
      severity: 'both',
      why: 'Version 1 names networks, version 2 has CAIP-2 ids; clients of one do not read the other.',
      spec: CAIP_2,
      hint: 'Write eip155:8453 in version 2, base in version 1.',
      good: { x402Version: 2, accepts: [{ network: 'eip155:8453' }] },
      bad: { x402Version: 2, accepts: [{ network: 'base' }] },
    },
    (report, { entries }) => {
      for (const entry of entries) networkForm(report, entry)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-007',
      severity: 'error',
      why: 'The reference of a Solana network is the beginning of its genesis hash.',
      spec: { url: 'https://namespaces.chainagnostic.org/solana/caip2', section: 'Syntax' },
      hint: 'Use solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp for mainnet.',
      good: { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' },
      bad: { network: 'solana:mainnet' },
    },
    ({ error }, { entries }) => {
      for (const { place, network } of entries) {
        if (network?.family === 'svm' && !network.known)
          error(networkPlace(place), 'is no genesis reference of Solana', { expected: SOLANA_NETWORKS.join(', ') })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-008',
      severity: 'warning',
      why: 'Asset and address rules are not known for this network, so they were left out.',
      spec: CAIP_2,
      hint: 'Check asset and payTo yourself.',
      good: { network: 'eip155:8453' },
      bad: { network: 'eip155:999999999' },
    },
    ({ warning }, { entries }) => {
      for (const { place, network, version } of entries) {
        const at = networkPlace(place)
        const isNew = network === null ? version === '1' && isName(at.text()) : !network.known && network.family !== 'svm'
        if (isNew) warning(at, 'is a network that is not known here')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-009',
      severity: 'error',
      why: 'Clients read the amount with BigInt: a point, a sign or an exponent makes them throw, and a number is rounded.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Send a text of digits in the smallest unit of the token: 0.01 USDC is "10000".',
      good: { amount: '10000' },
      bad: { amount: '0.01' },
    },
    ({ error }, { entries }) => {
      for (const entry of entries) {
        const place = amountOf(entry)
        if (!need(error, place, 'string') || place.redacted) continue
        if (digitText(place) === null)
          error(place, 'is no text of decimal digits', { expected: 'digits without sign, point, exponent or leading zero' })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-010',
      severity: 'both',
      why: 'A transfer of nothing, or of more than the token can count, cannot be settled.',
      spec: schemeSpec('exact/scheme_exact_evm.md', 'PaymentRequirements'),
      hint: 'Ask for at least one unit.',
      good: { scheme: 'exact', amount: '1' },
      bad: { scheme: 'exact', amount: '0' },
    },
    ({ error, warning }, { entries }) => {
      for (const entry of entries) {
        const place = amountOf(entry)
        const amount = digitText(place)
        const most = entry.network?.family === 'evm' ? MOST_EVM : entry.network?.family === 'svm' ? MOST_SVM : null
        if (amount === 0n && entry.scheme === 'exact') error(place, 'is zero', { expected: 'at least 1' })
        else if (amount === 0n && entry.scheme === 'upto') warning(place, 'is zero')
        else if (amount !== null && most !== null && amount > most) error(place, 'is more than the network can transfer')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-011',
      severity: 'warning',
      why: 'Such amounts mostly come from dollars written as units, or from scaling twice.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'The unit is the smallest one of the token: 1 USDC is "1000000".',
      good: { amount: '1000000' },
      bad: { amount: '1' },
    },
    ({ warning }, { entries }) => {
      for (const entry of entries) {
        const place = amountOf(entry)
        const amount = digitText(place)
        if (amount === null || amount === 0n || tokenOf(entry)?.decimals !== 6) continue
        const isOver = amount > MOST_PLAUSIBLE && amount <= (entry.network?.family === 'svm' ? MOST_SVM : MOST_EVM)
        if (amount < LEAST_PLAUSIBLE) warning(place, 'is less than a hundredth of a cent')
        else if (isOver) warning(place, 'is more than a million dollars')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-017',
      severity: 'both',
      why: 'The authorization of the payer lasts this long: too short fails to settle, too long can be used late.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Send whole seconds as a number, such as 60.',
      good: { maxTimeoutSeconds: 60 },
      bad: { maxTimeoutSeconds: '60' },
    },
    ({ error, warning }, { entries }) => {
      for (const { place } of entries) {
        const time = place.get('maxTimeoutSeconds')
        if (isMissing(place, 'maxTimeoutSeconds')) error(time, 'is missing', { expected: 'seconds as a number' })
        const seconds = integer(error, time, { min: 1n })
        if (seconds !== null && (seconds < 10n || seconds > 3_600n)) warning(time, 'is an unusual time', { expected: '10 to 3600 seconds' })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-027',
      severity: 'warning',
      why: 'A client takes the first way to pay that suits it; a second one of the same kind is never used, or pays somebody else.',
      spec: x402Spec(2, 'PaymentRequired'),
      hint: 'Leave one entry for each scheme, network and asset.',
      good: { accepts: [{ network: 'eip155:8453' }, { network: 'eip155:1' }] },
      bad: { accepts: [{ network: 'eip155:8453' }, { network: 'eip155:8453' }] },
    },
    ({ warning }, { entries }) => {
      repeats(warning, offered(entries))
    },
  ),
  rule<X402View>(
    {
      code: 'X402-028',
      severity: 'warning',
      types: ['payment_required', 'payment_requirements'],
      why: 'Tokens of a test network are worth nothing.',
      spec: x402Spec(2, 'PaymentRequired'),
      hint: 'Offer test networks only from deployments that are for tests, and never beside real ones.',
      good: { accepts: [{ network: 'eip155:8453' }] },
      bad: { accepts: [{ network: 'eip155:8453' }, { network: 'eip155:84532' }] },
    },
    ({ warning }, { document, entries }) => {
      const known = offered(entries).flatMap(({ network }) => (network?.known === true ? [network.testnet] : []))
      const place = document.has('accepts') ? document.get('accepts') : document
      if (known.length === 0 || !known.includes(true)) return
      warning(place, known.includes(false) ? 'mixes real and test networks' : 'offers test networks only')
    },
  ),
]

function networkPlace(place: Place): Place {
  return under(place, ['network', 'chain'])
}

/** The first of these members that is there; else the first of all. */
function under(place: Place, [own = '', ...aliases]: readonly string[]): Place {
  const alias = place.has(own) ? undefined : aliases.find((name) => place.has(name))
  return place.get(alias ?? own)
}

function networkForm({ error, warning }: Report, { place, version }: Entry): void {
  const at = networkPlace(place)
  if (!need(error, at, 'string')) return
  const text = at.text()
  if (text === null) return
  const caip = V1_NETWORKS.get(text)
  const short = shortened(text)
  const isCaip = readCaip2(text) !== null
  if (!isOfNamespace(text))
    error(at, 'is no network of EVM: those are numbered', { expected: 'the number of the chain, such as eip155:8453' })
  else if (version === '2') {
    const expected = caip ?? short ?? 'a CAIP-2 id such as eip155:8453'
    if (short !== null) warning(at, 'has more of the genesis hash than a CAIP-2 id holds', { expected })
    else if (!isCaip) error(at, caip === undefined ? 'is no CAIP-2 id' : 'is a name of version 1', { expected })
  } else if (isCaip) {
    const name = [...V1_NETWORKS].find(([, id]) => id === text)?.[0]
    warning(at, 'is a CAIP-2 id, which clients of version 1 do not read', { expected: name ?? 'a network name of version 1' })
  } else if (caip === undefined && !isName(text)) {
    error(at, 'is no network name of version 1', { expected: 'a name such as base or solana' })
  }
}

/** Whether a text looks like the network names of version 1, of which new ones may come. */
export function isName(text: string | null): boolean {
  return text !== null && /^[a-z][a-z0-9-]{1,63}$/.test(text)
}

/** The token of the table that an entry asks for; null when it is not known. */
export function tokenOf({ place, network }: Entry) {
  const asset = assetPlace(place).text()
  return network === null || asset === null ? null : knownToken(network, asset)
}

export function assetPlace(place: Place): Place {
  return under(place, ['asset', 'usdcAddress'])
}

export function payToPlace(place: Place): Place {
  return under(place, ['payTo', 'payToAddress', 'address'])
}

function offered(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ role }) => role === 'offered')
}

function repeats(warning: Say, entries: readonly Entry[]): void {
  const whole = new Set<string>()
  const payees = new Map<string, string>()
  for (const { place, scheme } of entries) {
    const holder = place.parent?.parent?.path() ?? ''
    const text = `${holder} ${canonicalText(place.value)}`
    if (whole.has(text)) {
      warning(place, 'repeats another entry exactly')
      continue
    }
    whole.add(text)
    const network = networkAt(networkPlace(place))
    const [asset, payee] = [assetPlace(place).text(), payToPlace(place).text()]
    if (scheme === null || network === null || asset === null || payee === null) continue
    const kind = canonicalText([holder, scheme, network.id, foldAsset(asset)])
    const first = payees.get(kind)
    if (first !== undefined && first !== foldAsset(payee))
      warning(payToPlace(place), 'differs from that of another entry for the same asset')
    payees.set(kind, first ?? foldAsset(payee))
  }
}
