import type { HeavyRead, HeavyWork } from '../../ports/heavy-work.ts'
import { heavyProblem } from '../../service/calls/refusals.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { widerNetwork } from '../../service/clients.ts'
import { limits } from '../../service/limits.ts'
import type { Preflight } from '../../service/preflight/request.ts'
import type { Problem } from '../../service/problems.ts'
import type { MessageRead } from '../json-rpc.ts'

/** Each kind of long body: what its reader needs beside the bytes, and what it gives. `large-reader.ts` has the readers. */
export interface LargeBodies {
  /** Body of `POST /v1/tools/{tool}/call`. */
  rest: { needs: { tool: string }; gives: InputRead }
  /** Message of MCP. `small`: two tools stand for all others. `at`: for the report on a document. */
  mcp: { needs: { small: boolean; at: PreflightAt }; gives: MessageRead }
  a2a: { needs: object; gives: MessageRead }
  /** Body of `POST /v1/protocols/check`. */
  preflight: { needs: { at: PreflightAt }; gives: Preflight }
}

/** What a report on a document needs that is not in it. */
export interface PreflightAt {
  now_s: number
  base_url: string
}

/** A long body on its way to a thread. */
export type LargeBody<Kind extends keyof LargeBodies = keyof LargeBodies> = {
  [One in Kind]: HeavyRead & { kind: One } & LargeBodies[One]['needs']
}[Kind]

/** Who sent a long body. */
export interface LargeSender {
  address: string
  /** The signature of its payment recovers to its payer: the body is read before those of free calls. */
  pays: boolean
}

/** Whether a body is long enough for a thread, which costs a small one more than it saves. */
export function isLarge(bytes: Uint8Array): boolean {
  return bytes.length > limits.thread_body_bytes
}

/** Reads a long body in a thread, in the turn of its client. A thread that is busy, or was ended, is a problem and no exception. */
export async function readInThread<Kind extends keyof LargeBodies>(
  heavy: HeavyWork,
  body: LargeBody<Kind>,
  { address, pays }: LargeSender,
): Promise<LargeBodies[Kind]['gives'] | { ok: false; problem: Problem }> {
  try {
    // The reader of this kind runs on the other side, and gives what the table says.
    return (await heavy.read(body, { client: widerNetwork(address), paid: pays })) as unknown as LargeBodies[Kind]['gives']
  } catch (error) {
    const problem = heavyProblem(error, 'a body of this length')
    if (problem === null) throw error
    return { ok: false, problem }
  }
}
