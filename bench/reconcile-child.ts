import { createReadStream } from 'node:fs'
import { SaxesParser } from 'saxes'
import { dispatch } from '../src/cli/dispatch.ts'

/** One measured process: `bare` parses the files with saxes alone, anything else is a command line of assay. Reports to its parent. */

export interface ChildReport {
  cpu_ms: number
  wall_ms: number
  most_bytes: number
}

const CHUNK_BYTES = 1_048_576

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'bare') for (const file of rest) await parse(file)
else process.exitCode = await dispatch([mode ?? '', ...rest])
const { user, system } = process.cpuUsage()
const report: ChildReport = {
  cpu_ms: (user + system) / 1_000,
  wall_ms: performance.now(),
  most_bytes: process.resourceUsage().maxRSS * 1_024,
}
process.send?.(report)

/** Minimum work of any reader: decode, find every tag, attribute and text. */
async function parse(file: string): Promise<void> {
  const parser = new SaxesParser({ xmlns: false, position: false })
  let events = 0
  parser.on('opentag', () => events++)
  parser.on('text', () => events++)
  parser.on('closetag', () => events++)
  parser.on('error', (error) => {
    throw error
  })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES }))
    parser.write(decoder.decode(chunk as Buffer, { stream: true }))
  parser.close()
  if (events === 0) throw new Error(`${file} holds nothing`)
}
