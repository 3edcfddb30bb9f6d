import { systemClock } from '../src/adapters/clock/system.ts'
import { createNonceSource } from '../src/adapters/random/system.ts'
import { chooseSigning } from '../src/adapters/signer/choose.ts'
import { inputHash, prepare, type ReceiptIssuer } from '../src/service/calls/answer.ts'
import { decodeInput, itemCatalogue } from '../src/service/catalogue/decode.ts'
import type { ItemCatalogue, Sources, Tool } from '../src/service/catalogue/define.ts'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { limits } from '../src/service/limits.ts'
import { ZERO_ADDRESS } from '../src/pure/receipts/receipt.ts'
import { REGISTRY_EXAMPLES } from './call-requests.ts'
import { race } from './stopwatch.ts'

interface BatchRace {
  batch_us: number
  call_us: number
  checks_us: number
  /** The batch against one call and the checks of its items. */
  ratio: number
}

/**
 * Compares a full batch with one call of its tool and with as many checks: from the decoded input to the signed receipt, without store
 * and network.
 */
export async function batchRace(): Promise<BatchRace> {
  const { tools } = await loadCatalogue()
  const [one, many] = [toolOf(tools, 'iban-check'), toolOf(tools, 'batch-validate')]
  const stamp = await newStamp()
  // Tools get no more than they name: of these two only the batch reaches for anything.
  const sources = { catalogue: itemCatalogue(() => tools) satisfies ItemCatalogue } as unknown as Sources
  const values = Array.from({ length: limits.batch_items }, (_, index) => REGISTRY_EXAMPLES[index % REGISTRY_EXAMPLES.length] ?? '')
  const items = values.map((value) => ({ tool: one.id, value }))
  const run = (tool: Tool, input: unknown): Record<string, unknown> => {
    const read = decodeInput(tool, input)
    const result = read.ok ? tool.execute(read.input, sources) : null
    if (result === null || result instanceof Promise) throw new Error(`${tool.id} did not answer synchronously`)
    return result
  }
  const call = (tool: Tool, input: Record<string, unknown>) =>
    prepare(stamp, { tool, input_hash: inputHash(stamp, input), previous: null }, run(tool, input), null).result_text.length
  if (run(many, { items })['valid_count'] !== values.length) throw new Error('the batch calls a registry example bad')
  const { batch, single, checks } = race({
    batch: () => call(many, { items }),
    single: () => call(one, { iban: values[0] ?? '' }),
    checks: () => values.reduce((good, iban) => good + Number(run(one, { iban })['valid']), 0),
  })
  return { batch_us: batch, call_us: single, checks_us: checks, ratio: batch / (single + checks) }
}

function toolOf(tools: readonly Tool[], id: string): Tool {
  const found = tools.find((tool) => tool.id === id)
  if (found === undefined) throw new Error(`no tool ${id}`)
  return found
}

async function newStamp(): Promise<ReceiptIssuer> {
  const { signer, crypto } = await chooseSigning()
  return {
    signer: signer(new Uint8Array(32).fill(1)),
    queue: null,
    log: null,
    crypto,
    clock: systemClock,
    recipient: ZERO_ADDRESS,
    origins: { site_url: 'http://127.0.0.1:8402' },
    randomNonce: createNonceSource(),
  }
}
