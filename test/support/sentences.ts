import { createPublicClient, http, parseAbiItem, type Hex } from 'viem'
import type { Anvil } from './anvil.ts'

/** An authorization of EIP-3009. A voucher of a channel has no nonce: the chain sees it only in a claim. */
export interface PaymentName {
  payer: Hex
  nonce: Hex | null
}

/** One answer to a request that carried a payment. */
export interface Sentence {
  payment: PaymentName
  kind: string
  status: number
  body: Record<string, unknown>
  /** Newest block before the payer sent this payment again. Null: the payer never did. */
  block_before_resend: bigint | null
}

const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')
/** Words that tell a payer to pay again. */
const SIGN_AGAIN = /(?<!(?:do not|don't|without) )\bsign (?:a new|a fresh|another)\b/i

/** Keeps every answer that payers got, and judges each by the chain alone; it knows nothing of the service. */
export class Transcript {
  readonly #sentences: Sentence[] = []
  readonly #last = new Map<string, Sentence[]>()
  readonly #client
  readonly #token: Hex

  constructor({ rpc_url, token }: Pick<Anvil, 'rpc_url' | 'token'>) {
    this.#client = createPublicClient({ transport: http(rpc_url), cacheTime: 0 })
    this.#token = token
  }

  /** Before each request that carries the payment. */
  async sending(payment: PaymentName): Promise<void> {
    const open = this.#last.get(keyOf(payment)) ?? []
    if (open.length === 0) return
    const head = await this.#client.getBlockNumber()
    for (const sentence of open.splice(0)) sentence.block_before_resend = head
  }

  heard(payment: PaymentName, kind: string, status: number, body: Record<string, unknown>): void {
    const sentence: Sentence = { payment, kind, status, body, block_before_resend: null }
    this.#sentences.push(sentence)
    const open = this.#last.get(keyOf(payment)) ?? []
    open.push(sentence)
    this.#last.set(keyOf(payment), open)
  }

  get size(): number {
    return this.#sentences.length
  }

  /**
   * Answers that say `charged: false`, or tell the payer to sign a new payment, although the chain shows this one used: before the payer sent it
   * again, or at any time when the payer did not. A later resend may be what paid; an answer that was given is not taken back by it either.
   */
  async untrue(): Promise<Sentence[]> {
    const used = await this.usedBlocks()
    return this.#sentences.filter(({ payment, kind, body, block_before_resend }) => {
      // The authorization of a deposit moves the payer's money into the payer's own channel. The refusal of its voucher says that no call was
      // charged, and carries the state of the channel, which shows the deposit.
      if (kind === 'deposit' && body['code'] === 'CHANNEL_MISMATCH') return false
      if (body['charged'] !== false && !tellsToSign(body)) return false
      const block = used.get(keyOf(payment))
      return block !== undefined && (block_before_resend === null || block <= block_before_resend)
    })
  }

  /** Answers that tell the payer to sign a new payment while they call this one's state unknown. */
  careless(): Sentence[] {
    return this.#sentences.filter(({ body }) => body['charged'] === 'unknown' && tellsToSign(body))
  }

  /** Block of each used authorization, by payer and nonce. */
  async usedBlocks(): Promise<Map<string, bigint>> {
    const logs = await this.#client.getLogs({ address: this.#token, event: USED, fromBlock: 0n, strict: true })
    return new Map(logs.map(({ args, blockNumber }) => [keyOf({ payer: args.authorizer, nonce: args.nonce }), blockNumber]))
  }
}

export function keyOf({ payer, nonce }: PaymentName): string {
  return `${payer}|${nonce ?? ''}`.toLowerCase()
}

/** For the message of a failed test. */
export function shownSentence({ payment, kind, status, body }: Sentence): string {
  return `${kind} ${keyOf(payment)}: ${status} ${JSON.stringify(body).slice(0, 400)}`
}

function tellsToSign(body: Record<string, unknown>): boolean {
  return [body['detail'], body['title'], body['fix'], body['error']].some((text) => typeof text === 'string' && SIGN_AGAIN.test(text))
}
