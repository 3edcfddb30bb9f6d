import { readBase64Url } from '../../receipts/base64url.ts'
import { sameAccount } from '../kit/addresses.ts'
import { expectTypeIfPresent, expectItemTypes, expectArrayIfPresent, expectNotEmpty, expectText } from '../kit/expect.ts'
import { decodeJsonObject, isWeakAlgorithm } from '../kit/keys.ts'
import { describeHttpsFault, classifyPrivateHost, readUrl, hostOfUrl, isHostWithin, hostOfPayee } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter } from '../protocol.ts'
import {
  at,
  isSet,
  type A2aView,
  type AgentInterface,
  a2aSpec,
  oldSpec,
  expectTypeOrUnset,
  delegatedDocuments,
  expectNonEmptyText,
  offersIn,
} from './view.ts'

const INTERFACE = a2aSpec('4.4.6. AgentInterface')
const OLD_INTERFACE = oldSpec('5.6. Transport Declaration and URL Relationships')
const CORE = ['JSONRPC', 'GRPC', 'HTTP+JSON'] as const

/** A2A-006…015: interfaces and addresses of the agent. */
export const A2A_INTERFACE_RULES: RuleTable<A2aView> = {
  'A2A-006': {
    since: '1.0',
    why: 'A client picks an interface from this list; without one the agent cannot be reached.',
    spec: INTERFACE,
    hint: 'List at least one interface with url, protocolBinding and protocolVersion.',
    good: { supportedInterfaces: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
    bad: { supportedInterfaces: [] },
    check({ error }, { card, interfaces }) {
      const list = at(card, 'supportedInterfaces')
      if (list.kind === 'null' || !expectTypeIfPresent(error, list, 'array')) return
      expectNotEmpty(error, list, 'at least one interface')
      expectItemTypes(error, list, 'object')
      for (const { url, binding, cursor } of interfaces) {
        for (const member of [url, binding]) if (!member.present) error(member, 'is missing')
        expectNonEmptyText(error, binding)
        const version = at(cursor, 'protocolVersion')
        if (version.kind !== 'null') expectTypeIfPresent(error, version, 'string')
      }
    },
  },
  'A2A-007': {
    severity: 'both',
    why: 'A client compares this version with its own.',
    spec: INTERFACE,
    hint: 'Send major and minor, such as 1.0 or 0.3; cards before 1.0 may add a patch number, such as 0.3.0.',
    hint_by_case: true,
    good: { supportedInterfaces: [{ protocolVersion: '1.0' }] },
    bad: { supportedInterfaces: [{ protocolVersion: 'v1' }] },
    check(report, { card, interfaces, is_v1 }) {
      if (is_v1) for (const { cursor } of interfaces) checkInterfaceVersion(report, at(cursor, 'protocolVersion'))
      else checkCardVersion(report, at(card, 'protocolVersion'))
    },
  },
  'A2A-008': {
    since: '1.0',
    why: 'The member is required; without it clients refuse the card, or take the interface for one of 0.3.',
    spec: INTERFACE,
    hint: 'Say which version the interface speaks.',
    good: { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    bad: { url: 'https://a.example.com', protocolBinding: 'JSONRPC' },
    check({ error }, { interfaces }) {
      for (const { cursor } of interfaces) {
        const version = at(cursor, 'protocolVersion')
        if (!version.present) error(version, 'is missing', { expected: 'a version such as 1.0' })
        else if (version.text()?.trim() === '') error(version, 'is empty', { expected: 'a version such as 1.0' })
      }
    },
  },
  'A2A-009': {
    severity: 'both',
    why: 'Clients compare the binding exactly, and most speak the three core ones only.',
    spec: INTERFACE,
    hint: 'Write JSONRPC, GRPC or HTTP+JSON; other bindings are for clients that know them.',
    good: { protocolBinding: 'HTTP+JSON' },
    bad: { protocolBinding: 'http+json' },
    check({ error, warning }, { interfaces }) {
      for (const { binding } of interfaces) {
        const text = binding.text()
        if (text === null || text.trim() === '' || CORE.some((core) => core === text)) continue
        const expected = CORE.find((core) => core === text.trim().toUpperCase())
        if (expected === undefined) warning(binding, 'is not a core binding', { expected: CORE.join(', ') })
        else error(binding, 'is a misspelled core binding', { expected })
      }
    },
  },
  'A2A-010': {
    severity: 'both',
    why: 'Remote clients can call the agent only at an absolute https URL.',
    spec: INTERFACE,
    hint: 'Send an absolute https URL; GRPC may have host and port instead.',
    good: { url: 'https://agent.example.com/a2a', protocolBinding: 'JSONRPC' },
    bad: { url: '/a2a', protocolBinding: 'JSONRPC' },
    check(report, { interfaces }) {
      for (const one of interfaces) checkAddress(report, one)
    },
  },
  'A2A-011': {
    severity: 'warning',
    since: '1.0',
    why: 'A duplicate entry adds nothing and is often a copy that was not edited.',
    spec: INTERFACE,
    hint: 'Remove the duplicate or correct it.',
    good: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    bad: [
      { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    check({ warning }, { interfaces }) {
      const seen = new Set<string>()
      for (const { cursor, url, binding } of interfaces) {
        const parts = [url, binding, at(cursor, 'protocolVersion'), cursor.get('tenant')].map((part) => part.text())
        const key = JSON.stringify(parts)
        if (parts[0] !== null && seen.has(key)) warning(cursor, 'repeats another interface')
        seen.add(key)
      }
    },
  },
  'A2A-012': {
    severity: 'both',
    until: '0.3',
    why: 'Clients choose by url and transport; the main address belongs among the others.',
    spec: OLD_INTERFACE,
    hint: 'Give each entry url and transport, and repeat the main pair; without preferredTransport that is JSONRPC.',
    good: { url: 'https://a.example.com', additionalInterfaces: [{ url: 'https://a.example.com', transport: 'JSONRPC' }] },
    bad: { url: 'https://a.example.com', additionalInterfaces: [{ url: 'https://a.example.com' }] },
    check({ error, warning }, { card, interfaces }) {
      expectTypeIfPresent(error, at(card, 'preferredTransport'), 'string')
      const list = at(card, 'additionalInterfaces')
      if (!expectArrayIfPresent(error, list, 'object')) return
      const [main, ...others] = interfaces
      for (const { url, binding } of others) {
        for (const member of [url, binding]) if (!member.present) error(member, 'is missing')
        expectTypeIfPresent(error, binding, 'string')
      }
      const isListed = others.some(({ url, spoken }) => url.redacted || (url.text() === main?.url.text() && spoken === main.spoken))
      const isKnown = main !== undefined && main.url.text() !== null && main.spoken !== null
      if (isKnown && others.length > 0 && others.every(({ binding }) => binding.text() !== null) && !isListed)
        warning(list, 'does not list the main url with its transport')
    },
  },
  'A2A-013': {
    severity: 'warning',
    until: '0.3',
    why: 'One clause of 0.3 forbids several transports at one address, another allows it; clients differ.',
    spec: OLD_INTERFACE,
    hint: 'Give each transport its own address.',
    good: [
      { url: 'https://a.example.com/rpc', transport: 'JSONRPC' },
      { url: 'https://a.example.com/rest', transport: 'HTTP+JSON' },
    ],
    bad: [
      { url: 'https://a.example.com', transport: 'JSONRPC' },
      { url: 'https://a.example.com', transport: 'HTTP+JSON' },
    ],
    check({ warning }, { interfaces }) {
      const first = new Map<string, string>()
      for (const { url, spoken } of interfaces) {
        const text = url.text()
        if (text === null || spoken === null) continue
        const before = first.get(text) ?? spoken
        if (before !== spoken) warning(url, 'is declared with another transport as well')
        first.set(text, before)
      }
    },
  },
  'A2A-014': {
    severity: 'both',
    since: '1.0',
    why: 'Older clients call url, newer ones an interface: with different addresses they reach different agents.',
    spec: a2aSpec('8.3.1. Supported Interfaces Declaration'),
    hint: 'Leave url out, or make it that of an interface for older clients.',
    good: { supportedInterfaces: [{ url: 'https://a.example.com' }] },
    bad: { url: 'https://b.example.com', supportedInterfaces: [{ url: 'https://a.example.com' }] },
    check({ error, warning }, { card, interfaces }) {
      const url = card.get('url')
      if (!url.present || interfaces.length === 0) return
      const isKnown = url.text() !== null && interfaces.every((one) => one.url.text() !== null)
      if (isKnown && !interfaces.some((one) => one.url.text() === url.text())) error(url, 'is not the url of any interface')
      else warning(url, 'is the member of older versions for the address')
    },
  },
  'A2A-015': {
    severity: 'warning',
    why: 'Clients of one version do not read the members of another one.',
    spec: a2aSpec('Appendix A. Migration & Legacy Compatibility'),
    hint: 'In 1.0 use supportedInterfaces, capabilities.extendedAgentCard and securityRequirements; before it url and additionalInterfaces.',
    good: { securityRequirements: [{ schemes: { oauth: { list: [] } } }] },
    bad: { security: [{ oauth: [] }] },
    check({ warning }, { card, is_v1 }) {
      if (!is_v1) {
        for (const name of ['supportedInterfaces', 'securityRequirements'])
          if (isSet(card, name)) warning(at(card, name), 'was introduced with 1.0, and the card declares an older version')
        return
      }
      for (const name of ['preferredTransport', 'additionalInterfaces', 'supportsAuthenticatedExtendedCard', 'security'])
        if (isSet(card, name)) warning(at(card, name), 'was removed with 1.0')
      const history = at(card.get('capabilities'), 'stateTransitionHistory')
      if (history.present) warning(history, 'was removed with 1.0')
    },
  },
}

function checkInterfaceVersion({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  const text = cursor.text()
  if (text === null || text.trim() === '' || /^[0-9]{1,3}\.[0-9]{1,3}$/.test(text)) return
  if (/^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(text)) warning(cursor, 'has a patch number; interfaces have major and minor only')
  else error(cursor, 'is not a protocol version', { expected: 'major and minor, such as 1.0' })
}

/** Before 1.0 the schema asks for any text; the specification writes 0.3.0 there, and 0.3 since 1.0. Clients split it at its points. */
function checkCardVersion({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  if (cursor.kind === 'null' || !expectTypeIfPresent(error, cursor, 'string')) return
  const text = cursor.text()
  if (text === null || text.trim() === '' || /^[0-9]{1,3}\.[0-9]{1,3}(?:\.[0-9]{1,3})?$/.test(text)) return
  const report = /^\s*v?[0-9]/i.test(text) ? warning : error
  report(cursor, 'is not a protocol version', { expected: 'major and minor, such as 0.3, or three numbers, such as 0.3.0' })
}

/** Host and port, as channels of gRPC have them. */
const HOST_AND_PORT = /^(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,16}\.?|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}$/i

function checkAddress({ error, warning }: FindingReporter, { url, spoken }: AgentInterface): void {
  if (url.kind === 'null' || !expectTypeIfPresent(error, url, 'string')) return
  const text = url.text()
  if (text === null) return
  const read = readUrl(text)
  const isCore = spoken === 'JSONRPC' || spoken === 'HTTP+JSON'
  if (!isCore && (read !== null || HOST_AND_PORT.test(text))) return
  const fault = isCore ? describeHttpsFault(text) : 'is not an absolute URL'
  if (read?.protocol === 'http:' && classifyPrivateHost(read) === 'localhost')
    warning(url, 'is a localhost address', { expected: 'an absolute https URL' })
  else if (fault !== null) error(url, fault, { expected: 'an absolute https URL' })
  else if (isCore && OPERATION.test(read?.pathname ?? ''))
    warning(url, 'is the path of an operation, to which clients append it again', { expected: 'the URL without the path of an operation' })
}

/** Paths of operations of HTTP+JSON, which clients append to the URL of the interface. */
const OPERATION = /\/(?:message:(?:send|stream)|tasks\/[^/]+:(?:cancel|subscribe)|extendedAgentCard)$/

const SIGNATURE = a2aSpec('8.4. Agent Card Signing')
const PROVIDER = a2aSpec('4.4.2. AgentProvider')

/** A2A-035…037, 040, 041: provider, signatures and payee. */
export const A2A_TRUST_RULES: RuleTable<A2aView> = {
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
