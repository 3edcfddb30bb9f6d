/** The pool of threads for heavy tools, with real threads that loop, eat memory and die. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createHeavyPool } from '../../src/adapters/heavy-work/pool.ts'
import type { HeavyWork } from '../../src/ports/heavy-work.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { fixedSources } from '../support/sources.ts'

const ENDLESS = new URL('../support/endless-worker.ts', import.meta.url)
const TOOLS = new URL('../../src/assembly/heavy-worker.ts', import.meta.url)

const PAUSE = { client_ended: 3, client_ended_ms: 600_000 }

let pool: HeavyWork

before(() => {
  pool = createHeavyPool({ module: ENDLESS, workers: 2, queue: 2, client_queue: 2, ...PAUSE, deadline_ms: 1_500, memory_mb: 48 })
})
after(() => pool.stop())

let clients = 0
/** Runs a job for a client of its own. */
const run = (does: string, more: Record<string, unknown> = {}) =>
  pool.run('family', 'tool', { does, ...more }, { client: String(++clients), paid: false })

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

// attack: documents that cost more than their size
test('an endless job is ended, and the next one is served', async () => {
  await assert.rejects(run('loop'), { code: 'WORK_TIMED_OUT' })
  assert.deepEqual(await run('echo'), { does: 'echo' })
})

// attack: documents that cost more than their size
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

/** A pool whose jobs end when the test says so, and the names of the jobs in the order in which they ended. */
async function ordered(workers: number, queue: number, client_queue: number, use: (jobs: Jobs) => Promise<void>): Promise<void> {
  const made = createHeavyPool({ module: ENDLESS, workers, queue, client_queue, ...PAUSE, deadline_ms: 60_000, memory_mb: 48 })
  const ended: string[] = []
  const job = async (name: string, input: Record<string, unknown>, paid: boolean) => {
    await made.run('f', 't', input, { client: name.charAt(0), paid })
    ended.push(name)
  }
  const gated = (name: string) => {
    const gate = new SharedArrayBuffer(4)
    const done = job(name, { does: 'wait', gate }, false)
    const open = () => {
      Atomics.store(new Int32Array(gate), 0, 1)
      Atomics.notify(new Int32Array(gate), 0)
      return done
    }
    return { open }
  }
  const add = (name: string, paid = false) => job(name, { does: 'echo' }, paid)
  try {
    await use({ gated, add, ended, waiting: () => made.waiting() })
  } finally {
    await made.stop()
  }
}

interface Jobs {
  gated(name: string): { open(): Promise<void> }
  /** The first letter of a name is the client. */
  add(name: string, paid?: boolean): Promise<void>
  ended: string[]
  waiting(): number
}

test('of one client one job runs, and the other threads serve others', async () => {
  await ordered(2, 8, 8, async ({ gated, add, ended, waiting }) => {
    const first = gated('a1')
    const second = add('a2')
    await add('b1')
    await add('c1')
    assert.deepEqual([ended, waiting()], [['b1', 'c1'], 1])
    await first.open()
    await second
    assert.deepEqual(ended, ['b1', 'c1', 'a1', 'a2'])
  })
})

test('clients take turns, and who pays goes first', async () => {
  await ordered(1, 16, 8, async ({ gated, add, ended }) => {
    const first = gated('a1')
    const all = ['a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => add(name))
    all.push(...['b8', 'b9', 'd9'].map((name) => add(name, true)))
    await first.open()
    await Promise.all(all)
    assert.deepEqual(ended, ['a1', 'b8', 'd9', 'b9', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })
})

test('what one client may have waiting is bounded, and a full queue makes room for payers and for clients with less', async () => {
  await ordered(1, 4, 3, async ({ gated, add, ended }) => {
    const first = gated('a0')
    const mine = ['a1', 'a2', 'a3'].map((name) => add(name))
    await assert.rejects(add('a4'), { code: 'WORK_CLIENT_BUSY' })
    const other = add('b1')
    const later = assert.rejects(mine[2] as Promise<void>, { code: 'WORK_REFUSED' })
    const paying = [add('c1', true)]
    await later
    // No client has so many more that its newest should make room.
    const even = assert.rejects(mine[1] as Promise<void>, { code: 'WORK_REFUSED' })
    await assert.rejects(add('b2'), { code: 'WORK_REFUSED' })
    paying.push(add('c2', true))
    await even
    paying.push(add('c3', true))
    const left = await Promise.allSettled([mine[0] as Promise<void>, other, first.open(), ...paying])
    assert.deepEqual(
      left.map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.deepEqual(ended, ['a0', 'c1', 'c2', 'c3', 'b1'])
  })
})

test('a client whose jobs had to be ended waits, paid or not, and others are served', async () => {
  const options = { workers: 1, queue: 4, client_queue: 4, client_ended: 2, client_ended_ms: 600_000, deadline_ms: 1_500, memory_mb: 48 }
  const made = createHeavyPool({ module: ENDLESS, ...options })
  const use = (client: string, does: string, paid = false) => made.run('f', 't', { does }, { client, paid })
  for (const paid of [true, false]) await assert.rejects(use('a', 'loop', paid), { code: 'WORK_TIMED_OUT' })
  for (const paid of [true, false]) await assert.rejects(use('a', 'echo', paid), { code: 'WORK_CLIENT_PAUSED' })
  assert.deepEqual(await use('b', 'echo'), { does: 'echo' })
  await made.stop()
})

test('after the end nothing is taken, and what waits is told', async () => {
  const short = createHeavyPool({ module: ENDLESS, workers: 1, queue: 4, client_queue: 4, ...PAUSE, deadline_ms: 60_000, memory_mb: 48 })
  const by = { client: 'a', paid: false }
  const running = [short.run('f', 't', { does: 'loop' }, by), short.run('f', 't', { does: 'echo' }, by)]
  const ended = Promise.allSettled(running)
  await short.stop()
  assert.deepEqual(
    (await ended).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await assert.rejects(short.run('f', 't', { does: 'echo' }, by), { code: 'WORK_REFUSED' })
})

test('a tool gives the same result in a thread as here', async () => {
  const { tools } = await loadCatalogue()
  const threads = createHeavyPool({
    module: TOOLS,
    workers: 1,
    queue: 100,
    client_queue: 100,
    ...PAUSE,
    deadline_ms: 30_000,
    memory_mb: 512,
  })
  const sources = fixedSources(tools)
  for (const tool of tools.filter(({ sources: needed }) => needed.length === 0).slice(0, 60)) {
    const input = tool.input.parse(tool.example)
    assert.deepEqual(
      await threads.run(tool.family, tool.id, input, { client: 'a', paid: false }),
      { ...(await tool.execute(input, sources)) },
      tool.id,
    )
  }
  await threads.stop()
})
