import type { BlockHeader, ChainReadResult } from '../../src/ports/chain.ts'
import type { BlockFacts, BlockTag, ChainFacts, FactRead, TokenTransfer, Transfers } from '../../src/ports/chain-facts.ts'
import { FIXED_ACCOUNTS, FIXED_TRANSFERS } from './fixed-accounts.ts'

/** One account of a fixed chain; what is absent is empty or zero. Hex in lower case. */
export interface FixedAccount {
  code?: string
  balance_wei?: bigint
  nonce?: number
  /** Words by slot, both 32 bytes. */
  storage?: Readonly<Record<string, string>>
  /** What calls return, by whole call data, or by the first four bytes of it; `revert` carries the revert data. */
  calls?: Readonly<Record<string, string | { revert: string }>>
}

/** A transfer and the token that it is of. */
export interface FixedTransfer {
  token: string
  transfer: TokenTransfer
}

export interface FixedState {
  accounts: Readonly<Record<string, FixedAccount>>
  transfers?: readonly FixedTransfer[]
  chain_id?: number
  sandbox?: boolean
}

const FIXED_STATE: FixedState = { accounts: FIXED_ACCOUNTS, transfers: FIXED_TRANSFERS }
const SANDBOX_CHAIN_ID = 84_532
const HEAD_NUMBER = 20_000_000n
/** 21 November 2026, noon UTC: the instant at which the clock of the tests stands still. */
const HEAD_S = Date.UTC(2026, 10, 21, 12) / 1_000
const BLOCK_S = 2

/** The header of a block of the fixed chain: block times are 2 s apart, the hash says the number. */
function fixedHeader(number: bigint = HEAD_NUMBER): BlockHeader {
  const hashOf = (one: bigint) => `0x${one.toString(16).padStart(64, '0')}`
  const timestamp_s = HEAD_S - BLOCK_S * Number(HEAD_NUMBER - number)
  return { number, hash: hashOf(number), parent_hash: hashOf(number - 1n), timestamp_s }
}

/** A chain that stands still: answers come from this state, and nothing is ever asked of anybody. */
export function fixedChain(state: FixedState = FIXED_STATE): ChainFacts {
  return {
    chain_id: state.chain_id ?? SANDBOX_CHAIN_ID,
    sandbox: state.sandbox ?? true,
    atOneBlock: (work) => work({ header: fixedHeader(), read: async (reads) => reads.map((one) => answer(state, one)) }),
    block: async (at) => blockAt(at),
  }
}

/** The transfers of a fixed chain, in the order in which the state lists them. */
export function fixedTransfers(state: FixedState = FIXED_STATE): Transfers {
  return {
    chain_id: state.chain_id ?? SANDBOX_CHAIN_ID,
    sandbox: state.sandbox ?? true,
    async history(token, account, blocks) {
      const from_block = HEAD_NUMBER - BigInt(blocks) + 1n
      const wanted = [token.toLowerCase(), account.toLowerCase()]
      const transfers = (state.transfers ?? [])
        .filter(
          (one) =>
            one.token === wanted[0] &&
            [one.transfer.from, one.transfer.to].includes(wanted[1] ?? '') &&
            one.transfer.block_number >= from_block,
        )
        .map(({ transfer }) => transfer)
      return { transfers, from_block, to: fixedHeader(), clipped_at_genesis: false }
    },
  }
}

function answer({ accounts }: FixedState, read: FactRead): ChainReadResult {
  const account = accounts[(read.kind === 'call' ? read.to : read.address).toLowerCase()] ?? {}
  switch (read.kind) {
    case 'code':
      return { ok: true, data: account.code ?? '0x' }
    case 'balance':
      return { ok: true, data: `0x${(account.balance_wei ?? 0n).toString(16)}` }
    case 'nonce':
      return { ok: true, data: `0x${(account.nonce ?? 0).toString(16)}` }
    case 'storage':
      return { ok: true, data: account.storage?.[read.slot.toLowerCase()] ?? `0x${'0'.repeat(64)}` }
    case 'call':
      return called(account, read.data.toLowerCase())
  }
}

/** An account without code takes every call and returns nothing; a contract reverts what it does not know. */
function called(account: FixedAccount, data: string): ChainReadResult {
  if (account.code === undefined) return { ok: true, data: '0x' }
  const found = account.calls?.[data] ?? account.calls?.[data.slice(0, 10)] ?? { revert: '0x' }
  return typeof found === 'string' ? { ok: true, data: found } : { ok: false, revert: found.revert, message: 'execution reverted' }
}

function blockAt(at: bigint | BlockTag): BlockFacts | null {
  const pending = at === 'pending'
  const depth: Record<Exclude<BlockTag, 'earliest'>, bigint> = { pending: -1n, latest: 0n, safe: 60n, finalized: 600n }
  const number = typeof at === 'bigint' ? at : at === 'earliest' ? 0n : HEAD_NUMBER - depth[at]
  if (number > HEAD_NUMBER && !pending) return null
  const { hash, ...header } = fixedHeader(number)
  const facts = { transaction_count: 3, base_fee_wei: 5_000_000n, gas_used: 1_234_567n, gas_limit: 400_000_000n }
  return { ...header, ...facts, hash: pending ? null : hash }
}
