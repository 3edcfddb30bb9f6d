import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { Tabs } from './tabs.ts'

/** Longer inputs are not repeated in samples: no shell takes them on a command line. */
const SAMPLE_CHARS = 20_000

const NOTES: Partial<Record<SampleKind, string>> = {
  library: 'The client library is in src/client of the service; it verifies each receipt before it returns the answer.',
  mcp: 'The message that an MCP client sends, here from a shell. Clients need only the address of the server.',
  cli: 'On your own machine: no server, no limit, signed with your own key.',
}

interface SamplesProps {
  target: SampleTarget
  /** JSON text of the form, and of the example. */
  input: string
  example: string
}

/** The same call for programs, one tab a language, in step with the form. */
export function Samples({ target, input, example }: SamplesProps) {
  const [kind, setKind] = useState<SampleKind>('curl')
  const long = input.length > SAMPLE_CHARS
  const note = [NOTES[kind], long ? 'The input is too long for a sample, so this one uses the example.' : undefined]
    .filter(Boolean)
    .join(' ')
  return html`<section class="samples" aria-labelledby="samples-title">
    <div class="samples-head">
      <h2 id="samples-title">The same call for programs</h2>
      <button type="button" class="copy" data-copies="sample">Copy</button>
    </div>
    <${Tabs} name="sample" label="Language" tabs=${Object.entries(SAMPLES)} selected=${kind} select=${setKind} />
    <div role="tabpanel" id="sample-panel" aria-labelledby=${`sample-${kind}`}>
      <pre id="sample" tabindex="0">${sampleText(kind, target, long ? example : input)}</pre>
      <p class="hint" id="sample-words">${note}</p>
    </div>
  </section>`
}

/**
 * Code samples of one call, each runnable without changes. The server renders the first one; the page renders all of them while the user
 * types. Each sample contains the JSON of the input as it was typed. Where the language would change it when parsing (a number without an
 * exact double, a special key such as `__proto__`), the sample sends it as a string, so that the service receives the same characters.
 */
const SAMPLES = {
  curl: 'curl',
  typescript: 'TypeScript',
  library: 'Library',
  python: 'Python',
  go: 'Go',
  mcp: 'MCP',
  cli: 'CLI',
} as const

export type SampleKind = keyof typeof SAMPLES

/** Tool of a sample and addresses of the service. */
interface SampleTarget {
  tool: string
  /** Without a final slash. */
  api_url: string
  mcp_url: string
}

/** `input`: the JSON text of the tool's own fields. */
export function sampleText(kind: SampleKind, target: SampleTarget, input: string): string {
  switch (kind) {
    case 'curl':
      return `curl -s ${callUrl(target)} \\\n  -d ${shellWord(bodyOf(input))}`
    case 'typescript':
      return typescriptText(target, input)
    case 'library':
      return libraryText(target, input)
    case 'python':
      return pythonText(target, input)
    case 'go':
      return goText(target, input)
    case 'mcp':
      return mcpText(target, input)
    case 'cli':
      return `assay call ${target.tool} ${shellWord(input)}`
  }
}

function callUrl({ api_url, tool }: SampleTarget): string {
  return `${api_url}/v1/tools/${tool}/call`
}

/** The body of a REST request. */
function bodyOf(input: string): string {
  return `{"input":${input}}`
}

function typescriptText(target: SampleTarget, input: string): string {
  const literal = jsonLiteral(input)
  const body = literal === null ? JSON.stringify(bodyOf(input)) : `JSON.stringify({ input: ${indented(literal, '  ')} })`
  return [
    `const response = await fetch('${callUrl(target)}', {`,
    "  method: 'POST',",
    "  headers: { 'content-type': 'application/json' },",
    `  body: ${body},`,
    '})',
    'const answer = await response.json()',
    'if (!response.ok) throw new Error(`${answer.code}: ${answer.detail}`)',
    'console.log(answer.result, answer.receipt)',
  ].join('\n')
}

function libraryText({ api_url, tool }: SampleTarget, input: string): string {
  const literal = jsonLiteral(input) ?? `JSON.parse(${JSON.stringify(input)})`
  return [
    "import { createClient } from 'assay/client'",
    '',
    `const assay = createClient({ url: '${api_url}' })`,
    `const answer = await assay.call('${tool}', ${literal})`,
    '// The receipt has been verified by now.',
    'console.log(answer.result, answer.verification)',
  ].join('\n')
}

function pythonText(target: SampleTarget, input: string): string {
  const data =
    jsonLiteral(input) === null ? JSON.stringify(bodyOf(input)) : `json.dumps({"input": ${pythonLiteral(JSON.parse(input), '    ')}})`
  return [
    'import json',
    'import urllib.error',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    "${callUrl(target)}",`,
    `    data=${data}.encode(),`,
    '    headers={"content-type": "application/json"},',
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as response:',
    '        answer = json.load(response)',
    'except urllib.error.HTTPError as error:',
    '    raise SystemExit(error.read().decode())',
    'print(answer["result"], answer["receipt"])',
  ].join('\n')
}

function goText(target: SampleTarget, input: string): string {
  return [
    'package main',
    '',
    'import (',
    ...['encoding/json', 'fmt', 'io', 'log', 'net/http', 'strings'].map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\tinput := strings.NewReader(${goLiteral(bodyOf(input))})`,
    `\tresponse, err := http.Post("${callUrl(target)}", "application/json", input)`,
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tbody, err := io.ReadAll(response.Body)',
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tif response.StatusCode != http.StatusOK {',
    '\t\tlog.Fatalf("%s", body)',
    '\t}',
    '\tvar answer struct{ Result, Receipt json.RawMessage }',
    '\tif err := json.Unmarshal(body, &answer); err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tfmt.Printf("%s\\n%s\\n", answer.Result, answer.Receipt)',
    '}',
  ].join('\n')
}

/** A raw string where it can hold the text; else an interpreted one, in which escapes of JSON mean the same. */
function goLiteral(text: string): string {
  return /[`\r\0\ufeff]/.test(text) ? JSON.stringify(text).replaceAll('\ufeff', '\\ufeff') : `\`${text}\``
}

function mcpText({ mcp_url, tool }: SampleTarget, input: string): string {
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${input}}}`
  return [
    `curl -s ${mcp_url}/mcp \\`,
    "  -H 'content-type: application/json' \\",
    "  -H 'accept: application/json, text/event-stream' \\",
    `  -d ${shellWord(message)}`,
  ].join('\n')
}

/** Text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** JSON that reads the same as a literal of JavaScript; null when it would not come out as it went in. */
function jsonLiteral(input: string): string | null {
  if (input.includes('__proto__')) return null
  const value: unknown = JSON.parse(input)
  // White space outside of strings is all that may differ.
  const bare = input.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
  return JSON.stringify(value) === bare ? JSON.stringify(value, null, 2) : null
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`)
}

/** A value as Python writes it. Escapes of JSON strings mean the same there. */
function pythonLiteral(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const items = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, inner)}`)
  return items.length === 0 ? `${open}${close}` : `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`
}
