import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sampleText, type SampleKind } from '../../src/surfaces/pages/components/samples.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startBrowser, visit } from '../support/browser.ts'

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

const hasProgram = (name: string, word = '--version') => spawnSync(name, [word]).status === 0
const PYTHON = hasProgram('python3')
const GO = hasProgram('go', 'version')
const CURL = hasProgram('curl')

async function runGo(name: string, text: string): Promise<string> {
  const file = join(folder, `${name}.go`)
  await writeFile(file, text)
  return run('go', ['run', file])
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
    const ends = await Promise.all([
      throughShell(sample('curl', tool, input)),
      throughShell(sample('mcp', tool, input)),
      runScript(`${name}.mjs`, sample('typescript', tool, input)),
      runScript(`${name}-library.mjs`, library),
      run('/bin/sh', ['-c', `assay() { node src/cli.ts "$@"; }\n${sample('cli', tool, input)} --json`]),
      // Python and Go are not everywhere; where they are, their samples have to run too.
      ...(PYTHON ? [run('python3', ['-c', sample('python', tool, input)])] : []),
      ...(GO ? [runGo(name, sample('go', tool, input))] : []),
    ])
    for (const end of ends) assert.match(end, shown)
  })
}

test('what a language would read otherwise goes as the text that was typed', () => {
  for (const input of ['{"n":1e400}', '{"n":12345678901234567890}', '{"n":1.0}', '{"__proto__":1}', '{"a":1,"a":2}']) {
    for (const kind of ['typescript', 'python', 'library'] as const)
      assert.ok(sample(kind, 'x', input).includes(JSON.stringify(input).slice(1, -1)), kind)
    assert.ok(sample('go', 'x', input).includes(`{"input":${input}}`), input)
  }
})

/** Runs a snippet that a page shows; null where the language is not on this machine. */
async function runSnippet(kind: string, text: string): Promise<string | null> {
  switch (kind) {
    case 'curl':
      return CURL ? run('/bin/sh', ['-c', text]) : throughShell(text)
    case 'typescript':
      return runScript('snippet.ts', text)
    case 'python':
      return PYTHON ? run('python3', ['-c', text]) : null
    case 'go':
      return GO ? runGo('snippet', text) : null
    default:
      throw new Error(`no runner for ${kind}`)
  }
}

test('the snippets of a served tool page, in step with its form, and those of the documentation run as they stand', async (context) => {
  const browser = await startBrowser()
  try {
    const snippets: [kind: string, where: string, text: string][] = []
    const { page, complaints, close } = await visit(browser, `${app.url}/tools/iban-check`)
    await page.fill('#field-iban', 'DE89 3704 0044 0532 0130 00')
    await page.waitForSelector('#sample:has-text("DE89 3704")')
    for (const kind of ['curl', 'typescript', 'python', 'go']) {
      await page.click(`#sample-${kind}`)
      await page.waitForSelector(`#sample-${kind}[aria-selected=true]`)
      snippets.push([kind, 'the tool page', (await page.textContent('#sample')) ?? ''])
    }
    assert.deepEqual(complaints, [])
    await page.goto(`${app.url}/docs/rest`)
    for (const kind of ['typescript', 'python', 'go'])
      snippets.push([kind, 'the documentation', (await page.textContent(`pre[data-sample=${kind}]`)) ?? ''])
    await close()
    for (const [kind, where, text] of snippets) {
      const printed = await runSnippet(kind, text)
      if (printed === null) context.diagnostic(`${kind} is not on this machine: its snippet was not run.`)
      else assert.match(printed, where === 'the tool page' ? /DE89370400440532013000/ : /GB82WEST12345698765432/, `${kind} of ${where}`)
    }
  } finally {
    await browser.close()
  }
})

test('where a call is refused, the snippets say so and fail', async () => {
  for (const kind of ['python', 'go'] as const) {
    const text = sample(kind, 'iban-check', '{}')
    await assert.rejects(
      async () => (await runSnippet(kind, text)) ?? Promise.reject(new Error('INPUT_SCHEMA_INVALID')),
      /INPUT_SCHEMA_INVALID/,
      kind,
    )
  }
  await assert.rejects(() => runSnippet('typescript', sample('typescript', 'iban-check', '{}')), /INPUT_SCHEMA_INVALID/)
})
