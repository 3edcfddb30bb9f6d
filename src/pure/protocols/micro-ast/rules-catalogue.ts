import { readBase64Url } from '../../receipts/base64url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { sameAccount } from '../kit/addresses.ts'
import { readDateTime } from '../kit/dates.ts'
import {
  expectType,
  expectObject,
  expectText,
  expectTypeIfPresent,
  expectItems,
  expectObjectIfPresent,
  expectOneOf,
  expectString,
  expectKnownMembers,
} from '../kit/expect.ts'
import { isWeakAlgorithm } from '../kit/keys.ts'
import { isCurrencyCode } from '../kit/money.ts'
import { expectHttpsUrl, hostOfUrl } from '../kit/url.ts'
import type { RuleTable, FindingReporter } from '../protocol.ts'
import { type CatalogueView, microAstSpec, MOST_NODES } from './view.ts'

const DAY_S = 86_400
const STALE_S = 30 * DAY_S
const SKEW_S = 300
const ROOT: ReadonlySet<string> = new Set(['micro_ast', 'merchant', 'currency', 'issued_at', 'expires_at', 'nodes', 'signature'])
/** Members below the root; a node's attributes are its own. */
const MERCHANT: ReadonlySet<string> = new Set(['id', 'name', 'url', 'payee', 'contact'])
const NODE_LIST = ['id', 'type', 'parent', 'name', 'price', 'availability', 'url', 'sku', 'attributes', 'actions']
const NODE: ReadonlySet<string> = new Set(NODE_LIST)
const PRICE: ReadonlySet<string> = new Set(['amount', 'currency'])
const ACTION: ReadonlySet<string> = new Set(['type', 'protocol', 'href'])
const SIGNATURE: ReadonlySet<string> = new Set(['alg', 'kid', 'value'])
/** An attribute of such a name was meant for the node. */
const MISPLACED: ReadonlySet<string> = new Set(NODE_LIST.filter((name) => !['type', 'name', 'price', 'id'].includes(name)))

/** MAST-001…005, 022, 023, 025, 027 and 028: the catalogue as a whole. */
export const MICRO_AST_CATALOGUE_RULES: RuleTable<CatalogueView> = {
  'MAST-001': {
    severity: 'both',
    why: 'A reader knows by this text how to read the rest.',
    spec: microAstSpec('Root'),
    hint: 'Send the text "1.0".',
    good: { micro_ast: '1.0' },
    bad: { micro_ast: 1 },
    check({ error, warning }, { document }) {
      const version = document.get('micro_ast')
      if (!expectType(error, document, 'object') || !expectType(error, version, 'string') || version.redacted) return
      const minor = /^1\.(0|[1-9][0-9]{0,3})$/.exec(version.text() ?? '')?.[1]
      if (minor === undefined) error(version, 'is not a known version', { expected: '1.0' })
      else if (minor !== '0') warning(version, 'is a later minor version; it was read as 1.0', { expected: '1.0' })
    },
  },
  'MAST-002': {
    why: 'A buyer must know the seller.',
    spec: microAstSpec('Merchant'),
    hint: 'Give id, name and the https URL of the merchant.',
    good: { merchant: { id: 'm-1', name: 'Shop', url: 'https://shop.example' } },
    bad: { merchant: { name: 'Shop' } },
    check({ error }, { merchant }) {
      if (!expectObject(error, merchant)) return
      expectText(error, merchant.get('id'))
      expectText(error, merchant.get('name'))
      if (expectType(error, merchant.get('url'), 'string')) expectHttpsUrl(error, merchant.get('url'))
      for (const name of ['payee', 'contact']) expectTypeIfPresent(error, merchant.get(name), 'string')
    },
  },
  'MAST-003': {
    why: 'An amount needs a currency to be a price.',
    spec: microAstSpec('Root'),
    hint: 'Send a current ISO 4217 code in upper case.',
    good: { currency: 'USD' },
    bad: { currency: 'usd' },
    check({ error }, { document }) {
      const currency = document.get('currency')
      if (!expectType(error, currency, 'string') || currency.redacted) return
      if (!isCurrencyCode(currency.text() ?? ''))
        error(currency, 'is not a current ISO 4217 code in upper case', { expected: 'a code such as USD' })
    },
  },
  'MAST-004': {
    severity: 'both',
    why: 'Prices and stock change; an old catalogue promises what is gone.',
    spec: microAstSpec('Root'),
    hint: 'Send RFC 3339 times with an offset and expires_at after issued_at, and reissue an old catalogue.',
    good: { issued_at: '2026-11-21T10:00:00Z', expires_at: '2026-11-22T10:00:00Z' },
    bad: { issued_at: '21.11.2026' },
    check: (report, { document, context }) => checkTimes(report, document, context.now_s),
  },
  'MAST-005': {
    why: 'A catalogue is its nodes.',
    spec: microAstSpec('Nodes'),
    hint: 'Send a flat array of objects; parents are named by id.',
    good: { nodes: [{ id: 'p1', type: 'product' }] },
    bad: { nodes: {} },
    check({ error }, { document }) {
      for (const node of expectItems(error, document.get('nodes'))) expectTypeIfPresent(error, node, 'object')
    },
  },
  'MAST-022': {
    why: 'A signature that names no key, or a weak algorithm, proves nothing.',
    spec: microAstSpec('Signature'),
    hint: 'Sign with ES256 or EdDSA, and name the key by kid.',
    good: { signature: { alg: 'ES256', kid: 'k1', value: 'MEUC…' } },
    bad: { signature: { alg: 'none' } },
    check({ error }, { document }) {
      const signature = document.get('signature')
      if (!expectObjectIfPresent(error, signature)) return
      const alg = signature.get('alg')
      if (isWeakAlgorithm(alg.value)) error(alg, 'is not an algorithm with a public key', { expected: 'ES256 or EdDSA' })
      else if (expectType(error, alg, 'string')) expectOneOf(error, alg, ['ES256', 'EdDSA'])
      expectText(error, signature.get('kid'))
      const value = signature.get('value')
      const text = expectString(error, value)
      if (text !== null && (text === '' || readBase64Url(text) === null)) error(value, 'is not base64url')
    },
  },
  'MAST-023': {
    severity: 'warning',
    why: 'An intermediary can change the target of an unsigned action.',
    spec: microAstSpec('Signature'),
    hint: 'Sign the catalogue, or take actions from the merchant itself.',
    good: { nodes: [{ actions: [] }], signature: { alg: 'ES256' } },
    bad: { nodes: [{ actions: [{ type: 'checkout' }] }] },
    check({ warning }, { document, actions }) {
      if (actions.length > 0 && !document.has('signature')) warning(document, 'has actions and no signature')
    },
  },
  'MAST-025': {
    severity: 'both',
    why: 'A reader passes over what it does not know, so it is lost.',
    spec: microAstSpec('Root'),
    hint: 'Move it into the attributes of a node, or take it away.',
    good: { nodes: [{ attributes: { colour: 'red' } }] },
    bad: { products: [] },
    check({ error, warning }, { document, merchant, nodes, actions }) {
      expectKnownMembers(error, document, ROOT)
      expectKnownMembers(warning, merchant, MERCHANT)
      expectKnownMembers(warning, document.get('signature'), SIGNATURE)
      for (const { cursor } of nodes) {
        expectKnownMembers(warning, cursor, NODE)
        expectKnownMembers(warning, cursor.get('price'), PRICE)
        for (const one of cursor.members('attributes'))
          if (MISPLACED.has(one.key)) warning(one, 'is a member of the node, not an attribute')
      }
      for (const { cursor } of actions) expectKnownMembers(warning, cursor, ACTION)
    },
  },
  'MAST-027': {
    severity: 'both',
    why: 'Money goes to the payee, regardless of the shop name.',
    spec: microAstSpec('Merchant'),
    hint: 'Do not pay before the recipient is clear.',
    good: { expected_payee: 'm-1', document: { merchant: { id: 'm-1' } } },
    bad: { expected_payee: 'm-2', document: { merchant: { id: 'm-1' } } },
    check: (report, view) => comparePayee(report, view),
  },
  'MAST-028': {
    why: 'Agents read a catalogue whole.',
    spec: microAstSpec('Nodes'),
    hint: 'Split the catalogue by category.',
    good: { nodes: ['at most 4000'] },
    bad: { nodes: ['more than 4000'] },
    check({ error }, { document }) {
      const nodes = document.get('nodes')
      if (nodes.kind === 'array' && (nodes.value as unknown[]).length > MOST_NODES) error(nodes, `has more than ${MOST_NODES} items`)
    },
  },
}

