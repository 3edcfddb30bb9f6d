import { group, THEN } from './json-schema-cases.ts'

/** Cases of our own on identifiers, references to other documents, vocabularies, and what counts as looked at. */

const TWENTY = 'https://json-schema.org/draft/2020-12/schema'
const NINETEEN = 'https://json-schema.org/draft/2019-09/schema'
const SEVEN = 'http://json-schema.org/draft-07/schema#'
const VOCABULARY = 'https://json-schema.org/draft/2020-12/vocab'

const metaschema = (uri: string, $vocabulary: Record<string, boolean>) => ({ $schema: TWENTY, $id: uri, $vocabulary })

/** What the cases refer to beside their own schema. */
export const DOCUMENTS: Record<string, unknown> = {
  'https://example.org/int': { type: 'integer' },
  'https://example.org/folder/int': { type: 'integer', minimum: 0 },
  'https://example.org/parts': { $defs: { text: { type: 'string' } }, other: { $ref: '#/$defs/text' }, boxed: [{ type: 'null' }] },
  'https://example.org/seven': { $schema: SEVEN, definitions: { list: { type: 'array' } }, $ref: '#/definitions/list', maxItems: 1 },
  'https://example.org/no-validation': metaschema('https://example.org/no-validation', {
    [`${VOCABULARY}/core`]: true,
    [`${VOCABULARY}/applicator`]: true,
    'https://example.org/vocab/unknown': false,
  }),
}

export const IDENTIFIERS = [
  group(
    'an identifier resolves against the nearest around it (core §8.2.1)',
    {
      $id: 'https://example.org/a',
      $defs: { x: { $id: 'https://example.org/b/c', not: { $defs: { y: { $id: 'd', type: 'number' } } } } },
      $ref: 'https://example.org/b/d',
    },
    [1],
    ['a'],
  ),
  group(
    'an identifier inside enum or const is a value',
    {
      $defs: { e: { enum: [{ $id: 'https://example.org/x', type: 'null' }] }, r: { $id: 'https://example.org/x', type: 'string' } },
      $ref: 'https://example.org/x',
    },
    ['a'],
    [null, 1],
  ),
  group(
    'one anchor in two resources',
    {
      $id: 'https://example.org/f',
      $ref: 'child#same',
      $defs: { a: { $anchor: 'same', type: 'string' }, b: { $id: 'child', $defs: { c: { $anchor: 'same', type: 'number' } } } },
    },
    [1],
    ['a'],
  ),
  group(
    'names of the scheme urn (RFC 8141)',
    {
      $id: 'urn:uuid:11111111-2222-4333-8444-555555555555',
      properties: { a: { $ref: '#/$defs/s' }, b: { $ref: 'urn:uuid:11111111-2222-4333-8444-555555555555#n' } },
      $defs: { s: { type: 'string' }, n: { $anchor: 'n', type: 'null' } },
    },
    [{ a: 'x', b: null }],
    [{ a: 1 }, { b: 1 }],
  ),
  group(
    'a path from the root of the host (RFC 3986 §5.2.2)',
    {
      $id: 'https://example.org/deep/base',
      $ref: '/top/x',
      $defs: { a: { $id: 'https://example.org/deep/top/x', type: 'number' }, b: { $id: '../top/x', type: 'string' } },
    },
    ['a'],
    [1],
  ),
  group(
    'a reference to a place under an unknown name',
    { 'x-parts': [{ text: { type: 'string' } }], $ref: '#/x-parts/0/text' },
    ['a'],
    [1],
  ),
]

