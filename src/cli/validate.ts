import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { fileFormat } from '../pure/documents/file-format.ts'
import { MESSAGE_PROFILES, type MessageFinding, type MessageProfile } from '../pure/documents/iso20022/rules.ts'
import { validateMessage, XmlValidator, type MessageValidation } from '../pure/documents/iso20022/validate.ts'
import { nachaReader } from '../pure/documents/nacha/read.ts'
import { decodeUtf8 } from '../pure/documents/strict-json.ts'
import { documentDecoder, withoutEncoding } from '../pure/documents/xml/declared-encoding.ts'
import { limits } from '../service/limits.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { readChunks } from './input.ts'
import { type FileVerdict, sarifLog } from './validate-sarif.ts'
import { outcomeMark, paint, printable, remark, say, table, terminalWidth, wantsJson } from './terminal.ts'

const HEAD_BYTES = 16_384
const PROGRESS_BYTES = 104_857_600

/** `assay validate`: ISO 20022 messages and ACH files of any size, offline. */
export async function run(invocation: Invocation): Promise<Exit> {
  if (invocation.words.length === 0) throw new CliError('usage', 'Name files or folders, or - for standard input.')
  const profile = profileNamed(invocation.text('profile'))
  const as_sarif = invocation.flag('sarif')
  const as_json = !as_sarif && wantsJson(invocation)
  const counts = { valid: 0, invalid: 0, undetermined: 0 }
  const listed: FileVerdict[] = []
  for (const word of invocation.words) {
    for await (const file of filesOf(word)) {
      const verdict = await validateFile(file, profile)
      counts[verdict.verdict]++
      if (as_sarif) listed.push(verdict)
      else say(as_json ? JSON.stringify(verdict) : verdictLines(verdict).join('\n'))
    }
  }
  if (as_sarif) say(JSON.stringify(sarifLog(listed)))
  else if (!as_json) say(`${counts.valid} valid, ${counts.invalid} invalid, ${counts.undetermined} undetermined`)
  return counts.invalid > 0 ? 'negative' : counts.undetermined > 0 ? 'undecided' : 'ok'
}

function profileNamed(name: string | null): MessageProfile | null {
  if (name === null) return null
  const found = MESSAGE_PROFILES.find((known) => known.toLowerCase() === name.toLowerCase())
  if (found === undefined) throw unknownName('profile', name, MESSAGE_PROFILES, `The profiles are ${MESSAGE_PROFILES.join(', ')}.`)
  return found
}

/** A file, or all files of a folder and its folders in the order of their names. */
async function* filesOf(path: string): AsyncGenerator<string> {
  const found = path === '-' ? null : await stat(path).catch(() => null)
  if (found?.isDirectory() !== true) {
    yield path
    return
  }
  const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'))
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) yield* filesOf(inner)
    else if (entry.isFile()) yield inner
  }
}

async function validateFile(file: string, profile: MessageProfile | null): Promise<FileVerdict> {
  const chunks = unpacked(file)[Symbol.asyncIterator]()
  const head = await readHead(chunks)
  const decoder = documentDecoder(head)
  if (typeof decoder === 'string') return otherFormat(file, `XML in the encoding ${printable(decoder)}`)
  const text = (decoder ?? new TextDecoder('latin1')).decode(head.subarray(0, HEAD_BYTES), { stream: true })
  const format = fileFormat(text)
  if (format?.id === 'ach') return validateAch(file, head, chunks)
  if (format?.id === 'json') return validateJson(file, head, chunks, profile)
  if (format !== null) return otherFormat(file, format.name)
  return validateXml(file, head, chunks, decoder === null ? null : new TextDecoder(decoder.encoding), profile)
}

/** The bytes of a file, of a gzip file those inside. */
async function* unpacked(file: string): AsyncGenerator<Uint8Array> {
  const chunks = readChunks(file)[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done === true) return
  const all = rejoined(first.value, chunks)
  const is_gzip = first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!is_gzip) return yield* all
  try {
    yield* Readable.from(all).pipe(createGunzip())
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('data', `${printable(file)} is not a complete gzip file.`)
  }
}

async function* rejoined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

async function readHead(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head = new Uint8Array(0)
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next()
    if (next.done === true) return head
    head = Buffer.concat([head, next.value])
  }
  return head
}

