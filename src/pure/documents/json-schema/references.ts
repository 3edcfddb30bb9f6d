import { isObject } from '../../is-object.ts'
import { TICKS } from './budget.ts'
import { addNode, findResource, type Loaded } from './load.ts'
import type { Children, Resource, SchemaNode, Scope } from './nodes.ts'
import { decodeFragment, pointerSteps, resolveUri, splitFragment } from './uri.ts'

/** Where a reference leads, and the name of the anchor when it led there by one. */
export interface Target {
  node: SchemaNode
  anchor: string | null
}

/** The schema that a reference means where it stands; null when it leads to nothing that is at hand, or to two things. */
export function findTarget(load: Loaded, node: SchemaNode, reference: string): Target | null {
  if (!load.budget.spend(TICKS.load_keyword + (node.resource.uri.length + reference.length) * TICKS.uri_char)) return null
  const { uri, fragment } = splitFragment(resolveUri(node.resource.uri, reference))
  const resource = uri === node.resource.uri ? node.resource : findResource(load, uri, node.resource.dialect)
  if (resource === null || resource.root === null) return null
  const name = decodeFragment(fragment)
  if (name === null) return null
  if (name === '' || name.startsWith('/')) {
    const found = followPointer(load, resource.root, name)
    return found === null ? null : { node: found, anchor: null }
  }
  const found = resource.anchors.get(name) ?? null
  return found === null ? null : { node: found, anchor: name }
}

/** RFC 6901 from the root of a resource. A pointer may lead through places that no keyword makes schemas. */
function followPointer(load: Loaded, root: SchemaNode, pointer: string): SchemaNode | null {
  const steps = pointerSteps(pointer)
  if (steps === null) return null
  let node = root
  for (let at = 0; at < steps.length;) {
    const next = node.children.get(steps[at] ?? '')
    const child = next === undefined ? null : childOf(next, steps[at + 1])
    if (child === null) return nodeElsewhere(load, node, steps.slice(at))
    node = child
    at += next?.kind === 'one' ? 1 : 2
  }
  return node
}

function childOf(children: Children, step: string | undefined): SchemaNode | null {
  switch (children.kind) {
    case 'one':
      return children.node
    case 'list':
      return step === undefined || !/^(?:0|[1-9][0-9]{0,5})$/.test(step) ? null : (children.nodes[Number.parseInt(step, 10)] ?? null)
    case 'map':
      return step === undefined ? null : (children.nodes.get(step) ?? null)
  }
}

/** Schemas that are taken in: such places can lie within one another, and each would be taken in again. */
const SCHEMAS_MAX = 100_000

/** A schema in a place that the walk did not take for one, say under a name that the dialect does not know. It is taken in now. */
function nodeElsewhere(load: Loaded, from: SchemaNode, steps: readonly string[]): SchemaNode | null {
  const name = `/${steps.map(encodeURIComponent).join('/')}`
  const known = from.children.get(name)
  if (known?.kind === 'one') return known.node
  let value: unknown = from.schema
  for (const step of steps) {
    const inside = (Array.isArray(value) || isObject(value)) && Object.hasOwn(value, step) && step !== 'length'
    if (!inside) return null
    value = (value as Record<string, unknown>)[step]
  }
  if (load.count > SCHEMAS_MAX || (!isObject(value) && typeof value !== 'boolean')) return null
  const node = addNode(load, value, from.resource, from, steps)
  from.children.set(name, { kind: 'one', node })
  return node
}

/** 2020-12: from an anchor that is dynamic where it was found, to the outermost resource on the way that has one of this name. */
export function dynamicTarget({ node, anchor }: Target, scope: Scope | null): SchemaNode {
  if (anchor === null || !node.resource.dynamic_anchors.has(anchor)) return node
  return outermost(scope, (resource) => resource.dynamic_anchors.get(anchor) ?? null) ?? node
}

/** 2019-09: from a root that says it is recursive, to the outermost on the way that says so too. */
export function recursiveTarget(root: SchemaNode, scope: Scope | null): SchemaNode {
  return isRecursive(root) ? (outermost(scope, ({ root: one }) => (one !== null && isRecursive(one) ? one : null)) ?? root) : root
}

function isRecursive({ schema }: SchemaNode): boolean {
  return isObject(schema) && Object.hasOwn(schema, '$recursiveAnchor') && schema['$recursiveAnchor'] === true
}

function outermost(scope: Scope | null, find: (resource: Resource) => SchemaNode | null): SchemaNode | null {
  let found: SchemaNode | null = null
  for (let at = scope; at !== null; at = at.outer) found = find(at.resource) ?? found
  return found
}
