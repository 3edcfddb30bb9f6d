/** What no request can show: every place that goes out to the network, keeps things in memory, or compares what is secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSync, Visitor } from 'oxc-parser'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { readSources } from '../support/source.ts'

const SERVICE = /^src\/(?!cli\/|client\/|surfaces\/pages\/(?:client|components)\/)/
const sources = readSources('src/**/*.ts').filter(({ path }) => SERVICE.test(path))
const { tools } = await loadCatalogue()

/** Who says where a request goes, file by file. Clients choose only the name that a registry is asked about, and the public host of terms. */
const OUTGOING: Record<string, string> = {
  'adapters/public-https/guarded-request.ts':
    'a bootstrap table, a publisher of datasets, ASSAY_DATA_MIRROR, three registers, ASSAY_REGISTER_URLS, the domain of terms that an underwriter signed, or the address of a webhook; each hop is judged by the address that is connected to',
  'adapters/public-https/operator-names.ts': 'hosts that the operator or a publisher names',
  'adapters/public-https/outside-names.ts':
    'ASSAY_NAME_SERVERS, or the DNS servers of the system; clients choose the name that is asked about',
  'adapters/chain/pool.ts': 'ASSAY_RPC_URLS',
  'adapters/chain/sandbox-process.ts': 'the port of our own process',
  'adapters/chain/sandbox.ts': 'a data: address',
  'adapters/prices/choose.ts': 'three constants, and names of a table',
  'adapters/facilitator/http.ts': 'ASSAY_FACILITATOR_URLS',
  'adapters/name-screening/http.ts': 'ASSAY_SCREENING_URL',
  'adapters/witness/http.ts': 'ASSAY_LOG_WITNESSES',
  'adapters/cards/open.ts': 'Stripe',
  'adapters/store/postgres.ts': 'ASSAY_STORE',
  'adapters/store/copy-store.ts': 'an argument of the operator',
}

