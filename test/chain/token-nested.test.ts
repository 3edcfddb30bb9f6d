/** Code behind code: what was not read is said to be unknown, never absent. Each arrangement runs on a real node. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PROXY_SLOTS } from '../../src/pure/evm/state-reads.ts'
import { cannedContract } from '../support/canned-contract.ts'
import { word } from '../support/fixed-words.ts'
import { published, sample, startTokenWorld, type TokenAnswer, type TokenWorld } from '../support/token-world.ts'

const IMPLEMENTATION_SLOT = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const ADMIN_SLOT = 'b53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'
const DEAD = '0x000000000000000000000000000000000000dead'
const hex16 = (value: number) => value.toString(16).padStart(4, '0')
const PLAIN = `0x${'ab'.repeat(20)}`
const OPERATED = `0x${'ac'.repeat(20)}`
const HERE = `0x${'c1'.repeat(20)}`
const BEHIND = `0x${'d1'.repeat(20)}`

let world: TokenWorld

before(async () => {
  world = await startTokenWorld()
  await world.anvil.setCode(PLAIN, await world.codeAt(await world.deploy(sample('plain-token'))))
  await world.anvil.setCode(OPERATED, await world.codeAt(await world.deploy(sample('operator-token'))))
})
after(() => world.anvil.stop())

const flagged = ({ flags }: TokenAnswer) => flags.map(({ id }) => id)
const severity = ({ flags }: TokenAnswer, id: string) => flags.find((flag) => flag.id === id)?.severity

/**
 * A contract that knows one selector, to which it answers zero, and hands everything else on. PUSH0 CALLDATALOAD PUSH1 e0 SHR DUP1 PUSH4 EQ
 * PUSH2 JUMPI; what hands on; JUMPDEST PUSH0 PUSH0 MSTORE PUSH1 20 PUSH0 RETURN.
 */
function knowsOne(selector: string, handsOn: string): string {
  const head_bytes = 16
  const destination = (head_bytes + handsOn.length / 2).toString(16).padStart(4, '0')
  return `0x5f3560e01c8063${selector}1461${destination}57${handsOn}5b5f5f5260205ff3`
}

/** CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0, the target, GAS, the call, and whatever came back is returned. */
const toSlot = `365f5f375f5f365f7f${IMPLEMENTATION_SLOT}545af43d5f5f3e3d5ff3`
const delegatesTo = (target: string) => `365f5f375f5f365f73${target.slice(2)}5af43d5f5f3e3d5ff3`
const callsTo = (target: string) => `365f5f375f5f365f5f73${target.slice(2)}5af13d5f5f3e3d5ff3`
const eip1167 = (target: string) => `0x363d3d373d3d3d363d73${target.slice(2)}5af43d82803e903d91602b57fd5bf3`
const vyperClone = (target: string) => `0x366000600037611000600036600073${target.slice(2)}5af4602c57600080fd5b6110006000f3`
/** implementation() */
const TOLD = '5c60da1b'

async function place(code: string, slots: Record<string, string> = {}): Promise<TokenAnswer> {
  await world.anvil.setCode(HERE, code)
  for (const slot of [IMPLEMENTATION_SLOT, ADMIN_SLOT]) await world.setSlot(HERE, `0x${slot}`, `0x${word(slots[slot] ?? 0n)}`)
  return world.look(HERE)
}

test('a clone of the code of a proxy: what the token behind can do is not known, and that is said', async () => {
  await world.anvil.setCode(BEHIND, knowsOne(TOLD, toSlot))
  const plain_proxy = await place(knowsOne(TOLD, toSlot), { [IMPLEMENTATION_SLOT]: OPERATED })
  assert.ok(flagged(plain_proxy).includes('can_burn_others'))
  assert.ok(!flagged(plain_proxy).includes('implementation_unresolved'))
  const nested = await place(eip1167(BEHIND), { [IMPLEMENTATION_SLOT]: OPERATED })
  assert.deepEqual([nested.erc20['name'], nested.erc20['conforms'], nested.erc20['missing']], ['Operator Token', null, []])
  assert.deepEqual([nested.proxy['is_proxy'], nested.proxy['implementation'], nested.proxy['upgradeable']], [true, BEHIND, null])
  assert.equal(severity(nested, 'implementation_unresolved'), 'warning')
  assert.ok(!flagged(nested).includes('not_erc20'))
})

