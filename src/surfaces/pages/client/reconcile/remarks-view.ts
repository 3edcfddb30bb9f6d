import { el } from '../dom.ts'
import { markShape } from '../verdict.ts'
import type { Remark } from './messages.ts'
import { counted } from './words.ts'

const MARKS = { error: 'invalid', warning: 'unverifiable', info: 'done' } as const

/** Remarks on the files, each with its file, its line, and what stands there. The same remark on the same line is told once. */
export function remarksView(remarks: readonly Remark[], remark_count: number, files: readonly string[]): Node[] {
  if (remarks.length === 0) return []
  const once = new Map(remarks.map((one) => [JSON.stringify([one.file, one.line, one.code]), one]))
  const more = remark_count - remarks.length
  return [
    el('h2', { class: 'small' }, 'Remarks on the files'),
    el('ol', { class: 'found' }, ...[...once.values()].map((remark) => remarkItem(remark, files))),
    ...(more > 0 ? [el('p', { class: 'hint' }, `and ${counted(more)} more`)] : []),
  ]
}

function remarkItem({ file, line, severity, code, message, excerpt }: Remark, files: readonly string[]): HTMLElement {
  return el(
    'li',
    { class: severity },
    el(
      'p',
      { class: 'rule' },
      markShape(MARKS[severity]),
      el('span', { class: 'word' }, severity),
      el('code', {}, code),
      el('span', { class: 'where' }, `${files[file] ?? ''}${line === null ? '' : `, line ${counted(line)}`}`),
    ),
    el('p', {}, message),
    line === null || excerpt.length === 0
      ? null
      : el(
          'p',
          { class: 'excerpt' },
          ...excerpt.flatMap((text, index) => [el('span', { class: 'number' }, String(line + index)), el('span', {}, text)]),
        ),
  )
}
