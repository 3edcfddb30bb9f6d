import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Ajv, type AnySchema, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/**
 * The schemas that the projects themselves publish, as judges of test documents. test/protocols/schemas/README.md names repository, commit and
 * licence of each.
 */

export type SchemaProtocol = 'ucp' | 'acp' | 'mcp' | 'ap2' | 'a2a'

type Files = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Returns whether a document of a type and version is valid; null where the project publishes no schema for it. */
export type Judge = (type: string, version: string) => ((document: unknown) => boolean) | null

const OPTIONS: Options = { strict: false, validateFormats: true, logger: false }

/** Compiles each schema once, on its first use. */
export function officialJudge(protocol: SchemaProtocol): Judge {
  const versions = JSON.parse(readSchemas(protocol)) as Readonly<Record<string, Files>>
  const validators = new Map<string, Ajv>()
  const compiled = new Map<string, ((document: unknown) => boolean) | null>()
  const validatorOf = (version: string, files: Files): Ajv => {
    const kept = validators.get(version) ?? compiler(files)
    validators.set(version, kept)
    return kept
  }
  return (type, version) => {
    const key = `${type} ${version}`
    const known = compiled.get(key)
    if (known !== undefined) return known
    const published = PUBLISHED_AS[protocol][version] ?? version
    const files = versions[published]
    const schema = files === undefined ? null : schemaOf(protocol, type, files)
    const made = files === undefined || schema === null ? null : validatorOf(published, files).compile(schema)
    const judge = made === null ? null : (document: unknown) => made(document)
    compiled.set(key, judge)
    return judge
  }
}

/** The service runs on the same files of three protocols, with another interpreter. */
function readSchemas(protocol: SchemaProtocol): string {
  const isData = protocol === 'ucp' || protocol === 'acp' || protocol === 'mcp'
  if (isData) return readFileSync(new URL(`../../data/protocol-schemas/${protocol}.json`, import.meta.url), 'utf8')
  return gunzipSync(readFileSync(new URL(`schemas/${protocol}.json.gz`, import.meta.url))).toString('utf8')
}

/** Versions of the rules whose schema was published under another name. */
const PUBLISHED_AS: Readonly<Record<SchemaProtocol, Readonly<Record<string, string>>>> = {
  ucp: {},
  acp: {},
  mcp: {},
  ap2: {},
  a2a: { '0.3': '0.3.0', '0.2.5': '0.2.6' },
}

/** Base of all file names, so that relative references between files resolve. */
const BASE = 'https://ucp.dev/'

function compiler(files: Files): Ajv {
  const isDraft7 = Object.values(files).some((file) => String(file['$schema']).includes('draft-07'))
  const ajv = isDraft7 ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS)
  addFormats.default(ajv)
  ajv.addFormat('uri-template', true)
  for (const [path, file] of Object.entries(files)) {
    const own = file as Record<string, unknown>
    ajv.addSchema({ ...own, $id: `${BASE}${path}` })
    for (const [name, inner] of Object.entries((own['definitions'] ?? {}) as Record<string, object>))
      if (!isDraft7) addByProtobufName(ajv, name, inner)
  }
  return ajv
}

/** A2A 1.0 keeps its definitions under titles such as `Agent Card`, and refers to them by the names of their protocol buffers. */
function addByProtobufName(ajv: Ajv, title: string, schema: object): void {
  const name = title.replaceAll(' ', '')
  const group = ['Struct', 'Timestamp', 'Value'].includes(name) ? 'google.protobuf' : 'lf.a2a.v1'
  ajv.addSchema({ ...schema, $id: `${BASE}${group}.${name}.jsonschema.json` })
}

const ref = (path: string): AnySchema => ({ $ref: `${BASE}${path}` })

function schemaOf(protocol: SchemaProtocol, type: string, files: Files): AnySchema | null {
  switch (protocol) {
    case 'ucp':
      return ucpSchema(type, files)
    case 'acp':
      return acpSchema(type, files)
    case 'mcp':
      return mcpSchema(type, files)
    case 'ap2': {
      const path = `ap2/${type}.json`
      return files[path] === undefined ? null : ref(path)
    }
    case 'a2a':
      return a2aSchema(files)
  }
}

/** Extensions of UCP that add members to a checkout, a cart or an order, with the definitions that say so. */
const UCP_EXTENSIONS = ['fulfillment', 'discount', 'buyer_consent', 'ap2_mandate']

