import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../../src/service/read-settings.ts'
import { start, type Running, type StartOptions } from '../../src/assembly/start.ts'

export interface TestApp {
  /** Origin that the service listens on. */
  url: string
  data_dir: string
  running: Running
  stop(): Promise<void>
}

export interface TestAppOptions {
  free_daily?: number
  /** Further settings by their names. */
  settings?: Record<string, string>
  /** An existing data folder to serve from; it is left in place. */
  data_dir?: string
  /** Parts that a start brings otherwise. */
  start?: StartOptions
}

/** The real service on a free port, over a data folder of its own that goes away with it. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const data_dir = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'assay-test-')))
  const read = readSettings({
    ASSAY_PORT: '0',
    ASSAY_DATA_DIR: data_dir,
    ASSAY_LOG_LEVEL: 'silent',
    // So that every example has an answer.
    ASSAY_PILOT_CREDIT: 'on',
    ASSAY_FREE_DAILY: String(options.free_daily ?? 1000),
    ...options.settings,
  })
  if (!read.ok) throw new Error(read.message)
  const running = await start(read.settings, options.start)
  const stop = async () => {
    await running.stop()
    if (options.data_dir === undefined) await rm(data_dir, { recursive: true, force: true })
  }
  return { url: running.url, data_dir, running, stop }
}

/** One call over REST. */
export async function restCall(url: string, tool: string, input: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/tools/${tool}/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ input }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}
