import { byId } from '../dom.ts'
import { sampleText, type SampleKind, type SampleTarget } from '../samples.ts'
import { startTabs } from '../tabs.ts'

/** Longer inputs are not repeated in samples: no shell takes them on a line, and nobody reads them there. */
const SAMPLE_CHARS = 20_000

/** Where a sample needs something that the reader may not have. */
const WORDS: Partial<Record<SampleKind, string>> = {
  library: 'The client library lies in the folder src/client of the service; it verifies each receipt before it hands out the answer.',
  mcp: 'The message that an MCP client sends, here in a shell. Clients take the address of the server alone.',
  cli: 'On your own machine: no server, no allowance, signed with your own key.',
}
const TOO_LONG = 'The input is too long for a sample, so this one holds the example.'

/** Keeps the sample that is shown in step with what is typed; `input` gives it, or null while it is no JSON. */
export function startSamples(target: SampleTarget, example: string, input: () => string | null): () => void {
  const list = byId('sample-kinds', HTMLElement)
  const panel = byId('sample-panel', HTMLElement)
  let kind: SampleKind = 'curl'
  const show = () => {
    const given = input()
    // What is half typed is no sample: the last whole one stays.
    if (given === null) return
    const long = given.length > SAMPLE_CHARS
    byId('sample', HTMLElement).textContent = sampleText(kind, target, long ? example : given)
    byId('sample-words', HTMLElement).textContent = [WORDS[kind], long ? TOO_LONG : undefined].filter(Boolean).join(' ')
  }
  startTabs(list, (tab) => {
    kind = tab.dataset['kind'] as SampleKind
    panel.setAttribute('aria-labelledby', tab.id)
    show()
  })
  return show
}