function ucpSchema(type: string, files: Files): AnySchema | null {
  if (type === 'business_profile' || type === 'platform_profile') {
    if (files['schemas/profile.json'] !== undefined)
      return ref(`schemas/profile.json#/$defs/${type === 'business_profile' ? 'business_schema' : 'platform_schema'}`)
    const path = 'discovery/profile_schema.json'
    return definition(files, path, type) === undefined ? ref(path) : ref(`${path}#/$defs/${type}`)
  }
  if (type === 'catalog') {
    const search = definition(files, 'schemas/shopping/catalog_search.json', 'search_response')
    return search === undefined ? null : ref('schemas/shopping/catalog_search.json#/$defs/search_response')
  }
  if (type === 'error') return firstOf(files, ['schemas/common/types/error_response.json', 'schemas/shopping/types/error_response.json'])
  const path = `schemas/shopping/${type}.json`
  if (files[path] === undefined) return null
  const extensions = UCP_EXTENSIONS.flatMap((name) => {
    const file = `schemas/shopping/${name}.json`
    const found = [`dev.ucp.shopping.${type}`, type].find((one) => definition(files, file, one) !== undefined)
    return found === undefined || name === 'ap2_mandate' ? [] : [ref(`${file}#/$defs/${found}`)]
  })
  return { allOf: [ref(path), ...extensions] }
}

function definition(files: Files, path: string, name: string): unknown {
  return (files[path]?.['$defs'] as Record<string, unknown> | undefined)?.[name]
}

function firstOf(files: Files, paths: readonly string[]): AnySchema | null {
  const found = paths.find((path) => files[path] !== undefined)
  return found === undefined ? null : ref(found)
}

const ACP_DEFINITIONS: Readonly<Record<string, readonly [file: string, name: string]>> = {
  checkout_session: ['schema.agentic_checkout.json', 'CheckoutSession'],
  checkout_session_with_order: ['schema.agentic_checkout.json', 'CheckoutSessionWithOrder'],
  order: ['schema.agentic_checkout.json', 'Order'],
  discovery: ['schema.agentic_checkout.json', 'DiscoveryResponse'],
  error: ['schema.agentic_checkout.json', 'Error'],
  allowance: ['schema.delegate_payment.json', 'Allowance'],
  feed_product: ['schema.feed.json', 'Product'],
}

function acpSchema(type: string, files: Files): AnySchema | null {
  const [file, name] = ACP_DEFINITIONS[type] ?? []
  if (file === undefined || name === undefined || definition(files, file, name) === undefined) return null
  return ref(`${file}#/$defs/${name}`)
}

const MCP_DEFINITIONS: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  discover: 'DiscoverResult',
  tools_list: 'ListToolsResult',
  tool_result: 'CallToolResult',
  resources_list: 'ListResourcesResult',
  resource_templates_list: 'ListResourceTemplatesResult',
  resource_contents: 'ReadResourceResult',
  prompts_list: 'ListPromptsResult',
  prompt: 'GetPromptResult',
  completion: 'CompleteResult',
  input_required: 'InputRequiredResult',
}

/** A message of JSON-RPC whose result is the one that the type names. */
function mcpSchema(type: string, files: Files): AnySchema | null {
  const file = files['schema.json']
  const [key, definitions] = file?.['$defs'] === undefined ? ['definitions', file?.['definitions']] : ['$defs', file['$defs']]
  const name = MCP_DEFINITIONS[type]
  const known = definitions as Record<string, unknown> | undefined
  if (name === undefined || known?.[name] === undefined) return null
  const message = known['JSONRPCResultResponse'] === undefined ? 'JSONRPCResponse' : 'JSONRPCResultResponse'
  const result = { type: 'object', properties: { result: ref(`schema.json#/${key}/${name}`) } }
  return { allOf: [ref(`schema.json#/${key}/${message}`), result] }
}

function a2aSchema(files: Files): AnySchema | null {
  const definitions = files['a2a.json']?.['definitions'] as Record<string, Record<string, unknown>> | undefined
  if (definitions?.['AgentCard'] !== undefined) return ref('a2a.json#/definitions/AgentCard')
  return definitions?.['Agent Card'] === undefined ? null : ref('a2a.json#/definitions/Agent%20Card')
}
