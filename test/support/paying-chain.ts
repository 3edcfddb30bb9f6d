import { readFile } from 'node:fs/promises'
import { createPublicClient, encodeAbiParameters, encodeFunctionData, http, pad, parseAbi, parseAbiItem, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { RpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { authorization, signTransfer } from './authorization.ts'
import { inTurn } from './in-turn.ts'
import { SANDBOX_OWNER } from '../../src/adapters/chain/sandbox-contracts.ts'

/** What a test sees and does on a chain with the test token, past the service. Read by viem. */
export interface ChainView {
  rpc_url: string
  chain_id: number
  token: Hex
  /** Whom the service is paid to; lower case. */
  pay_to: Hex
  rpc: RpcRequest
}

const TOKEN = parseAbi([
  'function blacklist(address)',
  'function pause()',
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
])
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

type Act =
  | { functionName: 'blacklist'; args: readonly [Hex] }
  | { functionName: 'pause' }
  | { functionName: 'transferWithAuthorization'; args: readonly [Hex, Hex, bigint, bigint, bigint, Hex, Hex] }

/** Something that the token's owner, or anybody, may do. Resolves when mined. */
export async function asOwner({ rpc, token }: ChainView, act: Act): Promise<void> {
  await rpc('anvil_impersonateAccount', [SANDBOX_OWNER])
  const data = encodeFunctionData({ abi: TOKEN, ...act })
  const transaction = { from: SANDBOX_OWNER, to: token, data, gas: '0x30d40' }
  const hash = await inTurn(SANDBOX_OWNER, () => rpc('eth_sendTransaction', [transaction]))
  await rpc('evm_mine')
  const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null
  if (receipt?.status !== '0x1') throw new Error(`${act.functionName} did not go through`)
}

/** Carries out a transfer that was signed, as anybody may who has seen it. */
async function sendAsStranger(chain: ChainView, { message, signature }: SignedTransfer): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = message
  await asOwner(chain, { functionName: 'transferWithAuthorization', args: [from, to, value, validAfter, validBefore, nonce, signature] })
}

interface SignedTransfer {
  message: ReturnType<typeof authorization>
  signature: Hex
}

/** The payer sends money somewhere else; with a nonce given, the authorization that has it. */
export async function spendElsewhere(chain: ChainView, payer: PrivateKeyAccount, value: bigint, nonce?: Hex): Promise<void> {
  const drawn = authorization(payer.address, privateKeyToAccount(generatePrivateKey()).address, value)
  const message = nonce === undefined ? drawn : { ...drawn, nonce }
  await sendAsStranger(chain, { message, signature: await signTransfer(payer, chain.chain_id, chain.token, message) })
}

/** Authorizations that the token has seen used: of everybody, or of one payer. */
export function authorizationsUsed(chain: ChainView, authorizer?: Hex) {
  const args = authorizer === undefined ? {} : { args: { authorizer } }
  return clientOf(chain).getLogs({ address: chain.token, event: USED, ...args, fromBlock: 0n })
}

/** What reached the recipient, transfer by transfer. */
export async function received(chain: ChainView): Promise<{ from: string; value: bigint }[]> {
  const logs = await clientOf(chain).getLogs({
    address: chain.token,
    event: TRANSFER,
    args: { to: chain.pay_to },
    fromBlock: 0n,
    strict: true,
  })
  return logs.map(({ args }) => ({ from: args.from.toLowerCase(), value: args.value }))
}

function clientOf({ rpc_url }: ChainView) {
  return createPublicClient({ transport: http(rpc_url) })
}

/** An EIP-1271 wallet of this owner: the code that its creation code returns. */
export async function placeWallet({ rpc }: Pick<ChainView, 'rpc'>, owner: string): Promise<Hex> {
  const { creation_code } = JSON.parse(await readFile('data/contracts/test-wallet.json', 'utf8')) as { creation_code: string }
  const at = privateKeyToAccount(generatePrivateKey()).address
  const data = creation_code + encodeAbiParameters([{ type: 'address' }], [owner as Hex]).slice(2)
  await rpc('anvil_setCode', [at, await rpc('eth_call', [{ data }, 'latest'])])
  return at
}

/** Makes the wallet refuse whatever it is asked from now on. */
export async function refuseSignatures({ rpc }: ChainView, wallet: Hex): Promise<void> {
  await rpc('anvil_setStorageAt', [wallet, pad('0x0'), pad('0x1')])
}

/** A token that says it holds plenty for everybody, and reverts on any transfer with words of its own. */
export function shoutingToken(words: string): Hex {
  const shouted = `08c379a0${encodeAbiParameters([{ type: 'string' }], [words]).slice(2)}`
  const size = (shouted.length / 2).toString(16)
  // 36 bytes of call (balanceOf) answer 2^40, shorter and longer ones zero; a transfer reverts with the text that follows the code.
  return `0x366060106016576024361460281b60005260206000f35b60${size}602360003960${size}6000fd${shouted}`
}

/** A contract that answers every call by a revert without data: PUSH1 0, PUSH1 0, REVERT. */
export const MUTE_CONTRACT = '0x60006000fd'
