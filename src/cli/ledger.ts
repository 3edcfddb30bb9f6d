import type { LedgerQuery, LedgerSum, Payment } from '../ports/payments.ts'
import { PAYMENT_STATES, type PaymentState } from '../pure/payments/states.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { paint, printable, say, wantsJson, outcomeMark, table, terminalWidth } from './terminal.ts'
import {
  ledgerPages,
  type Difference,
  type ForeignTransfer,
  type LedgerTransfer,
  type ProvedLedger,
  proveLedger,
  type SettledRow,
  type Tally,
} from '../service/payments/prove-ledger.ts'
import { type LedgerDesk, withLedger, markMode, readEnvironment } from './deployment.ts'
import type { ChannelProof } from '../service/payments/channel-chain.ts'
import { LineWriter } from './line-writer.ts'
import { csvText } from '../pure/documents/csv-cell.ts'
import { join } from 'node:path'
import { createChain } from '../adapters/chain/rpc.ts'
import { readRecord, sandboxFiles } from '../adapters/chain/sandbox-process.ts'
import { systemClock } from '../adapters/clock/system.ts'
import type { Settings } from '../service/config.ts'
import { assetId, assetNetwork, type Currency, currencyOf, networkOf } from '../pure/networks.ts'
import { usdcOn, usdcDecimal } from '../pure/payments/usdc.ts'

const DAY_MS = 86_400_000
const FORMATS = ['table', 'csv', 'json'] as const
export type LedgerFormat = (typeof FORMATS)[number]

export type LedgerFilter = Pick<LedgerQuery, 'from_ms' | 'to_ms' | 'tool' | 'state'>

/** Filter from --from, --to, --tool and --state. Days are whole UTC days by the creation of the payment. Throws a CliError. */
export function readFilter(invocation: Invocation): LedgerFilter {
  const from_ms = readDay(invocation, 'from')
  const last_ms = readDay(invocation, 'to')
  const tool = readTool(invocation.text('tool'))
  const state = readState(invocation.text('state'))
  if (from_ms !== null && last_ms !== null && from_ms > last_ms) throw new CliError('usage', '--from is a later day than --to.')
  return {
    ...(from_ms === null ? {} : { from_ms }),
    ...(last_ms === null ? {} : { to_ms: last_ms + DAY_MS }),
    ...(tool === null ? {} : { tool }),
    ...(state === null ? {} : { state }),
  }
}

/** Requested format; otherwise a table for people and JSON for programs. Throws a CliError. */
export function readFormat(invocation: Invocation): LedgerFormat {
  const given = invocation.text('format')
  if (given === null) return wantsJson(invocation) ? 'json' : 'table'
  const found = FORMATS.find((format) => format === given)
  if (found === undefined) throw new CliError('usage', `--format takes ${FORMATS.join(', ')}.`)
  return found
}

/** First millisecond of the day; null if the option is absent. */
function readDay(invocation: Invocation, name: 'from' | 'to'): number | null {
  const text = invocation.text(name)
  if (text === null) return null
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  // Some engines parse February 30 as March 2.
  const real = Number.isFinite(ms) && ms >= 0 && new Date(ms).toISOString().startsWith(text)
  if (!real) throw new CliError('usage', `--${name} takes a day since 1970 as YYYY-MM-DD, in UTC.`)
  return ms
}

/** Any id is accepted, because removed tools may still have payments. */
function readTool(text: string | null): string | null {
  if (text === null) return null
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) throw new CliError('usage', '--tool takes the id of a tool, or invoice.')
  return text.replaceAll('_', '-')
}

function readState(text: string | null): PaymentState | null {
  if (text === null) return null
  const found = PAYMENT_STATES.find((state) => state === text)
  if (found !== undefined) return found
  throw unknownName('state', text, PAYMENT_STATES, `The states are ${PAYMENT_STATES.join(', ')}.`)
}

const ACTIONS = ['sums', 'list', 'prove'] as const
/** Rows per query. */
const PAGE_ROWS = 500

