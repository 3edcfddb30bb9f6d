import { once } from '../../pure/once.ts'
import type { Tool, Sources } from '../../service/catalogue/define.ts'
import {
  allowanceWords,
  callUrl,
  modeMark,
  paymentWords,
  priceRange,
  markedName,
  SUMMARY,
  RECEIPT_LIMIT,
  DOCUMENTS,
  byFamily,
  llmsHead,
  llmsText,
  priceWords,
} from '../../service/catalogue/text.ts'
import { type JsonSchema, type ToolSchemas, JSON_SCHEMA_DIALECT, paymentRequiredSchema } from '../../service/catalogue/wire-schemas.ts'
import { caip2, checksumAddress, v2PaymentRequired } from '../../service/payments/terms.ts'
import { priceBounds, priceOf, type PricesNow } from '../../service/payments/price-book.ts'
import { networkOf } from '../../pure/networks.ts'
import { USDC_DECIMALS, usdcOn } from '../../pure/payments/usdc.ts'
import type { ReceiptsLog } from '../../service/log/receipts-log.ts'
import type { AppDeps } from '../deps.ts'
import { JSON_TYPE, storedDocument, storedJson } from '../http/document.ts'
import { pricedDocument } from '../pages/priced.ts'
import { toolList } from '../mcp/tool-list.ts'
import { PREFLIGHT_METHOD } from '../preflight/serve.ts'
import { HANDSHAKE_VERSIONS, STATELESS_VERSION } from '../mcp/tool-call.ts'
import { TEST_VECTOR, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS } from '../../pure/receipts/receipt.ts'
import { LOG_RULES } from '../../service/limits.ts'

const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Documents for programs, by path. Each is derived from the registry when it is first requested; those with prices again when prices change. */
export function discoveryDocuments(deps: AppDeps, examples: () => Promise<Examples>) {
  const { tools } = deps.call.catalogue
  const manifest = pricedDocument(deps, (prices) =>
    storedDocument(JSON_TYPE, JSON.stringify(x402Manifest(deps, prices)), { 'cache-control': 'no-cache' }),
  )
  return {
    // Pages share this address.
    '/': once(() => storedDocument(JSON_TYPE, JSON.stringify(homeIndex(deps)), { vary: 'Accept' })),
    '/llms.txt': once(() => storedDocument(TEXT_TYPE, llmsText(deps, tools))),
    '/llms-full.txt': once(async () => storedDocument(TEXT_TYPE, llmsFullText(deps, await examples()))),
    '/robots.txt': once(() => storedDocument(TEXT_TYPE, 'User-agent: *\nAllow: /\n')),
    '/.well-known/mcp.json': once(() => storedJson(mcpManifest(deps))),
    '/.well-known/server.json': once(() => storedJson(serverJson(deps))),
    '/.well-known/x402.json': manifest,
    '/.well-known/x402': manifest,
    '/.well-known/x402-schema.json': once(() => storedDocument('application/schema+json; charset=utf-8', JSON.stringify(x402Schema(deps)))),
    '/.well-known/did.json': once(() => storedDocument('application/did+json; charset=utf-8', JSON.stringify(didDocument(deps)))),
    '/.well-known/xdr-1.json': receiptDocument(deps),
  }
}

/**
 * `/.well-known/x402.json`: prices, token, recipient, and one resource per tool. Schemas and examples are at `details_url`; the 402 of each
 * resource has both versions of its terms and an example for catalogues.
 */
