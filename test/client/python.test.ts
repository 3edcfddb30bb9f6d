/**
 * The Python quickstart runs as it lies against the real service. Its three cryptographic packages are stood in for by viem, behind the very
 * functions that the file calls; `requests` is the real one. Where Python or `requests` is missing only the tables in the file are compared.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { usdcOn } from '../../src/pure/payments/usdc.ts'
import { SIGNED_FIELDS } from '../../src/pure/receipts/receipt.ts'
import { authorizationsUsed } from '../support/paying-chain.ts'
import { startWorld } from '../support/paying-world.ts'
import { fund } from '../support/paying.ts'
import { PYTHON_STUBS, startOracle } from '../support/python-stubs.ts'
import { startProxy } from './proxy.ts'

const FILE = 'docs/python-quickstart.py'
const run = promisify(execFile)

const MISSING = 'Python with requests is not on this machine.'

async function hasPython(): Promise<boolean> {
  return run('python3', ['-c', 'import requests']).then(
    () => true,
    () => false,
  )
}

test('the file names the fields and tokens that the service does', async () => {
  const source = await readFile(FILE, 'utf8')
  assert.ok(source.includes(`SIGNED_FIELDS = [${SIGNED_FIELDS.map((name) => `"${name}"`).join(', ')}]`))
  for (const { chain_id, name, version, address } of [usdcOn(8453), usdcOn(84532)]) {
    assert.ok(source.includes(`${chain_id}: ("${name}", "${version}", "${address}"),`))
  }
})

test('it makes its free calls, pays once though an answer is lost, and verifies each receipt', async (context) => {
  if (!(await hasPython())) return context.diagnostic(MISSING)
  const folder = await mkdtemp(join(tmpdir(), 'assay-python-'))
  const world = await startWorld({ free_daily: 2 })
  const proxy = await startProxy(world.url)
  const oracle = await startOracle()
  try {
    await mkdir(join(folder, 'stubs'))
    for (const [name, body] of Object.entries(PYTHON_STUBS)) await writeFile(join(folder, 'stubs', name), body)
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    await fund(world.chain.rpc_url, world.chain.token, address, 1_000_000n)
    await writeFile(join(folder, 'payer.key'), key)
    const env = { ...process.env, PYTHONPATH: join(folder, 'stubs'), PYTHONDONTWRITEBYTECODE: '1', ORACLE: oracle.url, no_proxy: '*' }
    // Two free calls and the 402 pass; the first answer to the payment is lost.
    const pass = { kind: 'change', change: () => undefined } as const
    proxy.plan(pass, pass, pass, { kind: 'lose_answer' })
    const { stdout } = await run('python3', [FILE, '--url', proxy.url, '--key-file', join(folder, 'payer.key')], { env })
    const tiers = stdout.split('\n').map((line) => line.split(' ')[0])
    assert.deepEqual(tiers, ['free', 'free', 'paid', 'settled', ''])
    assert.equal((await authorizationsUsed(world.chain, address)).length, 1)
  } finally {
    oracle.stop()
    await proxy.stop()
    await world.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

test('its canonical text is that of RFC 8785, or none', async (context) => {
  const script = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("quickstart", "${FILE}")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
def text(value):
    try:
        return module.canonical(value)
    except module.Refused:
        return None
print(json.dumps([text(value) for value in json.loads(sys.argv[1])]))
`
  // Members in the order of RFC 8785 §3.2.3, texts as of §3.2.2.2, numbers as of its appendix B.
  const cases: [string, string | null][] = [
    [
      '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    ['"\\u000f\\n\\"\\\\/"', '"\\u000f\\n\\"\\\\/"'],
    ['[1.0, 4.50, -0.0, 1E2, true, null]', '[1,4.5,0,100,true,null]'],
    ['333333333.33333329', '333333333.3333333'],
    ['1e-27', null],
    ['9007199254740993', null],
    ['[9007199254740991, 9007199254740991.0, -9007199254740991.0]', '[9007199254740991,9007199254740991,-9007199254740991]'],
    // Beyond 2^53 the shortest digits that mean a number are not those of its whole value: 123456789012345680000, which is ...683968.
    ['123456789012345680000.0', null],
    ['-9007199254740992.0', null],
    ['1e21', null],
  ]
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const input = `[${cases.map(([given]) => given).join(',')}]`
  if (!(await hasPython())) return context.diagnostic(MISSING)
  const ran = await run('python3', ['-c', script, input], { env })
  assert.deepEqual(
    JSON.parse(ran.stdout),
    cases.map(([, expected]) => expected),
  )
})
