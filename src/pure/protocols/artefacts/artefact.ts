import { isObject } from '../../is-object.ts'
import { sha256 } from '@noble/hashes/sha2.js'
import { readBase64Url, toBase64Url } from '../../receipts/base64url.ts'

/**
 * Documents in what developers have: JSON, JSON Lines, a header in Base64, the output of `curl -i`, a raw HTTP message, a HAR, the lines of
 * a stream of events, a token. Everything is decoded offline; nothing is verified.
 */
export interface ArtefactPart {
  /** Place of the document: `header PAYMENT-REQUIRED`, `line 3`; null if it is the whole text. */
  part: string | null
  /** The document as JSON. */
  text: string
}

/** Documents of one artefact, and how deep they may be encoded. */
const MOST_PARTS = 100
const MOST_LEVELS = 4

/** The documents in a text, in its order; none if it is none of these. */
export function readArtefact(text: string): ArtefactPart[] {
  return partsOf(text.replace(/^\uFEFF/, ''), null, 0).slice(0, MOST_PARTS)
}

function partsOf(raw: string, part: string | null, level: number): ArtefactPart[] {
  const text = raw.trim()
  if (text === '' || level > MOST_LEVELS) return []
  if (/^[{[]/.test(text)) return isJson(text) ? partsOfJson(text, part, level) : partsOfLines(text, part)
  if (text.startsWith('"')) return isJson(text) ? partsOf(String(JSON.parse(text)), within(part, 'the text'), level + 1) : []
  const token = decodeToken(text)
  if (token !== null) return [{ part: within(part, 'claims of the token, unverified'), text: token }]
  const decoded = decodeBase64Json(text)
  if (decoded !== null) return partsOf(decoded, part ?? 'the Base64 text', level + 1)
  const lines = text.split(/\r?\n/).map(withoutTrace)
  if (isStartLine(lines[0] ?? '') || lines.every((line) => line === '' || HEADER.test(line))) {
    const found = partsOfHttp(lines, part, level)
    if (found.length > 0) return found
  }
  return lines.some((line) => line.startsWith('data:')) ? partsOfEvents(lines, part, level) : []
}

function within(part: string | null, inner: string): string {
  return part === null ? inner : `${inner} in ${part}`
}

function partsOfJson(text: string, part: string | null, level: number): ArtefactPart[] {
  // A HAR says so at its beginning or end; other documents are not looked into.
  const value: unknown = /"log"\s*:/.test(text) && text.includes('"entries"') ? JSON.parse(text) : null
  const log = isObject(value) ? value['log'] : null
  if (!isObject(log) || !Array.isArray(log['entries'])) return [{ part, text }]
  return log['entries']
    .slice(0, MOST_PARTS)
    .flatMap((entry, index) => (isObject(entry) ? partsOfEntry(entry, `entry ${index + 1}`, level) : []))
}

/** Headers and contents of the request and the answer of one entry of a HAR (HTTP Archive 1.2). */
function partsOfEntry(entry: Record<string, unknown>, name: string, level: number): ArtefactPart[] {
  const [request, response] = [entry['request'], entry['response']].map((one) => (isObject(one) ? one : {}))
  const headers = [request, response].flatMap((message) => (Array.isArray(message?.['headers']) ? message['headers'] : []))
  const carried = headers.filter(isObject).flatMap((one) => partsOfHeader(String(one['name']), String(one['value']), name, level))
  const posted = isObject(request?.['postData']) ? request['postData']['text'] : undefined
  const content = isObject(response?.['content']) ? response['content'] : {}
  return [
    ...carried,
    ...(typeof posted === 'string' ? partsOf(posted, `the request of ${name}`, level + 1) : []),
    ...(typeof content['text'] === 'string' ? partsOf(content['text'], `the answer of ${name}`, level + 1) : []),
  ]
}

const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}:(?: |$|\S)/
/** Headers that carry documents of x402, by version and direction. */
const CARRIERS = new Set(['payment-required', 'x-payment', 'payment-signature', 'payment-response', 'x-payment-response'])

function isStartLine(line: string): boolean {
  return /^HTTP\/[0-9.]{1,3} [0-9]{3}(?: |$)/.test(line) || /^[A-Z]{3,8} \S+ HTTP\/[0-9.]{1,3}$/.test(line)
}

/** A line of `curl -v` without its mark of direction. */
function withoutTrace(line: string): string {
  return /^[<>] ?/.test(line) ? line.replace(/^[<>] ?/, '') : line
}

/** One or more messages, as curl prints them after a redirect, or headers alone. */
function partsOfHttp(lines: readonly string[], part: string | null, level: number): ArtefactPart[] {
  const found: ArtefactPart[] = []
  let index = 0
  for (let messages = 0; index < lines.length && messages < MOST_PARTS; messages++) {
    if (isStartLine(lines[index] ?? '')) index++
    for (; index < lines.length && lines[index] !== ''; index++) {
      const [name = '', ...value] = (lines[index] ?? '').split(':')
      found.push(...partsOfHeader(name, value.join(':'), part, level))
    }
    index++
    const next = lines.findIndex((line, at) => at >= index && isStartLine(line))
    const end = next === -1 ? lines.length : next
    found.push(...partsOf(lines.slice(index, end).join('\n'), within(part, 'the body'), level + 1))
    index = end
  }
  return found
}

function partsOfHeader(name: string, value: string, part: string | null, level: number): ArtefactPart[] {
  const plain = name.trim().toLowerCase()
  return CARRIERS.has(plain) ? partsOf(value, within(part, `header ${plain.toUpperCase()}`), level + 1) : []
}

/** Events of a stream (HTML Standard, 9.2): the data lines of an event are one text. */
function partsOfEvents(lines: readonly string[], part: string | null, level: number): ArtefactPart[] {
  const events: string[][] = [[]]
  for (const line of lines) {
    if (line === '') events.push([])
    else if (line.startsWith('data:')) events.at(-1)?.push(line.slice(5).replace(/^ /, ''))
  }
  const texts = events.filter((event) => event.length > 0).map((event) => event.join('\n'))
  return texts.slice(0, MOST_PARTS).flatMap((text, index) => partsOf(text, within(part, `event ${index + 1}`), level + 1))
}

/** JSON Lines: each line is a document. */
function partsOfLines(text: string, part: string | null): ArtefactPart[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length < 2 || !lines.every((line) => /^\s*[{[]/.test(line) && isJson(line))) return []
  return lines.map((line, index) => ({ part: within(part, `line ${index + 1}`), text: line }))
}

/** Texts that encode a document: Base64 of JSON, and compact tokens. Nothing is verified. */

/** A token of three parts, with disclosures of SD-JWT (RFC 9901, 4) after it. */
const COMPACT = /^[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*(?:~[A-Za-z0-9_.~-]*)?$/
const MOST_DISCLOSURES = 1_000

/** The decoded text of Base64 or Base64url that contains a JSON object or array; null for everything else. */
function decodeBase64Json(text: string): string | null {
  const digits = text.replace(/[\r\n\t ]+/g, '')
  if (digits.length < 8 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(digits)) return null
  const json =
    decodeText(
      digits
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/, ''),
    )?.trim() ?? ''
  return /^[{[]/.test(json) && isJson(json) ? json : null
}

/** Header, claims and disclosures of a compact token as one document; null if it is none. */
function decodeToken(text: string): string | null {
  if (!COMPACT.test(text)) return null
  const [token = '', ...rest] = text.split('~')
  const [header, payload] = token
    .split('.')
    .slice(0, 2)
    .map((part) => jsonOf(part))
  if (!isObject(header) || !isObject(payload)) return null
  const disclosures = rest
    .filter((one) => one !== '' && !one.includes('.'))
    .slice(0, MOST_DISCLOSURES)
    .map((one) => ({ digest: toBase64Url(sha256(new TextEncoder().encode(one))), decoded: jsonOf(one) }))
  return JSON.stringify({ header, payload, ...(disclosures.length === 0 ? {} : { disclosures }) })
}

function jsonOf(part: string): unknown {
  const text = decodeText(part)
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

function decodeText(digits: string): string | null {
  const bytes = readBase64Url(digits)
  try {
    return bytes === null ? null : new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
