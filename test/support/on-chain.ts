import { readFile } from 'node:fs/promises'
import { encodeAbiParameters, encodeFunctionData, parseAbi, recoverTypedDataAddress, toHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { type SignedAuthorization, createAuthorizationDigest } from '../../src/pure/payments/eip3009.ts'
import { nobleCrypto } from '../../src/pure/receipts/index.ts'
import { ON_CHAIN_LIMITS, type OnChainLimits } from '../../src/service/payments/reserved-balances.ts'
import type { OnChainParts } from '../../src/service/payments/on-chain.ts'
import { startAnvil, type Anvil } from './anvil.ts'
import { clockAt } from './clock-at.ts'

/** What is signed, and where what is sent differs from it. */
export interface Draft {
  by: PrivateKeyAccount
  /** The payer, when it is not who signs. */
  from?: string
  to: string
  value_minor: bigint
  signed_to?: string
  signed_value_minor?: bigint
  valid_after_s?: bigint
  valid_before_s?: bigint
  name?: string
  version?: string
}

export interface Bench {
  anvil: Anvil
  sign(draft: Draft): Promise<{ authorization: SignedAuthorization; recovered: string }>
  /** What a check needs, over a new view of the chain; the count of reads starts anew. */
  parts(options?: { name?: string; version?: string; limits?: Partial<OnChainLimits>; shift_ms?: () => number }): OnChainParts
  /** Round trips since then. */
  reads(): number
  /** Carries out a transfer of an account, sent by the token's owner. */
  transfer(authorization: SignedAuthorization): Promise<void>
  setMood(wallet: string, mood: number): Promise<void>
}

/** EIP-3009. */
const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const TRANSFER = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'])
const WALLET = parseAbi(['function setMood(uint8)'])

/** A chain with the token, on which payments are signed and checked. */
export async function startBench(): Promise<Bench> {
  const anvil = await startAnvil({ accounts: 4 })
  let nonce = 0n
  let reads = 0
  return {
    anvil,
    async sign(draft) {
      const { by, from = by.address, to, value_minor, signed_to = to, signed_value_minor = value_minor } = draft
      nonce += 1n
      const window = { valid_after_s: draft.valid_after_s ?? 0n, valid_before_s: draft.valid_before_s ?? 10_000_000_000n }
      const plain = { from: from.toLowerCase(), to: to.toLowerCase(), value_minor, ...window, nonce: toHex(nonce, { size: 32 }) }
      const domain = { name: draft.name ?? 'USD Coin', version: draft.version ?? '2', chainId: 8453, verifyingContract: anvil.token }
      const typed = (recipient: string, value: bigint) => ({
        domain,
        types: TRANSFER_TYPES,
        primaryType: 'TransferWithAuthorization' as const,
        message: {
          from: plain.from as Hex,
          to: recipient as Hex,
          value,
          validAfter: plain.valid_after_s,
          validBefore: plain.valid_before_s,
          nonce: plain.nonce,
        },
      })
      const signature = await by.signTypedData(typed(signed_to, signed_value_minor))
      const recovered = await recoverTypedDataAddress({ ...typed(to, value_minor), signature })
      return { authorization: { ...plain, signature }, recovered: recovered.toLowerCase() }
    },
    parts({ name = 'USD Coin', version = '2', limits = {}, shift_ms = () => 0 } = {}) {
      const clock = clockAt(() => systemClock.now_ms() + shift_ms())
      const chain = createChain({ urls: [anvil.rpc_url], chain_id: 8453, clock, beforeRead: () => Promise.resolve() })
      reads = 0
      const domain = { name, version, chain_id: 8453, verifying_contract: anvil.token.toLowerCase() }
      return {
        chain: {
          answers: () => chain.answers(),
          read(asked, at) {
            reads += 1
            return chain.read(asked, at)
          },
        },
        token: { address: anvil.token.toLowerCase(), name, version },
        clock,
        limits: { ...ON_CHAIN_LIMITS, ...limits },
        digest: createAuthorizationDigest(domain, nobleCrypto.keccak256),
        settle_from: anvil.owner,
      }
    },
    reads: () => reads,
    transfer: ({ from, to, value_minor, valid_after_s, valid_before_s, nonce: used, signature }) =>
      anvil.asOwner(
        encodeFunctionData({
          abi: TRANSFER,
          args: [from as Hex, to as Hex, value_minor, valid_after_s, valid_before_s, used as Hex, signature as Hex],
        }),
      ),
    async setMood(wallet, mood) {
      const data = encodeFunctionData({ abi: WALLET, args: [mood] })
      await anvil.rpc('eth_sendTransaction', [{ from: anvil.owner, to: wallet, data, gas: '0x30d40' }])
      await anvil.mine()
    },
  }
}

/** The test wallet of this owner, at an address of its own: the code that its creation code returns. */
export async function placeWallet(bench: Bench, owner: string, at: Hex = '0x000000000000000000000000000000000000a11e'): Promise<Hex> {
  const artifact = JSON.parse(await readFile('data/contracts/test-wallet.json', 'utf8')) as { creation_code: string }
  const data = artifact.creation_code + encodeAbiParameters([{ type: 'address' }], [owner as Hex]).slice(2)
  await bench.anvil.setCode(at, String(await bench.anvil.rpc('eth_call', [{ data }, 'latest'])))
  return at
}
