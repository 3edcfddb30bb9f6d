import { expectText, expectItemTypes } from '../kit/expect.ts'
import { sameAccount } from '../kit/addresses.ts'
import { readBase64Url } from '../../receipts/base64url.ts'
import { isWeakAlgorithm, decodeJsonObject } from '../kit/keys.ts'
import { hostOfUrl, describeHttpsFault, isHostWithin, readUrl, hostOfPayee } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter } from '../protocol.ts'
import { at, expectTypeOrUnset, type A2aView, delegatedDocuments, offersIn, a2aSpec } from './view.ts'

const SIGNATURE = a2aSpec('8.4. Agent Card Signing')
const PROVIDER = a2aSpec('4.4.2. AgentProvider')

/** A2A-035…037, 040, 041: provider, signatures and payee. */
export const TRUST_RULES: RuleTable<A2aView> = {
  'A2A-035': {
    severity: 'both',
    why: 'The provider is whom a caller turns to; links without https can be changed on the way.',
    spec: PROVIDER,
    hint: 'Send organization and url, and https for all links.',
    good: { provider: { organization: 'Example', url: 'https://example.com' } },
    bad: { provider: { organization: 'Example' } },
    check({ error, warning }, { card, is_v1 }) {
      const provider = card.get('provider')
      if (expectTypeOrUnset(error, provider, 'object', { is_v1 }) && !provider.redacted)
        for (const name of ['organization', 'url']) expectText(error, provider.get(name))
      for (const cursor of [provider.get('url'), at(card, 'documentationUrl'), at(card, 'iconUrl')]) {
        const text = cursor.text()
        const isInline = cursor.key.startsWith('icon') && readUrl(text)?.protocol === 'data:'
        if (text !== null && text.trim() !== '' && !isInline && describeHttpsFault(text) !== null)
          warning(cursor, 'is not an https URL', { expected: 'an https URL' })
      }
    },
  },
  'A2A-036': {
    severity: 'both',
    why: 'An unreadable signature proves nothing, and the algorithms none and HS* prove nothing to third parties.',
    spec: SIGNATURE,
    hint: 'Sign as a detached JWS with a public key: alg, typ JOSE and kid in the protected header, all in base64url.',
    good: { protected: 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJhIn0', signature: '…' },
    bad: { protected: '{"alg":"none"}', signature: '' },
    check(report, { card, is_v1 }) {
      const list = card.get('signatures')
      if (!expectTypeOrUnset(report.error, list, 'array', { is_v1 })) return
      expectItemTypes(report.error, list, 'object')
      for (const signature of list.objects()) checkSignature(report, signature, is_v1)
    },
  },
  'A2A-037': {
    severity: 'warning',
    since: '0.3',
    why: 'Nothing ties an unsigned card to its provider but the address it was read from.',
    spec: SIGNATURE,
    hint: 'Sign the card, or compare its addresses with whom you mean.',
    good: { signatures: [{ protected: '…', signature: '…' }] },
    bad: { signatures: [] },
    check({ warning }, { card }) {
      const list = card.get('signatures')
      if (!list.present || list.kind === 'null' || (list.kind === 'array' && list.items().length === 0))
        warning(list, 'is missing, so the card is unsigned')
    },
  },
  'A2A-040': {
    severity: 'warning',
    why: 'A copied card names a known provider, and leads to an agent elsewhere.',
    spec: PROVIDER,
    hint: 'Serve at least one interface from the domain of the provider, or check the card another way.',
    good: { provider: { url: 'https://example.com' }, supportedInterfaces: [{ url: 'https://agent.example.com' }] },
    bad: { provider: { url: 'https://example.com' }, supportedInterfaces: [{ url: 'https://agent.example.net' }] },
    check({ warning }, { card, interfaces }) {
      const url = card.get('provider', 'url')
      const host = hostOfUrl(url.text())
      const hosts = interfaces.map((one) => hostOfAddress(one.url)).filter((one) => one !== null)
      if (host !== null && hosts.length > 0 && !hosts.some((one) => areRelatedHosts(one, host)))
        warning(url, 'has another host than every interface')
    },
  },
  'A2A-041': {
    severity: 'both',
    why: 'A card of another agent looks just like that of the agent you mean to pay.',
    spec: PROVIDER,
    hint: 'Compare the card with your intended payee before you pay.',
    good: { provider: { url: 'https://the-expected.example.com' } },
    bad: { provider: { url: 'https://another-payee.example.net' } },
    check(report, view) {
      if (view.context.expected_payee !== null) comparePayee(report, view, view.context.expected_payee)
    },
  },
}

function checkSignature({ error, warning }: FindingReporter, signature: JsonCursor, is_v1: boolean): void {
  const [head, value] = [signature.get('protected'), signature.get('signature')]
  const text = expectText(error, value)
  if (text !== null && text.trim() !== '' && readBase64Url(text) === null) error(value, 'is not base64url')
  expectTypeOrUnset(error, signature.get('header'), 'object', { is_v1 })
  const encoded = expectText(error, head)
  if (encoded === null || encoded.trim() === '') return
  const header = decodeJsonObject(encoded)
  if (header === null) {
    error(head, 'does not decode to a JSON object', { expected: 'base64url of a JSON object' })
    return
  }
  const { alg, kid, typ, jku } = header
  if (typeof alg !== 'string' || alg === '') error(head, 'names no algorithm', { expected: 'alg' })
  else if (isWeakAlgorithm(alg)) error(head, 'names an algorithm without a public key', { expected: 'an algorithm such as ES256' })
  if (typeof kid !== 'string' || kid === '') error(head, 'names no key', { expected: 'kid' })
  if (typ !== 'JOSE') warning(head, 'does not have the typ JOSE', { expected: 'JOSE' })
  if (jku !== undefined && (typeof jku !== 'string' || describeHttpsFault(jku) !== null)) error(head, 'has a jku that is not an https URL')
}

/** The host of an address, with or without a scheme. */
function hostOfAddress(url: JsonCursor): string | null {
  const text = url.text()
  if (text === null) return null
  return text.includes('://') ? hostOfUrl(text) : hostOfUrl(`https://${text}`)
}

/** Returns whether one host is a subdomain of the other, or both are below one name of at least two labels. */
function areRelatedHosts(one: string, other: string): boolean {
  const above = (host: string) => host.slice(host.indexOf('.') + 1)
  return isHostWithin(one, other) || isHostWithin(other, one) || (above(one) === above(other) && above(one).includes('.'))
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
function listAccounts({ context, extensions }: A2aView): JsonCursor[] {
  const elsewhere = new Set(extensions.flatMap((extension) => delegatedDocuments(context, extension)).map(({ cursor }) => cursor.value))
  const found: JsonCursor[] = []
  const open = extensions.map((extension) => extension.get('params'))
  for (let cursor = open.pop(); cursor !== undefined; cursor = open.pop()) {
    if (elsewhere.has(cursor.value)) {
      // Of a challenge every offer is compared, of terms only they themselves.
      if (cursor.has('payTo') && !cursor.has('x402Version')) open.push(...offersIn(cursor))
      continue
    }
    if (cursor.text() !== null && ACCOUNTS.has(cursor.key.toLowerCase())) found.push(cursor)
    open.push(...cursor.children())
  }
  return found
}

function comparePayee({ error, warning }: FindingReporter, view: A2aView, expected: string): void {
  const accounts = listAccounts(view)
  if (accounts.some((account) => sameAccount(account.text() ?? '', expected))) return
  const host = hostOfPayee(expected)
  if (host === null) {
    for (const account of accounts) error(account, 'is not the expected payee')
    const isElsewhere = view.extensions.some((extension) => delegatedDocuments(view.context, extension).length > 0)
    if (accounts.length === 0 && !isElsewhere) warning(view.card, 'names no payee that could be compared with the expected one')
    return
  }
  const urls = [view.card.get('provider', 'url'), ...view.interfaces.map(({ url }) => url)]
  const known = urls.filter((url) => hostOfAddress(url) !== null)
  for (const url of known) if (!isHostWithin(hostOfAddress(url) ?? '', host)) warning(url, 'has another host than the expected payee')
  if (known.length === 0) warning(view.card, 'names no payee that could be compared with the expected one')
}