function x402Manifest(deps: AppDeps, prices: PricesNow | null) {
  const token = usdcOn(deps.chain_id)
  const { api_url } = deps.origins
  const { tools } = deps.call.catalogue
  const listed = (some: readonly Tool[]) => some.map((tool) => ({ ...resource(deps, tool), ...termsNow(deps, tool, prices) }))
  return {
    name: 'assay',
    version: deps.version,
    environment: environment(deps),
    notice: modeMark(deps),
    payments_enabled: deps.takes_payments,
    statement: paymentWords(deps),
    recipient: checksumAddress(deps.call.issuer.recipient),
    network: { chain_id: token.chain_id, name: token.network, caip2: `eip155:${token.chain_id}` },
    ...networksOf(deps),
    asset: 'USDC',
    token_address: token.address,
    decimals: USDC_DECIMALS,
    eip712_domain: { name: token.name, version: token.version, chainId: token.chain_id, verifyingContract: token.address },
    pricing: {
      currency: 'USDC',
      decimals: USDC_DECIMALS,
      ...widestBounds(tools),
      live_prices_url: `${api_url}/health`,
      description: 'A call costs between floor and cap of its tool, in minor units; /health shows the prices now.',
    },
    free_allowance: { free_daily: deps.free.free_daily, description: allowanceWords(deps.free, tools) },
    receipt_signing_address: deps.call.issuer.signer.address,
    errors_url: `${api_url}/.well-known/x402-errors.json`,
    schema_url: `${api_url}/.well-known/x402-schema.json`,
    resources: listed(tools.filter(({ price }) => price !== 'free')),
    // Free tools are not x402 resources.
    free_resources: listed(tools.filter(({ price }) => price === 'free')),
  }
}

/** Networks on which calls can be paid; none where there is only that of the deployment. A receipt is valid for a payment on any of them. */
function networksOf({ paymentNetworks }: AppDeps) {
  const states = paymentNetworks?.() ?? []
  return states.length === 0 ? {} : { networks: states.map(({ network, name, asset }) => ({ network, name, asset })) }
}

function environment({ mode, chain_id }: AppDeps): 'sandbox' | 'testnet' | 'production' {
  if (mode === 'sandbox') return 'sandbox'
  return networkOf(chain_id)?.is_testnet === true ? 'testnet' : 'production'
}

/** Lowest floor and highest cap of the priced tools. */
function widestBounds(tools: readonly Tool[]) {
  const priced = tools.filter(({ price }) => price !== 'free').map(({ price }) => priceBounds(price))
  const floor = priced.reduce<bigint | null>(
    (least, { floor_minor }) => (least === null || floor_minor < least ? floor_minor : least),
    null,
  )
  const cap = priced.reduce((most, { cap_minor }) => (cap_minor > most ? cap_minor : most), 0n)
  return { floor_minor: `${floor ?? 0n}`, cap_minor: `${cap}` }
}

/**
 * Payment terms of this tool now in version 2: the entries of the scheme exact, as a 402 contains them, which adds those of payment channels. If the
 * price depends on the input, it is that of the cheapest one.
 */
function termsNow(deps: AppDeps, tool: Tool, prices: PricesNow | null) {
  if (tool.price === 'free' || prices === null || !deps.takes_payments) return { accepts: [] }
  const { amount_minor } = priceOf(tool.price, null, prices)
  const terms = {
    ...deps.terms,
    resource: callUrl(deps, tool),
    description: tool.description,
    amount_minor,
    offered: deps.terms.networks?.now(),
  }
  return { accepts: v2PaymentRequired(terms, '').accepts }
}

function resource(deps: AppDeps, tool: Tool) {
  return {
    tool: tool.id,
    url: callUrl(deps, tool),
    resource: callUrl(deps, tool),
    x402Version: 2,
    type: 'http',
    method: 'POST',
    mime_type: 'application/json',
    // The first sentence; details_url has the rest.
    description: tool.description.split(/(?<=[a-z)]\.) (?=[A-Z])/, 1)[0],
    price: priceRange(tool),
    details_url: `${deps.origins.api_url}/v1/tools/${tool.id}`,
  }
}

/** `/.well-known/x402-schema.json`: JSON Schema of a 402 body. */
function x402Schema(deps: AppDeps) {
  return {
    $schema: JSON_SCHEMA_DIALECT,
    $id: `${deps.origins.api_url}/.well-known/x402-schema.json`,
    title: 'The body of a 402 answer',
    ...paymentRequiredSchema(deps),
  }
}

