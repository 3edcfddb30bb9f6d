import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp

before(async () => {
  app = await startTestApp()
})

after(() => app.stop())

// Tools and surfaces are loaded when they are first asked for; whoever comes first must not find them half there.
test('what is asked for all at once, right after the start, is all answered', async () => {
  const paths = [
    '/health',
    '/v1/tools',
    '/openapi.json',
    '/llms.txt',
    '/docs',
    '/tools/isbn-check',
    '/.well-known/agent-card.json',
    '/metrics',
  ]
  const pages = paths.map(async (path) => [path, (await fetch(`${app.url}${path}`)).status])
  const { catalogue } = app.running.app.deps.call
  const ids = ['isbn-check', 'e164_check', 'iso20022-validate', 'clean-markdown-scraper', 'batch-validate']
  const calls = ids.map(async (id) => [id, (await restCall(app.url, id, catalogue.find(id)?.example)).status])
  const unknown = await restCall(app.url, 'no-such-check', {})
  assert.deepEqual(
    await Promise.all(pages),
    paths.map((path) => [path, 200]),
  )
  assert.deepEqual(
    await Promise.all(calls),
    ids.map((id) => [id, 200]),
  )
  assert.equal(unknown.status, 404)
})

test('a method that an address does not take is refused from the first request on', async () => {
  const fresh = await startTestApp()
  try {
    const response = await fetch(`${fresh.url}/health`, { method: 'POST' })
    assert.equal(response.status, 405)
    assert.equal(response.headers.get('allow'), 'GET, HEAD, OPTIONS')
  } finally {
    await fresh.stop()
  }
})
