import type { HeavyRead, HeavyWork } from '../../ports/heavy-work.ts'
import { heavyWorkProblem } from '../../service/calls/refusals.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { widerNetwork } from '../../service/clients.ts'
import { limits } from '../../service/limits.ts'
import type { Preflight } from '../../service/preflight/preflight.ts'
import type { Problem } from '../../service/problems.ts'
import type { MessageRead } from '../json-rpc.ts'

/** Input and result of each kind of long body; the readers are in `large-reader.ts`. */
export interface LargeBodies {
  rest: { needs: { tool: string }; gives: InputRead }
  /** MCP message. `small`: a list with find_tool and call_tool. `at`: facts for a preflight report. */
  mcp: { needs: { small: boolean; at: PreflightAt }; gives: MessageRead }
  a2a: { needs: object; gives: MessageRead }
  preflight: { needs: { at: PreflightAt }; gives: Preflight }
}

/** Facts for a preflight report that are not in the document. */
export interface PreflightAt {
  now_s: number
  base_url: string
}

/** Long body with the facts that its reader needs. */
export type LargeBody<Kind extends keyof LargeBodies = keyof LargeBodies> = {
  [One in Kind]: HeavyRead & { kind: One } & LargeBodies[One]['needs']
}[Kind]

/** Sender of a long body. */
export interface LargeSender {
  address: string
  /** The signature of a payment recovers to its payer; such bodies are read before those of free calls. */
  pays: boolean
}

/** Short bodies are read on the event loop, because a thread costs more than it saves. */
export function isLarge(bytes: Uint8Array): boolean {
  return bytes.length > limits.thread_body_bytes
}

/** Reads a long body in a thread, in the order of its clients. A busy or terminated thread is returned as a problem. */
export async function readInThread<Kind extends keyof LargeBodies>(
  heavy: HeavyWork,
  body: LargeBody<Kind>,
  { address, pays }: LargeSender,
): Promise<LargeBodies[Kind]['gives'] | { ok: false; problem: Problem }> {
  try {
    // The reader of this kind runs in the thread and returns the type of the table.
    return (await heavy.read(body, { client: widerNetwork(address), paid: pays })) as unknown as LargeBodies[Kind]['gives']
  } catch (error) {
    const problem = heavyWorkProblem(error, 'a body of this length')
    if (problem === null) throw error
    return { ok: false, problem }
  }
}