test('an implementation that delegates the rest: nothing is absent for sure', async () => {
  await world.anvil.setCode(BEHIND, knowsOne('12345678', delegatesTo(PLAIN)))
  const found = await place(knowsOne(TOLD, toSlot), { [IMPLEMENTATION_SLOT]: BEHIND })
  assert.deepEqual([found.erc20['conforms'], found.erc20['missing'], found.owner['status']], [null, [], 'unknown'])
  const { facts = [] } = found.flags.find(({ id }) => id === 'implementation_unresolved') ?? {}
  const opcode = found.opcodes[Number(/^\$\.opcodes\[(\d+)\]$/.exec(facts[0] ?? '')?.[1])]
  assert.deepEqual([opcode?.name, opcode?.where], ['DELEGATECALL', 'implementation'])
  // All of EIP-20 is seen, and functions beyond it may still hide behind.
  const answers = ['18160ddd', '70a08231', 'dd62ed3e', 'a9059cbb', '23b872dd', '095ea7b3']
  const canned = cannedContract(Object.fromEntries(answers.map((one) => [`0x${one}`, { returns: `0x${word(1n)}` }])))
  // Unknown selectors end in PUSH0 DELEGATECALL STOP instead of PUSH0 PUSH0 REVERT.
  await world.anvil.setCode(BEHIND, canned.replace('5f5ffd', '5ff400'))
  const whole = await place(knowsOne(TOLD, toSlot), { [IMPLEMENTATION_SLOT]: BEHIND })
  assert.deepEqual([whole.erc20['conforms'], severity(whole, 'implementation_unresolved')], [true, 'caution'])
})

test('a proxy that forwards by CALL is no plain contract', async () => {
  // It knows a selector of its own, as those of Synthetix do, or none at all.
  for (const code of [knowsOne('776d1a01', callsTo(PLAIN)), `0x${callsTo(PLAIN)}`]) {
    const found = await place(code)
    assert.deepEqual([found.erc20['name'], found.erc20['conforms'], found.erc20['missing']], ['Plain Token', null, []])
    assert.deepEqual([found.proxy['is_proxy'], found.proxy['upgradeable']], [null, null])
    assert.deepEqual(found.flags.find(({ id }) => id === 'implementation_unresolved')?.facts, ['$.proxy.is_proxy'])
    assert.ok(!flagged(found).includes('not_erc20') && !flagged(found).includes('stores_nothing'))
  }
})

test('a call alone makes no proxy: a contract that gives all its answers itself is known', async () => {
  const canned = cannedContract({ '0x70a08231': { returns: `0x${word(5n)}` } })
  // Unknown selectors end in PUSH0 CALL STOP, which fails.
  const found = await place(canned.replace('5f5ffd', '5ff100'))
  assert.deepEqual([found.proxy['is_proxy'], found.erc20['conforms'], flagged(found).includes('not_erc20')], [false, false, true])
})

test('a clone of an account that borrows code runs that code: unknown, not absent', async () => {
  const [account] = world.anvil.accounts
  assert.ok(account !== undefined)
  await world.anvil.setCode(account.address, `0xef0100${PLAIN.slice(2)}`)
  const found = await place(eip1167(account.address.toLowerCase()))
  assert.equal(found.erc20['name'], 'Plain Token')
  assert.deepEqual([found.proxy['is_proxy'], found.proxy['implementation_status'], found.proxy['upgradeable']], [true, 'unknown', null])
  assert.equal(severity(found, 'implementation_unresolved'), 'warning')
  assert.ok(!flagged(found).includes('implementation_without_code'))
  // An account that borrows from one that borrows runs nothing: the second delegation is not followed (EIP-7702).
  const [, second] = world.anvil.accounts
  assert.ok(second !== undefined)
  await world.anvil.setCode(second.address, `0xef0100${account.address.slice(2).toLowerCase()}`)
  await world.anvil.mine()
  const chained = await world.look(second.address)
  assert.deepEqual([chained.proxy['implementation_status'], chained.erc20['name']], ['no_code', null])
})

