import type { TargetedEvent } from 'preact'
import { dropArea } from '../client/files.ts'
import { html } from '../html.ts'

/** One input of a tool, derived from its JSON Schema on the server (fields.ts). */
export interface FormField {
  name: string
  label: string
  /**
   * `line` is text of one line, `long` of many, `document` may come from a file; `number` and `date` have the control of their kind; `choice`
   * is a list of literals; `json` is everything else.
   */
  kind: 'line' | 'long' | 'document' | 'number' | 'date' | 'choice' | 'json'
  /** Left out of the call when empty. */
  optional: boolean
  description: string
  /** The example, as it is in the control. */
  value: string
  choices: readonly (readonly [literal: string, label: string])[]
  /** JSON of the right form to start from; null where the example shows it. */
  template: string | null
  /** The value is an array, and `template` one item of it. */
  list: boolean
  most_chars: number | null
}

/** A field with its label, control, description and error. Controls are uncontrolled: the form reads them when it needs their text. */
export function FieldRow({ field, error }: { field: FormField; error: string | undefined }) {
  const { name, label, kind, description, optional } = field
  return html`<div class="field">
    <label for=${`field-${name}`}>
      ${label}${kind === 'json' && html`${' '}<span class="kind">JSON</span>`}${optional && html`${' '}<span class="kind">optional</span>`}
    </label>
    <${Control} field=${field} error=${error} />
    <p class="fault" id=${`fault-${name}`} hidden=${error === undefined}>${error}</p>
    <p class="hint" id=${`about-${name}`}>${description}</p>
  </div>`
}

interface ControlProps {
  field: FormField
  error: string | undefined
}

function Control({ field, error }: ControlProps) {
  const { name, kind, optional, value, choices } = field
  const shared = {
    id: `field-${name}`,
    name,
    'data-optional': optional ? '' : undefined,
    'aria-describedby': `about-${name}`,
    'aria-invalid': error === undefined ? undefined : 'true',
    'aria-errormessage': error === undefined ? undefined : `fault-${name}`,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
  }
  switch (kind) {
    case 'choice':
      return html`<select ...${shared} data-kind="json">
        ${choices.map(([literal, text]) => html`<option value=${literal} selected=${literal === value}>${text}</option>`)}
      </select>`
    case 'line':
      return html`<input ...${shared} data-kind="text" defaultValue=${value} />`
    case 'date':
      return html`<input ...${shared} type="date" data-kind="text" defaultValue=${value} />`
    case 'number':
      return html`<input ...${shared} data-kind="json" inputmode="decimal" defaultValue=${value} />`
    case 'long':
      return html`<${TextArea} shared=${shared} field=${field} />`
    case 'json':
      return html`<${TextArea} shared=${shared} field=${field} /><${TemplateButton} field=${field} />`
    case 'document':
      return html`<${DocumentDrop} shared=${shared} field=${field} />`
  }
}

function TextArea({ shared, field: { kind, value } }: { shared: object; field: FormField }) {
  const rows = Math.min(16, Math.max(kind === 'document' && value !== '' ? 8 : 4, value.split('\n').length))
  return html`<textarea ...${shared} data-kind=${kind === 'json' ? 'json' : 'long'} rows=${rows} defaultValue=${value} />`
}

/** Sets the text of a control as if it had been typed. */
function setText(control: Element | null, text: string): void {
  if (!(control instanceof HTMLTextAreaElement)) return
  control.value = text
  control.dispatchEvent(new Event('input', { bubbles: true }))
  control.focus()
}

/** Inserts a value of the right form: an array gets one more item, anything else is replaced. */
function TemplateButton({ field: { name, template, list } }: { field: FormField }) {
  if (template === null) return null
  const insert = () => {
    const control = document.getElementById(`field-${name}`)
    const text = control instanceof HTMLTextAreaElement ? control.value : ''
    setText(control, list ? withItem(text, template) : template)
  }
  return html`<p class="drop-row">
    <button type="button" class="plain" data-template onClick=${insert}>${list ? 'Add an item' : 'Start from a template'}</button>
  </p>`
}

function withItem(text: string, template: string): string {
  const bare = text.trim()
  const item = template.replaceAll('\n', '\n  ')
  const inner = bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1).trim() : ''
  return inner === '' ? `[\n  ${item}\n]` : `[\n  ${inner},\n  ${item}\n]`
}

/** A document may be typed, pasted, opened or dropped. It is read in the browser and sent only with the form. */
function DocumentDrop({ shared, field }: { shared: object; field: FormField }) {
  const { name, most_chars } = field
  const take = async (area: HTMLElement, file: File | undefined) => {
    if (file === undefined) return
    const read = await readFileText(file, most_chars ?? Infinity)
    const fault = document.getElementById(`fault-${name}`)
    if (fault !== null) {
      fault.textContent = read.ok ? '' : read.message
      fault.hidden = read.ok
    }
    if (read.ok) setText(area.querySelector('textarea'), read.text)
  }
  return html`<div class="drop" ...${dropArea(([file], area) => void take(area, file))}>
    <${TextArea} shared=${shared} field=${field} />
    <p class="drop-row">
      <button type="button" class="plain" onClick=${() => document.getElementById(`file-${name}`)?.click()}>Open a file</button>
      <span class="hint">or drop one here.${most_chars !== null && ` At most ${most_chars.toLocaleString('en-GB')} characters.`}</span>
      <input
        type="file"
        id=${`file-${name}`}
        class="heard"
        tabindex="-1"
        aria-hidden="true"
        onChange=${(event: TargetedEvent<HTMLInputElement>) => {
          const { currentTarget } = event
          const area = currentTarget.closest<HTMLElement>('.drop')
          if (area !== null) void take(area, currentTarget.files?.[0])
          // The same file can be opened again after it has changed.
          currentTarget.value = ''
        }}
      />
    </p>
  </div>`
}

type FileText = { ok: true; text: string } | { ok: false; message: string }

/** Reads a file as UTF-8 text, in the browser. */
async function readFileText(file: File, most_chars: number): Promise<FileText> {
  // A character takes at most four bytes.
  if (file.size > most_chars * 4)
    return { ok: false, message: `The file is too long (${file.size} bytes); the limit is ${most_chars} characters.` }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    return text.length <= most_chars
      ? { ok: true, text }
      : { ok: false, message: `The file has ${text.length} characters; the limit is ${most_chars}.` }
  } catch {
    return { ok: false, message: 'The file is not UTF-8 text, or cannot be read.' }
  }
}