/** Result of each tool for its own example, by tool id. */
type Examples = ReadonlyMap<string, Record<string, unknown>>

/**
 * Runs the examples, so that documents show real answers. Each run gets its own turn of the event loop, because the first run of a tool
 * loads its modules.
 */
export async function runExamples(tools: readonly Tool[], sources: Sources): Promise<Examples> {
  const answers: [string, Record<string, unknown>][] = []
  for (const tool of tools.filter(({ annotations }) => annotations.read_only && !annotations.open_world)) {
    answers.push([tool.id, await tool.execute(tool.input.parse(tool.example), sources)])
    await new Promise((resolve) => void setImmediate(resolve))
  }
  return new Map(answers)
}

/** `/.well-known/mcp.json`: address of the MCP endpoint, its tools, and the receipt key. */
function mcpManifest(deps: AppDeps) {
  const receipt_signing_address = deps.call.issuer.signer.address
  return {
    name: 'assay',
    version: deps.version,
    description: SUMMARY,
    mode: deps.mode,
    notice: modeMark(deps),
    endpoint: `${deps.origins.mcp_url}/mcp`,
    transport: 'streamable-http',
    protocol_versions: [...HANDSHAKE_VERSIONS.toReversed(), STATELESS_VERSION],
    receipt_signing_address,
    receipts: { receipt_spec: 'XDR-1', receipt_signing_address, keys_url: `${deps.origins.api_url}/.well-known/xdr-1.json` },
    methods: [
      {
        name: PREFLIGHT_METHOD,
        description: 'Free, no receipt: checks a document of an agent-commerce protocol. params are the body of POST /v1/protocols/check.',
        documentation: `${deps.origins.base_url}/v1/protocols/openapi.json`,
      },
    ],
    // Descriptions and input schemas in full; tools/list shortens them, and has the output schemas.
    tools: toolList(deps.call.catalogue.tools, deps.schemas).map(({ name, title, annotations }) => ({
      name,
      title,
      description: deps.call.catalogue.find(name)?.description,
      inputSchema: deps.schemas.get(name)?.input,
      annotations,
    })),
  }
}

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** `/.well-known/server.json`: entry of this deployment for the MCP registry, format of 2025-12-11. */
function serverJson(deps: AppDeps) {
  const { mcp_url, site_url } = deps.origins
  return {
    $schema: SCHEMA,
    name: `${reverseDomain(mcp_url)}/assay`,
    title: markedName(deps),
    // The registry allows at most 100 characters.
    description: 'Deterministic identifier and document checks with signed receipts that verify offline.',
    version: deps.version,
    websiteUrl: site_url,
    // The small list first: hosts install the first, and a model pays for every tool that is listed.
    remotes: ['/mcp/small', '/mcp'].map((path) => ({ type: 'streamable-http', url: `${mcp_url}${path}` })),
  }
}

/** Namespace in which the owner of a host may publish; `localhost`, which cannot be owned, for a host without a domain. */
export function reverseDomain(origin: string): string {
  const host = new URL(origin).hostname
  // The last label of a domain is never numeric, so IP addresses are excluded.
  return /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(host) ? host.split('.').toReversed().join('.') : 'localhost'
}

/** Made again when the log is stopped or resumed. */
function receiptDocument(deps: AppDeps) {
  const make = () => ({ history: deps.log?.state().history, stopped: deps.log?.state().stopped, document: storedJson(receiptSpec(deps)) })
  let made: ReturnType<typeof make> | null = null
  return () => {
    const state = deps.log?.state()
    if (made === null || made.history !== state?.history || made.stopped !== state?.stopped) made = make()
    return made.document
  }
}

