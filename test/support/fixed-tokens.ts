import { abiString, dispatcher, ERC20, tokenCalls, word } from './fixed-words.ts'
import type { FixedAccount } from './fixed-chain.ts'

/** Contracts of the fixed chain, their code assembled by hand. */
export const TOKENS = {
  operated: '0x2000000000000000000000000000000000000002',
  clone: '0x2000000000000000000000000000000000000003',
  uups: '0x2000000000000000000000000000000000000004',
  uups_logic: '0x2000000000000000000000000000000000000005',
  orphan: '0x2000000000000000000000000000000000000006',
  dirty: '0x2000000000000000000000000000000000000007',
  old: '0x2000000000000000000000000000000000000008',
  hostile: '0x2000000000000000000000000000000000000009',
  mortal: '0x200000000000000000000000000000000000000a',
  beaconed: '0x200000000000000000000000000000000000000b',
  beacon: '0x200000000000000000000000000000000000000c',
  delegated: '0x200000000000000000000000000000000000000d',
  /** Letters enough to have a checksum. */
  spelled: '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd',
  logic: '0x200000000000000000000000000000000000000e',
} as const

const IMPLEMENTATION_SLOT = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const BEACON_SLOT = 'a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'

/** CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 PUSH32 slot SLOAD GAS DELEGATECALL STOP. */
function forwarder(slot: string): string {
  return `0x365f5f375f5f365f7f${slot}545af400`
}

const FACTS = { name: 'Sample', symbol: 'SMP', decimals: 18n, supply: 1_000n, balances: {} }
const OWNER = '8da5cb5b'
const PENDING_OWNER = 'e30c3978'

/** mint(address,uint256), pause(), blacklist(address), transferOwnership(address). */
const OPERATED = ['40c10f19', '8456cb59', 'f9f92be4', 'f2fde38b']

export function tokenAccounts(person: string): Readonly<Record<string, FixedAccount>> {
  const calls = tokenCalls(FACTS)
  return {
    [TOKENS.logic]: { code: dispatcher(ERC20), nonce: 1, calls },
    [TOKENS.operated]: {
      code: dispatcher([...ERC20, ...OPERATED, OWNER]),
      nonce: 1,
      calls: { ...calls, [`0x${OWNER}`]: `0x${word(person)}`, [`0x${PENDING_OWNER}`]: `0x${word(0n)}` },
    },
    [TOKENS.clone]: { code: `0x363d3d373d3d3d363d73${TOKENS.logic.slice(2)}5af43d82803e903d91602b57fd5bf3`, nonce: 1, calls },
    // proxiableUUID() and upgradeToAndCall(address,bytes).
    [TOKENS.uups_logic]: { code: dispatcher([...ERC20, '52d1902d', '4f1ef286']), nonce: 1 },
    [TOKENS.uups]: {
      code: forwarder(IMPLEMENTATION_SLOT),
      nonce: 1,
      calls,
      storage: { [`0x${IMPLEMENTATION_SLOT}`]: `0x${word(TOKENS.uups_logic)}` },
    },
    [TOKENS.orphan]: {
      code: forwarder(IMPLEMENTATION_SLOT),
      nonce: 1,
      storage: { [`0x${IMPLEMENTATION_SLOT}`]: `0x${word('0x9999999999999999999999999999999999999999')}` },
    },
    [TOKENS.dirty]: {
      code: forwarder(IMPLEMENTATION_SLOT),
      nonce: 1,
      storage: { [`0x${IMPLEMENTATION_SLOT}`]: `0x01${word(TOKENS.logic).slice(2)}` },
    },
    [TOKENS.old]: {
      code: dispatcher(ERC20),
      nonce: 1,
      calls: { ...calls, '0x06fdde03': `0x${'4f6c64'.padEnd(64, '0')}`, '0x95d89b41': `0x${'4f4c44'.padEnd(64, '0')}` },
    },
    [TOKENS.hostile]: {
      code: dispatcher(ERC20),
      nonce: 1,
      calls: { ...calls, '0x06fdde03': abiString('safe\u202e\u200b\n\u0007token'.padEnd(100, '!')) },
    },
    // CALLER SELFDESTRUCT.
    [TOKENS.mortal]: { code: '0x33ff', nonce: 1, calls: {} },
    [TOKENS.beaconed]: { code: forwarder(BEACON_SLOT), nonce: 1, calls, storage: { [`0x${BEACON_SLOT}`]: `0x${word(TOKENS.beacon)}` } },
    // implementation() and upgradeTo(address).
    [TOKENS.beacon]: { code: dispatcher(['5c60da1b', '3659cfe6']), nonce: 1, calls: { '0x5c60da1b': `0x${word(TOKENS.logic)}` } },
    [TOKENS.delegated]: { code: `0xef0100${TOKENS.logic.slice(2)}`, nonce: 3, balance_wei: 1n, calls },
    [TOKENS.spelled]: { code: dispatcher(ERC20), nonce: 1, calls },
  }
}
