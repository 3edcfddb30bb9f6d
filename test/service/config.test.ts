import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '../../src/service/read-settings.ts'
import { freeDaily, SETTINGS, unknownToolInOverrides } from '../../src/service/config.ts'

function settings(environment: Record<string, string>) {
  const read = readSettings(environment)
  assert.ok(read.ok, read.ok ? '' : read.message)
  return read.settings
}

function refusal(environment: Record<string, string>): string {
  const read = readSettings(environment)
  assert.equal(read.ok, false, JSON.stringify(environment))
  return read.ok ? '' : read.message
}

const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_RPC_URLS: 'https://rpc.example',
  // An example of EIP-55 (2016).
  ASSAY_PAY_TO: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  ASSAY_GAS_KEY_FILE: '/run/gas',
}

test('no settings at all make a sandbox on port 8402', () => {
  const found = settings({ HOME: '/root', PATH: '/bin' })
  assert.equal(found.ASSAY_MODE, 'sandbox')
  assert.equal(found.ASSAY_PORT, 8402)
  assert.equal(found.ASSAY_HOST, '127.0.0.1')
  assert.deepEqual([found.ASSAY_ADMIN_PORT, found.ASSAY_ADMIN_HOST], [8403, '127.0.0.1'])
  assert.equal(found.ASSAY_CHAIN_ID, 84_532)
  assert.equal(freeDaily(found), 1_000)
  assert.deepEqual(found.ASSAY_FREE_DAILY_OVERRIDES, { 'token-contract-risk': 5 })
})

test('live reads its settings, on Base unless told otherwise', () => {
  const found = settings(LIVE)
  assert.equal(found.ASSAY_CHAIN_ID, 8453)
  assert.equal(freeDaily(found), 3)
  assert.equal(freeDaily(settings({ ...LIVE, ASSAY_FREE_DAILY: '7' })), 7)
  assert.equal(found.ASSAY_PAY_TO, '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')
  assert.equal(settings({ ...LIVE, ASSAY_CHAIN_ID: '84532' }).ASSAY_CHAIN_ID, 84_532)
})

test('the operator port follows the public one unless it is named, and is never the same', () => {
  assert.equal(settings({ ASSAY_PORT: '9000' }).ASSAY_ADMIN_PORT, 9_001)
  assert.equal(settings({ ASSAY_PORT: '0' }).ASSAY_ADMIN_PORT, 0)
  assert.equal(settings({ ASSAY_PORT: '9000', ASSAY_ADMIN_PORT: '0' }).ASSAY_ADMIN_PORT, 0)
  assert.equal(settings({ ASSAY_PORT: '65535', ASSAY_ADMIN_PORT: 'off' }).ASSAY_ADMIN_PORT, 'off')
  for (const [port, admin] of [
    ['65535', ''],
    ['9000', '9000'],
    ['9000', 'none'],
    ['9000', '65536'],
  ] as const)
    assert.match(refusal({ ASSAY_PORT: port, ASSAY_ADMIN_PORT: admin }), /^ASSAY_ADMIN_PORT /)
})

test('an unknown name is refused and the nearest one suggested', () => {
  assert.match(refusal({ ASSAY_PROT: '1' }), /ASSAY_PROT is not a setting.*did you mean ASSAY_PORT/)
  assert.match(refusal({ ASSAY_SOMETHING_ELSE: '1' }), /ASSAY_SOMETHING_ELSE is not a setting/)
})

test('a value that does not fit names its variable', () => {
  const wrong: [string, string][] = [
    ['ASSAY_PORT', '70000'],
    ['ASSAY_PORT', '-1'],
    ['ASSAY_PORT', '8e3'],
    ['ASSAY_MODE', 'Live'],
    ['ASSAY_CHAIN_ID', '1'],
    ['ASSAY_FREE_DAILY', '3.5'],
    ['ASSAY_FREE_DAILY_OVERRIDES', 'token-contract-risk'],
    ['ASSAY_BASE_URL', 'https://assay.example/'],
    ['ASSAY_API_URL', 'assay.example'],
    ['ASSAY_LOG_LEVEL', 'loud'],
  ]
  for (const [name, value] of wrong) assert.match(refusal({ [name]: value }), new RegExp(`^${name} `), `${name}=${value}`)
})

