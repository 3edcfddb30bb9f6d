import { objectsIn } from '../../../pure/is-object.ts'
import type { FormField } from './form-fields.ts'

/** One filled control of a form. */
export interface InputEntry {
  name: string
  text: string
  /** The text is JSON, such as a number; other text becomes a string. */
  json: boolean
  optional: boolean
}

type FormControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The example that the server put into the form. */
export function exampleEntries(fields: readonly FormField[]): InputEntry[] {
  return fields.map(({ name, kind, value, optional }) => ({ name, text: value, json: isJsonKind(kind), optional }))
}

function isJsonKind(kind: FormField['kind']): boolean {
  return kind === 'json' || kind === 'choice' || kind === 'number'
}

/** Returns the current entries of the form. */
export function formEntries(form: HTMLFormElement): InputEntry[] {
  return [...form.querySelectorAll<FormControl>('[data-kind]')].map(({ name, value, dataset }) => ({
    name,
    text: value,
    json: dataset['kind'] === 'json',
    optional: dataset['optional'] !== undefined,
  }))
}

/** The input as JSON text. JSON is inserted as it was typed, so that the service reads the same literals. */
export function inputText(entries: readonly InputEntry[]): string {
  const members = entries
    .filter(({ text, json, optional }) => text.trim() !== '' || (!json && !optional))
    .map(({ name, text, json }) => `${JSON.stringify(name)}:${json ? text.trim() : JSON.stringify(text)}`)
  return `{${members.join(',')}}`
}

/** Errors of entries that should be JSON and are not, by name. */
export function syntaxErrors(entries: readonly InputEntry[], fields: readonly FormField[]): Record<string, string> {
  const broken = entries.filter(({ text, json }) => json && text.trim() !== '' && !isJson(text))
  return Object.fromEntries(
    broken.map(({ name, text }) => [
      name,
      fields.find((field) => field.name === name)?.kind === 'number'
        ? `"${text}" is not a number; use digits and a decimal point, such as 12.5.`
        : 'This is not valid JSON yet.',
    ]),
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Errors of a problem by the name of the field that they point into. */
export function fieldErrors(errors: unknown): Record<string, string> {
  return Object.fromEntries(
    objectsIn(errors).flatMap(({ pointer, message }) => {
      const name = typeof pointer === 'string' ? /^\/input\/([^/]+)/.exec(pointer)?.[1] : undefined
      return name === undefined ? [] : [[name, String(message)]]
    }),
  )
}
