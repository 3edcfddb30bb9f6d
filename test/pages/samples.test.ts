import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sampleText, type SampleKind } from '../../src/surfaces/pages/components/sample-text.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
let folder: string
before(async () => {
  app = await startTestApp()
  folder = await mkdtemp(join(tmpdir(), 'assay-samples-'))
})
after(async () => {
  await app.stop()
  await rm(folder, { recursive: true })
})

const ROOT = new URL('../../', import.meta.url).pathname
const sample = (kind: SampleKind, tool: string, input: string) => sampleText(kind, { tool, api_url: app.url, mcp_url: app.url }, input)

/** Inputs with all that a language might read in its own way. */
const INPUTS: Record<string, readonly [tool: string, input: string, shown: RegExp]> = {
  quotes: ['context-distill', `{"text":"It's \\"quoted\\" and \\\\ $HOME \`x\` \${y}.\\nTwo lines: %s é \u2028 😀."}`, /\$HOME/],
  literals: ['rental-listing-risk', '{"urgency_pressure":true,"no_in_person_viewing":false,"price_below_market_pct":12.50}', /risk_score/],
  hostile: ['instant-json-schema-verifier', '{"data":{"a__proto__":1,"b":[null,true]},"schema":{"required":["b"]}}', /valid/],
}

/** Runs a program to its end, without holding up the service that lives in this process. */
function run(program: string, words: readonly string[]): Promise<string> {
  const env = { ...process.env, ASSAY_DATA_DIR: join(folder, 'data') }
  return new Promise((resolve, reject) =>
    execFile(program, words, { cwd: ROOT, env }, (error, stdout, stderr) =>
      error ? reject(new Error(`${stderr}${stdout}`)) : resolve(stdout),
    ),
  )
}

async function runScript(name: string, text: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, text)
  return run(process.execPath, [file])
}

/** What a shell hands to curl, sent the way curl sends it. */
async function throughShell(text: string): Promise<string> {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${text}`
  const words = (await run('/bin/sh', ['-c', script])).split('\0')
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
  words.forEach((word, index) => word === '-H' && headers.set(...(words[index + 1]?.split(': ') as [string, string])))
  const url = words.find((word) => word.startsWith('http')) ?? ''
  return (await fetch(url, { method: 'POST', headers, body: words[words.indexOf('-d') + 1] ?? '' })).text()
}

for (const [name, [tool, input, shown]] of Object.entries(INPUTS)) {
  test(`samples of a call run as they stand: ${name}`, async () => {
    const library = sample('library', tool, input).replace("'assay/client'", JSON.stringify(join(ROOT, 'src/client/index.ts')))
    // Python is not everywhere; where it is, its sample has to run too.
    const python = spawnSync('python3', ['--version']).status === 0
    const ends = await Promise.all([
      throughShell(sample('curl', tool, input)),
      throughShell(sample('mcp', tool, input)),
      runScript(`${name}.mjs`, sample('typescript', tool, input)),
      runScript(`${name}-library.mjs`, library),
      run('/bin/sh', ['-c', `assay() { node src/cli.ts "$@"; }\n${sample('cli', tool, input)} --json`]),
      ...(python ? [run('python3', ['-c', sample('python', tool, input)])] : []),
    ])
    for (const end of ends) assert.match(end, shown)
  })
}

test('what a language would read otherwise goes as the text that was typed', () => {
  for (const input of ['{"n":1e400}', '{"n":12345678901234567890}', '{"n":1.0}', '{"__proto__":1}', '{"a":1,"a":2}']) {
    for (const kind of ['typescript', 'python', 'library'] as const)
      assert.ok(sample(kind, 'x', input).includes(JSON.stringify(input).slice(1, -1)), kind)
  }
})
