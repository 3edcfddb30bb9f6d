import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../adapters/clock/system.ts'
import { decodeUtf8 } from '../pure/documents/strict-json.ts'
import { readArtefact, type ArtefactPart } from '../pure/protocols/artefacts/artefact.ts'
import { checkDocument, type PreflightReport, type PreflightFinding } from '../pure/protocols/check.ts'
import { readProtocolDocument } from '../pure/protocols/read-document.ts'
import { recogniseProtocol } from '../pure/protocols/recognise.ts'
import { PROTOCOLS } from '../pure/protocols/registry.ts'
import { PROTOCOL_IDS, type ProtocolId, listDocumentTypes } from '../pure/protocols/protocol.ts'
import { limits } from '../service/limits.ts'
import { nearestName } from '../service/catalogue/search.ts'
import { boundProblem, DOCUMENT_BOUNDS, isVersion, VERSION_EXPECTED } from '../service/preflight/preflight.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { readChunks } from './input.ts'
import { outcomeMark, paint, printable, remark, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'
import { findJsonRanges } from '../pure/documents/json-text.ts'

/** `assay preflight`: checks documents of agent-commerce protocols offline. Any JSON value is accepted, and what encodes one. */
export async function run(invocation: Invocation): Promise<Exit> {
  const { names, asked } = splitWords(invocation)
  const format = formatNamed(invocation.text('format'))
  const checked: CheckedPart[] = []
  const files = names.flatMap(filesOf)
  let isComplete = true
  for (const file of files) {
    try {
      checked.push(...(await checkFile(file, asked, invocation)))
    } catch (error) {
      // Of several files, one that cannot be checked does not stop the others.
      if (!(error instanceof CliError) || error.exit === 'usage' || files.length === 1) throw error
      isComplete = false
      remark(error.message)
    }
  }
  if (format === 'sarif') say(JSON.stringify(sarifLog(checked)))
  else if (format === 'github') for (const line of githubLines(checked)) say(line)
  else if (format === 'json' || (format === null && wantsJson(invocation)))
    for (const one of checked) say(JSON.stringify(shownAsJson(one, checked.length)))
  else showAll(checked)
  const statuses = checked.map(({ report }) => report.status)
  if (statuses.includes('fail')) return 'negative'
  return statuses.includes('not_covered') || !isComplete ? 'undecided' : 'ok'
}

/** The protocol may also be the first word: `assay preflight ucp profile.json`. */
function splitWords(invocation: Invocation): { names: readonly string[]; asked: ProtocolId | null } {
  const option = invocation.text('protocol')
  const [first, ...rest] = invocation.words
  const word = option === null && rest.length > 0 ? PROTOCOL_IDS.find((id) => id === first) : undefined
  const names = word === undefined ? invocation.words : rest
  if (names.length === 0) throw new CliError('usage', 'Name a file or a folder with documents, or - for standard input.')
  return { names, asked: word ?? (option === null ? null : protocolNamed(option)) }
}

const FORMATS = ['text', 'json', 'sarif', 'github'] as const

function formatNamed(name: string | null): (typeof FORMATS)[number] | null {
  const found = FORMATS.find((one) => one === name)
  if (name !== null && found === undefined) throw unknownName('format', name, FORMATS, `The formats are ${FORMATS.join(', ')}.`)
  return found ?? null
}

/** Files that may contain documents, and how many of a folder are read. */
const DOCUMENT_FILE = /\.(?:json|jsonl|ndjson|har|http|sse|txt|jwt)$/i
const MOST_FILES = 1_000

/** A file, or the documents in a folder and below, by name. */
function filesOf(name: string): string[] {
  if (name === '-' || statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return [name]
  const files = readdirSync(name, { recursive: true, encoding: 'utf8' }).filter(
    (file) => DOCUMENT_FILE.test(file) && !/(?:^|[\\/])node_modules[\\/]/.test(file),
  )
  if (files.length === 0) throw new CliError('no_input', `${printable(name)} has no files of documents, such as .json or .har.`)
  if (files.length > MOST_FILES)
    throw new CliError('data', `${printable(name)} has more than ${MOST_FILES} files of documents; name fewer.`)
  return files.toSorted().map((file) => join(name, file))
}

async function checkFile(name: string, asked: ProtocolId | null, invocation: Invocation): Promise<CheckedPart[]> {
  const text = await readText(name)
  const parts = readArtefact(text)
  // What is none of these has a fault as JSON, with its place.
  const found: readonly ArtefactPart[] = parts.length === 0 ? [{ part: null, text }] : parts
  return found.map((part) => ({ file: name, part: part.part, text: part.text, report: checkPart(name, part, asked, invocation) }))
}

function checkPart(name: string, { part, text }: ArtefactPart, asked: ProtocolId | null, invocation: Invocation): PreflightReport {
  const place = part === null ? shownName(name) : `${shownName(name)}, ${part}`
  const read = readProtocolDocument(text, BOUNDS)
  if (!read.ok) throw new CliError('data', `${place}: ${read.message} (line ${read.line}, column ${read.column})`)
  const protocol = asked ?? recogniseProtocol(read.value)
  if (protocol === null) throw new CliError('data', `${place}: No protocol recognises the document. ${NAME_PROTOCOL}`)
  const stated = {
    document_type: typeNamed(protocol, invocation.text('document-type')),
    version: versionNamed(invocation.text('protocol-version')),
  }
  const now_s = Math.floor(systemClock.now_ms() / 1_000)
  const expected_payee = invocation.text('expected-payee')
  const result = checkDocument(protocol, read.value, { ...stated, expected_payee, now_s, literals: read.literals, bounds: DOCUMENT_BOUNDS })
  if (result.kind === 'exceeded') throw new CliError('data', `${place}: ${boundProblem(result.exceeded).detail}`)
  return result.report
}

function typeNamed(protocol: ProtocolId, name: string | null): string | null {
  const types = listDocumentTypes(PROTOCOLS[protocol])
  if (name === null || types.includes(name)) return name
  const near = nearestName(name, [...types])
  throw new CliError(
    'usage',
    `Unknown document type of ${protocol}; ${near === null ? `one of ${types.join(', ')}` : `did you mean ${near}`}.`,
  )
}

function versionNamed(text: string | null): string | null {
  if (text === null || isVersion(text)) return text
  throw new CliError('usage', `--protocol-version is ${VERSION_EXPECTED}.`)
}

const NAME_PROTOCOL = `Name the protocol with --protocol: one of ${PROTOCOL_IDS.join(', ')}.`

function protocolNamed(name: string): ProtocolId {
  const found = PROTOCOL_IDS.find((id) => id === name)
  if (found !== undefined) return found
  const list = PROTOCOL_IDS.join(', ')
  throw unknownName('protocol', name, PROTOCOL_IDS, `The protocols are ${list}.`)
}

const BOUNDS = { depth: limits.preflight_depth, nodes: limits.preflight_nodes }

async function readText(name: string): Promise<string> {
  const bytes = await readBounded(readChunks(name), limits.preflight_body_bytes)
  if (bytes === null) throw new CliError('data', `${shownName(name)} is larger than ${limits.preflight_body_bytes} bytes.`)
  const text = decodeUtf8(bytes)
  if (text === null) throw new CliError('data', `${shownName(name)} is not UTF-8.`)
  return text
}

function shownName(name: string): string {
  return name === '-' ? 'Standard input' : printable(name)
}

/** The report, with file and part where several were checked or the document was a part. */
function shownAsJson({ file, part, report }: CheckedPart, count: number): object {
  return count === 1 && part === null ? report : { file, part, ...report }
}

const HEADINGS = {
  pass: 'passes',
  warn: 'passes with warnings',
  fail: 'does not pass',
  not_covered: 'is not covered by any rules',
} as const

function showAll(checked: readonly CheckedPart[]): void {
  for (const [index, { file, part, report }] of checked.entries()) {
    const name = [...(checked.length > 1 ? [shownName(file)] : []), ...(part === null ? [] : [`read: ${part}`])].join(', ')
    if (name !== '') say(`${index > 0 ? '\n' : ''}${name}`)
    show(report)
  }
}

function show(report: PreflightReport): void {
  const { status, protocol, document_type, version, version_source, errors, warnings, not_checked, statement } = report
  const read_as = `${protocol} ${document_type.replaceAll('_', ' ')}, version ${version} (${version_source})`
  const lines = [`${outcomeMark(status === 'pass' || status === 'warn', HEADINGS[status])}  ${paint('muted', read_as)}`]
  for (const finding of [...errors, ...warnings]) lines.push('', ...findingLines(finding))
  if (report.truncated) lines.push('', 'There are more findings than are shown.')
  say([...lines, '', ...wrap(`${statement} Not checked: ${not_checked.join('; ')}.`, terminalWidth())].join('\n'))
}

function findingLines({ severity, code, path, message, hint, expected }: PreflightFinding): string[] {
  const rows = [
    [severity === 'error' ? 'Error' : 'Warning', `${code} at ${path === '' ? 'the whole document' : printable(path)}`],
    ['', `${message} ${hint}`],
    ...(expected === undefined ? [] : [['', `Expected: ${expected}.`]]),
  ]
  return table(rows, terminalWidth(), [severity === 'error' ? 'invalid' : 'unverifiable'])
}

/** Reports of the preflight in the formats of other tools. */

/** One document of a file, and what was found in it. */
interface CheckedPart {
  file: string
  /** Place of the document in the file; null if it is the whole file. */
  part: string | null
  /** The document as JSON. */
  text: string
  report: PreflightReport
}

interface Place {
  finding: PreflightFinding
  /** Counted from 1; null where the document is a decoded part of the file. */
  line: number | null
  column: number | null
}

/** Findings with their place in the file, errors first. */
function placesOf({ part, text, report }: CheckedPart): Place[] {
  const findings = [...report.errors, ...report.warnings]
  if (part !== null) return findings.map((finding) => ({ finding, line: null, column: null }))
  const ranges = findJsonRanges(
    text,
    findings.map(({ path }) => path),
  )
  const starts = lineStarts(text)
  return findings.map((finding) => {
    const start = ranges.get(finding.path)?.start ?? 0
    const line = lastAtMost(starts, start)
    return { finding, line: line + 1, column: start - (starts[line] ?? 0) + 1 }
  })
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function lastAtMost(starts: readonly number[], position: number): number {
  const after = starts.findIndex((start) => start > position)
  return after === -1 ? starts.length - 1 : after - 1
}

function messageOf({ part }: CheckedPart, { message, hint, path }: PreflightFinding): string {
  const where = part === null ? '' : ` (${part}, ${path === '' ? 'the whole document' : path})`
  return `${message} ${hint}${where}`
}

/** SARIF 2.1.0 (OASIS, 27 March 2020): one run, each finding as a result. */
function sarifLog(checked: readonly CheckedPart[]): object {
  const rules = new Map<string, object>()
  const results = checked.flatMap((one) =>
    placesOf(one).map(({ finding, line, column }) => {
      const { code, severity, spec, path } = finding
      rules.set(code, { id: code, helpUri: spec.url, shortDescription: { text: spec.section } })
      const region = line === null ? {} : { region: { startLine: line, startColumn: column } }
      const physicalLocation = { artifactLocation: { uri: uriOf(one.file) }, ...region }
      return {
        ruleId: code,
        level: severity,
        message: { text: messageOf(one, finding) },
        locations: [{ physicalLocation, logicalLocations: [{ fullyQualifiedName: path }] }],
      }
    }),
  )
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'assay preflight', rules: [...rules.values()].map(withAbsoluteHelp) } }, results }],
  }
}

/** Rules of the preflight itself name a path of a service, which is not a URI. */
function withAbsoluteHelp(rule: object): object {
  const { helpUri, ...rest } = rule as { helpUri: string }
  return helpUri.startsWith('/') ? rest : rule
}

function uriOf(file: string): string {
  return file === '-' ? 'stdin' : file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
}

/** Annotations of GitHub Actions: one workflow command a finding. */
function githubLines(checked: readonly CheckedPart[]): string[] {
  return checked.flatMap((one) =>
    placesOf(one).map(({ finding, line, column }) => {
      const place = line === null ? '' : `,line=${line},col=${column}`
      return `::${finding.severity} file=${escapeProperty(one.file)}${place},title=${escapeProperty(finding.code)}::${escapeData(messageOf(one, finding))}`
    }),
  )
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