function checkTimes({ error, warning }: FindingReporter, document: JsonCursor, now_s: number): void {
  const [issued, expires] = [document.get('issued_at'), document.get('expires_at')]
  const expected = { expected: 'a time such as 2026-11-21T10:00:00Z' }
  const issued_s = readDateTime(issued.text())
  if (expectType(error, issued, 'string') && !issued.redacted && issued_s === null)
    error(issued, 'is not an RFC 3339 time with an offset', expected)
  if (issued_s !== null && issued_s > now_s + SKEW_S) warning(issued, 'is in the future')
  if (issued_s !== null && now_s - issued_s > STALE_S) warning(issued, 'is more than 30 days old')
  if (!expires.present || expires.redacted) return
  const expires_s = readDateTime(expires.text())
  if (expires_s === null) error(expires, 'is not an RFC 3339 time with an offset', expected)
  else if (issued_s !== null && expires_s <= issued_s) error(expires, 'is not later than issued_at')
  else if (expires_s <= now_s) warning(expires, 'has passed')
}

/** The most explicit thing to compare with: the payee, else the id of the merchant, else its host. */
function comparePayee({ error, warning }: FindingReporter, { context, document, merchant, merchant_host }: CatalogueView): void {
  const { expected_payee } = context
  if (expected_payee === null) return
  const named = merchant.get('payee').present ? merchant.get('payee') : null
  if (named !== null) {
    const text = named.text()
    if (text === null) warning(named, 'cannot be read, so the expected payee was not verified')
    else if (!sameAccount(text, expected_payee)) error(named, 'is not the expected payee')
    return
  }
  const id = merchant.text('id')
  const host = hostOfUrl(expected_payee) ?? expected_payee.toLowerCase().replace(/^www\./, '')
  if (id === expected_payee || (merchant_host !== null && merchant_host === host)) return
  const isWhole = !merchant.get('id').redacted && !merchant.get('url').redacted
  if (!isWhole || (id === null && merchant_host === null)) warning(document, 'names no payee, so the expected payee was not verified')
  else error(merchant, 'is not the expected payee')
}
