/** Code that is nothing but a delegation: each pattern runs on a real node, so that what is called a clone here is shown to be one. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readClone } from '../../src/pure/evm/proxy.ts'
import { sample, startTokenWorld, type TokenWorld } from '../support/token-world.ts'

/** An address that starts with four zero bytes, for the vanity form. */
const LOW = '0x00000000c0ffee00c0ffee00c0ffee00c0ffee01'
const HERE = '0xc10e0000000000000000000000000000000c10e0'

let world: TokenWorld
let target: string

before(async () => {
  world = await startTokenWorld()
  const first = await world.deploy(sample('plain-token'))
  target = '0xabcdef0123456789abcdef0123456789abcdef01'
  const code = await world.codeAt(first)
  for (const address of [LOW, target]) await world.anvil.setCode(address, code)
})
after(() => world.anvil.stop())

/** The published patterns with an address filled in: EIP-1167, its vanity form, 0age, ERC-7511, Solady, old Vyper, ERC-3448 with data. */
function patterns(full: string, low: string): Record<string, string> {
  const x = full.slice(2)
  const data = 'c0de'
  return {
    eip1167: `363d3d373d3d3d363d73${x}5af43d82803e903d91602b57fd5bf3`,
    eip1167_vanity: `363d3d373d3d3d363d6f${low.slice(10)}5af43d82803e903d91602757fd5bf3`,
    clone_0age: `3d3d3d3d363d3d37363d73${x}5af43d3d93803e602a57fd5bf3`,
    erc7511: `365f5f375f5f365f73${x}5af43d5f5f3e5f3d91602a57fd5bf3`,
    solady_push0: `5f5f365f5f37365f73${x}5af43d5f5f3e6029573d5ffd5b3d5ff3`,
    vyper_clone: `366000600037611000600036600073${x}5af4602c57600080fd5b6110006000f3`,
    erc3448: `363d3d373d3d3d3d60368038038091363936013d73${x}5af43d3d93803e603457fd5bf3${data}${'2'.padStart(64, '0')}`,
  }
}

test('every clone is recognised, answers as its target does, and is not upgradeable', async () => {
  for (const [kind, code] of Object.entries(patterns(target, LOW))) {
    await world.anvil.setCode(HERE, `0x${code}`)
    await world.anvil.mine()
    const { erc20, proxy, is_contract } = await world.look(HERE)
    assert.deepEqual([kind, proxy['kind'], proxy['is_proxy']], [kind, kind, true])
    assert.equal(proxy['implementation'], kind === 'eip1167_vanity' ? LOW : target)
    assert.deepEqual([proxy['upgradeable'], is_contract, erc20['conforms']], [false, true, true], kind)
    // The old Vyper form returns 4096 bytes whatever the target returned.
    assert.equal(erc20['name'], 'Plain Token', kind)
    assert.ok(world.batches.length <= 2)
  }
})

test('a clone that carries arguments behind its code runs its target all the same', async () => {
  const operated = await world.deploy(sample('operator-token'))
  // OpenZeppelin 5.7, Clones._cloneCodeWithImmutableArgs: PUSH2 length, how to return it, the code of EIP-1167, the arguments. The last ones
  // would delegate and destroy, did they ever run: JUMPDEST DELEGATECALL SELFDESTRUCT.
  for (const args of ['00', 'ab'.repeat(20), '5bf4ff']) {
    const size = (0x2d + args.length / 2).toString(16).padStart(4, '0')
    const made = `0x61${size}3d81600a3d39f3363d3d373d3d3d363d73${operated.slice(2)}5af43d82803e903d91602b57fd5bf3${args}` as const
    const found = await world.look(await world.deploy(made))
    assert.deepEqual([found.proxy['is_proxy'], found.proxy['kind'], found.proxy['implementation']], [true, 'eip1167_args', operated])
    assert.deepEqual([found.proxy['upgradeable'], found.erc20['conforms'], found.erc20['name']], [false, true, 'Operator Token'])
    const ids = found.flags.map(({ id }) => id)
    assert.ok(ids.includes('can_mint') && ids.includes('can_blacklist') && !ids.includes('delegatecall_unresolved'))
    assert.deepEqual(
      found.opcodes.filter(({ where }) => where === 'contract').map(({ name, count }) => [name, count]),
      [
        ['DELEGATECALL', 1],
        ['SSTORE', 0],
      ],
    )
  }
})

test('a pattern with any byte changed, added or left out is no clone', () => {
  for (const [kind, code] of Object.entries(patterns(target, LOW))) {
    const at = code.indexOf(kind === 'eip1167_vanity' ? LOW.slice(10) : target.slice(2))
    const long = kind === 'eip1167_vanity' ? 32 : 40
    assert.deepEqual(readClone(`0x${code}`)?.kind, kind)
    // What follows a clone of EIP-1167 are its arguments; no other pattern has any.
    assert.equal(readClone(`0x${code}00`)?.kind, kind === 'eip1167' ? 'eip1167_args' : undefined, `${kind} with a byte more`)
    assert.equal(readClone(`0x${code.slice(0, -2)}`), null, `${kind} with a byte less`)
    for (let digit = 0; digit < code.length; digit += 2) {
      // Of ERC-3448 the data between the code and its length are free.
      const free = (digit >= at && digit < at + long) || (kind === 'erc3448' && digit >= 108 && digit < 112)
      if (free) continue
      const changed = `${code.slice(0, digit)}${code.slice(digit, digit + 2) === '00' ? '01' : '00'}${code.slice(digit + 2)}`
      assert.equal(readClone(`0x${changed}`), null, `${kind}, byte ${digit / 2}`)
    }
  }
})