export const OTHERS = [
  group('another document', { $ref: 'https://example.org/int' }, [1], ['a', 1.5]),
  group('a part of it', { $ref: 'https://example.org/parts#/other' }, ['a'], [1]),
  group('a part of it in a list', { $ref: 'https://example.org/parts#/boxed/0' }, [null], [1]),
  group(
    'beneath an identifier that moves the base',
    { $id: 'https://example.org/', items: { $id: 'folder/', items: { $ref: 'int' } } },
    [[[1]]],
    [[[-1]]],
  ),
  group('a document of another draft (core §9.3)', { $ref: 'https://example.org/seven' }, [[1, 2]], [1]),
  group(
    'a dialect without assertions (core §8.1.2)',
    { $schema: 'https://example.org/no-validation', minimum: 5, properties: { no: false } },
    [1, { yes: 1 }],
    [{ no: 1 }],
  ),
  group(
    'the metaschema of 2020-12',
    { $ref: TWENTY },
    [{ minLength: 1 }, true],
    [{ minLength: -1 }, { $defs: { a: { type: 'x' } } }, 1, { $id: '#a' }],
  ),
  group('a part of it', { $ref: 'https://json-schema.org/draft/2020-12/meta/validation' }, [{ type: 'null', not: 1 }], [{ type: 'x' }]),
  group('the metaschema of 2019-09', { $schema: NINETEEN, $ref: NINETEEN }, [{ items: [true] }], [{ not: { enum: 1 } }, { items: [] }]),
  group('the metaschema of draft-07', { $schema: SEVEN, $ref: SEVEN }, [{ definitions: { a: {} } }], [{ definitions: { a: { type: 1 } } }]),
]

export const SEVENTH = [
  group(
    'an anchor by a bare fragment (draft-07 core §8.2.3)',
    { definitions: { a: { $id: '#a', type: 'string' } }, allOf: [{ $ref: '#a' }] },
    ['x'],
    [1],
  ),
  group(
    'an identifier beside a reference does not count (§8.3)',
    {
      $id: 'https://example.org/base/',
      definitions: { n: { $id: 'int', type: 'string' } },
      allOf: [{ $id: 'https://example.org/', $ref: 'int' }],
    },
    ['a'],
    [1],
  ),
  group(
    'schemas and lists among dependencies (validation §6.5.7)',
    { dependencies: { a: ['b'], c: { maxProperties: 1 } } },
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1 }, { c: 1, d: 1 }],
  ),
  group(
    'items of both forms (§6.4.1, §6.4.2)',
    { items: [true, { type: 'null' }], additionalItems: false },
    [[1, null], [1]],
    [
      [1, 1],
      [1, null, 1],
    ],
  ),
  group(
    'keywords of later drafts',
    { dependentRequired: { a: ['b'] }, unevaluatedProperties: false, minContains: 0, contains: { const: 1 } },
    [{ a: 1 }],
    [[]],
  ),
]

export const LOOKED_AT = [
  group(
    'only what succeeded counts (core §11)',
    {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: true }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }, { a: 1, b: 2 }],
    [
      { a: 2, b: 2 },
      { a: 1, c: 1 },
    ],
  ),
  group('not from a cousin', { allOf: [{ prefixItems: [true] }, { unevaluatedItems: false }] }, [[]], [[1]]),
  group('not from under not', { not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, [{}], [{ a: 1 }]),
  group(
    'from if without then',
    { if: { properties: { a: { const: 1 } }, required: ['a'] }, unevaluatedProperties: false },
    [{ a: 1 }, {}],
    [{ a: 2 }],
  ),
  group(
    'through a reference and a dependency',
    {
      $ref: '#/$defs/p',
      dependentSchemas: { a: { properties: { b: true } } },
      unevaluatedProperties: false,
      $defs: { p: { properties: { a: true } } },
    },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ),
  group(
    'items by contains, one after another',
    { if: { contains: { const: 'a' } }, [THEN]: { if: { contains: { const: 'b' } } }, unevaluatedItems: false },
    [[], ['a', 'b', 'a']],
    [['b'], ['a', 'c']],
  ),
  group(
    'with a schema of its own',
    { prefixItems: [{ type: 'string' }], unevaluatedItems: { type: 'number' } },
    [['a', 1, 2]],
    [['a', 'b']],
  ),
  group(
    'bounds of contains (validation §6.4.4, §6.4.5)',
    { contains: { const: 1 }, minContains: 0, maxContains: 1 },
    [[], [1], [2]],
    [[1, 1]],
  ),
]