// attack: an input that chooses an address
// in: outgoing requests and stored data
// asset: the internal network
// attacker: client
// defence: fields of tools are never fetched; webhooks pass the same guard, without redirects or another port; files that open
//   connections are listed
test('these files alone reach the network, and strangers choose no address', () => {
  const out = sources.filter(
    ({ text, imports }) =>
      imports.some((one) => /^(?:node:(?:https?|http2|net|tls|dgram|dns)(?:\/promises)?|stripe|pg|undici|ws)$/.test(one)) ||
      /(?<![.\w])fetch\((?!\w+:)/.test(text),
  )
  const paths = out.map(({ path }) => path.replace(/^src\//, '')).filter((path) => !LISTENING.has(path))
  assert.deepEqual(paths.toSorted(), Object.keys(OUTGOING).toSorted())
})

/** These know node:http or node:net for listening, types and the arithmetic of addresses. */
const LISTENING: ReadonlySet<string> = new Set([
  // Types alone: the connection is that of guarded-request.
  'adapters/feeds/reader.ts',
  'adapters/registers/http.ts',
  'assembly/start.ts',
  'service/clients.ts',
  'surfaces/http/connections.ts',
  'surfaces/http/node-server.ts',
  'surfaces/operator.ts',
])

/** Fields of tools that take an address or a domain, and what becomes of it. */
const ADDRESSED: Record<string, string> = {
  'clean-markdown-scraper base_url': 'relative links are resolved against it; nothing is fetched',
  'create-b2b-invoice return_url': 'the payment page links to it; nothing is fetched',
  'pre-disbursement-guard vendor_domain': 'a registry of the bootstrap table is asked about it',
}

// attack: an input that chooses an address
test('these fields of tools alone take an address or a domain', () => {
  const found = tools.flatMap((tool) =>
    Object.keys((toolSchemas(tool).input as { properties?: Record<string, unknown> }).properties ?? {})
      .filter((field) => /url|uri|domain|host|href|link|webhook|callback|endpoint/.test(field))
      .map((field) => `${tool.id} ${field}`),
  )
  assert.deepEqual(found.toSorted(), Object.keys(ADDRESSED).toSorted())
})

/** Every map and set that begins empty: what ends its growth. `here` is gone when its function returns. */
const KEPT: Record<string, Record<string, string>> = {
  'adapters/chain/json-rpc.ts': { answers: 'here' },
  'adapters/chain/pool.ts': { seen: 'chainLimits.heads_kept', faults: 'here' },
  'adapters/facilitator/http.ts': { networks: 'one answer of bounded length' },
  'adapters/heavy-work/pool.ts': {
    busy: 'limits.heavy_workers',
    running: 'limits.heavy_workers',
    outdated: 'limits.heavy_workers',
    paid: 'limits.heavy_queue',
    free: 'limits.heavy_queue',
    ended: 'ENDED_CLIENTS',
  },
  'adapters/prices/choose.ts': { kept: 'the table of symbols', asking: 'the table of symbols' },
  'adapters/public-https/rdap.ts': { breakers: 'rdapLimits.breakers', dates: 'rdapLimits.remembered' },
  'adapters/public-https/operator-names.ts': {
    known: 'nameLimits.addresses_kept',
    running: 'names of the operator',
    waiting: 'connections that are being opened',
  },
  'adapters/public-https/outside-names.ts': { running: 'nameLimits.in_flight', silent: 'nameLimits.silent_kept' },
  'adapters/public-https/choose.ts': { files: 'proofLimits.remembered' },
  'adapters/store/invoice-store.ts': { touched: 'here' },
  'adapters/store/payment-works.ts': { sales: 'here' },
  'adapters/store/payment-store.ts': { found: 'here' },
  'adapters/store/postgres.ts': {
    under_way: 'limits.store_waiting',
    texts: 'one for each statement of the source',
    groups: 'here',
    last: 'works under way',
  },
  'adapters/store/sqlite.ts': { prepared: 'one for each statement of the source' },
  'adapters/telemetry/prometheus.ts': { calls: 'tools, outcomes, tiers and surfaces of lists', sums: 'here' },
  'adapters/tracing/open-telemetry.ts': { made: 'the methods of the source' },
  'assembly/heavy-worker.ts': { tools: 'the catalogue' },
  'service/admission/bodies.ts': { bodies: 'connections', clients: 'connections', networks: 'connections' },
  'service/admission/fair-turns.ts': { waiting: 'limits.unpaid_reads_waiting', last_turns: 'limits.unpaid_reads_waiting' },
  'service/admission/lanes.ts': { known: 'ADMISSION_RULES.cost_clients', queues: 'connections' },
  'service/admission/shared-places.ts': { holders: 'PlaceBounds.all' },
  'service/admission/slots.ts': { counts: 'calls in flight, and ADMISSION_RULES.failing_clients' },
  'service/calls/answer.ts': { escaped: 'the catalogue' },
  'service/catalogue/wire-schemas.ts': { derived: 'the catalogue' },
  'service/catalogue/load.ts': { byId: 'the catalogue' },
  'service/catalogue/search.ts': { scores: 'here' },
  'service/credits/credit-checkout.ts': { paid: 'here' },
  'adapters/store/store-breaker.ts': { waiting: 'limits.store_waiting' },
  'service/invoices/bank-confirmation.ts': { found: 'here', candidates: 'RAIL_LIMITS.upload_references' },
  'service/invoices/write-budget.ts': { sums: 'limits.preflight_clients' },
  'service/invoices/bank-rail.ts': {
    found: 'here',
    matched: 'one run of the command line',
    places: 'one run of the command line',
  },
  'service/datasets/dataset-service.ts': { texts: 'datasetLimits.cached_texts', outdated: 'DATASET_IDS' },
  'service/invoices/live.ts': { all: 'INVOICE_RULES.followers' },
  'service/invoices/watch.ts': { byAddress: 'here' },
  'service/invoices/watch-group.ts': { known: 'here' },
  'service/jobs/jobs.ts': { held: 'the jobs' },
  'service/payments/prove-ledger.ts': { rows: 'a command', transfers: 'a command', not_final: 'a command' },
  'service/payments/channel-chain.ts': { signedVouchers: 'goes with its request' },
  'service/sandbox/public-rpc.ts': { in_flight: 'SANDBOX_RPC_RULES.in_flight' },
  'service/payments/channel-service.ts': { channels: 'calls in flight' },
  'service/payments/channel-refunds.ts': { under_way: 'refunds in flight' },
  'service/payments/in-flight.ts': { working: 'calls in flight' },
  'service/payments/on-chain.ts': { under_way: 'calls in flight' },
  'service/payments/payment-header.ts': { decodedPayments: 'goes with its request', echoedOffers: 'goes with its payment' },
  'service/recent.ts': { entries: 'what its maker says' },
  'service/payments/reconcile.ts': { headers: 'here' },
  'surfaces/payment.ts': { cached: 'CHALLENGES_CACHED' },
  'service/payments/used-authorizations.ts': { under_way: 'calls in flight' },
  'service/payments/wallet-round.ts': { sendable: 'here' },
  'service/payments/wallet-writer.ts': { waiting: 'calls in flight' },
  'service/clients.ts': { counts: 'limits.preflight_clients' },
  'service/webhooks/webhook-challenges.ts': { attempts: 'WEBHOOK_RULES.challenge.concurrent' },
  'service/webhooks/webhook-deliveries.ts': { turns: 'WEBHOOK_RULES.concurrent' },
  'service/telemetry/operator-report.ts': { written: 'tools and outcomes of lists' },
  'service/records/insurance.ts': { LISTS: 'goes with its list' },
  'service/registers.ts': { running: 'calls in flight', countries: 'the countries of VIES' },
  'surfaces/http/connections.ts': { open: 'limits.connections', networks: 'limits.connections', at: 'limits.connections' },
  'surfaces/http/node-server.ts': { accounts: 'goes with its request' },
  'surfaces/http/document.ts': { compressed: 'goes with its document', made: 'three codings', refused: 'here', taken: 'here' },
  'surfaces/insurance/endpoints.ts': { documents: 'goes with its page' },
  'surfaces/endpoint.ts': { COMPONENTS: 'named in the source', guards: 'rates that endpoints name' },
  'surfaces/mcp/routes.ts': { known: 'goes with the list', exchanges: 'goes with its request' },
  'surfaces/mcp/tool-list.ts': { counts: 'here' },
  'surfaces/pages/assets.ts': { files: 'our own files' },
  'surfaces/pages/browser-modules.ts': { graph: 'our own files' },
  'surfaces/pages/html.ts': { templates: 'our own templates' },
  'surfaces/pages/docs-page.ts': { made: 'the pages of a list' },
  'surfaces/pages/tool-words.ts': { results: 'the catalogue' },
}

// attack: maps that grow with requests
// in: outgoing requests and stored data
// asset: memory
// attacker: client
// defence: each map and set is listed with its bound
test('whatever keeps things in memory has a bound, and says which', () => {
  const found = sources
    .filter(({ path }) => !/^src\/(?:pure|tools)\//.test(path))
    .flatMap(({ path, text }) => emptyCollections(path, text).map((name) => `${path.replace(/^src\//, '')} ${name}`))
  const known = Object.entries(KEPT).flatMap(([file, names]) => Object.keys(names).map((name) => `${file} ${name}`))
  assert.deepEqual([...new Set(found)].toSorted(), known.toSorted())
})

function emptyCollections(path: string, text: string): string[] {
  const found: string[] = []
  const note = (name: string, value: { start: number; end: number } | null) => {
    if (value !== null && /^new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\)$/s.test(text.slice(value.start, value.end)))
      found.push(name.replace('#', ''))
  }
  const visitor = new Visitor({
    VariableDeclarator: ({ id, init }) => note(text.slice(id.start, id.end).split(':')[0] ?? '', init),
    PropertyDefinition: ({ key, value }) => note(text.slice(key.start, key.end), value),
  })
  visitor.visit(parseSync(path, text).program)
  return found
}

/** Comparisons that look as if a secret took part, and why how long they take tells nothing. */
const COMPARED: Record<string, string> = {
  'service/webhooks/webhook-service.ts typedSigner(digest, signature, parts.crypto) !== account': 'an address that a signature recovers',
  'service/invoices/merchant-requests.ts typedSigner(digest, signature, parts.crypto) === act.merchant':
    'an address that a signature recovers',
  'adapters/signer/choose.ts mine.sign(hash) !== signature': 'two libraries over a fixed message, once at start',
  'service/credits/credit-checkout.ts parts.crypto.keccak256Hex(secret) !== purchase.claim_hash':
    'a hash of the secret: its bits cannot be chosen',
  'service/payments/channel-deposits.ts signerOf(digest, authorization.signature, payments.crypto) === key.payer':
    'an address that a signature recovers',
  'service/payments/channel-chain.ts signerOf(digest, signature, payments.crypto) === config.payer_authorizer':
    'an address that a signature recovers',
  'service/payments/payment-service.ts found.signature === tokenSignature(authorization)':
    'a signature is public once it is used, and names its signer',
}

// attack: timing of comparisons
// in: money and signatures
// asset: secrets
// attacker: client
// defence: no comparison of a secret byte by byte; each that looks like one is listed with its reason
test('no secret is compared byte by byte', () => {
  const operand = String.raw`[\w.?]*(?:\([^()]*(?:\([^()]*\))?[^()]*\))?`
  const comparison = new RegExp(String.raw`(${operand}) (?:===|!==) (${operand})`, 'g')
  const found = sources
    .filter(({ path }) => /^src\/(?:service|adapters|surfaces)\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(comparison)]
        .filter(
          ([, one = '', other = '']) =>
            [one, other].every(isValue) &&
            [one, other].some((side) => /secret(?!_KEY)|claim_hash|signature|hmac|password|\bcode_hash/i.test(side)),
        )
        .map(([whole]) => `${path.replace(/^src\//, '')} ${whole}`),
    )
  assert.deepEqual([...new Set(found)].toSorted(), Object.keys(COMPARED).toSorted())
})

/** Neither a constant nor a length nor nothing. */
function isValue(side: string): boolean {
  return side !== '' && !/^\(?settings|^(?:null|undefined|true|false|\d+|typeof)$|length$|^[A-Z_0-9]+$/.test(side)
}
