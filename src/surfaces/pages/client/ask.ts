import type { Receipt } from '../../../pure/receipts/receipt.ts'
import { VERDICT_TEXT, verdictWord } from '../../../service/calls/proof.ts'
import { answerView } from './answer.ts'
import { bringIntoView, byId, copyOnClick } from './dom.ts'
import { paymentView, problemView, unreachableView } from './problem.ts'
import { isMembers, listOf, textOf, type Members } from './shapes.ts'

/** The form of a tool: sends the call, shows what came of it, and keeps the line for a shell in step. */

const form = byId('ask', HTMLFormElement)
const pane = byId('answer', HTMLElement)
const asking = byId('asking', HTMLElement)
const folded = pane.classList.contains('short')
const controls = [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>('[data-kind]')]

copyOnClick()
showExample()
form.addEventListener('input', showCurl)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void ask()
})

function showExample(): void {
  const example: unknown = JSON.parse(pane.dataset['example'] ?? 'null')
  if (isMembers(example)) pane.replaceChildren(answerView(example, null, folded))
}

/** The body as it is sent. What is no text goes in as it was typed, so that the service reads the very same literals. */
function bodyText(): string {
  const filled = controls.filter(
    ({ value, dataset }) => value.trim() !== '' || (dataset['kind'] !== 'json' && dataset['optional'] === undefined),
  )
  const members = filled.map(
    ({ name, value, dataset }) => `${JSON.stringify(name)}:${dataset['kind'] === 'json' ? value.trim() : JSON.stringify(value)}`,
  )
  return `{"input":{${members.join(',')}}}`
}

function showCurl(): void {
  byId('curl', HTMLElement).textContent = `curl -s ${form.dataset['url'] ?? ''} \\\n  -d '${bodyText().replaceAll("'", "'\\''")}'`
}

let latest = 0

async function ask(): Promise<void> {
  const turn = ++latest
  clearFaults()
  if (!isReadable()) return
  asking.classList.remove('heard')
  asking.textContent = 'asking …'
  pane.setAttribute('aria-busy', 'true')
  const view = await answered(bodyText())
  // A later call has overtaken this one.
  if (turn !== latest) return
  pane.removeAttribute('aria-busy')
  asking.classList.add('heard')
  asking.textContent = view.words
  pane.replaceChildren(view.shown)
  bringIntoView(pane)
}

interface View {
  /** Read out to those who do not see. */
  words: string
  shown: Node
}

async function answered(body: string): Promise<View> {
  const reply = await send(body)
  if (reply !== null) return viewOf(reply.response, reply.text)
  const words = 'The service could not be reached.'
  return { words, shown: unreachableView(`${words} It may be stopped, or this device may be offline.`) }
}

/** The response and its text; null when none came, or not to its end. */
async function send(body: string): Promise<{ response: Response; text: string } | null> {
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(form.dataset['path'] ?? '', { method: 'POST', headers, body })
    return { response, text: await response.text() }
  } catch {
    return null
  }
}

function viewOf(response: Response, text: string): View {
  const answer = parsed(text)
  if (answer === null) {
    const words = `The service answered with status ${response.status} and no JSON.`
    return { words, shown: unreachableView(words) }
  }
  if (response.status === 402) {
    const wait = response.headers.get('retry-after')
    const words = document.getElementById('payment-words')?.textContent ?? ''
    return { words: 'The free calls of today are used up.', shown: paymentView(answer, wait === null ? null : Number(wait), words) }
  }
  const { result, receipt } = answer
  if (!response.ok || !isMembers(result) || !isMembers(receipt)) {
    showFaults(listOf(answer['errors']))
    return { words: textOf(answer['title']) ?? 'The call was refused.', shown: problemView(answer) }
  }
  showAllowance(answer['allowance'])
  const spoken = [VERDICT_TEXT[verdictWord(result)], textOf(result['reason']) ?? ''].join('. ')
  return {
    words: spoken,
    shown: answerView(result, { receipt: receipt as unknown as Receipt, text: JSON.stringify(answer, null, 2) }, folded),
  }
}

function parsed(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return isMembers(value) ? value : null
  } catch {
    return null
  }
}

function showAllowance(allowance: unknown): void {
  if (!isMembers(allowance)) return
  const shown = byId('allowance', HTMLElement)
  shown.hidden = false
  shown.textContent = `${String(allowance['remaining'])} of ${String(allowance['limit'])} free calls left today`
}

/** Whether every field that takes JSON holds some. */
function isReadable(): boolean {
  const broken = controls.filter(({ value, dataset }) => dataset['kind'] === 'json' && value.trim() !== '' && !isJson(value))
  for (const { name } of broken) showFault(name, 'This is not JSON yet.')
  broken[0]?.focus()
  return broken.length === 0
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function showFaults(errors: readonly Members[]): void {
  for (const { pointer, message } of errors) showFault(/^\/input\/([^/]+)/.exec(textOf(pointer) ?? '')?.[1] ?? '', textOf(message) ?? '')
}

function showFault(name: string, words: string): void {
  const control = controls.find((one) => one.name === name)
  const shown = document.getElementById(`fault-${name}`)
  if (control === undefined || shown === null) return
  control.setAttribute('aria-invalid', 'true')
  control.setAttribute('aria-errormessage', shown.id)
  shown.textContent = words
  shown.hidden = false
}

function clearFaults(): void {
  for (const control of controls) {
    control.removeAttribute('aria-invalid')
    const shown = document.getElementById(`fault-${control.name}`)
    if (shown !== null) shown.hidden = true
  }
}
