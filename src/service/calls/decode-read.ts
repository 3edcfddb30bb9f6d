import { ofBareBody } from '../catalogue/bare.ts'
import { decodeInput } from '../catalogue/decode.ts'
import type { Tool } from '../catalogue/define.ts'
import type { Problem } from '../problems.ts'
import type { InputRead, ReadyInput } from './outcome.ts'

type DecodedRead =
  | (Omit<ReadyInput, 'input_hash'> & { ok: true; input_hash: string | null; bare: boolean })
  | { ok: false; problem: Problem }

/** Holds what was read against the schema of its tool, unless a worker thread has done so. */
export function decodeRead(tool: Tool, read: InputRead): DecodedRead {
  if (!read.ok) return read
  const { bare = false, ready } = read
  if (ready !== undefined) return { ok: true, ...ready, bare }
  const decoded = decodeInput(tool, read.input)
  if (decoded.ok) return { ok: true, input: decoded.input, packed: null, input_hash: null, bare }
  return bare ? { ok: false, problem: ofBareBody(decoded.problem) } : decoded
}
