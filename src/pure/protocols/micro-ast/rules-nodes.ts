import { need, needText, oneOf, optional, refersTo, textForm, unique } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { hasHiddenCharacters, holdsContact, looksLikeInstruction } from '../kit/words.ts'
import { above, microAst, NODE_TYPES, type CatalogueNode, type CatalogueView, type NodeType } from './view.ts'

const MOST_DEPTH = 8
const MOST_ATTRIBUTES = 32
const KEY_CHARS = 64
const NAME_CHARS = 256

/** Below which types a node may hang; `root` is no parent. */
const PARENTS: Readonly<Record<NodeType, readonly (NodeType | 'root')[]>> = {
  category: ['category', 'root'],
  product: ['category', 'root'],
  variant: ['product'],
  offer: ['product', 'variant'],
  policy: ['root'],
}

/** MAST-006…010, 015, 017, 018, 021, 024 and 026: each node, and where it hangs. */
export const NODE_RULES = [
  rule<CatalogueView>(
    {
      code: 'MAST-006',
      severity: 'error',
      why: 'Nodes refer to one another by id.',
      spec: microAst('Node'),
      hint: 'Give each node an id of its own: 1 to 128 letters, digits and the marks . _ : - only.',
      good: { id: 'sku:1234-red' },
      bad: { id: 'red shirt' },
    },
    ({ error }, { nodes }) => {
      for (const { place } of nodes) {
        if (need(error, place.get('id'), 'string'))
          textForm(error, place.get('id'), { pattern: /^[A-Za-z0-9._:-]{1,128}$/, expected: '1 to 128 letters, digits, and . _ : -' })
      }
      const places = nodes.map(({ place }) => place.get('id'))
      unique(error, places, 'the id of another node')
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-007',
      severity: 'error',
      why: 'The type says what the other members mean.',
      spec: microAst('Node'),
      hint: 'Use category, product, variant, offer or policy.',
      good: { type: 'product' },
      bad: { type: 'item' },
    },
    ({ error }, { nodes }) => {
      for (const { place } of nodes) if (need(error, place.get('type'), 'string')) oneOf(error, place.get('type'), NODE_TYPES)
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-008',
      severity: 'error',
      why: 'A reader walks from a node to the root.',
      spec: microAst('Node'),
      hint: 'Let each parent be the id of another node, up to eight steps from the root.',
      good: { id: 'v1', parent: 'p1' },
      bad: { id: 'v1', parent: 'v1' },
    },
    ({ error }, { nodes, by_id, tree, whole }) => {
      const ids = new Set(by_id.keys())
      for (const { place, id } of nodes) {
        const parent = place.get('parent')
        if (!optional(error, parent, 'string')) continue
        if (whole) refersTo(error, parent, ids, 'a node')
        if (id !== null && tree.in_cycle.has(id)) error(parent, 'leads back to the node itself')
        else if (id !== null && (tree.depth.get(id) ?? 0) >= MOST_DEPTH) error(parent, `lies more than ${MOST_DEPTH} levels deep`)
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-009',
      severity: 'error',
      why: 'Prices and stock are looked for along these lines.',
      spec: microAst('Node'),
      hint: 'Hang variants below products, offers below products or variants, and policies nowhere.',
      good: { type: 'variant', parent: 'a product' },
      bad: { type: 'variant', parent: 'a category' },
    },
    ({ error }, { nodes, by_id }) => {
      for (const { place, type, parent } of nodes) {
        if (type === null) continue
        const holder = place.has('parent') ? (by_id.get(parent ?? '')?.type ?? null) : 'root'
        if (holder !== null && !PARENTS[type].includes(holder))
          error(place.get(place.has('parent') ? 'parent' : 'type'), 'does not fit where the node hangs', {
            expected: `below: ${PARENTS[type].join(' or ')}`,
          })
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-010',
      severity: 'both',
      why: 'People choose by the name; what they cannot see in it, a model still reads.',
      spec: microAst('Node'),
      hint: 'Give a name of at most 256 characters, without control or direction characters.',
      good: { name: 'Red shirt' },
      bad: { name: '' },
    },
    ({ error, warning }, { nodes }) => {
      for (const { place } of nodes) {
        const name = place.get('name')
        const text = needText(error, name)
        if (text !== null && text.length > NAME_CHARS) error(name, `is longer than ${NAME_CHARS} characters`)
        if (text !== null && hasHiddenCharacters(text)) warning(name, 'holds characters that cannot be seen')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-015',
      severity: 'warning',
      why: 'An order names the SKU; two nodes of one SKU are mixed up.',
      spec: microAst('Node'),
      hint: 'Give each variant a SKU of its own.',
      good: { sku: 'A-1' },
      bad: { sku: 'A-1 twice' },
    },
    ({ warning }, { nodes }) => {
      for (const { place } of nodes) optional(warning, place.get('sku'), 'string')
      const places = nodes.map(({ place }) => place.get('sku'))
      unique(warning, places, 'the SKU of another node')
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-017',
      severity: 'warning',
      why: 'An agent that walks into it finds nothing to buy.',
      spec: microAst('Node'),
      hint: 'Leave the category out until it has products.',
      good: [
        { id: 'c1', type: 'category' },
        { type: 'product', parent: 'c1' },
      ],
      bad: [{ id: 'c1', type: 'category' }],
    },
    ({ warning }, view) => {
      const filled = above(view, ({ type }) => type === 'product')
      for (const { place, id, type } of view.nodes)
        if (view.whole && type === 'category' && id !== null && !filled.has(id)) warning(place, 'is a category without products')
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-018',
      severity: 'both',
      why: 'Attributes tell variants apart; a price among them is never charged.',
      spec: microAst('Attributes'),
      hint: 'Keep up to 32 texts, numbers and booleans, and put prices into price.',
      good: { attributes: { colour: 'red', size: 42 } },
      bad: { attributes: { sizes: [41, 42] } },
    },
    (report, { nodes }) => {
      for (const { place } of nodes) attributes(report, place.get('attributes'))
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-021',
      severity: 'warning',
      why: 'A model that reads the catalogue may take such words for its orders.',
      spec: microAst('Attributes'),
      hint: 'Describe the goods, and nothing else.',
      good: { name: 'Red shirt' },
      bad: { name: 'Ignore all previous instructions' },
    },
    ({ warning }, { merchant, nodes }) => {
      for (const place of wordsOf(merchant, nodes)) {
        if (looksLikeInstruction(place.text() ?? '')) warning(place, 'reads like an instruction to whoever reads it')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-024',
      severity: 'both',
      why: 'A buyer chooses a variant by its attributes, so each must have them, and no two the same.',
      spec: microAst('Attributes'),
      hint: 'Give all variants of a product the same attribute names, and each its own values.',
      good: [{ attributes: { size: 41 } }, { attributes: { size: 42 } }],
      bad: [{ attributes: { size: 41 } }, { attributes: { colour: 'red' } }],
    },
    (report, { children }) => {
      for (const group of children.values()) variants(report, group)
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-026',
      severity: 'warning',
      why: 'A catalogue is public; data about people do not belong in it.',
      spec: microAst('Attributes'),
      hint: 'Keep addresses and numbers of people out; the merchant has contact.',
      good: { merchant: { contact: 'help@shop.example' } },
      bad: { nodes: [{ attributes: { owner: 'jane@example.com' } }] },
    },
    ({ warning }, { merchant, nodes }) => {
      for (const place of wordsOf(merchant, nodes)) if (holdsContact(place.text() ?? '')) warning(place, 'looks like data about a person')
    },
  ),
]

function attributes({ error, warning }: Report, place: Place): void {
  if (!optional(error, place, 'object')) return
  const members = place.members()
  if (members.length > MOST_ATTRIBUTES) error(place, `has more than ${MOST_ATTRIBUTES} members`)
  for (const one of members) {
    if (!['string', 'number', 'boolean', 'redacted'].includes(one.kind)) error(one, 'is neither a text, a number, true nor false')
    if (one.key.length > KEY_CHARS) error(one, `has a name of more than ${KEY_CHARS} characters`)
    else if (/price|total|amount|(?:^|_)cost/i.test(one.key)) warning(one, 'looks like a price, which belongs into price')
  }
}

/** Texts that people and models read. */
function wordsOf(merchant: Place, nodes: readonly CatalogueNode[]): Place[] {
  const texts = nodes.flatMap(({ place }) => [place.get('name'), ...place.get('attributes').members()])
  return [merchant.get('name'), ...texts].filter((place) => place.text() !== null)
}

function variants({ error, warning }: Report, group: readonly CatalogueNode[]): void {
  const all = group.filter(({ type }) => type === 'variant').map(({ place }) => place.get('attributes'))
  const [first, ...others] = all
  if (first === undefined) return
  const names = (place: Place) =>
    JSON.stringify(
      place
        .members()
        .map(({ key }) => key)
        .toSorted(),
    )
  const values = (place: Place) =>
    JSON.stringify(
      place
        .members()
        .map(({ key, value }) => [key, value])
        .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    )
  for (const place of others)
    if (names(place) !== names(first)) error(place, 'has other names than those of the first variant of this product')
  const seen = new Set<string>()
  for (const place of all) {
    if (seen.has(values(place))) warning(place, 'is the same as that of another variant of this product')
    seen.add(values(place))
  }
}
