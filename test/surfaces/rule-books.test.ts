/** Pages of the rule books: an outsider can recompute everything on them with other libraries. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import canonicalize from 'canonicalize'
import { concat, hashTypedData, keccak256, recoverAddress, stringToHex, type Hex, type TypedDataDefinition } from 'viem'
import { DIP_RULES } from '../../src/pure/rulebooks/dip1.ts'
import { POD1_CODES } from '../../src/pure/rulebooks/pod1-table.ts'
import { CSP1_CODES } from '../../src/pure/rulebooks/csp1.ts'
import { ENTRY_FORMS } from '../../src/pure/rulebooks/pol1-registry.ts'
import { PROTOCOLS } from '../../src/pure/protocols/registry.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

type Json = Record<string, unknown>

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const pageOf = async (id: string) => {
  const response = await fetch(id === '' ? `${app.url}/docs` : `${app.url}/docs/${id}`)
  assert.equal(response.status, 200, id)
  return response.text()
}

/** Text of a sample of a page. */
function sampleOf(page: string, id: string): string {
  const [, text] = new RegExp(`<pre id="sample-${id}"[^>]*>([^<]*)</pre>`).exec(page) ?? []
  assert.ok(text !== undefined, `no sample ${id}`)
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}

const jsonOf = (page: string, id: string) => JSON.parse(sampleOf(page, id)) as Json
const canonical = (value: unknown) => canonicalize(value) ?? assert.fail('no JSON')

test('every rule, reason and member is on its page, which the index and llms-full.txt name', async () => {
  const index = await pageOf('')
  const llms = await (await fetch(`${app.url}/llms-full.txt`)).text()
  const rules = PROTOCOLS['micro-ast'].rules.map(({ code }) => code)
  for (const [id, names] of Object.entries({
    'pol-1': Object.keys(ENTRY_FORMS),
    'pod-1': Object.keys(POD1_CODES),
    'csp-1': Object.keys(CSP1_CODES),
    'dip-1': Object.keys(DIP_RULES),
    'micro-ast': rules,
  })) {
    const page = await pageOf(id)
    for (const name of names) assert.ok(page.includes(`<code>${name}</code>`), `${id}: ${name}`)
    assert.ok(index.includes(`href="/docs/${id}"`) && llms.includes(`/docs/${id}`), id)
  }
})

test('the policy hash is that of the table on the page', async () => {
  for (const id of ['pol-1', 'pod-1', 'csp-1', 'dip-1']) {
    const page = await pageOf(id)
    const table = jsonOf(page, 'table')
    assert.equal(keccak256(stringToHex(canonical(table))), sampleOf(page, 'policy-hash'), id)
    assert.equal(String(table['standard']).toLowerCase(), id)
  }
})

test('typed data and texts give the digests of the test vectors, whose signatures recover to their signer', async () => {
  for (const [id, kinds] of Object.entries({
    'pol-1': ['pol-1-entry', 'pol-1-countersignature'],
    'pod-1': ['pod-1-role'],
    'dip-1': ['dip-1-dispute', 'dip-1-transport'],
  })) {
    const page = await pageOf(id)
    for (const kind of kinds) {
      const { signer, digest, signature } = jsonOf(page, `${kind}-vector`) as { signer: Hex; digest: Hex; signature: Hex }
      const typed = page.includes(`id="sample-${kind}-typed"`)
      const expected = typed
        ? hashTypedData(jsonOf(page, `${kind}-typed`) as unknown as TypedDataDefinition)
        : keccak256(stringToHex(sampleOf(page, `${kind}-text`)))
      assert.equal(digest, expected, kind)
      assert.equal((await recoverAddress({ hash: digest, signature })).toLowerCase(), signer)
      const described = (await (await fetch(`${app.url}/v1/signing/${kind}`)).json()) as Json
      assert.equal(described['page'], id === '' ? `${app.url}/docs` : `${app.url}/docs/${id}`)
    }
  }
})

test('the commitment of CSP-1 and its stealth address are those of other libraries', async () => {
  const page = await pageOf('csp-1')
  const vector = jsonOf(page, 'vector')
  const salt = vector['salt_hex'] as Hex
  const text = canonical(vector['invoice_object'])
  assert.equal(vector['canonical_jcs'], text)
  const commitment = keccak256(concat([keccak256(stringToHex('CSP-1 commitment')), salt, stringToHex(text)]))
  assert.equal(vector['invoice_commitment'], commitment)
  // The private keys 5, 6 and 7 by the stealth-address SDK of ScopeLift.
  const stealth = jsonOf(page, 'stealth-vector')
  assert.deepEqual([stealth['view_tag'], stealth['stealth_address']], ['0x15', '0x5503b73206ba342b18e94af1c63b76cd37b16f26'])
})

test('the catalogue of the Micro-AST page passes the preflight', async () => {
  const document = jsonOf(await pageOf('micro-ast'), 'catalogue')
  const response = await fetch(`${app.url}/v1/protocols/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ protocol: 'micro-ast', document }),
  })
  const body = (await response.json()) as Json
  assert.deepEqual([response.status, body['errors']], [200, []], JSON.stringify(body))
})
