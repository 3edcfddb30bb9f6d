import { treeOf, type Tree } from '../kit/expect.ts'
import { hostOf } from '../kit/url.ts'
import type { Place } from '../place.ts'
import type { Context, SpecReference } from '../rule.ts'

export const NODE_TYPES = ['category', 'product', 'variant', 'offer', 'policy'] as const

export type NodeType = (typeof NODE_TYPES)[number]

/** Nodes of one catalogue; a larger one is split by category. */
export const MOST_NODES = 4_000

export interface CatalogueNode {
  place: Place
  id: string | null
  type: NodeType | null
  /** null at the root, and where it is no text. */
  parent: string | null
}

/** What the rules of Micro-AST are about, gathered once. */
export interface CatalogueView {
  context: Context
  document: Place
  merchant: Place
  /** Host of the merchant's URL; null where it has none. */
  merchant_host: string | null
  /** Objects among the nodes; further ones beyond the bound are not looked at. */
  nodes: readonly CatalogueNode[]
  /** The first node of each id. */
  by_id: ReadonlyMap<string, CatalogueNode>
  children: ReadonlyMap<string, readonly CatalogueNode[]>
  tree: Tree
  /** No id, parent or type is redacted, so what hangs where is known. */
  whole: boolean
  actions: readonly { place: Place; node: CatalogueNode }[]
}

export function viewCatalogue(context: Context): CatalogueView {
  const { document } = context
  const nodes = document
    .get('nodes')
    .items()
    .slice(0, MOST_NODES)
    .filter(({ kind }) => kind === 'object')
    .map(nodeOf)
  const by_id = new Map<string, CatalogueNode>()
  for (const node of nodes) if (node.id !== null && !by_id.has(node.id)) by_id.set(node.id, node)
  const merchant = document.get('merchant')
  return {
    context,
    document,
    merchant,
    merchant_host: hostOf(merchant.get('url').text()),
    nodes,
    by_id,
    children: Map.groupBy(
      nodes.filter(({ parent }) => parent !== null),
      ({ parent }) => parent ?? '',
    ),
    whole: !nodes.some(({ place }) => ['id', 'parent', 'type'].some((name) => place.get(name).redacted)),
    tree: treeOf(new Map([...by_id].map(([id, { parent }]) => [id, parent]))),
    actions: nodes.flatMap((node) =>
      node.place
        .get('actions')
        .items()
        .filter(({ kind }) => kind === 'object')
        .map((place) => ({ place, node })),
    ),
  }
}

function nodeOf(place: Place): CatalogueNode {
  const type = NODE_TYPES.find((one) => one === place.get('type').text()) ?? null
  return { place, id: place.get('id').text(), type, parent: place.get('parent').text() }
}

/** Ids of all nodes above those that `counts` names, found upwards, so that each node is passed once. */
export function above({ nodes, by_id }: CatalogueView, counts: (node: CatalogueNode) => boolean): Set<string> {
  const found = new Set<string>()
  for (const node of nodes) {
    if (!counts(node)) continue
    for (let id = node.parent; id !== null && !found.has(id); id = by_id.get(id)?.parent ?? null) found.add(id)
  }
  return found
}

/** A section of docs/micro-ast.md; the address is that of the rules, under the origin of the service. */
export function microAst(section: string): SpecReference {
  return { url: '/v1/protocols/rules?protocol=micro-ast', section }
}