test('a clone of nothing is told, and so is an account that has borrowed code', async () => {
  const nobody = '0x9999999999999999999999999999999999999999'
  await world.anvil.setCode(HERE, `0x${patterns(nobody, LOW)['eip1167']}`)
  await world.anvil.mine()
  const empty = await world.look(HERE)
  assert.deepEqual([empty.proxy['is_proxy'], empty.proxy['implementation_status']], [true, 'no_code'])
  assert.deepEqual(empty.erc20['errors'], { name: 'no_data', symbol: 'no_data', decimals: 'no_data', total_supply: 'no_data' })

  const [account] = world.anvil.accounts
  assert.ok(account !== undefined)
  await world.anvil.setCode(account.address, `0xef0100${target.slice(2)}`)
  await world.anvil.mine()
  const delegated = await world.look(account.address)
  assert.deepEqual([delegated.is_contract, delegated.account['kind'], delegated.account['code_size']], [false, 'delegated_eoa', 23])
  assert.deepEqual([delegated.proxy['kind'], delegated.proxy['implementation'], delegated.proxy['upgradeable']], ['eip7702', target, true])
  assert.equal(delegated.erc20['name'], 'Plain Token')
  assert.deepEqual(
    delegated.flags.map(({ id }) => id),
    // The code of the token runs over the account's own storage, which holds nothing.
    ['not_a_contract', 'account_delegates', 'no_supply'],
  )
})

test('accounts without code: nothing is asked twice, and nothing is claimed', async () => {
  const [, account] = world.anvil.accounts
  assert.ok(account !== undefined)
  for (const [address, kind] of [
    [account.address, 'eoa'],
    ['0x8888888888888888888888888888888888888888', 'empty'],
  ] as const) {
    const found = await world.look(address)
    assert.deepEqual([found.is_contract, found.account['kind'], found.proxy['is_proxy']], [false, kind, false])
    assert.deepEqual([found.erc20['conforms'], found.erc20['errors'], found.owner['status']], [false, {}, 'not_present'])
    assert.deepEqual([found.privileged_selectors, found.opcodes], [[], []])
    assert.equal(world.batches.length, 1)
  }
})

test('a contract that can destroy itself, and one that forwards to where its own storage says', async () => {
  // CALLER SELFDESTRUCT.
  await world.anvil.setCode(HERE, '0x33ff')
  await world.anvil.mine()
  const mortal = await world.look(HERE)
  assert.deepEqual(
    mortal.opcodes.map(({ name, count }) => [name, count]),
    [
      ['SELFDESTRUCT', 1],
      ['SSTORE', 0],
    ],
  )
  assert.ok(mortal.flags.some(({ id, severity }) => id === 'has_selfdestruct' && severity === 'warning'))
  // DELEGATECALL to the address in slot 7: CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 SLOAD(7) GAS DELEGATECALL STOP.
  await world.anvil.setCode(HERE, '0x365f5f375f5f365f6007545af400')
  await world.anvil.mine()
  const hidden = await world.look(HERE)
  assert.deepEqual([hidden.proxy['is_proxy'], hidden.proxy['upgradeable'], hidden.erc20['conforms']], [null, null, null])
  assert.ok(hidden.flags.some(({ id }) => id === 'delegatecall_unresolved'))
})

test('proxies of other families are told by the slot that their code names', async () => {
  // CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 SLOAD(slot) GAS DELEGATECALL, and whatever came back is returned.
  const forwarder = (slot: string) => `0x365f5f375f5f365f7f${slot}545af43d5f5f3e3d5ff3`
  const slots = {
    eip1967: '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
    eip1822: 'c5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
    matic: 'baab7dbf64751104133af04abc7d9979f0fda3b059a322a8333f533d3f32bf7f',
  }
  // The proxy that Safe 1.3.0 deploys, its metadata left out: masterCopy() is answered, all else delegated to slot 0.
  const mask = 'f'.repeat(40)
  const safe =
    `0x608060405273${mask}600054167fa619486e${'0'.repeat(56)}60003514156050578060005260206000f35b` +
    '3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fe'
  const cases = [
    ...Object.entries(slots).map(([kind, slot]) => ({ kind, slot, code: forwarder(slot) })),
    { kind: 'safe', slot: '0'.repeat(64), code: safe },
  ]
  for (const [index, { kind, slot, code }] of cases.entries()) {
    const address = `0x7000000000000000000000000000000000000${String(index).padStart(3, '0')}`
    await world.anvil.setCode(address, code)
    await world.setSlot(address, `0x${slot}`, `0x${target.slice(2).padStart(64, '0')}`)
    const { erc20, proxy } = await world.look(address)
    assert.deepEqual([proxy['kind'], proxy['is_proxy'], proxy['implementation'], proxy['upgradeable']], [kind, true, target, null])
    assert.deepEqual([erc20['name'], erc20['conforms']], ['Plain Token', true], kind)
  }
})
