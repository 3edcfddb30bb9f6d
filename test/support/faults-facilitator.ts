import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createPublicClient, createWalletClient, defineChain, http, parseAbi, type Hex } from 'viem'
import type { Anvil } from './anvil.ts'
import { inTurn } from './in-turn.ts'

/** What x402 version 2 gives a facilitator to settle. */
interface SettleRequest {
  paymentPayload: {
    payload: {
      signature: Hex
      authorization: Record<'from' | 'to' | 'nonce', Hex> & Record<'value' | 'validAfter' | 'validBefore', string>
    }
  }
}

/** How it answers `POST /settle`; the chain is the real one in every case. */
type Manner =
  | 'honest'
  /** Settles, and the connection breaks before it says so. */
  | 'settles and breaks off'
  /** Settles, and never says so. */
  | 'settles and hangs'
  /** Settles, and says that it refused. */
  | 'settles and says no'
  /** Names a transaction that is none. */
  | 'lies'
  /** Names the transaction that settled the payment before. */
  | 'names another'
  | 'refuses'

export interface TestFacilitator {
  url: string
  /** How often it was asked to settle. */
  asked: number
  behave(manner: Manner): void
  power(state: 'off' | 'on'): Promise<void>
  stop(): Promise<void>
}

const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** A facilitator as x402 describes it, over the chain, with a wallet of its own; viem sends. */
export async function startFacilitator(anvil: Anvil, state: 'off' | 'on' = 'on'): Promise<TestFacilitator> {
  const [account] = anvil.accounts
  if (account === undefined) throw new Error('the chain has no account to settle with')
  const native = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const chain = defineChain({ id: anvil.chain_id, name: 'test', nativeCurrency: native, rpcUrls: { default: { http: [anvil.rpc_url] } } })
  const wallet = createWalletClient({ account, chain, transport: http() })
  const reader = createPublicClient({ chain, transport: http(), pollingInterval: 50 })
  let manner: Manner = 'honest'
  let last: Hex = `0x${'ee'.repeat(32)}`

  async function settle({ paymentPayload }: SettleRequest): Promise<Hex> {
    const { signature, authorization } = paymentPayload.payload
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const
    const call = { address: anvil.token, abi: TOKEN, functionName: 'transferWithAuthorization', args } as const
    // Facilitators of one chain share the account.
    const hash = await inTurn(wallet.account.address, () => wallet.writeContract(call))
    await reader.waitForTransactionReceipt({ hash })
    last = hash
    return hash
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    const network = `eip155:${anvil.chain_id}`
    if (request.url === '/supported') {
      say({ kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} })
      return
    }
    facilitator.asked++
    const asked = JSON.parse(await text(request)) as SettleRequest
    const yes = (transaction: Hex) => say({ success: true, transaction, network, payer: asked.paymentPayload.payload.authorization.from })
    const no = () => say({ success: false, errorReason: 'insufficient_funds', transaction: '', network })
    switch (manner) {
      case 'honest':
        return void yes(await settle(asked))
      case 'settles and breaks off':
        await settle(asked)
        return void response.destroy()
      case 'settles and hangs':
        return void (await settle(asked))
      case 'settles and says no':
        await settle(asked)
        return void no()
      case 'lies':
        return void yes(`0x${'ab'.repeat(32)}`)
      case 'names another':
        return void yes(last)
      case 'refuses':
        return void no()
    }
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  const open = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  await open(0)
  const { port } = server.address() as AddressInfo
  if (state === 'off') await close()
  const facilitator: TestFacilitator = {
    url: `http://127.0.0.1:${port}`,
    asked: 0,
    behave(next) {
      manner = next
    },
    power: (next) => (next === 'on' ? open(port) : close()),
    stop: () => (server.listening ? close() : Promise.resolve()),
  }
  return facilitator
}