test('old clones of Vyper return 4,096 bytes, of which the first word is the answer', async () => {
  await world.anvil.setCode(HERE, vyperClone(OPERATED))
  const owner = `0x${'77'.repeat(20)}`
  for (let slot = 0; slot < 8; slot++) await world.setSlot(HERE, `0x${slot.toString(16)}`, `0x${word(owner)}`)
  const found = await world.look(HERE)
  for (let slot = 0; slot < 8; slot++) await world.setSlot(HERE, `0x${slot.toString(16)}`, `0x${word(0n)}`)
  // contracts/TokenSamples.sol: two decimals.
  assert.deepEqual([found.erc20['decimals'], found.erc20['errors'], found.erc20['total_supply']], [2, {}, String(BigInt(owner))])
  assert.deepEqual([found.owner['status'], found.owner['address']], ['address', owner])
  assert.ok(flagged(found).includes('owner_is_one_key'))
})

test('an admin that nobody has the key of upgrades nothing; an implementation that upgrades itself still does', async () => {
  const slots = { [IMPLEMENTATION_SLOT]: PLAIN, [ADMIN_SLOT]: DEAD }
  // upgradeTo(address) in the proxy's own dispatcher is for its admin.
  const given_away = await place(knowsOne('3659cfe6', toSlot), slots)
  assert.deepEqual([given_away.proxy['admin'], given_away.proxy['admin_kind'], given_away.proxy['upgradeable']], [DEAD, null, null])
  assert.ok(!flagged(given_away).includes('upgradeable') && !flagged(given_away).includes('admin_is_eoa'))
  const held = await place(knowsOne('3659cfe6', toSlot), { ...slots, [ADMIN_SLOT]: world.anvil.owner })
  assert.deepEqual([held.proxy['admin_kind'], held.proxy['upgradeable']], ['eoa', true])
  await world.anvil.setCode(BEHIND, cannedContract({ '0x4f1ef286': { returns: `0x${word(1n)}` } }))
  const by_itself = await place(knowsOne('3659cfe6', toSlot), { ...slots, [IMPLEMENTATION_SLOT]: BEHIND })
  assert.equal(by_itself.proxy['upgradeable'], true)
})

test('an admin slot that the code names is believed before one that it does not', async () => {
  // USDC's proxy reads the slots of ZeppelinOS; what an implementation wrote to those of EIP-1967 is nobody's admin.
  const [implementation, admin] = [PROXY_SLOTS.zeppelinos_implementation, PROXY_SLOTS.zeppelinos_admin].map((slot) => slot.slice(2))
  const toZeppelin = `365f5f375f5f365f7f${implementation}545af43d5f5f3e3d5ff3`
  await world.setSlot(HERE, `0x${implementation}`, `0x${word(PLAIN)}`)
  await world.setSlot(HERE, `0x${admin}`, `0x${word(world.anvil.owner)}`)
  // PUSH32 slot SLOAD POP, as its admin functions do.
  const found = await place(`0x7f${admin}5450${toZeppelin}`, { [ADMIN_SLOT]: DEAD })
  for (const slot of [implementation, admin]) await world.setSlot(HERE, `0x${slot}`, `0x${word(0n)}`)
  assert.deepEqual([found.proxy['kind'], found.proxy['implementation']], ['zeppelinos', PLAIN])
  assert.deepEqual([found.proxy['admin'], found.proxy['admin_kind'], found.proxy['upgradeable']], [world.anvil.owner, 'eoa', true])
})

test('the owner of a ProxyAdmin is told; that it was given up is its own word, and takes nothing back', async () => {
  const call = '0x06fdde03'
  const proxy = await world.deploy(published('TransparentUpgradeableProxy', [PLAIN, world.anvil.owner, call]))
  const held = await world.look(proxy)
  assert.deepEqual(
    [held.proxy['admin_kind'], held.proxy['admin_owner'], held.proxy['upgradeable']],
    ['proxy_admin', world.anvil.owner, true],
  )
  // renounceOwnership()
  await world.anvil.rpc('eth_sendTransaction', [{ from: world.anvil.owner, to: held.proxy['admin'], data: '0x715018a6' }])
  await world.anvil.mine()
  const given_up = await world.look(proxy)
  assert.deepEqual([given_up.proxy['admin_kind'], given_up.proxy['admin_owner']], ['proxy_admin', `0x${'0'.repeat(40)}`])
  assert.deepEqual([given_up.proxy['upgradeable'], flagged(given_up).includes('upgradeable')], [true, true])
})

