import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startTestApp } from '../support/app.ts'
import { words } from '../support/mcp.ts'

/** The server scenarios of the official conformance runner, against the service as it is: a server of tools without sessions. */

const RUNNER = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url))

const APPLICABLE = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']

/** Scenarios of features that this server does not have and does not announce: it must say that it knows no such method. */
const OTHER_FEATURES = words(
  'resources-list resources-read-text resources-read-binary resources-templates-read resources-subscribe',
  'resources-unsubscribe prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource',
  'prompts-get-with-image completion-complete logging-set-level tools-call-with-logging',
)

/** Scenarios that call a tool made for them, which a service for the world does not offer: it must say that it has no such tool. */
const FIXTURE_TOOLS = words(
  'tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content',
  'tools-call-error tools-call-with-progress tools-call-sampling tools-call-elicitation json-schema-2020-12',
  'elicitation-sep1034-defaults elicitation-sep1330-enums',
)

/** Scenarios of resumable streams, which need a session; without one the runner checks nothing. */
const SESSIONS = ['server-sse-polling', 'server-sse-multiple-streams']

interface Check {
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  errorMessage?: string
}

const found = new Map<string, Check[]>()

before(async () => {
  const app = await startTestApp()
  const folder = await mkdtemp(join(tmpdir(), 'assay-conformance-'))
  await run(['server', '--url', `${app.url}/mcp`, '--suite', 'all', '-o', folder])
  for (const name of await readdir(folder)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
    found.set(scenario, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[])
  }
  await app.stop()
  await rm(folder, { recursive: true })
})
after(() => found.clear())

/** Resolves with what the runner printed; that scenarios failed is read from their checks. */
function run(parameters: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [RUNNER, ...parameters], (_failed, stdout) => resolve(stdout))
  })
}

const statuses = (scenario: string) => (found.get(scenario) ?? []).map(({ status }) => status)
const messages = (scenario: string) => (found.get(scenario) ?? []).map(({ errorMessage }) => errorMessage ?? '').join(' ')

test('every scenario of the runner is accounted for', async () => {
  const listed = (await run(['list', '--server'])).match(/^ {2}- (\S+)/gm) ?? []
  const names = listed.map((line) => line.slice(4))
  const known = [...APPLICABLE, ...OTHER_FEATURES, ...FIXTURE_TOOLS, ...SESSIONS]
  assert.deepEqual(names.toSorted(), known.toSorted())
  assert.deepEqual([...found.keys()].toSorted(), known.toSorted())
})

for (const scenario of APPLICABLE) {
  test(`${scenario} passes`, () => {
    assert.ok(statuses(scenario).includes('SUCCESS'))
    assert.ok(
      statuses(scenario).every((status) => status === 'SUCCESS' || status === 'INFO'),
      messages(scenario),
    )
  })
}

test('the others do not apply for the reason that is written here', () => {
  for (const scenario of OTHER_FEATURES) assert.match(messages(scenario), /-32601/, scenario)
  for (const scenario of FIXTURE_TOOLS) assert.match(messages(scenario), /-32602|'json_schema_2020_12_tool' not found/, scenario)
  for (const scenario of SESSIONS) assert.ok(!statuses(scenario).some((status) => status === 'SUCCESS' || status === 'FAILURE'), scenario)
})