test('a recipient that would lose what is paid is refused', () => {
  const pay_to = LIVE.ASSAY_PAY_TO
  for (const [wrong, why] of [
    // One letter of the wrong case, one digit of another value, and all capitals turned round.
    [pay_to.replace('5aA', '5aa'), /EIP-55/],
    [pay_to.replace('Aed', 'Aec'), /EIP-55/],
    [`0x${'Ab'.repeat(20)}`, /EIP-55/],
    [`0x${'0'.repeat(40)}`, /zero address/],
    [pay_to.slice(0, -1), /40 hexadecimal/],
    // Circle, "USDC contract addresses": the one on Base.
    ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', /USDC contract/],
    ['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', /USDC contract/],
  ] as const) {
    const message = refusal({ ...LIVE, ASSAY_PAY_TO: wrong })
    assert.match(message, /^ASSAY_PAY_TO /, wrong)
    assert.match(message, why, wrong)
  }
  // Without capitals, or in capitals alone, an address promises nothing about its digits.
  for (const plain of [pay_to.toLowerCase(), `0x${pay_to.slice(2).toUpperCase()}`]) {
    assert.equal(settings({ ...LIVE, ASSAY_PAY_TO: plain }).ASSAY_PAY_TO, pay_to.toLowerCase())
  }
  const sepolia = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  assert.match(refusal({ ...LIVE, ASSAY_CHAIN_ID: '84532', ASSAY_PAY_TO: sepolia }), /^ASSAY_PAY_TO .*USDC contract/)
})

test('endpoints and facilitators are http or https URLs, and no message quotes one', () => {
  const { ASSAY_GAS_KEY_FILE: _gas, ...facilitated } = LIVE
  for (const name of ['ASSAY_RPC_URLS', 'ASSAY_FACILITATOR_URLS'] as const) {
    const given = (value: string) => ({ ...(name === 'ASSAY_RPC_URLS' ? LIVE : facilitated), [name]: value })
    for (const wrong of [
      'hunter2',
      'hunter2.example',
      'wss://hunter2.example',
      'https://',
      'https://hunter2%zz@rpc.example',
      'https://%ff@hunter2.example',
    ]) {
      const message = refusal(given(`https://one.example/key,${wrong}`))
      assert.match(message, new RegExp(`^${name} .*number 2`), wrong)
      assert.doesNotMatch(message, /hunter2|one\.example/)
    }
    const good = ['https://user:p%40ss@rpc.example/v2/key', 'http://127.0.0.1:8545']
    assert.deepEqual(settings(given(good.join(', ')))[name], good)
  }
})

test('a detail of a bank account without the account is refused, and merchants are addresses', () => {
  const iban = { ASSAY_BANK_IBAN: 'DE89370400440532013000' }
  const details = { NAME: 'Example', BIC: 'COBADEFFXXX', INSTITUTION: 'Example Bank', CURRENCY: 'euros', MERCHANTS: LIVE.ASSAY_PAY_TO }
  for (const [detail, value] of Object.entries(details)) {
    const name = `ASSAY_BANK_${detail}`
    assert.match(refusal({ [name]: value }), new RegExp(`^${name} .*ASSAY_BANK_IBAN`))
    if (detail !== 'CURRENCY') settings({ ...iban, [name]: value })
  }
  for (const wrong of ['foo', `${LIVE.ASSAY_PAY_TO},0x12`, LIVE.ASSAY_PAY_TO.replace('5aA', '5aa'), `0x${'0'.repeat(40)}`]) {
    assert.match(refusal({ ...iban, ASSAY_BANK_MERCHANTS: wrong }), /^ASSAY_BANK_MERCHANTS must list addresses/, wrong)
  }
  const two = settings({ ...iban, ASSAY_BANK_MERCHANTS: `${LIVE.ASSAY_PAY_TO}, 0x${'1'.repeat(40)}` })
  assert.deepEqual(two.ASSAY_BANK_MERCHANTS, [LIVE.ASSAY_PAY_TO.toLowerCase(), `0x${'1'.repeat(40)}`])
})

