/** Payment channels as a client of the scheme batch-settlement uses them, signed by viem from the terms of a 402 alone. */
import { encodeAbiParameters, encodeFunctionData, hashTypedData, keccak256, parseAbi, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { SANDBOX_OWNER } from '../../src/adapters/chain/sandbox-contracts.ts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { restCall } from './app.ts'
import { inTurn } from './in-turn.ts'
import { base64 } from './paying.ts'
import { until } from './until.ts'

/** Addresses of x402-foundation/x402, contracts/evm, read 2026-11-26. */
export const SETTLEMENT: Hex = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
export const COLLECTOR: Hex = '0x4020806089470a89826cB9fB1f4059150b550004'

export const CHANNEL_ABI = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function channels(bytes32 id) view returns (uint128 balance, uint128 totalClaimed)',
  'function receivers(address receiver, address token) view returns (uint128 totalClaimed, uint128 totalSettled)',
  'function refundNonce(bytes32 id) view returns (uint256)',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
  'function initiateWithdraw(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
])

/** EIP-712 types of the scheme, in the words of its specification. */
export const CHANNEL_TYPES = {
  ChannelConfig: [
    { name: 'payer', type: 'address' },
    { name: 'payerAuthorizer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'receiverAuthorizer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'withdrawDelay', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
  ],
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' },
  ],
  ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
  ClaimEntry: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
    { name: 'totalClaimed', type: 'uint128' },
  ],
} as const

const RECEIVE_TYPES = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export interface Config {
  payer: Hex
  payerAuthorizer: Hex
  receiver: Hex
  receiverAuthorizer: Hex
  token: Hex
  withdrawDelay: number
  salt: Hex
}

export interface ChannelEntry {
  scheme: string
  network: string
  amount: string
  asset: Hex
  payTo: Hex
  maxTimeoutSeconds: number
  extra: {
    name: string
    version: string
    receiverAuthorizer: Hex
    withdrawDelay: number
    minDeposit: string
    channelState?: Record<string, string | number>
    voucherState?: { signedMaxClaimable: string; signature: Hex }
  }
}

export function channelDomain(chain_id: number) {
  return { name: 'x402 Batch Settlement', version: '1', chainId: chain_id, verifyingContract: SETTLEMENT }
}

/** The entry of batch-settlement in the header of a 402. */
export function channelEntry(header: string | null): ChannelEntry {
  const { accepts } = JSON.parse(Buffer.from(header ?? '', 'base64').toString()) as { accepts: ChannelEntry[] }
  const found = accepts.find(({ scheme }) => scheme === 'batch-settlement')
  if (found === undefined) throw new Error('no payment channels are offered')
  return found
}

/** The channel of an account that signs its vouchers itself. */
export function configFor(payer: Hex, entry: ChannelEntry, salt: Hex = NO_SALT): Config {
  const { receiverAuthorizer, withdrawDelay } = entry.extra
  return { payer, payerAuthorizer: payer, receiver: entry.payTo, receiverAuthorizer, token: entry.asset, withdrawDelay, salt }
}

const NO_SALT: Hex = `0x${'00'.repeat(32)}`

export function channelId(config: Config, chain_id: number): Hex {
  return hashTypedData({ domain: channelDomain(chain_id), types: CHANNEL_TYPES, primaryType: 'ChannelConfig', message: config })
}

/** A channel of one payer; each payload is as the official client writes it. */
export class PayingChannel {
  readonly payer: PrivateKeyAccount
  readonly entry: ChannelEntry
  readonly config: Config
  readonly chain_id: number
  id: Hex

  constructor(payer: PrivateKeyAccount, entry: ChannelEntry, salt: Hex = NO_SALT) {
    this.payer = payer
    this.entry = entry
    this.chain_id = Number(entry.network.split(':')[1])
    this.config = configFor(payer.address, entry, salt)
    this.id = channelId(this.config, this.chain_id)
  }

  /** The channel of the config as it was changed. */
  rehashed(): this {
    this.id = channelId(this.config, this.chain_id)
    return this
  }

