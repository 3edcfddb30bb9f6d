/**
 * The Python client against the real service, through proxies that lose and change answers. Without Python and httpx the tests are skipped, and say
 * so; where eth-account is missing, viem signs behind the functions of it that the client calls.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { usdcOn } from '../../src/pure/payments/usdc.ts'
import { SIGNED_FIELDS } from '../../src/pure/receipts/receipt.ts'
import { authorizationsUsed } from '../support/paying-chain.ts'
import { startWorld } from '../support/paying-world.ts'
import { fund } from '../support/paying.ts'
import { PYTHON_STUBS, startOracle } from '../support/python-stubs.ts'
import { readFileSync } from 'node:fs'
import { startProxy, type Act } from './proxy.ts'

const FOLDER = resolve('clients/python')
const run = promisify(execFile)
/** Debian's packages belong to its own Python, which is not always the first on the path. */
const PYTHONS = ['python3', '/usr/bin/python3']

async function canImport(python: string, module: string): Promise<boolean> {
  return run(python, ['-c', `import ${module}`]).then(
    () => true,
    () => false,
  )
}

/** A Python with httpx; null, with the test skipped, where there is none. */
async function pythonOrSkip(context: TestContext): Promise<string | null> {
  for (const python of PYTHONS) if (await canImport(python, 'httpx')) return python
  context.skip('No Python with httpx is on this machine (Debian: apt-get install python3-httpx).')
  return null
}

test('the client names the fields and tokens that the service does', () => {
  const read = (name: string) => readFileSync(join(FOLDER, 'assay', name), 'utf8')
  assert.ok(read('receipts.py').includes(`SIGNED_FIELDS = [${SIGNED_FIELDS.map((name) => `"${name}"`).join(', ')}]`))
  for (const { chain_id, name, version, address } of [usdcOn(8453), usdcOn(84532)])
    assert.ok(read('payment.py').includes(`${chain_id}: ("${name}", "${version}", "${address}"),`))
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  assert.ok(readFileSync(join(FOLDER, 'pyproject.toml'), 'utf8').includes(`\nversion = "${version}"\n`))
})

const PASS: Act = { kind: 'change', change: () => undefined }
const PLANS: Record<string, Act[]> = {
  plain: [],
  // The first call brings the terms.
  losing: [PASS, { kind: 'lose_answer' }, { kind: 'lose_request' }, { kind: 'instead', status: 502, body: '<h1>Bad gateway</h1>' }],
  lost: [PASS, { kind: 'lose_answer' }],
  cheating: [PASS, { kind: 'change', change: (body) => (body['price'] = { tier: 'paid', amount_minor: '1', method: null }) }],
  lying: [PASS, { kind: 'change', change: (body) => (body['result'] = { ...(body['result'] as object), valid: false }) }],
  diverting: [
    {
      kind: 'terms',
      change: (terms) => (terms['accepts'] as Record<string, unknown>[]).forEach((one) => (one['payTo'] = `0x${'ab'.repeat(20)}`)),
    },
  ],
}
/** Payments that each payer makes in the tests of Python. */
const PAYMENTS = { pays: 2, thrifty: 0, threads: 2, loses: 1, resumes: 1, is_told_lies: 1, poor: 0, briefs: 3 }

test('its own tests pass, and the chain has each payment once', async (context) => {
  const python = await pythonOrSkip(context)
  if (python === null) return
  const folder = await mkdtemp(join(tmpdir(), 'assay-python-'))
  const world = await startWorld()
  const oracle = await startOracle()
  const proxies = await Promise.all(Object.keys(PLANS).map(async (name) => [name, await startProxy(world.url)] as const))
  try {
    for (const [name, proxy] of proxies) proxy.plan(...(PLANS[name] ?? []))
    const payers = Object.keys(PAYMENTS).map((name) => ({ name, key: generatePrivateKey() }))
    for (const { name, key } of payers)
      await fund(world.chain.rpc_url, world.chain.token, privateKeyToAccount(key).address, name === 'poor' ? 1n : 1_000_000n)
    const settings = {
      urls: Object.fromEntries(proxies.map(([name, { url }]) => [name, url])),
      keys: Object.fromEntries(payers.map(({ name, key }) => [name, key])),
    }
    const paths = [FOLDER]
    if (!(await canImport(python, 'eth_account'))) {
      context.diagnostic('eth-account is not on this machine: viem signs in its place.')
      paths.push(join(folder, 'stubs'))
      await mkdir(join(folder, 'stubs'))
      for (const name of ['oracle.py', 'eth_account.py']) await writeFile(join(folder, 'stubs', name), PYTHON_STUBS[name] ?? '')
    }
    const env = {
      ...process.env,
      PYTHONPATH: paths.join(':'),
      PYTHONDONTWRITEBYTECODE: '1',
      ORACLE: oracle.url,
      NO_PROXY: '*',
      ASSAY_CLIENT_TEST: JSON.stringify(settings),
    }
    const { stderr } = await run(python, ['-m', 'unittest', 'discover', '-v', '-s', join(FOLDER, 'tests')], { env }).catch(
      (error: { stderr: string }) => assert.fail(error.stderr),
    )
    assert.match(stderr, /^Ran (?:19|[2-9]\d) tests.*\n\nOK$/m)
    for (const { name, key } of payers) {
      const used = await authorizationsUsed(world.chain, privateKeyToAccount(key).address)
      assert.equal(used.length, PAYMENTS[name as keyof typeof PAYMENTS], name)
    }
  } finally {
    oracle.stop()
    await Promise.all(proxies.map(([, proxy]) => proxy.stop()))
    await world.stop()
    await rm(folder, { recursive: true, force: true })
  }
})