test('free calls of a tool that is none are told by name', () => {
  const tools = [{ id: 'iban-check' }, { id: 'token-contract-risk' }]
  const stray = (value: string) => unknownToolInOverrides(settings({ ASSAY_FREE_DAILY_OVERRIDES: value }), tools)
  assert.match(stray('iban-check=1,iban-chek=7') ?? '', /^ASSAY_FREE_DAILY_OVERRIDES names iban-chek.*did you mean iban-check\./)
  assert.match(stray('something-else=7') ?? '', /names something-else.*assay tools/)
  assert.equal(stray('iban-check=7'), null)
})

test('settings that move money are refused without live mode', () => {
  for (const name of ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE'] as const) {
    assert.match(refusal({ [name]: LIVE[name] }), new RegExp(`^${name} .*ASSAY_MODE=live`))
  }
  assert.match(refusal({ ASSAY_FACILITATOR_URLS: 'https://f.example' }), /^ASSAY_FACILITATOR_URLS .*ASSAY_MODE=live/)
})

test('live without what it needs is refused by name', () => {
  for (const name of ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE'] as const) {
    assert.match(refusal({ ...LIVE, [name]: '' }), new RegExp(name))
  }
  assert.match(refusal({ ...LIVE, ASSAY_FACILITATOR_URLS: 'https://f.example' }), /not both/)
})

test('a PostgreSQL store needs the key and the secret that instances share', () => {
  const store = 'postgres://assay@db/assay'
  assert.match(refusal({ ASSAY_STORE: store }), /^ASSAY_RECEIPT_KEY_FILE /)
  assert.match(refusal({ ASSAY_STORE: store, ASSAY_RECEIPT_KEY_FILE: '/k' }), /^ASSAY_SECRET_FILE /)
  assert.equal(settings({ ASSAY_STORE: store, ASSAY_RECEIPT_KEY_FILE: '/k', ASSAY_SECRET_FILE: '/s' }).ASSAY_STORE, store)
})

test('further networks are read from JSON, with the defaults of their coin', () => {
  const value = [
    { chain_id: 137, rpc_urls: ['https://polygon.example/key'] },
    {
      chain_id: 42161,
      rpc_urls: ['https://one.example', 'https://two.example'],
      gas_key_file: '/k',
      gas_daily_wei: '7',
      confirmations: 64,
    },
  ]
  assert.deepEqual(settings({ ...LIVE, ASSAY_NETWORKS: JSON.stringify(value) }).ASSAY_NETWORKS, [
    {
      chain_id: 137,
      rpc_urls: ['https://polygon.example/key'],
      gas_key_file: '',
      gas_daily_wei: 50_000_000_000_000_000_000n,
      confirmations: null,
    },
    { chain_id: 42161, rpc_urls: ['https://one.example', 'https://two.example'], gas_key_file: '/k', gas_daily_wei: 7n, confirmations: 64 },
  ])
})

test('a fault of a further network is told by its place, and no URL is quoted', () => {
  const polygon = { chain_id: 137, rpc_urls: ['https://polygon.example/hunter2'] }
  const wrong: [unknown, RegExp][] = [
    ['137', /must be a JSON list/],
    [[137], /network 1: it must be an object/],
    [[polygon, { ...polygon, chain_id: 5 }], /network 2: chain_id must be one of 8453, /],
    [[polygon, polygon], /names chain 137 twice/],
    [[{ ...polygon, rpc_url: 'https://x.example' }], /network 1: rpc_url is not one of/],
    [[{ ...polygon, rpc_urls: [] }], /rpc_urls must list at least one/],
    [[{ ...polygon, rpc_urls: ['ftp://hunter2'] }], /rpc_urls must list at least one/],
    [[{ ...polygon, gas_daily_wei: 5 }], /gas_daily_wei must be/],
    [[{ ...polygon, gas_key_file: 5 }], /gas_key_file must be/],
    [[{ ...polygon, confirmations: 0 }], /confirmations must be/],
    [[{ ...polygon, chain_id: 8453 }], /which is ASSAY_CHAIN_ID already/],
    [[{ ...polygon, chain_id: 80002 }], /test networks and others cannot be offered together/],
    [Array.from({ length: 6 }, () => polygon), /at most 5 networks/],
  ]
  for (const [value, words] of wrong) {
    const found = refusal({ ...LIVE, ASSAY_NETWORKS: JSON.stringify(value) })
    assert.match(found, words, JSON.stringify(value))
    assert.match(found, /^ASSAY_NETWORKS /)
    assert.ok(!found.includes('hunter2'), found)
  }
  assert.match(refusal({ ASSAY_NETWORKS: JSON.stringify([polygon]) }), /^ASSAY_NETWORKS .*ASSAY_MODE=live/)
  const payee = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'
  assert.match(refusal({ ...LIVE, ASSAY_PAY_TO: payee, ASSAY_NETWORKS: JSON.stringify([polygon]) }), /the USDC contract on Polygon/)
})