/** `assay ledger [sums | list | prove]`: sums, rows, or a comparison of the payments of this deployment with the chain. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word = 'sums'] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (action === undefined) throw unknownName('action', word, ACTIONS, 'The actions are sums, list and prove.')
  const format = readFormat(invocation)
  const filter = readFilter(invocation)
  if (action === 'prove' && Object.keys(filter).length > 0) {
    throw new CliError('usage', 'prove takes the whole ledger: --from, --to, --tool and --state go with sums and list.')
  }
  if (action === 'prove' && format === 'csv') throw new CliError('usage', 'prove writes a table or JSON.')
  const settings = readEnvironment()
  markMode(settings)
  return withLedger(settings, async (desk) => {
    if (action === 'sums') await showSums(desk, filter, format)
    else if (action === 'list') await showList(desk, filter, format)
    else return prove(settings, desk, format === 'json')
    return 'ok'
  })
}

async function showSums({ store, identity }: LedgerDesk, filter: LedgerFilter, format: LedgerFormat): Promise<void> {
  const sums = await store.payments.ledger_sums(filter)
  const totals = totalsOf(sums)
  const rows = sums.map((sum) => sumRow(sum, identity.chain_id))
  switch (format) {
    case 'csv':
      return say([csvLine(SUM_FIELDS), ...rows.map((row) => csvLine(SUM_FIELDS.map((name) => row[name])))].join('\r\n') + '\r')
    case 'json': {
      const all = totals.map(({ state, currency, count, value_minor }) => ({
        state,
        count,
        ...moneyCells(value_minor, currency),
        currency,
      }))
      return say(JSON.stringify({ ...identity, sums: rows, totals: all }))
    }
    case 'table': {
      if (rows.length === 0) return say('No payments.')
      const several = sums.some(({ asset }) => asset !== null)
      const place = (network: string) => (several ? [network] : [])
      const has_euro = totals.some(({ currency }) => currency === 'EURC')
      const money = (value_minor: bigint, currency: Currency) => usdcDecimal(value_minor) + (has_euro ? ` ${currency}` : '')
      const lines = sums.map(({ day, tool, state, asset, count, value_minor }) => {
        const network = networkText(asset, identity.chain_id)
        return [day, tool, ...place(network), state, String(count), money(value_minor, currencyOf(asset))]
      })
      const last = totals.map(({ state, currency, count, value_minor }) => {
        return ['total', '', ...place(''), state, String(count), money(value_minor, currency)]
      })
      const head = ['day', 'tool', ...place('network'), 'state', 'count', has_euro ? 'amount' : 'USDC']
      return say(aligned([head, ...lines, ...last]).join('\n'))
    }
  }
}

/** Aligned columns; the last two, count and amount, are right-aligned. */
function aligned(rows: string[][]): string[] {
  const columns = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const cell = (text: string, column: number) =>
    column < columns - 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  return rows.map((row) => printable(row.map(cell).join('  ')))
}

/** Reads page by page, so memory use does not depend on the length of the ledger. */
async function showList({ store, identity }: LedgerDesk, filter: LedgerFilter, format: LedgerFormat): Promise<void> {
  const writer = new LineWriter()
  const write = async (line: string) => void (await writer.write(line))
  if (format === 'csv') await write(`${csvLine(PAYMENT_FIELDS)}\r`)
  if (format === 'table') await write(paint('strong', PAYMENT_HEAD))
  for await (const page of ledgerPages(store.payments, { ...filter, limit: PAGE_ROWS })) {
    for (const payment of page) {
      if (format === 'table') await write(paymentLine(payment, identity.chain_id))
      else {
        const row = paymentRow(payment, identity.chain_id)
        await write(format === 'json' ? JSON.stringify(row) : `${csvLine(PAYMENT_FIELDS.map((name) => row[name]))}\r`)
      }
    }
    // Writes each page before reading the next one.
    await writer.flush()
  }
  await writer.flush()
}

/** Field of an exported row. Money is text, because many programs read numbers as floats. */
type Cell = string | number | boolean | null

/** Exported fields of a payment; `chain_id` is that of the deployment. Signature and invoice id are secrets and excluded. */
export function paymentRow(payment: Payment, chain_id: number) {
  return {
    created_at: timeText(payment.created_ms),
    tool: payment.purpose === 'call' ? payment.subject : payment.purpose,
    state: payment.state,
    ...moneyCells(payment.value_minor, currencyOf(payment.asset)),
    payer: payment.payer,
    nonce: payment.nonce,
    pay_to: payment.to,
    input_hash: payment.input_hash,
    method: payment.method,
    settler: payment.settler,
    transaction: payment.transaction,
    block_number: payment.block_number,
    block_hash: payment.block_hash,
    settled_at: payment.settled_ms === null ? null : timeText(payment.settled_ms),
    final: payment.final,
    reason: payment.reason,
    updated_at: timeText(payment.updated_ms),
    network: networkText(payment.asset, chain_id),
    asset: payment.asset ?? assetId(chain_id, usdcOn(chain_id).address),
    currency: currencyOf(payment.asset),
  } satisfies Record<string, Cell>
}

