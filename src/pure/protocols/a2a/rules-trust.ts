import { needText, optional } from '../kit/expect.ts'
import { sameAccount } from '../kit/addresses.ts'
import { isWeakAlgorithm, readBase64Url, readEncodedObject } from '../kit/keys.ts'
import { hostOf, httpsFault, isWithin, readUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { at, typed } from './names.ts'
import { handedOn, offersIn } from './payments.ts'
import { a2aSpec } from './spec.ts'
import { objects, type A2aView } from './view.ts'

const SIGNATURE = a2aSpec('8.4. Agent Card Signing')
const PROVIDER = a2aSpec('4.4.2. AgentProvider')

/** A2A-035…037, 040, 041: who stands behind the card. */
export const TRUST_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-035',
      severity: 'both',
      why: 'The provider is whom a caller turns to; links without https can be changed on the way.',
      spec: PROVIDER,
      hint: 'Send organization and url, and https for all links.',
      good: { provider: { organization: 'Example', url: 'https://example.com' } },
      bad: { provider: { organization: 'Example' } },
    },
    ({ error, warning }, { card, is_new }) => {
      const provider = card.get('provider')
      if (typed(error, provider, 'object', { is_new }) && !provider.redacted)
        for (const name of ['organization', 'url']) needText(error, provider.get(name))
      for (const place of [provider.get('url'), at(card, 'documentationUrl'), at(card, 'iconUrl')]) {
        const text = place.text()
        const isInline = place.key.startsWith('icon') && readUrl(text)?.protocol === 'data:'
        if (text !== null && text.trim() !== '' && !isInline && httpsFault(text) !== null)
          warning(place, 'is no https URL', { expected: 'an https URL' })
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-036',
      severity: 'both',
      why: 'A signature that cannot be read proves nothing; none and HS algorithms prove nothing to strangers.',
      spec: SIGNATURE,
      hint: 'Sign as a detached JWS with a public key: alg, typ JOSE and kid in the protected header, all in base64url.',
      good: { protected: 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJhIn0', signature: '…' },
      bad: { protected: '{"alg":"none"}', signature: '' },
    },
    (report, { card, is_new }) => {
      const list = card.get('signatures')
      if (!typed(report.error, list, 'array', { is_new })) return
      for (const item of list.items()) optional(report.error, item, 'object')
      for (const signature of objects(list)) checkSignature(report, signature, is_new)
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-037',
      severity: 'warning',
      since: '0.3',
      why: 'Nothing ties an unsigned card to its provider but the address it was read from.',
      spec: SIGNATURE,
      hint: 'Sign the card, or compare its addresses with whom you mean.',
      good: { signatures: [{ protected: '…', signature: '…' }] },
      bad: { signatures: [] },
    },
    ({ warning }, { card }) => {
      const list = card.get('signatures')
      if (!list.present || list.kind === 'null' || (list.kind === 'array' && list.items().length === 0))
        warning(list, 'is missing: the card is unsigned')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-040',
      severity: 'warning',
      why: 'A copied card names a known provider, and leads to an agent elsewhere.',
      spec: PROVIDER,
      hint: 'Serve at least one interface from the domain of the provider, or check the card another way.',
      good: { provider: { url: 'https://example.com' }, supportedInterfaces: [{ url: 'https://agent.example.com' }] },
      bad: { provider: { url: 'https://example.com' }, supportedInterfaces: [{ url: 'https://agent.example.net' }] },
    },
    ({ warning }, { card, interfaces }) => {
      const url = card.get('provider').get('url')
      const host = hostOf(url.text())
      const hosts = interfaces.map((one) => addressHost(one.url)).filter((one) => one !== null)
      if (host !== null && hosts.length > 0 && !hosts.some((one) => isRelated(one, host)))
        warning(url, 'is at another host than every interface')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-041',
      severity: 'both',
      why: 'A card of somebody else looks just like that of the agent that is meant to be paid.',
      spec: PROVIDER,
      hint: 'Compare the card with whom you meant to pay before any payment is made.',
      good: { provider: { url: 'https://the-expected.example.com' } },
      bad: { provider: { url: 'https://somebody-else.example.net' } },
    },
    (report, view) => {
      if (view.context.expected_payee !== null) comparePayee(report, view, view.context.expected_payee)
    },
  ),
]

