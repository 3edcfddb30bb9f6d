import { limits } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import type { PreflightDesk } from '../preflight/serve.ts'
import { bringsReadablePayment } from '../rest.ts'
import type { MessageRead } from '../json-rpc.ts'
import { isPreflight } from './preflight-message.ts'
import type { McpExchange } from './tool-call.ts'

/** How one message beyond the unpaid bound comes to be read. */
export interface LargeReading {
  /** Asked when there is one: whether it is read, and how much of it. */
  mayRead(): Promise<boolean | number>
  /** What was read, or why it may not go on. */
  judged(read: MessageRead): MessageRead
  /** Whether it was counted as a document to check already. */
  is_counted(): boolean
}

/**
 * A payment inside a message is not seen before it is read: for a large one an allowance speaks, or a payment in a header. Without them it may
 * still be a document to check, which is free: it is counted as one, read as far as one may reach, and refused when it is anything else.
 */
export function readLarge({ allowance, onFault }: AppDeps['call'], desk: PreflightDesk, { header, address }: From): LargeReading {
  let unpaid: Problem | null = null
  let refused: Problem | null = null
  const unpaidFault = async (): Promise<Problem | null> => {
    if (bringsReadablePayment(header)) return null
    try {
      return (await allowance.peek(header('mcp-name') ?? '', address)).remaining > 0 ? null : tooLargeUnpaid()
    } catch (error) {
      onFault(error, 'mcp')
      return problem('STORE_UNAVAILABLE', 'Try again shortly.', { retry_after_s: limits.store_retry_s })
    }
  }
  return {
    async mayRead() {
      unpaid = await unpaidFault()
      if (unpaid === null) return true
      refused = desk.refuse(address)
      return refused === null ? limits.preflight_body_bytes : false
    },
    judged(read) {
      if (refused !== null) return { ok: false, problem: refused }
      if (unpaid === null || (read.ok && isPreflight(read.message.value))) return read
      const isBroken = !read.ok && read.problem.code !== 'PAYLOAD_TOO_LARGE' && unpaid.code === 'PAYLOAD_TOO_LARGE'
      return isBroken ? read : { ok: false, problem: unpaid }
    },
    is_counted: () => unpaid !== null && refused === null,
  }
}

type From = Pick<McpExchange, 'header' | 'address'>

function tooLargeUnpaid(): Problem {
  const { unpaid_body_bytes, preflight_body_bytes } = limits
  const detail = `A message beyond ${unpaid_body_bytes} bytes is read only while free calls are left, or with a payment; a document to check up to ${preflight_body_bytes}.`
  return problem('PAYLOAD_TOO_LARGE', detail)
}
