import type { Chain, ChainLog, TransactionReceipt } from '../../ports/chain.ts'
import { addressTopic, decodeAuthorizationUsed, decodeTransfer, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import type { LedgerTransfer } from './ledger-proof.ts'

/** Blocks of one log query at most. */
const LOG_BLOCKS = 2_000n
/** Below this a query that fails is not made smaller: then the size is not the reason. */
const LOG_BLOCKS_MIN = 125n
/** Logs of one answer beyond which the next query is made smaller, long before nodes refuse it. */
const LOGS_COMFORT = 4_000
/** Receipts that are asked for at once. */
const RECEIPTS_AT_ONCE = 8

/** Transfers of one range of blocks, in the order of the chain. */
export interface TransferPart {
  to_block: bigint
  transfers: LedgerTransfer[]
}

/** The blocks were replaced while they were read. */
class ChainMovedError extends Error {
  override name = 'ChainMovedError'
}

export interface TransferSource {
  chain: Pick<Chain, 'logs' | 'receipt'>
  /** Address of the token, lower case. */
  token: string
  pay_to: string
}

/**
 * Every Transfer of the token to pay-to, range by range from the first block to the last. Which authorization moved it stands in the receipt:
 * a search for AuthorizationUsed would bring those of everybody. Rejects as the chain does, and with a ChainMovedError.
 */
export async function* transfersTo(source: TransferSource, from_block: bigint, to_block: bigint): AsyncGenerator<TransferPart> {
  let blocks = LOG_BLOCKS
  for (let from = from_block; from <= to_block;) {
    const to = from + blocks - 1n < to_block ? from + blocks - 1n : to_block
    let logs: ChainLog[]
    try {
      logs = await transferLogs(source, from, to)
    } catch (error) {
      if (blocks <= LOG_BLOCKS_MIN) throw error
      blocks /= 2n
      continue
    }
    yield { to_block: to, transfers: await withNonces(source, logs) }
    from = to + 1n
    if (logs.length > LOGS_COMFORT) blocks = blocks > 1n ? blocks / 2n : 1n
    else if (logs.length < LOGS_COMFORT / 4) blocks = blocks * 2n < LOG_BLOCKS ? blocks * 2n : LOG_BLOCKS
  }
}

function transferLogs({ chain, token, pay_to }: TransferSource, from_block: bigint, to_block: bigint): Promise<ChainLog[]> {
  return chain.logs({ address: token, topics: [TRANSFER_TOPIC, null, addressTopic(pay_to)], from_block, to_block })
}

async function withNonces(source: TransferSource, logs: readonly ChainLog[]): Promise<LedgerTransfer[]> {
  const hashes = [...new Set(logs.map(({ transaction_hash }) => transaction_hash))]
  const found: LedgerTransfer[] = []
  for (let start = 0; start < hashes.length; start += RECEIPTS_AT_ONCE) {
    const some = hashes.slice(start, start + RECEIPTS_AT_ONCE)
    const receipts = await Promise.all(some.map((hash) => source.chain.receipt(hash)))
    for (const [index, hash] of some.entries()) {
      const own = logs.filter(({ transaction_hash }) => transaction_hash === hash)
      found.push(...own.map((log) => transferOf(source.token, log, receipts[index] ?? null)))
    }
  }
  return found
}

function transferOf(token: string, log: ChainLog, receipt: TransactionReceipt | null): LedgerTransfer {
  const transfer = decodeTransfer(log)
  const same = receipt?.logs.some(({ log_index, block_hash }) => log_index === log.log_index && block_hash === log.block_hash) ?? false
  if (transfer === null || receipt === null || !same) {
    throw new ChainMovedError('The newest blocks were replaced while they were read; run it again.')
  }
  const before = receipt.logs.find(({ log_index, address }) => log_index === log.log_index - 1 && address === token)
  const used = before === undefined ? null : decodeAuthorizationUsed(before)
  const { transaction_hash: transaction, block_hash, log_index } = log
  const nonce = used?.payer === transfer.from ? used.nonce : null
  return {
    from: transfer.from,
    value_minor: transfer.value_minor,
    transaction,
    block_number: Number(log.block_number),
    block_hash,
    log_index,
    nonce,
  }
}
