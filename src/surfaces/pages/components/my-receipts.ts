import { useEffect, useState } from 'preact/hooks'
import { isObject, objectsIn, type Members } from '../../../pure/is-object.ts'
import { saveFile } from '../client/files.ts'
import { html } from '../html.ts'

/** Receipts of the answers that this browser got, newest first. They stay in this browser. */
const KEY = 'assay-receipts'
const MOST = 500
const CHANGED = 'assay-receipts-changed'

export function storeReceipt(receipt: unknown): void {
  if (!isObject(receipt)) return
  write([receipt, ...readReceipts()].slice(0, MOST))
}

function readReceipts(): readonly Members[] {
  try {
    return objectsIn(JSON.parse(localStorage.getItem(KEY) ?? '[]'))
  } catch {
    // No storage in this browser, or changed by hand.
    return []
  }
}

function write(receipts: readonly Members[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(receipts))
  } catch {
    // Full or forbidden: the answer still shows its receipt.
  }
  dispatchEvent(new Event(CHANGED))
}

/** The list with its export; nothing while it is empty. */
export function MyReceipts() {
  const [receipts, setReceipts] = useState<readonly Members[]>([])
  useEffect(() => {
    const read = () => setReceipts(readReceipts())
    read()
    addEventListener(CHANGED, read)
    return () => removeEventListener(CHANGED, read)
  }, [])
  if (receipts.length === 0) return null
  return html`<details class="my-receipts">
    <summary>Receipts in this browser (${receipts.length})</summary>
    <p class="hint">They are stored on this device only.</p>
    <p class="act">
      <button type="button" class="copy" onClick=${() => download(receipts)}>Export as JSON lines</button>
      <button type="button" class="copy" onClick=${() => write([])}>Delete all</button>
    </p>
    <ul>
      ${receipts
        .slice(0, 20)
        .map(
          ({ tool, ts }) =>
            html`<li><code>${String(tool)}</code> ${typeof ts === 'number' ? new Date(ts * 1000).toLocaleString() : ''}</li>`,
        )}
    </ul>
  </details>`
}

function download(receipts: readonly Members[]): void {
  const lines = receipts.map((receipt) => JSON.stringify(receipt)).join('\n')
  saveFile(new Blob([lines, '\n'], { type: 'application/jsonl' }), 'assay-receipts.jsonl')
}
