import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asMembers, readJson } from '../support/documents.ts'

const PAY_TO = `0x${'12'.repeat(20)}`

const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_RPC_URLS: 'http://127.0.0.1:9',
  ASSAY_PAY_TO: PAY_TO,
  ASSAY_FACILITATOR_URLS: 'http://127.0.0.1:9',
  ASSAY_BASE_URL: 'https://assay.example',
  ASSAY_API_URL: 'https://api.assay.example',
  ASSAY_SITE_URL: 'https://www.assay.example',
  ASSAY_MCP_URL: 'https://mcp.assay.example',
}

const PATHS = [
  '/',
  '/openapi.json',
  '/llms.txt',
  '/llms-full.txt',
  '/problems',
  ...['mcp', 'server', 'x402', 'x402-errors', 'x402-schema', 'xdr-1'].map((name) => `/.well-known/${name}.json`),
]

async function during<Result>(settings: Record<string, string>, work: (app: TestApp) => Promise<Result>): Promise<Result> {
  const app = await startTestApp({ settings: { ...LIVE, ...settings } })
  try {
    return await work(app)
  } finally {
    await app.stop()
  }
}

test('a live deployment shows its public origins, its own facts and no sandbox', async () => {
  await during({}, async ({ url }) => {
    for (const path of PATHS) {
      for (const accept of ['application/json', 'text/html']) {
        const text = await (await fetch(`${url}${path}`, { headers: { accept } })).text()
        assert.doesNotMatch(text, /SANDBOX|TESTNET|127\.0\.0\.1|localhost/, path)
      }
    }
    const manifest = await readJson(`${url}/.well-known/x402.json`)
    const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
    assert.deepEqual(
      [manifest['environment'], manifest['notice'], String(manifest['recipient']).toLowerCase()],
      ['production', null, PAY_TO.toLowerCase()],
    )
    assert.deepEqual(manifest['network'], { chain_id: 8453, name: 'base', caip2: 'eip155:8453' })
    assert.deepEqual(manifest['eip712_domain'], { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: token })
    const mcp = await readJson(`${url}/.well-known/mcp.json`)
    assert.equal(mcp['endpoint'], 'https://mcp.assay.example/mcp')
    const entry = await readJson(`${url}/.well-known/server.json`)
    assert.deepEqual(
      [entry['name'], entry['title'], entry['websiteUrl']],
      ['example.assay.mcp/assay', 'assay', 'https://www.assay.example'],
    )
  })
})

test('a live deployment on Base Sepolia is marked TESTNET', async () => {
  await during({ ASSAY_CHAIN_ID: '84532' }, async ({ url }) => {
    assert.equal((await readJson(`${url}/.well-known/x402.json`))['environment'], 'testnet')
    assert.match(await (await fetch(`${url}/llms.txt`)).text(), /^# assay\n\n> TESTNET: /)
    assert.match(String(asMembers((await readJson(`${url}/openapi.json`))['info'])['title']), /TESTNET/)
  })
})
