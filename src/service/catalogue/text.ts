import { usdcDecimal } from '../../pure/payments/usdc.ts'
import { networkOf } from '../../pure/networks.ts'
import type { AllowanceRules } from '../payments/allowance.ts'
import { faucetWords } from '../sandbox/faucet-text.ts'
import { priceBounds } from '../payments/price-book.ts'
import { FAMILIES, type Family, type Tool } from './define.ts'

/** Facts about the running service that its documents show. */
export interface Deployment {
  version: string
  mode: 'sandbox' | 'live'
  chain_id: number
  free: AllowanceRules
  /** A call can be paid for here. */
  takes_payments: boolean
  /** Without a final slash. */
  origins: { api_url: string; mcp_url: string }
}

export const SUMMARY =
  'Deterministic checks that software agents call one by one; every answer carries a signed receipt that can be verified offline.'

export const RECEIPT_LIMIT =
  'A receipt proves that its signer signed that call at that time. It does not prove that money moved or that a business claim is true.'

/** Limits of every answer, stated in each document. */
export const HONEST_LIMITS = [
  'Checks are structural: a passing checksum does not prove that an account, a company or a book exists, or whose it is.',
  RECEIPT_LIMIT,
  'Each result says in `scope` what was checked and what was not.',
] as const

/** Explains the payment that is due after the free calls. */
export function paymentWords(deployment: Pick<Deployment, 'takes_payments' | 'mode' | 'origins'>): string {
  return deployment.takes_payments
    ? 'Once the free calls are used up, a call is answered 402 with x402 terms: sign a USDC transfer (EIP-3009) for exactly that amount and ' +
        'send the same request again with it. The money goes straight from payer to recipient; a call that fails is not charged, and the same payment sent again ' +
        'from the same network within a day, or with its answer token, payment-identifier id or a SIGN-IN-WITH-X proof, brings the same answer.' +
        testMoneyWords(deployment)
    : 'This deployment takes no payments: once the free calls of a day are used up, it answers 402 until the next day starts.'
}

/** Sentence on getting test money, to be appended to others; empty outside sandboxes and where nothing can be paid. */
function testMoneyWords({ mode, takes_payments, origins: { api_url } }: Pick<Deployment, 'takes_payments' | 'mode' | 'origins'>): string {
  return mode === 'sandbox' && takes_payments ? ` ${faucetWords(api_url)}` : ''
}

const MARKS = {
  SANDBOX: 'no real money moves here, and receipts are signed with a sandbox key.',
  TESTNET: 'this deployment serves Base Sepolia, whose tokens have no value.',
} as const

type Mode = Pick<Deployment, 'mode' | 'chain_id'>

/** One word for a deployment that must not be taken for a real one; null for one that may. */
export function modeWord({ mode, chain_id }: Mode): keyof typeof MARKS | null {
  if (mode === 'sandbox') return 'SANDBOX'
  return networkOf(chain_id)?.is_testnet === true ? 'TESTNET' : null
}

/** The mark of a deployment whose answers must not be taken for real ones; null where there is nothing to mark. */
export function modeMark(deployment: Mode): string | null {
  const word = modeWord(deployment)
  return word === null ? null : `${word}: ${MARKS[word]}`
}

/** The name of the service, with the mark in one word. */
export function markedName(deployment: Mode): string {
  const word = modeWord(deployment)
  return word === null ? 'assay' : `assay (${word})`
}

/** The free calls of a day in one sentence. */
export function allowanceWords(free: AllowanceRules, tools: readonly Tool[]): string {
  const apart = tools.filter(({ id }) => Object.hasOwn(free.overrides, id)).map(({ id }) => `${free.overrides[id]} of ${id}, counted apart`)
  const unlimited = tools.filter(({ price }) => price === 'free').map(({ id }) => id)
  const others = apart.length === 0 ? '' : `, and ${apart.join(', and ')}`
  const unlimitedWords = unlimited.length === 0 ? '' : ` ${unlimited.join(', ')}: free without limit.`
  return `Each client has ${free.free_daily} free calls a UTC day${others}; no account, no key, no wallet. Refused input is not counted.${unlimitedWords}`
}

/** The bounds of a price in minor units, for documents that outlive the price of the moment. */
export function priceRange(tool: Pick<Tool, 'price'>) {
  const { floor_minor, cap_minor, formula } = priceBounds(tool.price)
  return { class: tool.price, currency: 'USDC', floor_minor: `${floor_minor}`, cap_minor: `${cap_minor}`, formula }
}

/** The same for people. */
export function priceWords(tool: Pick<Tool, 'price'>): string {
  const { floor_minor, cap_minor } = priceBounds(tool.price)
  return tool.price === 'free' ? 'free' : `${usdcDecimal(floor_minor)} to ${usdcDecimal(cap_minor)} USDC`
}

/** Address of the current prices, for documents that are read later. */
const LIVE_PRICES = 'Prices move with demand between a floor and a cap; /health shows the prices of the moment.'

export function callUrl({ origins }: Pick<Deployment, 'origins'>, tool: Pick<Tool, 'id'>): string {
  return `${origins.api_url}/v1/tools/${tool.id}/call`
}

/** Families that have tools, in the order of catalogues. */
export function byFamily(tools: readonly Tool[]): { family: Family; title: string; tools: Tool[] }[] {
  const families = Object.keys(FAMILIES) as Family[]
  return families
    .map((family) => ({ family, title: FAMILIES[family], tools: tools.filter((tool) => tool.family === family) }))
    .filter((group) => group.tools.length > 0)
}

/**
 * `/llms.txt`, in the form that llmstxt.org describes: title, summary, plain paragraphs, then lists of links. Models read all of it, so it is
 * short; /llms-full.txt has every text.
 */
