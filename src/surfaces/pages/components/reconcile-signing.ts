import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { isObject } from '../../../pure/is-object.ts'
import { showAllowance } from '../client/allowance.ts'
import type { FileSide, ReconcileSummary } from '../client/reconcile/messages.ts'
import { html } from '../html.ts'
import { storeReceipt } from './my-receipts.ts'
import type { PaymentWays } from './pay-panel.ts'
import { NoAnswer, ProblemView } from './problem.ts'
import { countText } from './reconcile-parts.ts'
import { sendUntilSettled, type CallReply } from './send-call.ts'

/** Field of the tool's input for each kind of file. */
const FIELDS: Readonly<Record<string, string>> = {
  'pain.001': 'pain001_xml',
  'pacs.008': 'pacs008_xml',
  'camt.053': 'camt053_xml',
  nacha: 'nacha_ach',
}

interface SigningProps {
  summary: ReconcileSummary
  files: Partial<Record<FileSide, File>>
  strict: boolean
  /** Largest body that the tool takes. */
  body_bytes: number
  ways: PaymentWays
}

/** Sends both files to the tool and shows the receipt, and whether the signed counts are those of the page. */
export function ReconcileSigning(props: SigningProps) {
  const [status, setStatus] = useState('')
  const [shown, setShown] = useState<VNode | null>(null)
  const sign = async (headers: Record<string, string> = {}) => {
    setShown(null)
    const input = await toolInput(props)
    const bytes = new TextEncoder().encode(`{"input":${input}}`).length
    if (bytes > props.body_bytes)
      return setStatus(
        `The files have ${countText(bytes, 'byte')} together; the limit of the tool is ${countText(props.body_bytes, 'byte')}. Use the command line.`,
      )
    setStatus('Running …')
    const reply = await sendUntilSettled('reconcile', input, headers)
    if (reply.kind === 'answer') {
      showAllowance(reply.body['allowance'])
      storeReceipt(reply.body['receipt'])
    }
    const view = await replyView(reply, props.ways, (payment) => void sign(payment))
    setStatus(statusText(reply, props.summary))
    setShown(view)
  }
  return html`<section id="sign" aria-labelledby="sign-title">
    <h2 id="sign-title">Signed receipt</h2>
    <p class="measure">
      To prove the result to others, let the service reconcile the same files and sign its answer. <b>Both files are sent to the service</b>;
      this counts as one call of <a href="/tools/reconcile"><code>reconcile</code></a>.
    </p>
    <p class="send">
      <button type="button" id="sign-now" onClick=${() => void sign()}>Send both files and sign</button>
      <span class="hint" id="signing" role="status">${status}</span>
    </p>
    <div id="signed">${shown}</div>
  </section>`
}

async function toolInput({ files, summary: { kinds }, strict }: SigningProps): Promise<string> {
  const [payments, statement] = await Promise.all([files.instructions?.text(), files.statement?.text()])
  return JSON.stringify({
    [FIELDS[kinds[0]] ?? '']: payments,
    [FIELDS[kinds[1]] ?? '']: statement,
    ...(strict ? { require_settlement_evidence: true } : {}),
  })
}

function statusText(reply: CallReply, { counts }: ReconcileSummary): string {
  switch (reply.kind) {
    case 'nothing':
      return reply.message
    case 'payment':
      return 'Today’s free calls are used.'
    case 'problem':
      return 'The call was refused.'
    case 'answer': {
      const signed = isObject(reply.body['result']) ? reply.body['result']['counts'] : null
      const equal = isObject(signed) && Object.entries(signed).every(([verdict, count]) => counts[verdict as keyof typeof counts] === count)
      return equal
        ? 'Signed. The signed answer has the same counts as this page.'
        : 'Signed, but the counts of the signed answer differ from this page.'
    }
  }
}

/** The views of a payment and of a receipt are loaded when they are needed. */
async function replyView(reply: CallReply, ways: PaymentWays, pay: (headers: Record<string, string>) => void): Promise<VNode> {
  switch (reply.kind) {
    case 'nothing':
      return html`<${NoAnswer} message=${reply.message} />`
    case 'payment': {
      const { PayPanel } = await import('./pay-panel.ts')
      return html`<${PayPanel} problem=${reply.problem} terms=${reply.terms} wait_s=${reply.wait_s} ways=${ways} pay=${pay} />`
    }
    case 'problem':
      return html`<${ProblemView} problem=${reply.problem} />`
    case 'answer': {
      const { ReceiptProof } = await import('./receipt-proof.ts')
      return html`
        <${ReceiptProof} receipt=${reply.body['receipt']} badge=${reply.body['embeddable_badge']} />
        <details class="raw">
          <summary>Complete answer as JSON</summary>
          <pre tabindex="0">${JSON.stringify(reply.body, null, 2)}</pre>
        </details>
      `
    }
  }
}