test('every setting says what it means', () => {
  for (const [name, { meaning }] of Object.entries(SETTINGS)) assert.match(meaning, /\.$/, name)
})

test('name servers are IP addresses with or without a port', () => {
  const servers = ['10.0.0.53', '127.0.0.1:5353', 'fd00::53', '[fd00::53]:5353']
  assert.deepEqual(settings({ ASSAY_NAME_SERVERS: servers.join(', ') }).ASSAY_NAME_SERVERS, servers)
  for (const wrong of ['dns.example', '10.0.0.53:dns', '[10.0.0.53]:53', 'fd00::53]:5353', '1.2.3.4:53 5.6.7.8']) {
    assert.match(refusal({ ASSAY_NAME_SERVERS: wrong }), /^ASSAY_NAME_SERVERS must list IP addresses of DNS servers, such as/)
  }
})

test('registers are known, named once, and Companies House has a key; mirrors belong to them, and no message quotes one', () => {
  const key = { ASSAY_COMPANIES_HOUSE_KEY_FILE: '/run/secrets/key' }
  assert.deepEqual(settings({}).ASSAY_REGISTERS, [])
  assert.deepEqual(settings({ ASSAY_REGISTERS: ' gleif, vies' }).ASSAY_REGISTERS, ['gleif', 'vies'])
  assert.deepEqual(settings({ ASSAY_REGISTERS: 'companies-house', ...key }).ASSAY_REGISTERS, ['companies-house'])
  for (const wrong of ['kvk', 'gleif,gleif', 'GLEIF', 'gleif vies'])
    assert.match(refusal({ ASSAY_REGISTERS: wrong }), /^ASSAY_REGISTERS must/)
  assert.match(refusal({ ASSAY_REGISTERS: 'companies-house' }), /^ASSAY_COMPANIES_HOUSE_KEY_FILE /)
  assert.match(refusal({ ASSAY_REGISTERS: 'vies', ...key }), /^ASSAY_COMPANIES_HOUSE_KEY_FILE /)
  const mirror = 'http://10.0.0.7:8080/gleif'
  const found = settings({ ASSAY_REGISTERS: 'gleif', ASSAY_REGISTER_URLS: `gleif=${mirror}` })
  assert.deepEqual(found.ASSAY_REGISTER_URLS, { gleif: mirror })
  assert.match(refusal({ ASSAY_REGISTERS: 'vies', ASSAY_REGISTER_URLS: `gleif=${mirror}` }), /^ASSAY_REGISTER_URLS names gleif/)
  const wrong = ['gleif', 'gleif=', 'gleif=ftp://hidden.example', 'kvk=https://hidden.example', `gleif=${mirror},gleif=${mirror}`]
  const secret = ['gleif=https://user:hidden@mirror.example', 'gleif=https://mirror.example/?key=hidden']
  for (const text of [...wrong, ...secret]) {
    const message = refusal({ ASSAY_REGISTERS: 'gleif', ASSAY_REGISTER_URLS: text })
    assert.match(message, /^ASSAY_REGISTER_URLS must list registers/)
    assert.doesNotMatch(message, /hidden|10\.0/)
  }
})
