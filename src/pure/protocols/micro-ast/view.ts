import { buildParentTree } from '../kit/expect.ts'
import { hostOfUrl } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { isBlank, UNKNOWN_TYPE, type Detection, type RuleContext, type SpecReference, type DocumentReader } from '../protocol.ts'

export const NODE_TYPES = ['category', 'product', 'variant', 'offer', 'policy'] as const

export type NodeType = (typeof NODE_TYPES)[number]

/** Nodes of one catalogue; a larger one is split by category. */
export const MOST_NODES = 4_000

export interface CatalogueNode {
  cursor: JsonCursor
  id: string | null
  type: NodeType | null
  /** null at the root, and if it is not a string. */
  parent: string | null
}

/** Parts of a catalogue that its rules read, collected once. */
export interface CatalogueView {
  context: RuleContext
  document: JsonCursor
  merchant: JsonCursor
  /** Host of the merchant's URL; null if it has none. */
  merchant_host: string | null
  /** Objects among the nodes, up to the bound. */
  nodes: readonly CatalogueNode[]
  /** The first node of each id. */
  by_id: ReadonlyMap<string, CatalogueNode>
  children: ReadonlyMap<string, readonly CatalogueNode[]>
  tree: ReturnType<typeof buildParentTree>
  /** True if no id, parent or type is redacted, so that the tree is known. */
  is_complete: boolean
  actions: readonly { cursor: JsonCursor; node: CatalogueNode }[]
}

function collectCatalogueView(context: RuleContext): CatalogueView {
  const { document } = context
  const nodes = document
    .items('nodes')
    .slice(0, MOST_NODES)
    .filter(({ kind }) => kind === 'object')
    .map(readNode)
  const by_id = new Map<string, CatalogueNode>()
  for (const node of nodes) if (node.id !== null && !by_id.has(node.id)) by_id.set(node.id, node)
  const merchant = document.get('merchant')
  return {
    context,
    document,
    merchant,
    merchant_host: hostOfUrl(merchant.text('url')),
    nodes,
    by_id,
    children: Map.groupBy(
      nodes.filter(({ parent }) => parent !== null),
      ({ parent }) => parent ?? '',
    ),
    is_complete: !nodes.some(({ cursor }) => ['id', 'parent', 'type'].some((name) => cursor.get(name).redacted)),
    tree: buildParentTree(new Map([...by_id].map(([id, { parent }]) => [id, parent]))),
    actions: nodes.flatMap((node) => node.cursor.objects('actions').map((cursor) => ({ cursor, node }))),
  }
}

function readNode(cursor: JsonCursor): CatalogueNode {
  const type = NODE_TYPES.find((one) => one === cursor.text('type')) ?? null
  return { cursor, id: cursor.text('id'), type, parent: cursor.text('parent') }
}

/** A section of docs/guide/micro-ast.md; the address is that of the rules, under the origin of the service. */
export function microAstSpec(section: string): SpecReference {
  return { url: '/v1/protocols/rules?protocol=micro-ast', section }
}

function detectCatalogue(document: JsonCursor): Detection {
  const text = document.text('micro_ast')
  if (text !== null && /^(?:1\.[1-9][0-9]?|(?:[2-9]|[1-9][0-9])\.[0-9]{1,2})$/.test(text))
    return { type: 'catalogue', version: '1.0', version_source: 'declared', declared: text, outside: 'future' }
  if (document.has('micro_ast')) return { type: 'catalogue', version: '1.0', version_source: 'declared' }
  const isKnown = isBlank(document) || document.has('nodes') || document.has('merchant')
  if (isKnown) return { type: 'catalogue', version: '1.0', version_source: 'assumed' }
  return { type: UNKNOWN_TYPE, version: '1.0', version_source: 'assumed', outside: 'unknown' }
}

export const MICRO_AST_READER: DocumentReader<CatalogueView> = {
  versions: ['1.0'],
  types: ['catalogue'],
  recognises: (document) => document.has('micro_ast'),
  members: ['micro_ast', 'merchant', 'nodes'],
  detect: detectCatalogue,
  view: collectCatalogueView,
}
