import { deserialize, serialize } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import type { HeavyAnswer, HeavyJob, HeavyToolJob } from '../adapters/heavy-work/pool.ts'
import type { RegisterId } from '../ports/registers.ts'
import type { BoundTable } from '../pure/datasets/datasets.ts'
import { once } from '../pure/once.ts'
import type { Sources, Tool } from '../service/catalogue/define.ts'
import type { LargeBody } from '../surfaces/http/read-in-thread.ts'

/** Entry of a worker thread: runs one tool at a time, or reads one long body. Tools that run here are pure. */

/** Catalogue data passed to each thread, which loads a tool on its first call. */
export interface HeavyWorkerData {
  tools: readonly Pick<Tool, 'id' | 'family' | 'bounds'>[]
  /** Live registers that are on. */
  registers: readonly RegisterId[]
  /** Tables that are not those of the release, as JSON text, which is copied faster than the rows. */
  tables: string
}

const { tools: listed, registers, tables } = (workerData ?? { tools: [], registers: [], tables: '[]' }) as HeavyWorkerData
if (tables !== '[]') {
  const { bindTables } = await import('../pure/datasets/datasets.ts')
  bindTables(JSON.parse(tables) as BoundTable[])
}
const tools = new Map<string, Promise<Tool>>()

function toolOf({ family, tool }: Pick<HeavyToolJob, 'family' | 'tool'>): Promise<Tool> {
  const known = tools.get(tool)
  if (known !== undefined) return known
  const loading = loadTool(new URL(`../tools/${family}/${tool}.ts`, import.meta.url).href)
  tools.set(tool, loading)
  return loading
}

async function loadTool(address: string): Promise<Tool> {
  const { default: tool } = (await import(address)) as { default: Tool }
  return registers.length === 0 ? tool : (await import('../service/registers.ts')).registerTool(tool, registers)
}

/** Loaded with the first long body: a thread that only runs tools has no use for it. */
const reader = once(async () => {
  const [{ createLargeReader }, { chooseSigning }] = await Promise.all([
    import('../surfaces/large-reader.ts'),
    import('../adapters/signer/choose.ts'),
  ])
  const { crypto } = await chooseSigning()
  const find = (id: string): Promise<Tool | null> => {
    const found = listed.find((tool) => tool.id === id || tool.id.replaceAll('-', '_') === id)
    return found === undefined ? Promise.resolve(null) : toolOf({ family: found.family, tool: found.id })
  }
  return createLargeReader({ tools: listed, find, crypto, pack: serialize })
})

/** The one source that needs nothing from outside: the checks that a batch may run. */
const itemSources = once(async () => {
  const [{ loadCatalogue }, { itemCatalogue }] = await Promise.all([
    import('../service/catalogue/load.ts'),
    import('../service/catalogue/decode.ts'),
  ])
  const { tools: all } = await loadCatalogue()
  // `defineTool` lets a tool see only the sources that it names.
  return { catalogue: itemCatalogue(() => all) } as unknown as Sources
})

async function resultOf(job: HeavyJob): Promise<Record<string, unknown>> {
  // The reader's kinds are those of the surfaces, which the pool does not know.
  if ('read' in job) return { ...(await (await reader())(job.read as LargeBody)) }
  const { input } = job
  const tool = await toolOf(job)
  const sources = tool.sources.includes('catalogue') ? await itemSources() : null
  return tool.execute(input instanceof Uint8Array ? (deserialize(input) as Record<string, unknown>) : input, sources)
}

async function answer(job: HeavyJob): Promise<HeavyAnswer> {
  try {
    return { ok: true, result: await resultOf(job) }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

parentPort?.on('message', (job: HeavyJob) => {
  void answer(job).then((found) => parentPort?.postMessage(found, []))
})