async function validateXml(
  file: string,
  head: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  decoder: TextDecoder | null,
  profile: MessageProfile | null,
): Promise<FileVerdict> {
  const validator = new XmlValidator({ profile })
  const show = progressOf(file)
  let is_first = true
  for await (const bytes of rejoined(head, chunks)) {
    show(bytes.length)
    let piece: string | Uint8Array = bytes
    if (decoder !== null) {
      const text = decoder.decode(bytes, { stream: true })
      piece = is_first ? withoutEncoding(text) : text
    }
    is_first = false
    if (!validator.write(piece)) break
  }
  return messageVerdict(file, 'xml', validator.end())
}

async function validateJson(
  file: string,
  head: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  profile: MessageProfile | null,
): Promise<FileVerdict> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const bytes of rejoined(head, chunks)) {
    pieces.push(bytes)
    length += bytes.length
    if (length > limits.document_body_bytes) {
      throw new CliError(
        'data',
        `${printable(file)} is JSON of more than ${limits.document_body_bytes} bytes. Messages in XML may have any size.`,
      )
    }
  }
  const payload = decodeUtf8(Buffer.concat(pieces))
  if (payload === null) throw new CliError('data', `${printable(file)} is not UTF-8.`)
  return messageVerdict(file, 'json', validateMessage({ payload, profile, format: 'json' }))
}

function messageVerdict(file: string, format: 'xml' | 'json', answer: MessageValidation): FileVerdict {
  const { message_type, version, profile, findings, finding_counts, truncated, valid, namespace } = answer
  const verdict = valid === null ? 'undetermined' : valid ? 'valid' : 'invalid'
  const found = valid === null ? (namespace ?? 'no element Document') : null
  return { file, format, verdict, found, message_type, version, profile, finding_counts, truncated, findings }
}

async function validateAch(file: string, head: Uint8Array, chunks: AsyncIterator<Uint8Array>): Promise<FileVerdict> {
  const reader = nachaReader()
  const decoder = new TextDecoder('latin1')
  for await (const bytes of rejoined(head, chunks)) reader.write(decoder.decode(bytes, { stream: true }))
  const report = reader.end()
  const finding_counts = { error: 0, warning: 0, info: 0 }
  const findings = report.findings.map(({ code, severity, line, field, positions, found, expected, message }): MessageFinding => {
    finding_counts[severity]++
    const path = positions === null ? field : `${field}, columns ${positions}`
    return { code, severity, path, line, found, expected, message }
  })
  const judged = {
    verdict: report.valid ? ('valid' as const) : ('invalid' as const),
    finding_counts,
    truncated: report.findings_cut,
    findings,
  }
  return { file, format: 'ach', found: null, message_type: null, version: null, profile: null, ...judged }
}

function otherFormat(file: string, found: string): FileVerdict {
  const nothing = { message_type: null, version: null, profile: null, truncated: false, findings: [] }
  return { file, format: null, verdict: 'undetermined', found, finding_counts: { error: 0, warning: 0, info: 0 }, ...nothing }
}

/** Reports every 100 MB of a large file on standard error, for people. */
function progressOf(file: string): (bytes: number) => void {
  let read = 0
  let shown = 0
  return (bytes) => {
    read += bytes
    if (!process.stderr.isTTY || read - shown < PROGRESS_BYTES) return
    shown = read
    remark(`${printable(file)}: ${Math.floor(read / 1_048_576)} MB read`)
  }
}

function verdictLines({
  file,
  verdict,
  found,
  message_type,
  version,
  profile,
  finding_counts,
  findings,
  truncated,
}: FileVerdict): string[] {
  const name = message_type === null ? '' : `${message_type}.001.${version}, profile ${profile}; `
  const { error, warning } = finding_counts
  const about =
    verdict === 'undetermined'
      ? `Found ${printable(found ?? 'nothing')}, which is not judged.`
      : `${name}${error} errors, ${warning} warnings`
  const rows = findings
    .filter(({ severity }) => severity !== 'info')
    .toSorted((one, other) => Number(one.severity !== 'error') - Number(other.severity !== 'error'))
    .map((one) => [one.severity, `${one.line ?? '-'}`, one.code, findingText(one)])
  return [
    `${outcomeMark(verdict === 'valid', verdict)}  ${printable(file)}  ${paint('muted', about)}`,
    ...(rows.length === 0 ? [] : table(rows, terminalWidth())),
    ...(truncated ? ['There are more findings than are shown.'] : []),
  ]
}

function findingText({ path, found, expected, message }: MessageFinding): string {
  const values = [found === null ? '' : `found ${printable(found)}`, expected === null ? '' : `expected ${printable(expected)}`]
  return [printable(path), printable(message), values.filter((one) => one !== '').join(', ')].filter((one) => one !== '').join(' ')
}
