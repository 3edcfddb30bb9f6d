import { useState } from 'preact/hooks'
import type { HeadlineTone } from '../../../pure/headline.ts'
import { markOf } from '../../../service/catalogue/headlines.ts'
import { html } from '../html.ts'
import { SmallVerdict } from './verdict.ts'

interface LogFinding {
  tone: HeadlineTone
  word: string
  sentence: string
}

/** Checks that a receipt of this service is in its transparency log, by a pasted proof or by the one that the service has. */
export function LogProof({ digest, signature }: { digest: string; signature: string }) {
  const [finding, setFinding] = useState<LogFinding | null>(null)
  const [busy, setBusy] = useState(false)
  const check = async (readProof: (entry: string) => Promise<string>) => {
    setBusy(true)
    setFinding(await checkLog(digest, signature, readProof))
    setBusy(false)
  }
  const pasted = () => document.querySelector<HTMLTextAreaElement>('#log-proof')?.value.trim() ?? ''
  return html`<details>
    <summary>Proof that it is in the transparency log</summary>
    <p class="hint">A receipt is in the log within a minute. Loading the proof sends a hash of the receipt, not the receipt.</p>
    <p class="send">
      <button type="button" class="plain" id="log-load" disabled=${busy} onClick=${() => void check(loadProof)}>Load the proof from this service</button>
    </p>
    <div class="field">
      <label for="log-proof">or paste a proof <span class="kind">C2SP tlog-proof</span></label>
      <textarea id="log-proof" rows="4" autocomplete="off" autocapitalize="off" spellcheck=${false}></textarea>
    </div>
    <p class="send">
      <button type="button" class="plain" id="log-check" disabled=${busy} onClick=${() => void check(() => Promise.resolve(`${pasted()}\n`))}>
        Check the pasted proof
      </button>
    </p>
    <p id="log-finding" role="status">
      ${finding !== null && html`<${SmallVerdict} mark=${markOf(finding.tone)} word=${finding.word} /> ${finding.sentence}`}
    </p>
  </details>`
}

async function loadProof(entry: string): Promise<string> {
  return loadText(`/log/proof/${entry}`)
}

/** Text of an answer. Throws an error with the detail of the problem if there is one. */
async function loadText(path: string): Promise<string> {
  const response = await fetch(path)
  if (response.ok) return response.text()
  const { detail } = (await response.json()) as { detail?: unknown }
  throw new Error(typeof detail === 'string' ? detail : `The service answered with status ${response.status}.`)
}

/** Loads the verifier of the log and its key when they are first needed. */
async function checkLog(digest: string, signature: string, readProof: (entry: string) => Promise<string>): Promise<LogFinding> {
  try {
    const { logEntry, readVerifierKey, verifyLogProof } = await import('../../../pure/log/checkpoint.ts')
    const [entry, key] = [logEntry(digest, signature), readVerifierKey((await loadText('/log/key')).trim())]
    if (entry === null || key === null) return { tone: 'caution', word: 'Not checked', sentence: 'The key of the log cannot be read.' }
    const hex = [...entry].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const { valid, reason, index, checkpoint } = verifyLogProof(await readProof(hex), entry, key)
    if (!valid) return { tone: 'bad', word: 'Not proved', sentence: reason }
    const position = `Entry ${index} of the log ${checkpoint?.origin}, which had ${checkpoint?.size} entries.`
    return { tone: 'good', word: 'In the log', sentence: position }
  } catch (error) {
    return { tone: 'caution', word: 'Not checked', sentence: error instanceof Error ? error.message : 'The log could not be reached.' }
  }
}