function checkSignature({ error, warning }: Report, signature: Place, is_new: boolean): void {
  const [head, value] = [signature.get('protected'), signature.get('signature')]
  const text = needText(error, value)
  if (text !== null && text.trim() !== '' && readBase64Url(text) === null) error(value, 'is not base64url')
  typed(error, signature.get('header'), 'object', { is_new })
  const encoded = needText(error, head)
  if (encoded === null || encoded.trim() === '') return
  const header = readEncodedObject(encoded)
  if (header === null) {
    error(head, 'does not decode to a JSON object', { expected: 'base64url of a JSON object' })
    return
  }
  const { alg, kid, typ, jku } = header
  if (typeof alg !== 'string' || alg === '') error(head, 'names no algorithm', { expected: 'alg' })
  else if (isWeakAlgorithm(alg)) error(head, 'names an algorithm that proves nothing to strangers', { expected: 'such as ES256' })
  if (typeof kid !== 'string' || kid === '') error(head, 'names no key', { expected: 'kid' })
  if (typ !== 'JOSE') warning(head, 'does not have the type JOSE', { expected: 'JOSE' })
  if (jku !== undefined && (typeof jku !== 'string' || httpsFault(jku) !== null)) error(head, 'has keys at an address without https')
}

/** The host of an address, with or without a scheme. */
function addressHost(url: Place): string | null {
  const text = url.text()
  if (text === null) return null
  return text.includes('://') ? hostOf(text) : hostOf(`https://${text}`)
}

/** Whether one lies below the other, or both below one name of at least two labels. */
function isRelated(one: string, other: string): boolean {
  const above = (host: string) => host.slice(host.indexOf('.') + 1)
  return isWithin(one, other) || isWithin(other, one) || (above(one) === above(other) && above(one).includes('.'))
}

/** Names under which the parameters of an extension keep an account. */
const ACCOUNTS: ReadonlySet<string> = new Set([
  'payto',
  'pay_to',
  'payee',
  'merchant_id',
  'merchantid',
  'seller_id',
  'wallet_address',
  'walletaddress',
])

/** Accounts in the parameters of extensions, but for those that another protocol's rules compare. */
function accountsIn({ context, extensions }: A2aView): Place[] {
  const elsewhere = new Set(extensions.flatMap((extension) => handedOn(context, extension)).map(({ place }) => place.value))
  const found: Place[] = []
  const open = extensions.map((extension) => extension.get('params'))
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (elsewhere.has(place.value)) {
      // Of a challenge every offer is compared, of terms only they themselves.
      if (place.has('payTo') && !place.has('x402Version')) open.push(...offersIn(place))
      continue
    }
    if (place.text() !== null && ACCOUNTS.has(place.key.toLowerCase())) found.push(place)
    open.push(...(place.kind === 'array' ? place.items() : place.members()))
  }
  return found
}

function comparePayee({ error, warning }: Report, view: A2aView, expected: string): void {
  const accounts = accountsIn(view)
  if (accounts.some((account) => sameAccount(account.text() ?? '', expected))) return
  const host = expectedHost(expected)
  if (host === null) {
    for (const account of accounts) error(account, 'is not the expected payee')
    const isElsewhere = view.extensions.some((extension) => handedOn(view.context, extension).length > 0)
    if (accounts.length === 0 && !isElsewhere) warning(view.card, 'holds nothing that the expected payee could be compared with')
    return
  }
  const urls = [view.card.get('provider').get('url'), ...view.interfaces.map(({ url }) => url)]
  const known = urls.filter((url) => addressHost(url) !== null)
  for (const url of known) if (!isWithin(addressHost(url) ?? '', host)) warning(url, 'is at another host than the expected payee')
  if (known.length === 0) warning(view.card, 'holds nothing that the expected payee could be compared with')
}

/** The host that is expected, when the payee is told as a URL or a domain name. */
function expectedHost(expected: string): string | null {
  const host = hostOf(expected)
  if (host !== null) return host
  return /^(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}$/i.test(expected) ? hostOf(`https://${expected}`) : null
}
