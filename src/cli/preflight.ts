import { systemClock } from '../adapters/clock/system.ts'
import { decodeUtf8 } from '../pure/documents/strict-json.ts'
import { checkDocument, type PreflightReport, type PreflightFinding } from '../pure/protocols/check.ts'
import { readProtocolDocument } from '../pure/protocols/read-document.ts'
import { PROTOCOLS } from '../pure/protocols/registry.ts'
import { PROTOCOL_IDS, type ProtocolId, listDocumentTypes } from '../pure/protocols/protocol.ts'
import { limits } from '../service/limits.ts'
import { nearestName } from '../service/catalogue/search.ts'
import { boundProblem, DOCUMENT_BOUNDS, isVersion, VERSION_EXPECTED } from '../service/preflight/preflight.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { readChunks } from './input.ts'
import { outcomeMark, paint, printable, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'

/** `assay preflight`: checks a document of an agent-commerce protocol offline. Any JSON value is accepted. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [name] = invocation.words
  if (name === undefined) throw new CliError('usage', 'Name a file with the document, or - for standard input.')
  const protocol = protocolNamed(invocation.text('protocol'))
  const { value, literals } = await readNamed(name)
  const now_s = Math.floor(systemClock.now_ms() / 1_000)
  const expected_payee = invocation.text('expected-payee')
  const stated = {
    document_type: typeNamed(protocol, invocation.text('document-type')),
    version: versionNamed(invocation.text('protocol-version')),
  }
  const result = checkDocument(protocol, value, { ...stated, expected_payee, now_s, literals, bounds: DOCUMENT_BOUNDS })
  if (result.kind === 'exceeded') throw new CliError('data', `${shownName(name)}: ${boundProblem(result.exceeded).detail}`)
  if (wantsJson(invocation)) say(JSON.stringify(result.report))
  else show(result.report)
  if (result.report.status === 'not_covered') return 'undecided'
  return result.report.status === 'fail' ? 'negative' : 'ok'
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

function protocolNamed(name: string | null): ProtocolId {
  const found = PROTOCOL_IDS.find((id) => id === name)
  if (found !== undefined) return found
  const list = PROTOCOL_IDS.join(', ')
  if (name === null) throw new CliError('usage', `Name the protocol with --protocol: one of ${list}.`)
  throw unknownName('protocol', name, PROTOCOL_IDS, `The protocols are ${list}.`)
}

const BOUNDS = { depth: limits.preflight_depth, nodes: limits.preflight_nodes }

async function readNamed(name: string) {
  const bytes = await readBounded(readChunks(name), limits.preflight_body_bytes)
  if (bytes === null) throw new CliError('data', `${shownName(name)} is larger than ${limits.preflight_body_bytes} bytes.`)
  const text = decodeUtf8(bytes)
  if (text === null) throw new CliError('data', `${shownName(name)} is not UTF-8.`)
  const read = readProtocolDocument(text, BOUNDS)
  if (read.ok) return read
  throw new CliError('data', `${shownName(name)}: ${read.message} (line ${read.line}, column ${read.column})`)
}

function shownName(name: string): string {
  return name === '-' ? 'Standard input' : printable(name)
}

const HEADINGS = {
  pass: 'passes',
  warn: 'passes with warnings',
  fail: 'does not pass',
  not_covered: 'is not covered by any rules',
} as const

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