export const PAYMENT_FIELDS = [
  'created_at',
  'tool',
  'state',
  'amount_usdc',
  'amount_minor',
  'payer',
  'nonce',
  'pay_to',
  'input_hash',
  'method',
  'settler',
  'transaction',
  'block_number',
  'block_hash',
  'settled_at',
  'final',
  'reason',
  'updated_at',
  'network',
  'asset',
  'currency',
] as const satisfies readonly (keyof ReturnType<typeof paymentRow>)[]

const SUM_FIELDS = ['day', 'tool', 'state', 'count', 'amount_usdc', 'amount_minor', 'network', 'currency'] as const

function sumRow({ day, tool, state, asset, count, value_minor }: LedgerSum, chain_id: number) {
  const currency = currencyOf(asset)
  return { day, tool, state, count, ...moneyCells(value_minor, currency), network: networkText(asset, chain_id), currency }
}

/** Amount of a payment; `amount_usdc` is null for another token, so that no sum of the column adds two currencies. */
function moneyCells(value_minor: bigint, currency: Currency): { amount_usdc: string | null; amount_minor: string } {
  return { amount_usdc: currency === 'USDC' ? usdcDecimal(value_minor) : null, amount_minor: value_minor.toString() }
}

/** Network of an asset in CAIP-2. */
function networkText(asset: string | null, chain_id: number): string {
  return assetNetwork(asset) ?? `eip155:${chain_id}`
}

interface StateTotal {
  state: PaymentState
  currency: Currency
  count: number
  value_minor: bigint
}

/** Count and sum per state and currency, in the order of the payment lifecycle; states without payments are omitted. */
function totalsOf(sums: readonly LedgerSum[]): StateTotal[] {
  return PAYMENT_STATES.flatMap((state) =>
    (['USDC', 'EURC'] as const).flatMap((currency) => {
      const some = sums.filter((sum) => sum.state === state && currencyOf(sum.asset) === currency)
      const total = { state, currency, count: 0, value_minor: 0n }
      for (const { count, value_minor } of some) {
        total.count += count
        total.value_minor += value_minor
      }
      return some.length === 0 ? [] : [total]
    }),
  )
}

function amounts(value_minor: bigint, currency: Currency): Record<string, string> {
  return { [`amount_${currency.toLowerCase()}`]: usdcDecimal(value_minor), amount_minor: value_minor.toString() }
}

/** CSV line without terminator (RFC 4180, 2005). */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',')
}

/** Numbers need no escaping; none is negative. */
function csvCell(cell: Cell): string {
  if (cell === null) return ''
  return typeof cell === 'string' ? csvText(cell) : String(cell)
}

/** Payment as one line with fixed column widths, because later rows are not known yet. */
function paymentLine(payment: Payment, chain_id: number): string {
  const { created_at, tool, state, currency, payer, transaction, reason } = paymentRow(payment, chain_id)
  const standing = state === 'settled' && !payment.final ? 'settled, not final' : state
  return listLine([
    created_at,
    standing,
    usdcDecimal(payment.value_minor) + (currency === 'USDC' ? '' : ` ${currency}`),
    tool,
    payer,
    [assetNetwork(payment.asset), transaction, reason].filter((one) => one !== null).join('  '),
  ])
}

const PAYMENT_HEAD = listLine(['created', 'state', 'USDC', 'tool', 'payer', 'transaction, reason'])

function listLine([created = '', state = '', usdc = '', tool = '', payer = '', last = '']: readonly string[]): string {
  const cells = [created.padEnd(24), state.padEnd(18), usdc.padStart(9), tool.padEnd(20), payer.padEnd(42), last]
  return printable(cells.join('  ').trimEnd())
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}

/** Maximum number of lines per list for people; JSON contains all. */
const SHOWN_MAX = 20

