/** A process whose heap, bodies and workers are all at their bounds stays within the memory limit of its container. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { containerMemoryMb, limits, MEMORY_PLAN } from '../../../src/service/limits.ts'

interface Measured {
  idle_mb: number
  peak_mb: number
  ended: string[]
  health: number
}

// attack: heap, bodies and workers at their bounds at the same time
test('the worst case of memory fits the container', { skip: process.platform !== 'linux' }, (t) => {
  const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
  const flags = (JSON.parse(command) as string[]).filter((word) => word.startsWith('--'))
  const text = execFileSync(process.execPath, [...flags, 'test/support/memory-worker.ts'], { encoding: 'utf8' })
  const { idle_mb, peak_mb, ended, health } = JSON.parse(text) as Measured
  t.diagnostic(
    `resident memory: ${Math.round(idle_mb)} MiB at rest, ${Math.round(peak_mb)} MiB at the peak, limit ${containerMemoryMb()} MiB`,
  )
  assert.deepEqual(
    ended,
    Array.from({ length: limits.heavy_workers }, () => 'HeavyWorkError: The work took more memory than a call may.'),
  )
  assert.equal(health, 200)
  assert.ok(peak_mb > MEMORY_PLAN.heap_mb + limits.heavy_workers * limits.heavy_memory_mb * 0.8, `${peak_mb} is not the worst case`)
  assert.ok(peak_mb <= containerMemoryMb(), `${peak_mb} of ${containerMemoryMb()}`)
})
