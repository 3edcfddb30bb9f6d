/** A setting that cannot stand ends the start, at once, with one sentence that names it; the doctor says the same. */
import assert from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDesk, parsed, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_RPC_URLS: 'http://127.0.0.1:9',
  ASSAY_PAY_TO: `0x${'1'.repeat(40)}`,
  ASSAY_GAS_KEY_FILE: '/nowhere/gas.key',
}
const { ASSAY_GAS_KEY_FILE: _gas, ...FACILITATED } = LIVE

const WRONG: [name: string, settings: Record<string, string>][] = [
  ['ASSAY_RPC_URLS', { ...LIVE, ASSAY_RPC_URLS: 'foo' }],
  ['ASSAY_RPC_URLS', { ...LIVE, ASSAY_RPC_URLS: 'wss://rpc.example' }],
  ['ASSAY_FACILITATOR_URLS', { ...FACILITATED, ASSAY_FACILITATOR_URLS: 'foo' }],
  ['ASSAY_BANK_IBAN', { ASSAY_BANK_IBAN: 'DE00' }],
  ['ASSAY_BANK_BIC', { ASSAY_BANK_IBAN: 'DE89370400440532013000', ASSAY_BANK_NAME: 'Example', ASSAY_BANK_BIC: 'foo' }],
  ['ASSAY_LOG_WITNESSES', { ASSAY_LOG_WITNESSES: 'foo' }],
  ['ASSAY_WITNESSED_LOGS', { ASSAY_WITNESSED_LOGS: 'foo' }],
  ['ASSAY_TRUSTED_PROXIES', { ASSAY_TRUSTED_PROXIES: 'foo' }],
  ['ASSAY_TRUSTED_PROXIES', { ...LIVE, ASSAY_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' }],
  ['ASSAY_TRUSTED_PROXIES', { ...LIVE, ASSAY_TRUSTED_PROXIES: '2001:db8::/48' }],
  ['ASSAY_FREE_DAILY_OVERRIDES', { ASSAY_FREE_DAILY_OVERRIDES: 'iban-chek=7' }],
  ['ASSAY_FREE_DAILY_OVERRIDES', { ASSAY_FREE_DAILY_OVERRIDES: 'iban-check=4,iban-check=5' }],
  ['ASSAY_STORE', { ASSAY_STORE: 'mysql://127.0.0.1/assay' }],
  ['ASSAY_API_URL', { ASSAY_API_URL: 'https://assay.example:99999' }],
  ['ASSAY_SITE_URL', { ASSAY_SITE_URL: 'https://user:word@assay.example' }],
  ['ASSAY_MCP_URL', { ASSAY_MCP_URL: 'https://Assay.Example' }],
  ['ASSAY_BASE_URL', { ASSAY_BASE_URL: 'https://assay.example:443' }],
  ['ASSAY_COMPANIES_HOUSE_KEY_FILE', { ASSAY_REGISTERS: 'companies-house', ASSAY_COMPANIES_HOUSE_KEY_FILE: '/nowhere' }],
  ['ASSAY_STRIPE_SECRET_KEY_FILE', { ASSAY_STRIPE_SECRET_KEY_FILE: '/nowhere', ASSAY_STRIPE_WEBHOOK_SECRET_FILE: '/nowhere' }],
]

test('a start and the doctor refuse the same settings by name', { timeout: 120_000 }, async () => {
  for (const [name, wrong] of WRONG) {
    const settings = { ...wrong, ASSAY_PORT: '0' }
    const { code, stdout, stderr } = await desk.run(['serve'], { settings })
    assert.equal(code, 78, `${name}: ${stderr}`)
    assert.match(stderr, new RegExp(`^assay: ${name}[^\\n]*\\.\\n$`))
    assert.equal(stdout, '', name)
    const doctor = await desk.run(['doctor'], { settings })
    const { checks } = parsed(doctor.stdout) as { checks: { state: string; words: string }[] }
    assert.equal(doctor.code, 1, name)
    assert.ok(
      checks.some(({ state, words }) => state === 'failed' && words.startsWith(name)),
      name,
    )
  }
})

test(
  'what cannot be opened ends a start as well: the keys of gas wallets, a folder that cannot be written',
  { timeout: 60_000 },
  async () => {
    const own = join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'live')
    const gas = await desk.run(['serve'], { settings: { ...LIVE, ASSAY_DATA_DIR: own, ASSAY_PORT: '0' } })
    assert.deepEqual([gas.code, /^assay: [^\n]*\/nowhere\/gas\.key[^\n]*\n$/.test(gas.stderr)], [78, true], gas.stderr)
    // Nobody can make a folder in the place of a link to nowhere, not even root.
    const folder = join(tmpdir(), `assay-link-${process.pid}`)
    symlinkSync('/nowhere/at/all', folder)
    after(() => rmSync(folder))
    for (const args of [['serve'], ['call', 'iban-check', '{"iban":"GB82"}']]) {
      const { code, stderr } = await desk.run(args, { settings: { ASSAY_DATA_DIR: folder, ASSAY_PORT: '0' } })
      assert.equal(code, 78, stderr)
      assert.match(stderr, /assay: The secret file [^\n]* cannot be written[^\n]*ASSAY_DATA_DIR\.\n$/)
    }
  },
)