/** A stopped log keeps no promise about delays. Keys of retired logs verify the proofs that these gave. */
function logState(log: ReceiptsLog) {
  const { stopped, history, verifierKeyOf } = log.state()
  const retired = history.records.flatMap(({ epoch, stop, resumption }) =>
    resumption?.how === 'cut' ? [{ verifier_key: verifierKeyOf(epoch), last_size: stop.published.size }] : [],
  )
  return { state: stopped === null ? 'running' : 'stopped', retired }
}

/** `/.well-known/xdr-1.json`: everything needed to verify a receipt offline. */
export function receiptSpec(deps: AppDeps) {
  const { signer, recipient } = deps.call.issuer
  return {
    receipt_spec: 'XDR-1',
    mode: deps.mode,
    notice: modeMark(deps),
    chain_id: deps.chain_id,
    signing_address: signer.address,
    payment_address: recipient,
    ...networksOf(deps),
    keys: deps.keys,
    signed_text: {
      encoding: 'UTF-8',
      separator: '|',
      fields: SIGNED_FIELDS,
      tail_fields: TAIL_FIELDS,
      tail_rule:
        'Appended only when the receipt has one of them, and not empty: successor or the empty text, then stream_state or "active".',
      values: 'Exactly as in the receipt; ts as a decimal number.',
    },
    grammar: Object.fromEntries(Object.entries(GRAMMAR).map(([field, pattern]) => [field, pattern.source])),
    digest: 'keccak-256 of the bytes of the signed text, neither wrapped (EIP-191) nor typed (EIP-712). It also names the receipt.',
    signature:
      'secp256k1 over the digest, recoverable: 65 bytes r, s, v as 0x-prefixed hex; s in the lower half, v 27 or 28 (0 and 1 are read too).',
    hashes: {
      input_hash: 'keccak-256 of the RFC 8785 text of the input, without the wrapper {"input": …}.',
      output_hash:
        'keccak-256 of the RFC 8785 text of the result, without receipt, badge and summary. Results are sent in that order of keys.',
    },
    chain_link: {
      request_header: 'X-PREV-RECEIPT-HASH',
      signed_text: 'XDR-1-LINK|{digest of this receipt}|{prev_receipt_hash}',
      fields: ['prev_receipt_hash', 'link_digest', 'link_signature'],
      description:
        'link_digest is the keccak-256 of that text, link_signature its signature by the key of the receipt. Several receipts may follow one.',
    },
    verify: [
      'Join the values of the signed fields with the separator.',
      'Take the keccak-256 of its UTF-8 bytes and recover the address from the signature.',
      'Compare it, in lower case, with the field signer.',
      'Find the signer among the keys: ts must not lie before not_before, nor after not_after, nor at or after revoked_at.',
      'With input and result at hand, take the keccak-256 of their RFC 8785 texts and compare them with input_hash and output_hash.',
    ],
    log:
      deps.log === null
        ? null
        : {
            prefix: `${deps.origins.api_url}/log`,
            verifier_key: deps.log.verifier_key,
            entry: 'SHA-256 over the 32 bytes of the digest and the 65 bytes of the signature with v 27 or 28',
            merge_delay_s: LOG_RULES.merge_s,
            history_url: `${deps.origins.api_url}/log/history`,
            ...logState(deps.log),
          },
    verify_url: `${deps.origins.api_url}/v1/receipt/verify`,
    not_proved: RECEIPT_LIMIT,
    test_vector: TEST_VECTOR,
  }
}

/**
 * `/.well-known/did.json`: the DID document (W3C DID 1.0, method web) of the host that sells the calls. It links the receipt keys, which
 * also sign the offers of x402, to the domain. A revoked key is not listed; of the others only the active one may sign.
 */
function didDocument({ origins, chain_id, keys }: AppDeps) {
  const did = `did:web:${encodeURIComponent(new URL(origins.api_url).host)}`
  const listed = keys.filter(({ status }) => status !== 'revoked')
  const idOf = (address: string) => `${did}#${address.toLowerCase()}`
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/secp256k1recovery-2020/v2'],
    id: did,
    verificationMethod: listed.map(({ address }) => ({
      id: idOf(address),
      type: 'EcdsaSecp256k1RecoveryMethod2020',
      controller: did,
      blockchainAccountId: `${caip2(chain_id)}:${checksumAddress(address)}`,
    })),
    assertionMethod: listed.filter(({ status }) => status === 'active').map(({ address }) => idOf(address)),
  }
}

