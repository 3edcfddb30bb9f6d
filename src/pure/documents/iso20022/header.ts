/** Reads the business application header (head.001), as far as rules look at it. Its structure is not checked. */
import type { BusinessHeader } from './rule-engine.ts'

export function emptyHeader(): BusinessHeader {
  return {
    present: false,
    business_service: null,
    message_definition: null,
    message_id: null,
    priority: null,
    copy: false,
    from_bic: null,
    to_bic: null,
  }
}

/** Told of what is inside AppHdr by local names. */
export class HeaderReader {
  private readonly header: BusinessHeader
  private readonly path: string[] = []

  constructor(header: BusinessHeader) {
    this.header = header
    header.present = true
  }

  open(local: string): void {
    this.path.push(local)
  }

  /** Whether the header itself is over. */
  close(text: string | null): boolean {
    const [first = '', second = ''] = this.path
    const last = this.path.pop()
    if (last === undefined) return true
    if (text !== null) this.take(first, second, last, text.trim())
    return false
  }

  private take(first: string, second: string, last: string, text: string): void {
    const { header } = this
    // A header may carry related headers inside; only its own elements count.
    if (first === 'Fr' && second === 'FIId' && (last === 'BICFI' || last === 'BIC')) header.from_bic ??= text
    else if (first === 'To' && second === 'FIId' && (last === 'BICFI' || last === 'BIC')) header.to_bic ??= text
    else if (second !== '') return
    else if (last === 'BizSvc') header.business_service ??= text
    else if (last === 'MsgDefIdr') header.message_definition ??= text
    else if (last === 'BizMsgIdr') header.message_id ??= text
    else if (last === 'Prty') header.priority ??= text
    else if (last === 'CpyDplct') header.copy = true
    else if (last === 'PssblDplct' && (text === 'true' || text === '1')) header.copy = true
  }
}