export function llmsText(deployment: Deployment, tools: readonly Tool[]): string {
  const { api_url, mcp_url } = deployment.origins
  const first = tools[0]
  const ids = byFamily(tools).map((group) => `${group.family}: ${group.tools.map(({ id }) => id).join(', ')}`)
  const links = DOCUMENTS.filter(([path]) => SHORT_LINKS.has(path))
  return [
    ...llmsTitle(deployment),
    ...(first === undefined ? [] : [restWords(deployment, first)]),
    `MCP (Streamable HTTP): ${mcp_url}/mcp/small has find_tool, call_tool and the most used tools, ${mcp_url}/mcp all of them. A2A: ${api_url}/a2a.`,
    `${deployment.free.free_daily} free calls a UTC day, without account or key. ${
      deployment.takes_payments ? 'Then a call costs USDC: 402 with x402 terms; sign, send it again.' : 'Then 402 until the next day.'
    }${testMoneyWords(deployment)}`,
    `A wrong identifier is a good answer: \`valid\` is false. Checks are structural. ${RECEIPT_LIMIT} Tasks step by step: ${api_url}/docs/journeys`,
    `## Tools\n\n- [/v1/tools](${api_url}/v1/tools): ${ids.join('; ')}`,
    ['## Documents', '', ...links.map(([path, words]) => `- [${path}](${api_url}${path}): ${words}`)].join('\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

const SHORT_LINKS: ReadonlySet<string> = new Set(['/openapi.json', '/llms-full.txt', '/v1/signing', '/.well-known/x402.json'])

function llmsTitle(deployment: Deployment): string[] {
  const mark = modeMark(deployment)
  return ['# assay', `> ${mark === null ? '' : `${mark} `}${SUMMARY}`]
}

/** Title, summary and plain paragraphs, before the tools. */
export function llmsHead(deployment: Deployment, tools: readonly Tool[]): string[] {
  return [...llmsTitle(deployment), ...details(deployment, tools)]
}

function details(deployment: Deployment, tools: readonly Tool[]): string[] {
  const first = tools[0]
  const rest = first === undefined ? [] : [restWords(deployment, first)]
  return [
    ...rest,
    `MCP: Streamable HTTP at ${deployment.origins.mcp_url}/mcp, without a session. The tools and their names are the same as over REST. ` +
      '/mcp/small lists the most used tools and two that find and call all others; ?family=bank,tax lists only those families.',
    `A2A: JSON-RPC at ${deployment.origins.api_url}/a2a, versions 1.0 and 0.3; one data part {"tool":…,"input":{…}} is a call.`,
    `${allowanceWords(deployment.free, tools)} ${LIVE_PRICES} ${paymentWords(deployment)}`,
    'Receipts: verify one with `POST /v1/receipt/verify`, or offline by /.well-known/xdr-1.json. To chain calls, send the digest of the ' +
      'last receipt as `X-PREV-RECEIPT-HASH`; the answer then carries a signed link.',
    'Preflight, free and without receipt: POST /v1/protocols/check with {"protocol":"x402","document":{…}} holds a document of UCP, ACP, MCP, ' +
      'AP2, x402, Micro-AST or A2A against selected structural rules; over MCP the same body is the params of the method assay/preflight. Read ' +
      'status, errors and warnings; it is not a conformance result.',
    'Signing: answers and problems that ask for a signature carry `sign` with typed data for eth_signTypedData_v4, or the exact text, and the request ' +
      'that takes the signature; GET /v1/signing lists every kind.',
    'Tasks of merchants, payers, underwriters and auditors, step by step: /docs/journeys. Rule books, with signed texts, rules and test vectors: /docs/pol-1, /docs/pod-1, /docs/csp-1, /docs/dip-1 and /docs/micro-ast. /docs/audit describes ' +
      'audit bundles.',
    'A wrong identifier is a good answer: `valid` is false and `findings` say why. Errors are RFC 9457 problems with a stable `code`.',
    ['Limits:', '', ...HONEST_LIMITS.map((words) => `- ${words}`)].join('\n'),
  ]
}

function restWords(deployment: Deployment, tool: Tool): string {
  const body = JSON.stringify({ input: tool.example })
  return `REST: send the fields of a tool under \`input\`; the answer has \`result\` and \`receipt\`.\n\n\`\`\`sh\ncurl -s ${callUrl(deployment, tool)} -d ${shellWord(body)}\n\`\`\``
}

/** Text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Documents that a machine may want next, by path. */
export const DOCUMENTS = [
  ['/openapi.json', 'OpenAPI 3.1, one path a tool, with examples'],
  ['/llms-full.txt', 'this page with every tool whole'],
  ['/v1/tools', 'catalogue'],
  ['/v1/signing', 'everything that anyone signs, with schemas, examples and test vectors'],
  ['/v1/protocols/rules', 'rules of the free protocol preflight, POST /v1/protocols/check'],
  ['/v1/protocols/openapi.json', 'OpenAPI 3.1 of the preflight alone'],
  ['/.well-known/mcp.json', 'MCP manifest with input schemas'],
  ['/.well-known/agent-card.json', 'A2A agent card'],
  ['/.well-known/server.json', 'MCP registry entry'],
  ['/.well-known/xdr-1.json', 'receipt format, keys, how to verify'],
  ['/.well-known/did.json', 'DID document: links the keys of receipts and offers to this domain'],
  ['/.well-known/x402.json', 'prices, network, one resource a tool'],
  ['/.well-known/x402-errors.json', 'every problem code'],
  ['/.well-known/x402-schema.json', 'JSON Schema of the 402 body'],
  ['/problems', 'every problem code, with a page each'],
  ['/health', 'state and prices now'],
] as const satisfies readonly (readonly [string, string])[]
