import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, figures, median, type RunOptions, type SuiteReport } from './report.ts'

const WORKER = fileURLToPath(new URL('iso20022-worker.ts', import.meta.url))
const BYTES = 100_000_000
const IBANS = ['FR1420041010050500013M02606', 'NL91ABNA0417164300', 'DE89370400440532013000', 'GB82WEST12345698765432'] as const
const BICS = ['BNPAFRPPXXX', 'ABNANL2A', 'COBADEFFXXX', 'WESTGB22'] as const

interface Pass {
  transactions: number
  cpu_us: number
  rss_kb: number
  valid?: boolean
  ctrl_sum?: string | null
}

/** Validating a large pain.001 against a bare pass of the same parser. */
export async function iso20022({ rounds }: RunOptions): Promise<SuiteReport> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-iso20022-'))
  try {
    const path = join(folder, 'pain.xml')
    const expected = writeMessage(path)
    const bytes = statSync(path).size
    const passes = Array.from({ length: rounds }, () => ({ bare: run('bare', path), validate: run('validate', path) }))
    for (const { validate } of passes) {
      const { transactions, valid, ctrl_sum } = validate
      if (transactions !== expected.transactions || valid !== true || ctrl_sum !== expected.ctrl_sum)
        throw new Error('the validator is wrong')
    }
    const speed = (of: 'bare' | 'validate') => bytes / median(passes.map((pass) => pass[of].cpu_us))
    const memory = (of: 'bare' | 'validate') => median(passes.map((pass) => pass[of].rss_kb)) / 1_024
    const row = (title: string, of: 'bare' | 'validate') => [title, figures(speed(of)), figures(memory(of))]
    return {
      title: 'iso20022-validate on 100 MB of pain.001',
      method: [
        `CPU time of the main thread, each pass in a separate process, median of ${rounds} rounds in turn; ${expected.transactions} transactions, totals exact.`,
      ],
      header: ['pass', 'MB/s', 'peak RSS MiB'],
      rows: [row('bare saxes', 'bare'), row('structure, rules, totals', 'validate')],
      gates: [
        atLeast('speed against the bare pass', speed('validate') / speed('bare'), 0.8, 'x'),
        atMost('peak memory', memory('validate'), 200, ' MiB'),
      ],
      notes: [],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(pass: 'bare' | 'validate', path: string): Pass {
  return JSON.parse(execFileSync(process.execPath, [WORKER, pass, path], { encoding: 'utf8' })) as Pass
}

/** A message of that size, and what a validator must find in it. Amounts in cents, so that the total needs no decimals. */
export function painMessage(bytes: number): { text: string; transactions: number; ctrl_sum: string } {
  const { transactions, ctrl_sum } = expectedOf(bytes)
  const all = Array.from({ length: transactions }, (_, index) => transaction(index)).join('')
  return { text: head(transactions, ctrl_sum) + all + TAIL, transactions, ctrl_sum }
}

const TAIL = '</PmtInf></CstmrCdtTrfInitn></Document>\n'

function expectedOf(bytes: number): { transactions: number; ctrl_sum: string } {
  const transactions = Math.floor(bytes / transaction(200_000).length)
  let cents = 0n
  for (let index = 0; index < transactions; index++) cents += BigInt(centsOf(index))
  return { transactions, ctrl_sum: `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}` }
}

function writeMessage(path: string): { transactions: number; ctrl_sum: string } {
  const { transactions, ctrl_sum } = expectedOf(BYTES)
  const file = openSync(path, 'w')
  writeSync(file, head(transactions, ctrl_sum))
  for (let index = 0; index < transactions; index += 1_000) {
    writeSync(file, Array.from({ length: Math.min(1_000, transactions - index) }, (_, step) => transaction(index + step)).join(''))
  }
  writeSync(file, TAIL)
  closeSync(file)
  return { transactions, ctrl_sum }
}

function centsOf(index: number): number {
  return 100 + ((index * 7_919) % 9_999_900)
}

function head(count: number, sum: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>' +
    `<GrpHdr><MsgId>BENCH-1</MsgId><CreDtTm>2026-11-21T10:00:00Z</CreDtTm><NbOfTxs>${count}</NbOfTxs><CtrlSum>${sum}</CtrlSum>` +
    '<InitgPty><Nm>Payer</Nm></InitgPty></GrpHdr><PmtInf><PmtInfId>PMT-1</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>true</BtchBookg>' +
    '<ReqdExctnDt><Dt>2026-11-23</Dt></ReqdExctnDt><Dbtr><Nm>Payer</Nm></Dbtr><DbtrAcct><Id><IBAN>ES9121000418450200051332</IBAN></Id>' +
    '</DbtrAcct><DbtrAgt><FinInstnId><BICFI>CAIXESBBXXX</BICFI></FinInstnId></DbtrAgt>\n'
  )
}

function transaction(index: number): string {
  const cents = String(centsOf(index)).padStart(3, '0')
  const bank = index % IBANS.length
  return (
    `<CdtTrfTxInf><PmtId><InstrId>I-${index}</InstrId><EndToEndId>INVOICE-2026-${String(index).padStart(8, '0')}</EndToEndId></PmtId>` +
    `<Amt><InstdAmt Ccy="EUR">${cents.slice(0, -2)}.${cents.slice(-2)}</InstdAmt></Amt>` +
    `<CdtrAgt><FinInstnId><BICFI>${BICS[bank]}</BICFI></FinInstnId></CdtrAgt><Cdtr><Nm>Creditor number ${index} Limited</Nm></Cdtr>` +
    `<CdtrAcct><Id><IBAN>${IBANS[bank]}</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Payment of invoice ${index}</Ustrd></RmtInf></CdtTrfTxInf>\n`
  )
}
