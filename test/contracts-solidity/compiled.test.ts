import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { encodeDeployData, getContractAddress, toFunctionSelector } from 'viem'
import { compileArtifacts, DEPOSIT_SAMPLES } from '../../scripts/support/solidity.ts'
import {
  DEPOSIT_FACTORY,
  BATCH_ITEM_GAS,
  BATCH_ITEMS_MAX,
  BATCH_SETTLER,
  DETERMINISTIC_DEPLOYER,
} from '../../src/pure/contracts/deployment.ts'
import { testUsdcCreation } from '../../src/pure/contracts/test-usdc.ts'
import { contract } from '../support/contracts.ts'

test('the committed contracts are what the compiler makes of the sources', () => {
  const made = compileArtifacts()
  for (const [path, text] of compileArtifacts(DEPOSIT_SAMPLES)) assert.equal(readFileSync(path, 'utf8'), text, `${path} is old`)
  for (const [path, text] of made) assert.equal(readFileSync(path, 'utf8'), text, `${path} is old: run node scripts/compile-contracts.ts`)
  assert.deepEqual(
    readdirSync('data/contracts').map((name) => `data/contracts/${name}`),
    [...made.keys()].toSorted(),
  )
})

for (const [name, { address }] of [['batch-settler', BATCH_SETTLER] as const, ['deposit-factory', DEPOSIT_FACTORY] as const]) {
  test(`the address of ${name} is the one that viem computes`, () => {
    const { bytecode } = contract(name)
    const expected = getContractAddress({ opcode: 'CREATE2', from: DETERMINISTIC_DEPLOYER, salt: `0x${'00'.repeat(32)}`, bytecode })
    assert.equal(address, expected.toLowerCase())
  })
}

test('creation code of the token is encoded as viem encodes it', () => {
  const owner = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
  assert.equal(testUsdcCreation(owner), encodeDeployData({ ...contract('test-usdc'), args: [owner] }))
})

test('the interface carries the selectors that wallets and facilitators call', () => {
  const found = contract('test-usdc').abi.flatMap((entry) => (entry.type === 'function' ? [toFunctionSelector(entry)] : []))
  // Published selectors: both forms of transferWithAuthorization, receive, cancel, authorizationState, isBlacklisted, paused.
  for (const selector of ['0xe3ee160e', '0xcf092995', '0xef55bec6', '0x5a049a70', '0xe94a0102', '0xfe575a87', '0x5c975abb'] as const) {
    assert.ok(found.includes(selector), `${selector} is missing`)
  }
})

test('the bounds that the service counts with are those of the contract', () => {
  const source = readFileSync('contracts/BatchSettler.sol', 'utf8')
  assert.match(source, new RegExp(`MAX_ITEMS = ${BATCH_ITEMS_MAX};`))
  assert.match(source.replaceAll('_000', '000'), new RegExp(`ITEM_GAS = ${BATCH_ITEM_GAS};`))
})

test('the batch contract has no storage, no ether and no owner', () => {
  const { abi, bytecode } = contract('batch-settler')
  assert.ok(abi.every((entry) => !('stateMutability' in entry) || entry.stateMutability !== 'payable'))
  assert.deepEqual(
    abi.flatMap((entry) => (entry.type === 'function' ? [entry.name] : [])),
    ['ITEM_GAS', 'MAX_ITEMS', 'settle'],
  )
  const codes = opcodes(Buffer.from(bytecode.slice(2), 'hex'))
  assert.ok(codes.has(0xf1), 'no CALL was found: the walk over the code is wrong')
  // SSTORE, SLOAD, TSTORE, SELFDESTRUCT, DELEGATECALL, CALLCODE, CREATE, CREATE2, RETURNDATACOPY.
  for (const code of [0x55, 0x54, 0x5d, 0xff, 0xf4, 0xf2, 0xf0, 0xf5, 0x3e]) assert.ok(!codes.has(code), `opcode 0x${code.toString(16)}`)
})

test('the deposit contracts have no storage, no owner and take no ether with a call', () => {
  const { abi, bytecode } = contract('deposit-factory')
  assert.ok(abi.every((entry) => !('stateMutability' in entry) || entry.stateMutability !== 'payable'))
  assert.deepEqual(
    abi.flatMap((entry) => (entry.type === 'function' ? [entry.name] : [])),
    ['addressOf', 'implementation', 'sweep'],
  )
  const codes = opcodes(Buffer.from(bytecode.slice(2), 'hex'))
  assert.ok(codes.has(0xf1), 'no CALL was found: the walk over the code is wrong')
  // SSTORE, SLOAD, TSTORE, SELFDESTRUCT, DELEGATECALL, CALLCODE.
  for (const code of [0x55, 0x54, 0x5d, 0xff, 0xf4, 0xf2]) assert.ok(!codes.has(code), `opcode 0x${code.toString(16)}`)
})

/** The opcodes of a code, the data of pushes left out. */
function opcodes(code: Uint8Array): Set<number> {
  const found = new Set<number>()
  for (let at = 0; at < code.length; at += 1) {
    const code_at = code[at] ?? 0
    found.add(code_at)
    if (code_at >= 0x60 && code_at <= 0x7f) at += code_at - 0x5f
  }
  return found
}
