import {
  expectType,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectReference,
  expectTextForm,
  expectUnique,
  expectArrayIfPresent,
  expectObjectIfPresent,
} from '../kit/expect.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter } from '../protocol.ts'
import { hasHiddenCharacters, containsContactData, looksLikeInstruction } from '../kit/text-hygiene.ts'
import { microAstSpec, NODE_TYPES, type CatalogueNode, type CatalogueView, type NodeType } from './view.ts'
import { expectMinorUnits } from '../kit/money.ts'
import { hostOfUrl, expectHttpsUrl, isHostWithin } from '../kit/url.ts'

/** Allowed parent types of each node type; `root` means no parent. */
const PARENTS: Readonly<Record<NodeType, readonly (NodeType | 'root')[]>> = {
  category: ['category', 'root'],
  product: ['category', 'root'],
  variant: ['product'],
  offer: ['product', 'variant'],
  policy: ['root'],
}

/** Values of the format that its rules check by, and that its page shows. */
export const NODE_TABLE = {
  /** Maximum number of levels of the tree and of attributes of a node, and maximum lengths of names in characters. */
  limits: { depth: 8, attributes: 32, attribute_name_chars: 64, name_chars: 256 },
  parents: PARENTS,
  availability: ['in_stock', 'low_stock', 'out_of_stock', 'preorder', 'discontinued'],
  action_types: ['view', 'quote', 'checkout'],
  action_protocols: ['ucp', 'acp', 'mcp', 'a2a', 'x402'],
} as const

