import type { Receipt } from '../../../../pure/receipts/receipt.ts'
import { showAllowance } from '../allowance.ts'
import { byId, el } from '../dom.ts'
import { paymentView, problemView, unreachableView } from '../problem.ts'
import { isMembers, type Members } from '../shapes.ts'
import type { Side, Summary } from './messages.ts'
import { counted } from './words.ts'

/** What each kind of file is called in the input of the tool. */
const FIELDS: Readonly<Record<string, string>> = {
  'pain.001': 'pain001_xml',
  'pacs.008': 'pacs008_xml',
  'camt.053': 'camt053_xml',
  nacha: 'nacha_ach',
}

export interface ToSign {
  files: Record<Side, File>
  summary: Summary
  require_settlement_evidence: boolean
}

/** Sends both files to the tool and shows the receipt of its answer, and whether that answer is the one that stands on the page. */
export async function sign(to_sign: ToSign, body_bytes: number): Promise<void> {
  const say = (words: string) => void (byId('signing', HTMLElement).textContent = words)
  const show = (...shown: Node[]) => byId('signed', HTMLElement).replaceChildren(...shown)
  show()
  const body = await bodyOf(to_sign)
  const bytes = new TextEncoder().encode(body).length
  if (bytes > body_bytes)
    return say(
      `Together they are ${counted(bytes)} bytes; the tool takes ${counted(body_bytes)}. Sign a smaller pair, or use the command line.`,
    )
  say('Asking …')
  const reply = await send(body)
  if (reply === null) {
    say('The service could not be reached.')
    return show(unreachableView('It may be stopped, or this device may be offline. The result above stays.'))
  }
  const { answer, response } = reply
  const { result, receipt } = answer
  if (response.status === 402) {
    say('The free calls of today are used up.')
    const wait = response.headers.get('retry-after')
    const ways = el('p', {}, document.getElementById('payment-words')?.textContent ?? '')
    return show(paymentView(answer, wait === null ? null : Number(wait), ways))
  }
  if (!response.ok || !isMembers(result) || !isMembers(receipt)) {
    say('The call was refused.')
    return show(problemView(answer))
  }
  const { proofBlock } = await import('../proof.ts')
  showAllowance(answer['allowance'])
  const same = agrees(result, to_sign.summary)
  say(
    same ? 'Signed. The signed answer has the same counts as this page.' : 'Signed, but the signed answer has other counts than this page.',
  )
  const raw = JSON.stringify(answer, null, 2)
  show(
    proofBlock(receipt as unknown as Receipt),
    el('details', { class: 'raw' }, el('summary', {}, 'The whole answer as JSON'), el('pre', { tabindex: '0' }, raw)),
  )
}

async function bodyOf({ files, summary, require_settlement_evidence }: ToSign): Promise<string> {
  const [payments, told] = await Promise.all([files.instructions.text(), files.statement.text()])
  const input = {
    [FIELDS[summary.kinds[0]] ?? '']: payments,
    [FIELDS[summary.kinds[1]] ?? '']: told,
    ...(require_settlement_evidence ? { require_settlement_evidence } : {}),
  }
  return JSON.stringify({ input })
}

async function send(body: string): Promise<{ response: Response; answer: Members } | null> {
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/v1/tools/reconcile/call', { method: 'POST', headers, body })
    const answer: unknown = await response.json()
    return isMembers(answer) ? { response, answer } : null
  } catch {
    return null
  }
}

function agrees(result: Members, { counts }: Summary): boolean {
  const told = result['counts']
  return isMembers(told) && Object.entries(told).every(([verdict, count]) => counts[verdict as keyof typeof counts] === count)
}