/** `assay ledger prove`: compares the settled rows with the token transfers to the payee. */
async function prove(settings: Settings, { store, identity }: LedgerDesk, json: boolean): Promise<Exit> {
  const { chain_id, pay_to } = identity
  const token = usdcOn(chain_id).address.toLowerCase()
  const chain = createChain({ urls: endpointsOf(settings), chain_id, clock: systemClock })
  const common = { payments: store.payments, pay_to, onProgress: progress() }
  const channelsOn = (on: ReturnType<typeof createChain>) => ({ chain: on, channels: { store: store.channels, chain: on } })
  const proof = await proveLedger({ ...common, ...channelsOn(chain), token })
  const further: NetworkProof[] = []
  const assets = new Set((await store.payments.ledger_sums({})).map(({ asset }) => asset))
  const others = settings.ASSAY_NETWORKS.map(({ chain_id: id, rpc_urls: urls }) => {
    return { id, on: createChain({ urls, chain_id: id, clock: systemClock }), tokens: [usdcOn(id).address, ...euroIn(id, assets)] }
  })
  for (const { id, on, tokens } of [{ id: chain_id, on: chain, tokens: euroIn(chain_id, assets) }, ...others]) {
    for (const address of tokens) {
      const asset = assetId(id, address)
      const source = { ...channelsOn(on), token: address.toLowerCase() }
      further.push({ network: `eip155:${id}`, asset, proof: await proveLedger({ ...common, ...source, asset }) })
    }
  }
  const unread = assetsWithoutEndpoint(assets, further)
  const proved = [proof, ...further.map((one) => one.proof)].every((one) => one.proved) && unread.length === 0
  const networks = further.map(({ network, asset, proof: found }) => ({ network, asset, ...proofJson(found, currencyOf(asset)) }))
  const of_networks = further.length + unread.length === 0 ? {} : { networks, not_proved: unread, proved }
  if (json) say(JSON.stringify({ ...identity, token, ...proofJson(proof, 'USDC'), ...of_networks }))
  else {
    const rendered = further.flatMap(({ network, asset, proof: found }) => {
      const currency = currencyOf(asset)
      return ['', paint('strong', currency === 'USDC' ? network : `${network} ${currency}`), render(found, currency)]
    })
    const missing = unread.map((asset) => outcomeMark(false, `not proved: ASSAY_NETWORKS has no endpoints for payments in ${asset}`))
    say([render(proof, 'USDC'), ...rendered, ...missing].join('\n'))
  }
  return proved ? 'ok' : 'negative'
}

interface NetworkProof {
  network: string
  asset: string
  proof: ProvedLedger
}

/** EURC on a network, if the ledger has payments in it. */
function euroIn(chain_id: number, assets: ReadonlySet<string | null>): string[] {
  const eurc = networkOf(chain_id)?.eurc
  return eurc && assets.has(assetId(chain_id, eurc.address)) ? [eurc.address] : []
}

/** Assets of payments in the ledger that no configured network covers. */
function assetsWithoutEndpoint(assets: ReadonlySet<string | null>, covered: readonly NetworkProof[]): string[] {
  return [...assets].filter((asset) => asset !== null).filter((asset) => !covered.some((one) => one.asset === asset))
}

/** In the sandbox, the chain of the running service; the proof starts nothing. */
function endpointsOf(settings: Settings): readonly string[] {
  if (settings.ASSAY_MODE === 'live') return settings.ASSAY_RPC_URLS
  const record = readRecord(sandboxFiles(join(settings.ASSAY_DATA_DIR, 'sandbox')).record)
  if (record === null) throw new CliError('unavailable', 'The sandbox chain does not run; "npm start" runs it.')
  return [record.rpc_url]
}

/** Progress line on standard error, only on a terminal. */
function progress(): (block: bigint, head: bigint) => void {
  if (!process.stderr.isTTY) return () => undefined
  return (block, head) => process.stderr.write(block < head ? `\r\u001b[Kblock ${block} of ${head}` : '\r\u001b[K')
}

function proofJson(proof: ProvedLedger, currency: Currency) {
  const { range, rows, transfers, newer, to_others, not_final, foreign, differences, vouchers, channels } = proof
  return {
    proved: proof.proved,
    from_block: range === null ? null : Number(range.from_block),
    to_block: range === null ? null : Number(range.to_block),
    settled: tallyJson(rows, currency),
    transfers: tallyJson(transfers, currency),
    foreign: { ...tallyJson(foreign, currency), first: foreign.first.map((one) => ({ ...transferJson(one, currency), state: one.state })) },
    differences: { ...tallyJson(differences, currency), first: differences.first.map((one) => differenceJson(one, currency)) },
    not_final: { ...tallyJson(not_final, currency), first: not_final.first.map((one) => rowJson(one, currency)) },
    newer: tallyJson(newer, currency),
    to_others: tallyJson(to_others, currency),
    vouchers: tallyJson(vouchers, currency),
    channels: channels && channelsJson(channels),
  }
}

