import type { BlockHeader, ChainTransactions, TransactionReceipt } from '../../ports/chain.ts'
import type { InvoiceStore, OtherAsset, StoredInvoice } from '../../ports/invoices.ts'
import { coinAsset, otherTokens, tokenAsset } from '../../pure/invoices/record.ts'
import {
  addressTopic,
  AUTHORIZATION_USED_TOPIC,
  decodeAuthorizationUsed,
  decodeTransfer,
  TRANSFER_TOPIC,
} from '../../pure/payments/token-calls.ts'
import { INVOICE_RULES } from '../limits.ts'
import type { EvidenceSource } from '../payments/settlement.ts'

/**
 * Payments of an invoice in another asset: the record shows them as the exception wrong_asset, and they never count as paid. To avoid false
 * reports, only tokens of known addresses are read, and only where the payer's signature or a client that has the invoice's id names the invoice.
 */

interface OtherAssetParts {
  store: InvoiceStore
  chain_id: number
  transactions: ChainTransactions
  source: EvidenceSource
}

function isPayee({ merchant, deposit_address }: StoredInvoice, address: string | null): boolean {
  return address !== null && (address === merchant || address === deposit_address)
}

/** Stores the other assets that one transaction moved to the merchant. Reads the transaction itself, since the chain's own coin leaves no log. */
export async function noteSubmitted(
  parts: OtherAssetParts,
  invoice: StoredInvoice,
  receipt: TransactionReceipt,
  header: BlockHeader,
  now_ms: number,
): Promise<void> {
  const { store, chain_id, transactions } = parts
  // A transaction older than the invoice paid something else.
  if (!receipt.succeeded || (header.timestamp_s + INVOICE_RULES.skew_s) * 1_000 < invoice.created_ms) return
  const origin = { transaction: receipt.transaction_hash, block_number: Number(receipt.block_number), block_time_s: header.timestamp_s }
  const seen: Omit<OtherAsset, 'invoice_id' | 'named_by'>[] = []
  const known = new Set(otherTokens(chain_id).map(({ address }) => address))
  for (const log of receipt.logs) {
    const moved = known.has(log.address) ? decodeTransfer(log) : null
    if (moved === null || !isPayee(invoice, moved.to) || moved.from === invoice.deposit_address || moved.value_minor === 0n) continue
    const asset = tokenAsset(chain_id, log.address)
    seen.push({ ...origin, log_index: log.log_index, asset, payer: moved.from, amount: moved.value_minor })
    if (seen.length >= INVOICE_RULES.other_assets) break
  }
  const coin = await transactions.transaction(receipt.transaction_hash)
  if (coin !== null && isPayee(invoice, coin.to) && coin.value_wei > 0n) {
    seen.push({ ...origin, log_index: -1, asset: coinAsset(chain_id), payer: coin.from, amount: coin.value_wei })
  }
  for (const one of seen) await store.note_other_asset({ ...one, invoice_id: invoice.invoice_id, named_by: 'submitted' }, now_ms)
}

/**
 * Stores payments in other tokens whose authorization has the nonce of an invoice, in a bounded range of final blocks. One log search for each
 * token with EIP-3009 and `deposits_page` merchants, and at most `look_receipts` receipts for each merchant.
 */
export async function noteNamed(
  parts: OtherAssetParts,
  merchants: readonly string[],
  { from, to }: { from: bigint; to: bigint },
  now_ms: number,
): Promise<void> {
  for (const { address } of otherTokens(parts.chain_id).filter(({ eip3009 }) => eip3009)) {
    for (let at = 0; at < merchants.length; at += INVOICE_RULES.deposits_page) {
      const topics = [TRANSFER_TOPIC, null, merchants.slice(at, at + INVOICE_RULES.deposits_page).map(addressTopic)]
      const logs = await parts.source.chain.logs({ address, topics, from_block: from, to_block: to })
      for (const [topic, own] of Map.groupBy(logs, ({ topics: [, , recipient] }) => recipient ?? '')) {
        const transactions = new Set(own.map(({ transaction_hash }) => transaction_hash))
        const merchant = `0x${topic.slice(-40)}`
        for (const transaction of [...transactions].slice(0, INVOICE_RULES.look_receipts))
          await noteTransaction(parts, { merchant, token: address, transaction }, now_ms)
      }
    }
  }
}

async function noteTransaction(
  parts: OtherAssetParts,
  { merchant, token, transaction }: { merchant: string; token: string; transaction: string },
  now_ms: number,
): Promise<void> {
  const receipt = await parts.source.chain.receipt(transaction)
  const header = receipt === null ? null : await parts.source.chain.header(receipt.block_number)
  if (receipt === null || header === null || !receipt.succeeded) return
  await noteAuthorized(parts, { merchant, token, receipt, header }, now_ms)
}

async function noteAuthorized(
  { store, chain_id }: OtherAssetParts,
  { merchant, token, receipt, header }: { merchant: string; token: string; receipt: TransactionReceipt; header: BlockHeader },
  now_ms: number,
): Promise<void> {
  for (const log of receipt.logs) {
    const moved = log.address === token ? decodeTransfer(log) : null
    if (moved === null || moved.to !== merchant || moved.value_minor === 0n) continue
    const before = receipt.logs.find((one) => one.log_index === log.log_index - 1 && one.address === token)
    const used = before?.topics[0] === AUTHORIZATION_USED_TOPIC ? decodeAuthorizationUsed(before) : null
    const invoice = used === null || used.payer !== moved.from ? null : await store.find_by_nonce(used.nonce)
    if (invoice === null || invoice.merchant !== merchant) continue
    const origin = { transaction: receipt.transaction_hash, log_index: log.log_index, block_number: Number(receipt.block_number) }
    const payment = { asset: tokenAsset(chain_id, token), payer: moved.from, amount: moved.value_minor, block_time_s: header.timestamp_s }
    await store.note_other_asset({ ...origin, ...payment, invoice_id: invoice.invoice_id, named_by: 'nonce' }, now_ms)
  }
}
