/** One pass over a file in a separate process, so that passes share no memory: `bare` or `validate`. */
import { readSync, openSync } from 'node:fs'
import { SaxesParser } from 'saxes'
import { XmlValidator } from '../src/pure/documents/iso20022/validate.ts'

const CHUNK = 65_536

const [, , pass = 'bare', path = ''] = process.argv
const file = openSync(path, 'r')
const before = process.threadCpuUsage()
const outcome = pass === 'bare' ? bare() : validate()
const { user, system } = process.threadCpuUsage(before)
process.stdout.write(JSON.stringify({ ...outcome, cpu_us: user + system, rss_kb: process.resourceUsage().maxRSS }))

function* chunks(): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) yield buffer.subarray(0, length)
}

/** Minimum work of a reader on this parser: receive elements and texts. */
function bare(): { transactions: number } {
  const parser = new SaxesParser({ xmlns: false })
  const decoder = new TextDecoder()
  let transactions = 0
  let characters = 0
  parser.on('opentag', ({ name }) => {
    if (name === 'CdtTrfTxInf') transactions++
  })
  parser.on('text', (text) => void (characters += text.length))
  parser.on('closetag', () => void characters++)
  for (const chunk of chunks()) parser.write(decoder.decode(chunk, { stream: true }))
  parser.close()
  return { transactions: characters > 0 ? transactions : 0 }
}

function validate(): { transactions: number; valid: boolean | null; ctrl_sum: string | null } {
  const validator = new XmlValidator()
  for (const chunk of chunks()) validator.write(chunk)
  const { tx_count, valid, ctrl_sum } = validator.end()
  return { transactions: tx_count ?? 0, valid, ctrl_sum }
}
