import type { Receipt } from '../../../pure/receipts/receipt.ts'
import { showAllowance } from './allowance.ts'
import { answerView, type Asked, type Documents } from './answer.ts'
import { areReadable, clearFaults, controlsOf, inputText, isBroken, showFaults } from './ask/controls.ts'
import { startSamples } from './ask/samples-pane.ts'
import { send, type Reply } from './ask/send.ts'
import { bringIntoView, byId, copyOnClick } from './dom.ts'
import { headlineOf } from './headlines.ts'
import { paymentView, problemView, unreachableView } from './problem.ts'
import type * as proofRoom from './proof.ts'
import { bodyOf } from './samples.ts'
import { isMembers, textOf, type Members } from './shapes.ts'

/**
 * The form of a tool: sends the call, shows what came of it, and keeps the samples in step. `documents` shows findings at their place in
 * the input, where a page has inputs that have places.
 */
export function startAsk(documents: Documents | null): void {
  const form = byId('ask', HTMLFormElement)
  const pane = byId('answer', HTMLElement)
  const restore = byId('restore', HTMLButtonElement)
  const controls = controlsOf(form)
  const { tool = '', api = '', mcp = '' } = form.dataset
  const example = inputText(controls)
  const typed = () => (controls.some(isBroken) ? null : inputText(controls))
  const follow = startSamples({ tool, api_url: api, mcp_url: mcp }, example, typed)
  const changed = () => {
    restore.disabled = inputText(controls) === example
    follow()
  }
  copyOnClick()
  const show = (answer: Shown) => answerView({ ...answer, asked: askedOf(controls), documents }, pane.classList.contains('short'))
  const showExample = () => showExampleIn(pane, show)
  showExample()
  // The browser may have kept what was typed before the page was loaded anew.
  changed()
  form.addEventListener('input', changed)
  form.addEventListener('focusin', () => void verifier(), { once: true })
  restore.addEventListener('click', () => {
    form.reset()
    clearFaults(controls)
    changed()
    showExample()
  })
  const ask = asker(tool, pane, controls, show)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void ask()
  })
}

type Controls = ReturnType<typeof controlsOf>
type Verify = typeof proofRoom

/** What verifies receipts is the larger part of the scripts: it comes when somebody turns to the form, and is there when the answer is. */
let verifying: Promise<Verify | null> | null = null

function verifier(): Promise<Verify | null> {
  verifying ??= import('./proof.ts').catch(() => {
    verifying = null
    return null
  })
  return verifying
}

/** What came, before it is held beside what was asked. */
type Shown = { result: Members; proof: HTMLElement | null; text: string | null }
type Show = (answer: Shown) => Node

function showExampleIn(pane: HTMLElement, show: Show): void {
  const result: unknown = JSON.parse(pane.dataset['example'] ?? 'null')
  if (isMembers(result)) pane.replaceChildren(show({ result, proof: null, text: null }))
}

/** The texts of the fields, as an answer refers to them. */
function askedOf(controls: Controls): Asked {
  return new Map(controls.map(({ name, value }) => [name, value]))
}

function asker(tool: string, pane: HTMLElement, controls: Controls, show: Show): () => Promise<void> {
  const asking = byId('asking', HTMLElement)
  let latest = 0
  return async () => {
    const turn = ++latest
    clearFaults(controls)
    if (!areReadable(controls)) return
    asking.classList.remove('heard')
    asking.textContent = 'asking …'
    pane.setAttribute('aria-busy', 'true')
    const [reply, proof] = await Promise.all([send(tool, bodyOf(inputText(controls))), verifier()])
    // A later call has overtaken this one.
    if (turn !== latest) return
    pane.removeAttribute('aria-busy')
    asking.classList.add('heard')
    if (reply.kind === 'problem') showFaults(controls, reply.problem['errors'])
    const view = viewOf(reply, proof, show)
    asking.textContent = view.words
    pane.replaceChildren(view.shown)
    bringIntoView(pane)
  }
}

interface View {
  /** Read out to those who do not see. */
  words: string
  shown: Node
}

function viewOf(reply: Reply, proof: Verify | null, show: Show): View {
  switch (reply.kind) {
    case 'nothing':
      return { words: reply.words, shown: unreachableView(reply.words) }
    case 'payment':
      return {
        words: 'The free calls of today are used up.',
        shown: paymentView(reply.problem, reply.wait_s, document.getElementById('payment-words')),
      }
    case 'problem':
      return { words: textOf(reply.problem['title']) ?? 'The call was refused.', shown: problemView(reply.problem) }
    case 'answer':
      return answered(reply.body, proof, show)
  }
}

function answered(body: Members, proof: Verify | null, show: Show): View {
  showAllowance(body['allowance'])
  const result = isMembers(body['result']) ? body['result'] : {}
  const { word, sentence } = headlineOf(result)
  const words = [word, sentence].join('. ')
  const receipt = body['receipt'] as Receipt
  const block = proof === null ? unreadProof() : proof.proofBlock(receipt)
  return { words, shown: show({ result, proof: block, text: JSON.stringify(body, null, 2) }) }
}

function unreadProof(): HTMLElement {
  const words = document.createElement('p')
  words.className = 'hint'
  words.textContent = 'The script that verifies receipts could not be loaded, so nothing is said of this one. It stands in the JSON.'
  return words
}