export const MICRO_AST_NODE_RULES: RuleTable<CatalogueView> = {
  // MAST-006…010, 015, 017, 018, 021, 024 and 026: nodes and their parents.
  'MAST-006': {
    why: 'Nodes refer to one another by id.',
    spec: microAstSpec('Node'),
    hint: 'Give each node a unique id of 1 to 128 letters, digits and the characters . _ : - only.',
    good: { id: 'sku:1234-red' },
    bad: { id: 'red shirt' },
    check({ error }, { nodes }) {
      for (const { cursor } of nodes) {
        if (expectType(error, cursor.get('id'), 'string'))
          expectTextForm(error, cursor.get('id'), {
            pattern: /^[A-Za-z0-9._:-]{1,128}$/,
            expected: '1 to 128 letters, digits, and . _ : -',
          })
      }
      const cursors = nodes.map(({ cursor }) => cursor.get('id'))
      expectUnique(error, cursors, 'the id of another node')
    },
  },
  'MAST-007': {
    why: 'The type says what the other members mean.',
    spec: microAstSpec('Node'),
    hint: 'Use category, product, variant, offer or policy.',
    good: { type: 'product' },
    bad: { type: 'item' },
    check({ error }, { nodes }) {
      for (const { cursor } of nodes)
        if (expectType(error, cursor.get('type'), 'string')) expectOneOf(error, cursor.get('type'), NODE_TYPES)
    },
  },
  'MAST-008': {
    why: 'A reader walks from a node to the root.',
    spec: microAstSpec('Node'),
    hint: 'Let each parent be the id of another node, up to eight steps from the root.',
    good: { id: 'v1', parent: 'p1' },
    bad: { id: 'v1', parent: 'v1' },
    check({ error }, { nodes, by_id, tree, is_complete }) {
      const ids = new Set(by_id.keys())
      for (const { cursor, id } of nodes) {
        const parent = cursor.get('parent')
        if (!expectTypeIfPresent(error, parent, 'string')) continue
        if (is_complete) expectReference(error, parent, ids, 'a node')
        if (id !== null && tree.in_cycle.has(id)) error(parent, 'leads back to the node itself')
        else if (id !== null && (tree.depth.get(id) ?? 0) >= NODE_TABLE.limits.depth)
          error(parent, `lies more than ${NODE_TABLE.limits.depth} levels deep`)
      }
    },
  },
  'MAST-009': {
    why: 'Prices and stock are looked for along these lines.',
    spec: microAstSpec('Node'),
    hint: 'Hang variants below products, offers below products or variants, and policies nowhere.',
    good: { type: 'variant', parent: 'a product' },
    bad: { type: 'variant', parent: 'a category' },
    check({ error }, { nodes, by_id }) {
      for (const { cursor, type, parent } of nodes) {
        if (type === null) continue
        const holder = cursor.has('parent') ? (by_id.get(parent ?? '')?.type ?? null) : 'root'
        if (holder !== null && !PARENTS[type].includes(holder))
          error(cursor.get(cursor.has('parent') ? 'parent' : 'type'), 'is not an allowed parent for this type', {
            expected: `below: ${PARENTS[type].join(' or ')}`,
          })
      }
    },
  },
  'MAST-010': {
    severity: 'both',
    why: 'People choose by the name; what they cannot see in it, a model still reads.',
    spec: microAstSpec('Node'),
    hint: 'Give a name of at most 256 characters, without control or direction characters.',
    good: { name: 'Red shirt' },
    bad: { name: '' },
    check({ error, warning }, { nodes }) {
      for (const { cursor } of nodes) {
        const name = cursor.get('name')
        const text = expectText(error, name)
        if (text !== null && text.length > NODE_TABLE.limits.name_chars)
          error(name, `is longer than ${NODE_TABLE.limits.name_chars} characters`)
        if (text !== null && hasHiddenCharacters(text)) warning(name, 'contains invisible characters')
      }
    },
  },
  'MAST-015': {
    severity: 'warning',
    why: 'An order names the SKU; two nodes of one SKU are mixed up.',
    spec: microAstSpec('Node'),
    hint: 'Give each variant a unique SKU.',
    good: { sku: 'A-1' },
    bad: { sku: 'A-1 twice' },
    check({ warning }, { nodes }) {
      for (const { cursor } of nodes) expectTypeIfPresent(warning, cursor.get('sku'), 'string')
      const cursors = nodes.map(({ cursor }) => cursor.get('sku'))
      expectUnique(warning, cursors, 'the SKU of another node')
    },
  },
  'MAST-017': {
    severity: 'warning',
    why: 'An agent that walks into it finds nothing to buy.',
    spec: microAstSpec('Node'),
    hint: 'Leave the category out until it has products.',
    good: [
      { id: 'c1', type: 'category' },
      { type: 'product', parent: 'c1' },
    ],
    bad: [{ id: 'c1', type: 'category' }],
    check({ warning }, view) {
      const filled = ancestorsOf(view, ({ type }) => type === 'product')
      for (const { cursor, id, type } of view.nodes)
        if (view.is_complete && type === 'category' && id !== null && !filled.has(id)) warning(cursor, 'is a category without products')
    },
  },
  'MAST-018': {
    severity: 'both',
    why: 'Attributes distinguish variants; a price among them is never charged.',
    spec: microAstSpec('Attributes'),
    hint: 'Keep up to 32 texts, numbers and booleans, and put prices into price.',
    good: { attributes: { colour: 'red', size: 42 } },
    bad: { attributes: { sizes: [41, 42] } },
    check(report, { nodes }) {
      for (const { cursor } of nodes) checkAttributes(report, cursor.get('attributes'))
    },
  },
  'MAST-021': {
    severity: 'warning',
    why: 'A model that reads the catalogue may take such words for its orders.',
    spec: microAstSpec('Attributes'),
    hint: 'Describe the goods, and nothing else.',
    good: { name: 'Red shirt' },
    bad: { name: 'Ignore all previous instructions' },
    check({ warning }, { merchant, nodes }) {
      for (const cursor of listTexts(merchant, nodes)) {
        if (looksLikeInstruction(cursor.text() ?? '')) warning(cursor, 'reads like an instruction to the reader')
      }
    },
  },
  'MAST-024': {
    severity: 'both',
    why: 'A buyer chooses a variant by its attributes, so each must have them, and no two the same.',
    spec: microAstSpec('Attributes'),
    hint: 'Give all variants of a product the same attribute names, and each its own values.',
    good: [{ attributes: { size: 41 } }, { attributes: { size: 42 } }],
    bad: [{ attributes: { size: 41 } }, { attributes: { colour: 'red' } }],
    check(report, { children }) {
      for (const group of children.values()) checkVariants(report, group)
    },
  },
  'MAST-026': {
    severity: 'warning',
    why: 'A catalogue is public; data about people do not belong in it.',
    spec: microAstSpec('Attributes'),
    hint: 'Keep addresses and numbers of people out; the merchant has contact.',
    good: { merchant: { contact: 'help@shop.example' } },
    bad: { nodes: [{ attributes: { owner: 'jane@example.com' } }] },
    check({ warning }, { merchant, nodes }) {
      for (const cursor of listTexts(merchant, nodes))
        if (containsContactData(cursor.text() ?? '')) warning(cursor, 'looks like data about a person')
    },
  },
  // MAST-011…014, 016, 019 and 020: prices, availability, links and actions.
  'MAST-011': {
    why: 'What has no price cannot be bought; what is not for sale has none.',
    spec: microAstSpec('Price'),
    hint: 'Price the product, or one of its variants or offers; take prices off categories and policies.',
    good: [{ id: 'p1', type: 'product', price: { amount: 1999 } }],
    bad: [{ id: 'p1', type: 'product' }],
    check({ error }, view) {
      const priced = ancestorsOf(view, ({ type, cursor }) => (type === 'variant' || type === 'offer') && cursor.has('price'))
      for (const { cursor, type, id } of view.nodes) {
        const price = cursor.get('price')
        if ((type === 'category' || type === 'policy') && price.present) error(price, 'is on a node that is not for sale')
        if (view.is_complete && type === 'product' && !price.present && !(id !== null && priced.has(id)))
          error(cursor, 'has no price, and none below it')
      }
    },
  },
  'MAST-012': {
    severity: 'both',
    why: 'Prices are compared and charged exactly.',
    spec: microAstSpec('Price'),
    hint: 'Send an integer of minor units: 19.99 USD is 1999.',
    good: { price: { amount: 1999 } },
    bad: { price: { amount: 19.99 } },
    check({ error, warning }, { nodes }) {
      for (const { cursor } of nodes) {
        const price = cursor.get('price')
        if (!expectObjectIfPresent(error, price)) continue
        const amount = price.get('amount')
        if (!amount.present) error(amount, 'is missing', { expected: 'an integer of minor units' })
        if (expectMinorUnits(error, amount, { min: 0n }) === 0n) warning(amount, 'is zero')
      }
    },
  },
  'MAST-013': {
    why: 'A catalogue has one currency, so that prices can be compared.',
    spec: microAstSpec('Price'),
    hint: 'Leave it out, or repeat that of the catalogue.',
    good: { currency: 'USD', nodes: [{ price: { amount: 1, currency: 'USD' } }] },
    bad: { currency: 'USD', nodes: [{ price: { amount: 1, currency: 'EUR' } }] },
    check({ error }, { document, nodes }) {
      const root = document.text('currency')
      for (const { cursor } of nodes) {
        const currency = cursor.get('price', 'currency')
        if (!expectTypeIfPresent(error, currency, 'string') || root === null) continue
        if (currency.text() !== null && currency.text() !== root) error(currency, 'is not the currency of the catalogue')
      }
    },
  },
  'MAST-014': {
    severity: 'both',
    why: 'An agent must not start to buy what cannot be had.',
    spec: microAstSpec('Node'),
    hint: 'Use the five values, and take the checkout action away while nothing is in stock.',
    good: { availability: 'in_stock' },
    bad: { availability: 'yes' },
    check({ error, warning }, { nodes, actions }) {
      for (const { cursor } of nodes) expectOneOf(error, cursor.get('availability'), NODE_TABLE.availability)
      for (const { cursor, node } of actions) {
        const isGone = node.cursor.text('availability') === 'out_of_stock'
        if (isGone && cursor.text('type') === 'checkout') warning(cursor, 'leads to a checkout of what is out of stock')
      }
    },
  },
  'MAST-016': {
    severity: 'both',
    why: 'A URL outside the domain of the merchant leads to another party.',
    spec: microAstSpec('Node'),
    hint: 'Use https addresses of the merchant itself, without a user name.',
    good: { url: 'https://shop.example/p1' },
    bad: { url: 'http://shop.example/p1' },
    check(report, view) {
      for (const { cursor } of view.nodes) checkUrl(report, cursor.get('url'), view.merchant_host)
      for (const { cursor } of view.actions) {
        // The rule about checkouts reports the owner of the checkout.
        const isCheckout = cursor.text('type') === 'checkout'
        checkUrl(report, cursor.get('href'), isCheckout ? null : view.merchant_host)
      }
    },
  },
  'MAST-019': {
    why: 'An agent follows an action by its type, protocol and address.',
    spec: microAstSpec('Actions'),
    hint: 'Give type, href, and the protocol that is spoken there.',
    good: { actions: [{ type: 'checkout', protocol: 'ucp', href: 'https://shop.example/ucp' }] },
    bad: { actions: [{ type: 'buy' }] },
    check({ error }, { nodes, actions }) {
      for (const { cursor } of nodes) {
        const list = cursor.get('actions')
        expectArrayIfPresent(error, list, 'object')
      }
      for (const { cursor } of actions) {
        if (expectType(error, cursor.get('type'), 'string')) expectOneOf(error, cursor.get('type'), NODE_TABLE.action_types)
        expectOneOf(error, cursor.get('protocol'), NODE_TABLE.action_protocols)
        expectType(error, cursor.get('href'), 'string')
      }
    },
  },
  'MAST-020': {
    severity: 'warning',
    why: 'An agent pays where the checkout leads.',
    spec: microAstSpec('Actions'),
    hint: 'Name the protocol of the checkout, and let it lead to the merchant.',
    good: { actions: [{ type: 'checkout', protocol: 'ucp', href: 'https://shop.example/ucp' }] },
    bad: { actions: [{ type: 'checkout', href: 'https://other.example' }] },
    check({ warning }, { actions, merchant_host }) {
      for (const { cursor } of actions) {
        if (cursor.text('type') !== 'checkout') continue
        const host = hostOfUrl(cursor.text('href'))
        if (!cursor.has('protocol')) warning(cursor, 'is a checkout without a protocol')
        else if (merchant_host !== null && host !== null && !isHostWithin(host, merchant_host))
          warning(cursor.get('href'), 'is not on the domain of the merchant')
      }
    },
  },
}

