import { join } from 'node:path'
import { createChain } from '../adapters/chain/rpc.ts'
import { readRecord, sandboxFiles } from '../adapters/chain/sandbox-files.ts'
import { systemClock } from '../adapters/clock/system.ts'
import type { Settings } from '../service/config.ts'
import {
  type Difference,
  type ForeignTransfer,
  type LedgerTransfer,
  type ProvedLedger,
  proveLedger,
  type SettledRow,
  type Tally,
} from '../service/payments/prove-ledger.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { amounts } from './ledger-rows.ts'
import type { LedgerDesk } from './ledger-store.ts'
import { outcomeMark, paint, say, table, terminalWidth } from './terminal.ts'

/** Lines of each list that people are shown; JSON has more. */
const SHOWN_MAX = 20

/** `assay ledger prove`: the settled rows against what the token moved to pay-to. */
export async function prove(settings: Settings, { store, identity }: LedgerDesk, json: boolean): Promise<Exit> {
  const { chain_id, pay_to } = identity
  const token = usdcOn(chain_id).address.toLowerCase()
  const chain = createChain({ urls: endpointsOf(settings), chain_id, clock: systemClock })
  const proof = await proveLedger({ payments: store.payments, chain, token, pay_to, passed: progress() })
  if (json) say(JSON.stringify({ ...identity, token, ...proofJson(proof) }))
  else say(render(proof))
  return proof.proved ? 'ok' : 'negative'
}

/** In the sandbox the chain of the running service; nothing is started for a proof. */
function endpointsOf(settings: Settings): readonly string[] {
  if (settings.ASSAY_MODE === 'live') return settings.ASSAY_RPC_URLS
  const record = readRecord(sandboxFiles(join(settings.ASSAY_DATA_DIR, 'sandbox')).record)
  if (record === null) throw new CliError('unavailable', 'The sandbox chain does not run; "npm start" runs it.')
  return [record.rpc_url]
}

/** One line on standard error, drawn anew, where a person is looking. */
function progress(): (block: bigint, head: bigint) => void {
  if (!process.stderr.isTTY) return () => undefined
  return (block, head) => process.stderr.write(block < head ? `\r\u001b[Kblock ${block} of ${head}` : '\r\u001b[K')
}

function proofJson(proof: ProvedLedger) {
  const { range, rows, transfers, newer, to_others, not_final, foreign, differences } = proof
  return {
    proved: proof.proved,
    from_block: range === null ? null : Number(range.from_block),
    to_block: range === null ? null : Number(range.to_block),
    settled: tallyJson(rows),
    transfers: tallyJson(transfers),
    foreign: { ...tallyJson(foreign), first: foreign.first.map((one) => ({ ...transferJson(one), state: one.state })) },
    differences: { ...tallyJson(differences), first: differences.first.map(differenceJson) },
    not_final: { ...tallyJson(not_final), first: not_final.first.map(rowJson) },
    newer: tallyJson(newer),
    to_others: tallyJson(to_others),
  }
}

function tallyJson({ count, value_minor }: Tally) {
  return { count, ...amounts(value_minor) }
}

function rowJson({ payer, nonce, value_minor, transaction, block_number, block_hash }: SettledRow) {
  return { payer, nonce, ...amounts(value_minor), transaction, block_number, block_hash }
}

function transferJson({ from, nonce, value_minor, transaction, block_number, block_hash, log_index }: LedgerTransfer) {
  return { from, nonce, ...amounts(value_minor), transaction, block_number, block_hash, log_index }
}

function differenceJson({ kind, row, transfer }: Difference) {
  return { kind, row: rowJson(row), transfer: transfer === null ? null : transferJson(transfer) }
}

const DIFFERENCE_WORDS: Record<Difference['kind'], string> = {
  no_transaction: 'the chain knows no such transaction',
  no_transfer: 'its transaction moves no such money to pay-to',
  other_value: 'another value was moved',
  other_place: 'it stands in another block or transaction',
  not_in_logs: 'its receipt proves it, but the node leaves it out of its logs: ask another node',
}

function render(proof: ProvedLedger): string {
  const { range, rows, transfers, newer, to_others, not_final, foreign, differences } = proof
  const line = (name: string, { count, value_minor }: Tally) => [name, `${count}`.padStart(9), `${amounts(value_minor).amount_usdc} USDC`]
  const optional = (name: string, tally: Tally) => (tally.count === 0 ? [] : [line(name, tally)])
  const mark = proof.proved
    ? outcomeMark(true, 'proved: the chain bears out every settled row')
    : outcomeMark(false, 'not proved: ledger and chain disagree')
  const sums = [
    ['blocks', '', range === null ? 'none: there are no payments' : `${range.from_block} to ${range.to_block}`],
    line('settled rows', rows),
    line('transfers', transfers),
    line('  foreign', foreign),
    line('differences', differences),
    ...optional('not final', not_final),
    ...optional('newer', newer),
    ...optional('to others', to_others),
  ]
  return [
    mark,
    ...table(sums, terminalWidth(), ['muted']),
    ...listing('Differences', differences.count, differences.first.map(differenceLine)),
    ...listing('Foreign: no settled row accounts for this money', foreign.count, foreign.first.map(foreignLine)),
    ...listing('Not final: a reorganisation could still take these', not_final.count, not_final.first.map(rowLine)),
  ].join('\n')
}

function listing(title: string, count: number, lines: readonly string[]): string[] {
  if (count === 0) return []
  const more = count - Math.min(lines.length, SHOWN_MAX)
  return ['', paint('strong', title), ...lines.slice(0, SHOWN_MAX), ...(more === 0 ? [] : [`  … ${more} more; --format json has more`])]
}

function differenceLine({ kind, row }: Difference): string {
  return `${rowLine(row)}: ${DIFFERENCE_WORDS[kind]}`
}

function rowLine({ payer, nonce, value_minor, block_number }: SettledRow): string {
  return `  ${amounts(value_minor).amount_usdc} from ${payer}, nonce ${nonce}, block ${block_number ?? 'none'}`
}

function foreignLine({ from, value_minor, transaction, state }: ForeignTransfer): string {
  const standing = state === null ? '' : `; it is ${state} here`
  return `  ${amounts(value_minor).amount_usdc} from ${from}, transaction ${transaction}${standing}`
}