test('an admin whose key has borrowed code is one key all the same', async () => {
  const [, , third] = world.anvil.accounts
  assert.ok(third !== undefined)
  await world.anvil.setCode(third.address, `0xef0100${PLAIN.slice(2)}`)
  const found = await place(`0x${toSlot}`, { [IMPLEMENTATION_SLOT]: PLAIN, [ADMIN_SLOT]: third.address })
  assert.deepEqual([found.proxy['admin_kind'], severity(found, 'admin_is_eoa')], ['delegated_eoa', 'caution'])
})

test('nobody has a key of a precompile', async () => {
  // EIP-2537 (2025) ends at 0x11; RIP-7212 stands at 0x100.
  for (const [number, given_away] of [
    [1n, true],
    [0x11n, true],
    [0x12n, false],
    [0x100n, true],
  ] as const) {
    await world.anvil.setCode(HERE, cannedContract({ '0x8da5cb5b': { returns: `0x${word(number)}` } }))
    await world.anvil.mine()
    const found = await world.look(HERE)
    assert.deepEqual([found.owner['status'], flagged(found).includes('ownership_given_up')], [given_away ? 'dead' : 'address', given_away])
    assert.equal(flagged(found).includes('owner_is_one_key'), !given_away)
  }
})

/** What facets() returns: one facet with these functions. */
function facetsOf(...selectors: string[]): string {
  const list = selectors.map((one) => one.padEnd(64, '0'))
  return `0x${[word(32n), word(1n), word(32n), word('0xaa'), word(64n), word(BigInt(list.length)), ...list].join('')}`
}

test('a loupe that lists all that is answered says what is missing', async () => {
  const views = ['18160ddd', '70a08231', 'dd62ed3e']
  const answers = Object.fromEntries(views.map((one) => [`0x${one}`, { returns: `0x${word(1n)}` }]))
  const canned = cannedContract({ ...answers, '0x7a0ed627': { returns: facetsOf('7a0ed627', ...views) } })
  // Unknown selectors end in PUSH0 DELEGATECALL STOP, which fails.
  const found = await place(canned.replace('5f5ffd', '5ff400'))
  const missing = ['transfer(address,uint256)', 'transferFrom(address,address,uint256)', 'approve(address,uint256)']
  assert.deepEqual([found.proxy['kind'], found.erc20['conforms'], found.erc20['missing']], ['diamond', false, missing])
  assert.equal(found.owner['status'], 'not_present')
})

test('a loupe that leaves out what the contract answers proves nothing absent', async () => {
  // facets() lists one facet with one function, and all else is handed to a token.
  const listed = facetsOf('7a0ed627')
  const size = hex16((listed.length - 2) / 2)
  // PUSH0 CALLDATALOAD PUSH1 e0 SHR PUSH4 EQ PUSH2 JUMPI, what hands on, and JUMPDEST with a copy of the list out of the code.
  const [head, handsOn, body] = [
    '5f3560e01c637a0ed6271461',
    delegatesTo(PLAIN),
    (at: number) => `5b61${size}61${hex16(at)}5f3961${size}5ff3`,
  ]
  const destination = head.length / 2 + 3 + handsOn.length / 2
  const code = `${head}${hex16(destination)}57${handsOn}${body(destination + body(0).length / 2)}${listed.slice(2)}`
  const found = await place(`0x${code}`)
  assert.deepEqual([found.proxy['kind'], found.proxy['facet_count'], found.erc20['name']], ['diamond', 1, 'Plain Token'])
  assert.deepEqual([found.erc20['conforms'], found.erc20['missing'], found.owner['status']], [null, [], 'unknown'])
})