function channelsJson({ proved, channels, differences, ...sums }: ChannelProof) {
  const named = Object.entries(sums).map(([name, value_minor]) => [name.replace('_minor', ''), amounts(value_minor, 'USDC')])
  return { proved, channels, ...(Object.fromEntries(named) as Record<string, unknown>), differences }
}

function tallyJson({ count, value_minor }: Tally, currency: Currency) {
  return { count, ...amounts(value_minor, currency) }
}

function rowJson({ payer, nonce, value_minor, transaction, block_number, block_hash }: SettledRow, currency: Currency) {
  return { payer, nonce, ...amounts(value_minor, currency), transaction, block_number, block_hash }
}

function transferJson({ from, nonce, value_minor, transaction, block_number, block_hash, log_index }: LedgerTransfer, currency: Currency) {
  return { from, nonce, ...amounts(value_minor, currency), transaction, block_number, block_hash, log_index }
}

function differenceJson({ kind, row, transfer }: Difference, currency: Currency) {
  return { kind, row: rowJson(row, currency), transfer: transfer === null ? null : transferJson(transfer, currency) }
}

const DIFFERENCE_WORDS: Record<Difference['kind'], string> = {
  no_transaction: 'the chain knows no such transaction',
  no_transfer: 'its transaction moves no such money to pay-to',
  other_value: 'another value was moved',
  other_place: 'it is in another block or transaction',
  not_in_logs: 'its receipt proves it, but the node leaves it out of its logs: ask another node',
}

function render(proof: ProvedLedger, currency: Currency): string {
  const { range, rows, transfers, newer, to_others, not_final, foreign, differences, vouchers, channels } = proof
  const line = (name: string, { count, value_minor }: Tally) => [name, `${count}`.padStart(9), `${usdcDecimal(value_minor)} ${currency}`]
  const optional = (name: string, tally: Tally) => (tally.count === 0 ? [] : [line(name, tally)])
  const mark = proof.proved
    ? outcomeMark(true, 'proved: every settled row has its transfer on the chain')
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
    ...optional('vouchers', vouchers),
    ...(channels === null ? [] : channelLines(channels).map(([name, minor]) => [name, '', `${usdcDecimal(minor)} USDC`])),
  ]
  return [
    mark,
    ...table(sums, terminalWidth(), ['muted']),
    ...listing('Differences', differences.count, differences.first.map(differenceLine)),
    ...listing('Channels that do not add up', channels?.differences.length ?? 0, (channels?.differences ?? []).map(channelDifference)),
    ...listing('Foreign: no settled row accounts for this money', foreign.count, foreign.first.map(foreignLine)),
    ...listing('Not final: a reorganisation could still take these', not_final.count, not_final.first.map(rowLine)),
  ].join('\n')
}

const CHANNEL_DIFFERENCES: Record<ChannelProof['differences'][number]['kind'], string> = {
  charges: 'its charges do not add up to its total',
  claimed_more: 'the chain shows more claimed than was charged',
  unread: 'the contract did not answer for it',
}

function channelDifference({ channel_id, kind }: ChannelProof['differences'][number]): string {
  return `  ${channel_id}: ${CHANNEL_DIFFERENCES[kind]}`
}

function channelLines({ charged_minor, claimed_minor, paid_out_minor, foreign_minor }: ChannelProof): [name: string, minor: bigint][] {
  return [
    ['channels: charged', charged_minor],
    ['  claimed', claimed_minor],
    ['  paid out', paid_out_minor],
    ...(foreign_minor === 0n ? [] : [['  of other ledgers', foreign_minor] satisfies [string, bigint]]),
  ]
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
  return `  ${usdcDecimal(value_minor)} from ${payer}, nonce ${nonce}, block ${block_number ?? 'none'}`
}

function foreignLine({ from, value_minor, transaction, state }: ForeignTransfer): string {
  const standing = state === null ? '' : `; it is ${state} here`
  return `  ${usdcDecimal(value_minor)} from ${from}, transaction ${transaction}${standing}`
}
