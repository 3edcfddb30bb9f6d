import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { SAMPLES, sampleText, type SampleKind, type SampleTarget } from './sample-text.ts'
import { Tabs } from './tabs.ts'

/** Longer inputs are not repeated in samples: no shell takes them on a command line. */
const SAMPLE_CHARS = 20_000

const NOTES: Partial<Record<SampleKind, string>> = {
  library: 'The client library is in src/client of the service; it verifies each receipt before it returns the answer.',
  mcp: 'The message that an MCP client sends, here from a shell. Clients need only the address of the server.',
  cli: 'On your own machine: no server, no limit, signed with your own key.',
}

export interface SamplesProps {
  target: SampleTarget
  /** JSON text of the form, and of the example. */
  input: string
  example: string
}

/** The same call for programs, one tab a language, in step with the form. */
export function Samples({ target, input, example }: SamplesProps) {
  const [kind, setKind] = useState<SampleKind>('curl')
  const long = input.length > SAMPLE_CHARS
  const note = [NOTES[kind], long ? 'The input is too long for a sample, so this one uses the example.' : undefined]
    .filter(Boolean)
    .join(' ')
  return html`<section class="samples" aria-labelledby="samples-title">
    <div class="samples-head">
      <h2 id="samples-title">The same call for programs</h2>
      <button type="button" class="copy" data-copies="sample">Copy</button>
    </div>
    <${Tabs} name="sample" label="Language" tabs=${Object.entries(SAMPLES)} selected=${kind} select=${setKind} />
    <div role="tabpanel" id="sample-panel" aria-labelledby=${`sample-${kind}`}>
      <pre id="sample" tabindex="0">${sampleText(kind, target, long ? example : input)}</pre>
      <p class="hint" id="sample-words">${note}</p>
    </div>
  </section>`
}