  async #voucher(total_minor: bigint) {
    const message = { channelId: this.id, maxClaimableAmount: total_minor }
    const domain = channelDomain(this.chain_id)
    const signature = await this.payer.signTypedData({ domain, types: CHANNEL_TYPES, primaryType: 'Voucher', message })
    return { channelId: this.id, maxClaimableAmount: String(total_minor), signature }
  }

  /** Value of PAYMENT-SIGNATURE; `change` makes the payload another. */
  header(payload: object): string {
    return base64({ x402Version: 2, accepted: this.entry, payload })
  }

  async voucher(total_minor: bigint): Promise<string> {
    return this.header({ type: 'voucher', channelConfig: this.config, voucher: await this.#voucher(total_minor) })
  }

  async refund(total_minor: bigint, amount_minor?: bigint): Promise<string> {
    const amount = amount_minor === undefined ? {} : { amount: String(amount_minor) }
    return this.header({ type: 'refund', channelConfig: this.config, voucher: await this.#voucher(total_minor), ...amount })
  }

  /** `valid_s`: seconds for which the authorization is valid. */
  async deposit(amount_minor: bigint, total_minor: bigint, valid_s = 900): Promise<string> {
    return this.header(await this.depositPayload(amount_minor, total_minor, valid_s))
  }

  async depositPayload(amount_minor: bigint, total_minor: bigint, valid_s = 900) {
    const salt = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}` as const
    const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [this.id, BigInt(salt)]))
    const validBefore = BigInt(Math.floor(Date.now() / 1_000) + valid_s)
    const message = { from: this.config.payer, to: COLLECTOR, value: amount_minor, validAfter: 0n, validBefore, nonce }
    const { name, version } = this.entry.extra
    const domain = { name, version, chainId: this.chain_id, verifyingContract: this.entry.asset }
    const signature = await this.payer.signTypedData({ domain, types: RECEIVE_TYPES, primaryType: 'ReceiveWithAuthorization', message })
    const erc3009Authorization = { validAfter: '0', validBefore: String(validBefore), salt, signature }
    return {
      type: 'deposit',
      channelConfig: this.config,
      voucher: await this.#voucher(total_minor),
      deposit: { amount: String(amount_minor), authorization: { erc3009Authorization } },
    }
  }
}

/** A channel on the terms of a call; the client must have no free calls left. */
export async function channelFor(url: string, tool: string, input: unknown, payer: PrivateKeyAccount, salt?: Hex): Promise<PayingChannel> {
  const { headers } = await restCall(url, tool, input)
  return new PayingChannel(payer, channelEntry(headers.get('payment-required')), salt)
}

/** The settlement response of a paid call. */
export function settlementIn(headers: Headers): Record<string, unknown> {
  return JSON.parse(Buffer.from(headers.get('payment-response') ?? '', 'base64').toString()) as Record<string, unknown>
}

/** A deposit payload as the scheme has it, in the parts that the contract needs. */
export interface DepositPayload {
  channelConfig: Config
  deposit: {
    amount: string
    authorization: { erc3009Authorization: { validAfter: string; validBefore: string; salt: Hex; signature: Hex } }
  }
}

/** Sends a deposit to the contract, as any account may that has seen it. Resolves when mined. */
export async function depositAsStranger(rpc_url: string, { channelConfig, deposit }: DepositPayload): Promise<void> {
  const { validAfter, validBefore, salt, signature } = deposit.authorization.erc3009Authorization
  const collectorData = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [BigInt(validAfter), BigInt(validBefore), BigInt(salt), signature],
  )
  const args = [channelConfig, BigInt(deposit.amount), COLLECTOR, collectorData] as const
  const data = encodeFunctionData({ abi: CHANNEL_ABI, functionName: 'deposit', args })
  const rpc = rpcRequest(rpc_url)
  await rpc('anvil_impersonateAccount', [SANDBOX_OWNER])
  const transaction = { from: SANDBOX_OWNER, to: SETTLEMENT, data, gas: '0x7a120' }
  const hash = await inTurn(SANDBOX_OWNER, () => rpc('eth_sendTransaction', [transaction]))
  await until('the deposit of a stranger', async () => {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null
    if (receipt !== null && receipt.status !== '0x1') throw new Error('the deposit of a stranger failed')
    return receipt !== null
  })
}
