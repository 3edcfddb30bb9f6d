import { listOf, textOf, type Members } from '../shapes.ts'

/** The fields of a form, and what is typed into them. */

export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

export function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.querySelectorAll<Control>('[data-kind]')]
}

/** The input as it is sent. What is no text goes in as it was typed, so that the service reads the very same literals. */
export function inputText(controls: readonly Control[]): string {
  const filled = controls.filter(
    ({ value, dataset }) => value.trim() !== '' || (dataset['kind'] !== 'json' && dataset['optional'] === undefined),
  )
  const members = filled.map(
    ({ name, value, dataset }) => `${JSON.stringify(name)}:${dataset['kind'] === 'json' ? value.trim() : JSON.stringify(value)}`,
  )
  return `{${members.join(',')}}`
}

/** Whether every field that takes JSON holds some; says so at those that do not, and leads to the first. */
export function areReadable(controls: readonly Control[]): boolean {
  const broken = controls.filter(isBroken)
  for (const control of broken) showFault(control, control.tagName === 'INPUT' ? 'This is no number.' : 'This is not JSON yet.')
  broken[0]?.focus()
  return broken.length === 0
}

export function isBroken({ value, dataset }: Control): boolean {
  return dataset['kind'] === 'json' && value.trim() !== '' && !isJson(value)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What the service found wrong, at the fields that it names. */
export function showFaults(controls: readonly Control[], errors: unknown): void {
  for (const { pointer, message } of listOf(errors) satisfies Members[]) {
    const name = /^\/input\/([^/]+)/.exec(textOf(pointer) ?? '')?.[1]
    const control = controls.find((one) => one.name === name)
    if (control !== undefined) showFault(control, textOf(message) ?? '')
  }
}

function showFault(control: Control, words: string): void {
  const shown = document.getElementById(`fault-${control.name}`)
  if (shown === null) return
  control.setAttribute('aria-invalid', 'true')
  control.setAttribute('aria-errormessage', shown.id)
  shown.textContent = words
  shown.hidden = false
}

export function clearFaults(controls: readonly Control[]): void {
  for (const control of controls) {
    control.removeAttribute('aria-invalid')
    const shown = document.getElementById(`fault-${control.name}`)
    if (shown !== null) shown.hidden = true
  }
}