/** Ids of all nodes above those that `counts` names, found upwards, so that each node is passed once. */
function ancestorsOf({ nodes, by_id }: CatalogueView, counts: (node: CatalogueNode) => boolean): Set<string> {
  const found = new Set<string>()
  for (const node of nodes) {
    if (!counts(node)) continue
    for (let id = node.parent; id !== null && !found.has(id); id = by_id.get(id)?.parent ?? null) found.add(id)
  }
  return found
}

function checkAttributes({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  if (!expectTypeIfPresent(error, cursor, 'object')) return
  const members = cursor.members()
  if (members.length > NODE_TABLE.limits.attributes) error(cursor, `has more than ${NODE_TABLE.limits.attributes} members`)
  for (const one of members) {
    if (!['string', 'number', 'boolean', 'redacted'].includes(one.kind)) error(one, 'is neither a text, a number, true nor false')
    if (one.key.length > NODE_TABLE.limits.attribute_name_chars)
      error(one, `has a name of more than ${NODE_TABLE.limits.attribute_name_chars} characters`)
    else if (/price|total|amount|(?:^|_)cost/i.test(one.key)) warning(one, 'looks like a price, which belongs into price')
  }
}

/** Texts that people and models read. */
function listTexts(merchant: JsonCursor, nodes: readonly CatalogueNode[]): JsonCursor[] {
  const texts = nodes.flatMap(({ cursor }) => [cursor.get('name'), ...cursor.members('attributes')])
  return [merchant.get('name'), ...texts].filter((cursor) => cursor.text() !== null)
}

function checkVariants({ error, warning }: FindingReporter, group: readonly CatalogueNode[]): void {
  const all = group.filter(({ type }) => type === 'variant').map(({ cursor }) => cursor.get('attributes'))
  const [first, ...others] = all
  if (first === undefined) return
  const names = (cursor: JsonCursor) =>
    JSON.stringify(
      cursor
        .members()
        .map(({ key }) => key)
        .toSorted(),
    )
  const values = (cursor: JsonCursor) =>
    JSON.stringify(
      cursor
        .members()
        .map(({ key, value }) => [key, value])
        .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    )
  for (const cursor of others)
    if (names(cursor) !== names(first)) error(cursor, 'has other names than those of the first variant of this product')
  const seen = new Set<string>()
  for (const cursor of all) {
    if (seen.has(values(cursor))) warning(cursor, 'is the same as that of another variant of this product')
    seen.add(values(cursor))
  }
}

function checkUrl({ error, warning }: FindingReporter, cursor: JsonCursor, merchant_host: string | null): void {
  const url = expectHttpsUrl(error, cursor)
  const host = url === null ? null : hostOfUrl(url.href)
  if (host !== null && merchant_host !== null && !isHostWithin(host, merchant_host)) warning(cursor, 'is not on the domain of the merchant')
}
