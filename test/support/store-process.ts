import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** A process on a store, ready to go as soon as it reads a line. */
export interface StoreProcess {
  child: ChildProcessByStdio<Writable, Readable, null>
  lines: Interface
}

/** Starts a script that lies beside this one, with its order as argument. */
export async function startProcess(script: string, order: unknown): Promise<StoreProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)
  assert.deepEqual(await once(lines, 'line'), ['ready'])
  return { child, lines }
}