/** `/` for programs: links to all documents. */
function homeIndex(deps: AppDeps) {
  const { api_url, mcp_url } = deps.origins
  const links = [['/llms.txt', 'this service in plain words'] as const, ...DOCUMENTS]
  return {
    name: 'assay',
    version: deps.version,
    mode: deps.mode,
    notice: modeMark(deps),
    description: SUMMARY,
    links: [
      { url: `${mcp_url}/mcp`, description: 'MCP over Streamable HTTP' },
      ...links.map(([path, description]) => ({ url: `${api_url}${path}`, description })),
    ],
  }
}

/** Longer examples are omitted; the catalogue has them. */
const EXAMPLE_CHARS_MAX = 4_000

/** `/llms-full.txt`: llms.txt with every tool's scope, price, fields and a runnable example. */
function llmsFullText(deps: AppDeps, examples: Examples): string {
  const { tools } = deps.call.catalogue
  const sections = byFamily(tools).map((group) =>
    [`## ${group.title}`, ...group.tools.map((tool) => toolText(deps, tool, deps.schemas.get(tool.id), examples.get(tool.id)))].join(
      '\n\n',
    ),
  )
  return [...llmsHead(deps, tools), ...sections].join('\n\n').concat('\n')
}

function toolText(deps: AppDeps, tool: Tool, schemas: ToolSchemas | undefined, answer: Record<string, unknown> | undefined): string {
  const { id, title, description, scope, version } = tool
  return [
    `### ${id}: ${title}`,
    description,
    [
      `- Call: POST ${callUrl(deps, tool)}`,
      `- Price: ${priceWords(tool)}`,
      `- Version: ${version}`,
      `- Checked: ${scope.checked.join('; ')}`,
      `- Not checked: ${scope.not_checked.join('; ')}`,
    ].join('\n'),
    ['Input:', '', ...fields(schemas?.input)].join('\n'),
    ['Result:', '', ...fields(schemas?.output)].join('\n'),
    exampleBlock('Example input', tool.example),
    ...(answer === undefined ? [] : [exampleBlock('Its result', answer)]),
  ].join('\n\n')
}

function exampleBlock(title: string, value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > EXAMPLE_CHARS_MAX ? `${title}: too long for this page.` : `${title}:\n\n\`\`\`json\n${text}\n\`\`\``
}

/** One line per field; nested fields are covered by the description of their parent. */
function fields(schema: JsonSchema | undefined): string[] {
  const required = Array.isArray(schema?.['required']) ? (schema['required'] as unknown[]) : []
  return Object.entries(members(schema?.['properties'])).map(([name, field]) => {
    const { description } = members(field)
    const optional = required.includes(name) ? '' : ', optional'
    return `- \`${name}\` (${kindOf(members(field))}${optional})${typeof description === 'string' ? `: ${description}` : ''}`
  })
}

const LISTED = 12

/** Short name of a field's type. */
function kindOf(field: Record<string, unknown>): string {
  const { type, anyOf, oneOf, enum: choices, const: only, items } = field
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(choices))
    return choices.length > LISTED ? `one of ${choices.length} words` : choices.map((one) => JSON.stringify(one)).join(' | ')
  if (type === 'array') return `list of ${kindOf(members(items))}`
  if (Array.isArray(type)) return type.join(' | ')
  if (typeof type === 'string') return type
  const kinds = [anyOf, oneOf].find((one) => Array.isArray(one))
  return Array.isArray(kinds) ? [...new Set(kinds.map((one) => kindOf(members(one))))].join(' | ') : 'any'
}

function members(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
