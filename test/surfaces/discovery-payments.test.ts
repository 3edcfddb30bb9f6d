import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getAddress } from 'viem'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import canonicalize from 'canonicalize'
import { PROBLEMS } from '../../src/service/problems.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asList, asMembers, at, readJson } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const wellKnown = (name: string, from: TestApp = app) => readJson(`${from.url}/.well-known/${name}`)

/** Recomputes a digest and recovers its signer by what the document says alone. */
function byTheDocument(spec: Record<string, unknown>, receipt: Record<string, unknown>) {
  const { fields, separator, encoding } = asMembers(spec['signed_text'])
  assert.equal(encoding, 'UTF-8')
  const text = (fields as string[]).map((field) => String(receipt[field])).join(String(separator))
  return { digest: hash(text), signer: recover(hash(text), String(receipt['signature'])) }
}

function hash(text: string): string {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(text)))}`
}

function recover(digest: string, signature: string): string {
  const bytes = hexToBytes(signature.slice(2))
  const recovered = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact').addRecoveryBit((bytes[64] ?? 0) - 27)
  const point = recovered.recoverPublicKey(hexToBytes(digest.slice(2))).toBytes(false)
  return `0x${bytesToHex(keccak_256(point.subarray(1)).subarray(12))}`
}

test('xdr-1.json is enough to verify a receipt and its link', async () => {
  const spec = await wellKnown('xdr-1.json')
  const previous = `0x${'cd'.repeat(32)}`
  const { body } = await restCall(app.url, 'iban-check', IBAN, { 'x-prev-receipt-hash': previous })
  const receipt = asMembers(body['receipt'])
  const { digest, signer } = byTheDocument(spec, receipt)
  assert.equal(signer, receipt['signer'])
  assert.equal(signer, spec['signing_address'])
  assert.equal(receipt['recipient'], spec['payment_address'])
  assert.equal(receipt['input_hash'], hash(canonicalize(IBAN) ?? ''))
  assert.equal(receipt['output_hash'], hash(canonicalize(body['result']) ?? ''))
  const link = asMembers(body['chain'])
  assert.deepEqual(Object.keys(link).toSorted(), (at(spec, 'chain_link', 'fields') as string[]).toSorted())
  const text = String(at(spec, 'chain_link', 'signed_text'))
    .replace('{digest of this receipt}', digest)
    .replace('{prev_receipt_hash}', previous)
  assert.equal(link['link_digest'], hash(text))
  assert.equal(recover(hash(text), String(link['link_signature'])), signer)
})

test('the test vector of xdr-1.json holds', async () => {
  const spec = await wellKnown('xdr-1.json')
  const { receipt, digest, link_to, link_digest } = asMembers(spec['test_vector'])
  const found = byTheDocument(spec, asMembers(receipt))
  assert.equal(found.digest, digest)
  // The address of the private key 1, known from every Ethereum library.
  assert.equal(found.signer, '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf')
  assert.equal(hash(`XDR-1-LINK|${String(digest)}|${String(link_to)}`), link_digest)
})

test('the grammar of xdr-1.json covers the receipts of this service', async () => {
  const spec = await wellKnown('xdr-1.json')
  const { body } = await restCall(app.url, 'iban-check', IBAN)
  for (const [field, pattern] of Object.entries(asMembers(spec['grammar']))) {
    const value = asMembers(body['receipt'])[field]
    if (value !== undefined) assert.match(JSON.stringify(value).replaceAll('"', ''), new RegExp(String(pattern)), field)
  }
})

test('one key everywhere: mcp.json, x402.json, xdr-1.json, health', async () => {
  const [mcp, x402, spec, health] = await Promise.all([
    wellKnown('mcp.json'),
    wellKnown('x402.json'),
    wellKnown('xdr-1.json'),
    readJson(`${app.url}/health`),
  ])
  const active = asList(spec['keys']).filter(({ status }) => status === 'active')
  assert.deepEqual(
    active.map(({ mode, chain_id }) => [mode, chain_id]),
    [['sandbox', 84_532]],
  )
  const addresses = [mcp['receipt_signing_address'], at(mcp, 'receipts', 'receipt_signing_address'), x402['receipt_signing_address']]
  for (const address of [...addresses, spec['signing_address'], active[0]?.['address']])
    assert.equal(address, at(health, 'signer', 'address'))
  assert.equal(x402['recipient'], getAddress(String(at(health, 'payments', 'recipient'))))
})

/** Asks the MCP endpoint which version it speaks, in the way of that version. */
async function versionSpoken(version: string): Promise<unknown> {
  const client = { name: 'test', version: '1' }
  const handshake = { method: 'initialize', params: { protocolVersion: version, capabilities: {}, clientInfo: client } }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const stateless = version >= '2026-07-28'
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: stateless ? { ...headers, 'mcp-protocol-version': version, 'mcp-method': 'server/discover' } : headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...(stateless ? { method: 'server/discover', params: { _meta: meta } } : handshake) }),
  })
  const result = at(await response.json(), 'result')
  return stateless ? (at(result, 'supportedVersions') as unknown[]).find((one) => one === version) : at(result, 'protocolVersion')
}

test('the endpoint speaks every protocol version that mcp.json names', async () => {
  const versions = (await wellKnown('mcp.json'))['protocol_versions'] as string[]
  assert.deepEqual(versions, ['2025-06-18', '2025-11-25', '2026-07-28'])
  for (const version of versions) assert.equal(await versionSpoken(version), version)
})

test('mcp.json names the endpoint and the tools as the catalogue has them', async () => {
  const mcp = await wellKnown('mcp.json')
  assert.equal(mcp['endpoint'], `${app.url}/mcp`)
  const tools = asList(mcp['tools'])
  const known = asList(at(await readJson(`${app.url}/v1/tools`), 'tools'))
  assert.deepEqual(
    tools.map(({ name }) => name),
    known.map(({ id }) => id),
  )
  for (const tool of tools) {
    const one = await readJson(`${app.url}/v1/tools/${String(tool['name'])}`)
    assert.deepEqual(tool['inputSchema'], one['input_schema'])
  }
})

test('x402.json names the chain, the token and no price that a call would not have', async () => {
  const manifest = await wellKnown('x402.json')
  const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  assert.equal(manifest['environment'], 'sandbox')
  assert.deepEqual(manifest['network'], { chain_id: 84_532, name: 'base-sepolia', caip2: 'eip155:84532' })
  assert.deepEqual([manifest['asset'], manifest['token_address'], manifest['decimals']], ['USDC', token, 6])
  assert.deepEqual(manifest['eip712_domain'], { name: 'USDC', version: '2', chainId: 84_532, verifyingContract: token })
  assert.deepEqual([at(manifest, 'pricing', 'floor_minor'), at(manifest, 'pricing', 'cap_minor')], ['5000', '50000'])
  const live = asList(at(await readJson(`${app.url}/health`), 'tools'))
  for (const { tool, price } of asList(manifest['resources'])) {
    const now = asMembers(live.find(({ name }) => name === tool)?.['price'])
    const { floor_minor, cap_minor, formula } = asMembers(price)
    assert.deepEqual([floor_minor, cap_minor, formula], [now['floor_minor'], now['cap_minor'], now['formula']], String(tool))
    const amount = BigInt(String(now['amount_minor']))
    assert.ok(amount >= BigInt(String(floor_minor)) && amount <= BigInt(String(cap_minor)), String(tool))
    assert.equal(tool === 'batch-validate', formula !== null, 'only a price that depends on the input has a formula')
  }
})

test('x402.json stays below 60 kB, and the example at each details_url runs', async () => {
  const text = await (await fetch(`${app.url}/.well-known/x402.json`)).text()
  assert.ok(text.length < 60_000, `${text.length} bytes`)
  for (const { tool, url, method, details_url } of asList(at(JSON.parse(text), 'resources'))) {
    const { example } = await readJson(String(details_url))
    const response = await fetch(String(url), { method: String(method), body: JSON.stringify(example) })
    assert.equal(response.status, 200, String(tool))
    await response.body?.cancel()
  }
})

test('payments are said to be on, and the terms are those of a 402, entry by entry', async () => {
  const poor = await startTestApp({ free_daily: 0, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'token-contract-risk=0' } })
  try {
    const manifest = await wellKnown('x402.json', poor)
    assert.equal(manifest['payments_enabled'], true)
    for (const { tool, accepts, details_url } of asList(manifest['resources'])) {
      const example = asMembers(at(await readJson(String(details_url)), 'example', 'input'))
      const items = Array.isArray(example['items']) ? example['items'].slice(0, 1) : null
      const { status, headers } = await restCall(poor.url, String(tool), items === null ? example : { ...example, items })
      if (tool === 'receipt-verify') assert.deepEqual([status, accepts], [200, []])
      else {
        const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as Record<string, unknown>
        // The document of all tools leaves out the entries of payment channels, which would make it half as long again.
        const exact = asList(required['accepts']).filter(({ scheme }) => scheme === 'exact')
        assert.equal(JSON.stringify(exact), JSON.stringify(accepts), String(tool))
      }
    }
  } finally {
    await poor.stop()
  }
})

test('x402-errors.json holds every problem, in the public form', async () => {
  const errors = asList((await wellKnown('x402-errors.json'))['errors'])
  assert.deepEqual(
    errors.map(({ code }) => code),
    Object.keys(PROBLEMS),
  )
  for (const { code, http_status, description, retryable, phase, fault } of errors) {
    assert.match(String(code), /^[A-Z][A-Z0-9_]+$/)
    assert.ok(Number.isInteger(http_status) && typeof description === 'string' && typeof retryable === 'boolean', String(code))
    assert.ok(['challenge', 'signature', 'settlement', 'network', 'tool'].includes(String(phase)), String(code))
    assert.ok(['caller', 'service', 'source'].includes(String(fault)), String(code))
  }
})

test('x402-schema.json describes the 402 that is really sent, and nothing else', async () => {
  const poor = await startTestApp({ free_daily: 0, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'token-contract-risk=0' } })
  try {
    const validate = newAjv().compile(await wellKnown('x402-schema.json', poor))
    const { status, body } = await restCall(poor.url, 'iban-check', IBAN)
    assert.equal(status, 402)
    assert.ok(validate(body), JSON.stringify(validate.errors))
    const { body: refused } = await restCall(poor.url, 'iban-check', {})
    assert.equal(validate(refused), false)
    for (const name of Object.keys(body)) {
      const { [name]: _, ...rest } = body
      assert.equal(validate(rest), false, `${name} may be missing`)
    }
    assert.equal(validate({ ...body, accepts: [] }), false)
    // Invoices have no free calls.
    const sent = { method: 'POST', body: JSON.stringify({ amountUsdc: 5, merchant: `0x${'12'.repeat(20)}` }) }
    const { pay_url } = (await (await fetch(`${poor.url}/api/invoice/create`, sent)).json()) as { pay_url: string }
    for (const given of [{}, { authorization: 1 }]) {
      const unpaid = await fetch(pay_url, { method: 'POST', body: JSON.stringify(given) })
      assert.equal(unpaid.status, 402)
      assert.ok(validate(await unpaid.json()), JSON.stringify(validate.errors))
    }
  } finally {
    await poor.stop()
  }
})

test('x402-schema.json describes the 402 of each tool', async () => {
  const poor = await startTestApp({ free_daily: 0, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'token-contract-risk=0' } })
  try {
    const validate = newAjv().compile(await wellKnown('x402-schema.json', poor))
    let asked = 0
    for (const { id } of asList((await readJson(`${poor.url}/v1/tools`))['tools'])) {
      const { example, price } = await readJson(`${poor.url}/v1/tools/${String(id)}`)
      if (price === null || at(price, 'class') === 'free') continue
      const { status, body } = await restCall(poor.url, String(id), at(example, 'input'))
      assert.equal(status, 402, `${String(id)}: ${JSON.stringify(body)}`)
      assert.ok(validate(body), `${String(id)}: ${JSON.stringify(validate.errors)}`)
      asked++
    }
    assert.ok(asked > 50, `${asked} tools`)
  } finally {
    await poor.stop()
  }
})
