/** The pool of threads for heavy tools, with real threads that loop, eat memory and die. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createHeavyPool } from '../../src/adapters/heavy-work/pool.ts'
import type { HeavyWork } from '../../src/ports/heavy-work.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { fixedSources } from '../support/sources.ts'

const ENDLESS = new URL('../support/endless-worker.ts', import.meta.url)
const TOOLS = new URL('../../src/heavy-worker.ts', import.meta.url)

let pool: HeavyWork

before(() => {
  pool = createHeavyPool({ module: ENDLESS, workers: 2, queue: 2, deadline_ms: 1_500, memory_mb: 48 })
})
after(() => pool.stop())

const run = (does: string, more: Record<string, unknown> = {}) => pool.run('family', 'tool', { does, ...more })

test('answers come back to those who asked, more at once than there are threads', async () => {
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => run('echo', { name })))
  assert.deepEqual(
    answers.map(({ name }) => name),
    ['a', 'b', 'c', 'd'],
  )
})

test('what the work throws is thrown, and the thread goes on', async () => {
  await assert.rejects(run('fail'), { message: 'on purpose' })
  assert.deepEqual(await run('echo'), { does: 'echo' })
})

test('an endless job is ended, and the next one is served', async () => {
  await assert.rejects(run('loop'), { code: 'WORK_TIMED_OUT' })
  assert.deepEqual(await run('echo'), { does: 'echo' })
})

test('a job that eats memory is ended, and no other suffers', async () => {
  const [eaten, other] = await Promise.allSettled([run('eat'), run('echo')])
  assert.ok(eaten.status === 'rejected' && (eaten.reason as { code?: string }).code === 'WORK_TIMED_OUT')
  assert.equal(other.status, 'fulfilled')
  assert.deepEqual(await run('echo'), { does: 'echo' })
})

test('a thread that dies takes its job with it, and no other', async () => {
  await assert.rejects(run('die'), { message: 'The worker ended by itself.' })
  assert.deepEqual(await run('echo'), { does: 'echo' })
})

test('what waits is bounded', async () => {
  const running = [run('loop'), run('loop'), run('echo'), run('echo')]
  await assert.rejects(run('echo'), { code: 'WORK_REFUSED' })
  const ended = await Promise.allSettled(running)
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

test('after the end nothing is taken, and what waits is told', async () => {
  const short = createHeavyPool({ module: ENDLESS, workers: 1, queue: 4, deadline_ms: 60_000, memory_mb: 48 })
  const running = [short.run('f', 't', { does: 'loop' }), short.run('f', 't', { does: 'echo' })]
  const ended = Promise.allSettled(running)
  await short.stop()
  assert.deepEqual(
    (await ended).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await assert.rejects(short.run('f', 't', { does: 'echo' }), { code: 'WORK_REFUSED' })
})

test('a tool gives the same result in a thread as here', async () => {
  const { tools } = await loadCatalogue()
  const threads = createHeavyPool({ module: TOOLS, workers: 1, queue: 100, deadline_ms: 30_000, memory_mb: 512 })
  const sources = fixedSources(tools)
  for (const tool of tools.filter(({ sources: needed }) => needed.length === 0).slice(0, 60)) {
    const input = tool.input.parse(tool.example)
    assert.deepEqual(await threads.run(tool.family, tool.id, input), { ...(await tool.execute(input, sources)) }, tool.id)
  }
  await threads.stop()
})
