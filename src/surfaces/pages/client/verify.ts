import { readKeyList, type PublishedKey } from '../../../pure/receipts/keys.ts'
import { bringIntoView, byId, copyOnClick } from './dom.ts'
import { readGiven } from './given.ts'
import { judge } from './judge.ts'
import { judgementView, unreadableView } from './judgement-view.ts'

/** The page that judges receipts. What it judges never leaves the browser. */

const form = byId('verify', HTMLFormElement)
const field = byId('given', HTMLTextAreaElement)
const pane = byId('answer', HTMLElement)
const asking = byId('asking', HTMLElement)
const keys = publishedKeys()

copyOnClick()
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void verify(field.value)
})
window.addEventListener('hashchange', verifyLinked)
verifyLinked()

function verifyLinked(): void {
  if (location.hash.startsWith('#r=')) void verify(location.hash)
}

async function verify(text: string): Promise<void> {
  const given = readGiven(text)
  if (given === null) {
    show('not a receipt', unreadableView())
    return
  }
  if (text.startsWith('#r=')) field.value = JSON.stringify(given.receipt, null, 2)
  const judgement = judge(given, await keys)
  show(`${judgement.word}. ${judgement.reason}`, judgementView(judgement, given))
}

/** `words` are read out to those who do not see. */
function show(words: string, view: Node): void {
  asking.textContent = words
  pane.replaceChildren(view)
  bringIntoView(pane)
}

/** The key list of this service; null when it cannot be read. */
async function publishedKeys(): Promise<PublishedKey[] | null> {
  try {
    const response = await fetch('/.well-known/xdr-1.json')
    return readKeyList(await response.json())
  } catch {
    return null
  }
}
