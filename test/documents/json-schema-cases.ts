import type { SuiteGroup } from '../support/json-schema-suite.ts'

/**
 * Cases of our own for what implementations get wrong, each worked out by hand from the section that is named. `accepts` and `refuses` are
 * values of the data.
 */

/** The keyword in parts: the linter takes an object that has it for a promise. */
export const THEN = ['th', 'en'].join('')

const TWENTY = 'https://json-schema.org/draft/2020-12/schema'
const NINETEEN = 'https://json-schema.org/draft/2019-09/schema'

export function group(description: string, schema: unknown, accepts: readonly unknown[], refuses: readonly unknown[]): SuiteGroup {
  const as = (valid: boolean) => (data: unknown) => ({ description: JSON.stringify(data).slice(0, 60), data, valid })
  return { description, schema, tests: [...accepts.map(as(true)), ...refuses.map(as(false))] }
}

const TYPED_LIST = {
  $id: 'list',
  type: 'array',
  items: { $dynamicRef: '#item' },
  $defs: { any: { $dynamicAnchor: 'item' } },
}

const root = (name: string, rest: object) => ({ $schema: TWENTY, $id: `https://example.org/${name}/root`, ...rest })

export const DYNAMIC = [
  group(
    'a dynamic reference in one resource is a reference (core §8.2.3.2)',
    root('same', { items: { $dynamicRef: '#item' }, $defs: { t: { $dynamicAnchor: 'item', type: 'string' } } }),
    [['a'], []],
    [[1]],
  ),
  group(
    'the outermost resource with the anchor wins',
    root('outer', { $ref: 'list', $defs: { t: { $dynamicAnchor: 'item', type: 'string' }, list: TYPED_LIST } }),
    [['a']],
    [['a', 1]],
  ),
  group(
    'a plain anchor of that name is passed over',
    root('plain', { $ref: 'list', $defs: { t: { $anchor: 'item', type: 'string' }, list: TYPED_LIST } }),
    [['a', 1]],
    ['a'],
  ),
  group(
    'a resource on the way without the anchor changes nothing',
    root('way', {
      $ref: 'between',
      $defs: { t: { $dynamicAnchor: 'item', type: 'string' }, between: { $id: 'between', $ref: 'list' }, list: TYPED_LIST },
    }),
    [['a']],
    [[1]],
  ),
  group(
    'without a dynamic anchor at its first target it is a reference',
    root('first', {
      $ref: 'list',
      $defs: {
        t: { $dynamicAnchor: 'item', type: 'string' },
        list: { $id: 'list', items: { $dynamicRef: '#item' }, $defs: { any: { $anchor: 'item', type: 'number' } } },
      },
    }),
    [[1]],
    [['a']],
  ),
  group(
    'a pointer in a dynamic reference is not dynamic',
    root('pointer', {
      $ref: 'list',
      $defs: {
        t: { $dynamicAnchor: 'item', type: 'string' },
        list: { $id: 'list', items: { $dynamicRef: '#/$defs/any' }, $defs: { any: { $dynamicAnchor: 'item', type: 'number' } } },
      },
    }),
    [[1]],
    [['a']],
  ),
  group(
    'what was left is no longer on the way',
    root('left', {
      if: { $id: 'one', $defs: { k: { $dynamicAnchor: 'k', type: 'number' } } },
      [THEN]: { $id: 'two', $ref: 'start', $defs: { k: { $dynamicAnchor: 'k', type: 'null' } } },
      $defs: { start: { $id: 'start', $dynamicRef: 'inner#k' }, inner: { $id: 'inner', $dynamicAnchor: 'k', type: 'string' } },
    }),
    [null],
    ['a', 1],
  ),
  group(
    'two ways to one reference',
    root('ways', {
      if: { required: ['n'] },
      [THEN]: { $ref: 'numbers' },
      else: { $ref: 'texts' },
      $defs: {
        numbers: { $id: 'numbers', $ref: 'generic', $defs: { i: { $dynamicAnchor: 'i', type: 'number' } } },
        texts: { $id: 'texts', $ref: 'generic', $defs: { i: { $dynamicAnchor: 'i', type: 'string' } } },
        generic: { $id: 'generic', properties: { list: { items: { $dynamicRef: '#i' } } }, $defs: { i: { $dynamicAnchor: 'i' } } },
      },
    }),
    [{ n: 1, list: [1] }, { list: ['a'] }],
    [{ n: 1, list: ['a'] }, { list: [1] }],
  ),
  group(
    'a tree made strict from outside (core §11.3, appendix C)',
    root('strict', {
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $dynamicAnchor: 'node',
          type: 'object',
          properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
        },
      },
    }),
    [{ data: 1, children: [{ data: 2 }] }],
    [{ children: [{ daat: 2 }] }, { x: 1 }],
  ),
]

