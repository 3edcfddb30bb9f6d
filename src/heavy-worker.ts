import { parentPort } from 'node:worker_threads'
import type { HeavyAnswer, HeavyJob } from './adapters/heavy-work/pool.ts'
import type { Tool } from './service/catalogue/define.ts'

/** What a thread of the worker pool runs: one tool at a time, loaded when it is first asked for. Such tools are pure. */

const tools = new Map<string, Promise<Tool>>()

function toolOf({ family, tool }: HeavyJob): Promise<Tool> {
  const known = tools.get(tool)
  if (known !== undefined) return known
  const loading = import(new URL(`./tools/${family}/${tool}.ts`, import.meta.url).href).then((module: { default: Tool }) => module.default)
  tools.set(tool, loading)
  return loading
}

async function answer(job: HeavyJob): Promise<HeavyAnswer> {
  try {
    const tool = await toolOf(job)
    return { ok: true, result: await tool.execute(job.input, null) }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

parentPort?.on('message', (job: HeavyJob) => {
  void answer(job).then((found) => parentPort?.postMessage(found, []))
})