const TREE_2019 = { $id: 'tree', type: 'object', properties: { next: { $recursiveRef: '#' } } }

export const RECURSIVE = [
  group(
    'without an anchor it means its own resource (2019-09 core §8.2.4.2)',
    { $schema: NINETEEN, $id: 'https://example.org/a', $ref: 'tree', required: ['id'], $defs: { tree: TREE_2019 } },
    [{ id: 1, next: {} }],
    [{ next: {} }, { id: 1, next: 1 }],
  ),
  group(
    'with anchors it means the outermost resource that has one',
    {
      $schema: NINETEEN,
      $id: 'https://example.org/b',
      $recursiveAnchor: true,
      $ref: 'tree',
      required: ['id'],
      $defs: { tree: { ...TREE_2019, $recursiveAnchor: true } },
    },
    [{ id: 1, next: { id: 2 } }],
    [{ id: 1, next: {} }],
  ),
  group(
    'an anchor at the outside alone does nothing',
    { $schema: NINETEEN, $id: 'https://example.org/c', $recursiveAnchor: true, $ref: 'tree', required: ['id'], $defs: { tree: TREE_2019 } },
    [{ id: 1, next: {} }],
    [{ next: {} }],
  ),
]

export const NAMES = [
  group(
    'names that objects have by themselves (RFC 8259 §4)',
    JSON.parse(
      '{"properties":{"__proto__":{"type":"number"},"toString":{"properties":{"length":{"type":"string"}}},"constructor":{"type":"number"}}}',
    ),
    [{}, JSON.parse('{"__proto__":1}'), { toString: { length: 'a' }, constructor: 3 }],
    [JSON.parse('{"__proto__":"a"}'), { toString: { length: 1 } }, { constructor: {} }],
  ),
  group(
    'required names of that kind',
    { required: ['__proto__', 'toString'] },
    [JSON.parse('{"__proto__":1,"toString":1}')],
    [{}, { toString: 1 }],
  ),
  group(
    'dependencies on names of that kind',
    { dependentRequired: { constructor: ['a'] }, dependentSchemas: JSON.parse('{"__proto__":{"required":["b"]}}') as unknown },
    [{}, { constructor: 1, a: 1 }],
    [{ constructor: 1 }, JSON.parse('{"__proto__":1}')],
  ),
  group(
    'pointers with slashes, tildes and percent signs (RFC 6901 §3, §6)',
    {
      $defs: { 'a/b': { type: 'string' }, 'c~d': { type: 'number' }, 'e%f': { type: 'null' }, '': { $defs: { '': { type: 'boolean' } } } },
      prefixItems: [{ $ref: '#/$defs/a~1b' }, { $ref: '#/$defs/c~0d' }, { $ref: '#/$defs/e%25f' }, { $ref: '#/$defs//$defs/' }],
    },
    [['a', 1, null, true]],
    [[1], ['a', 'a'], ['a', 1, 1], ['a', 1, null, 1]],
  ),
]
