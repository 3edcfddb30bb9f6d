import type { FileRemark } from './messages.ts'

/** Lines shown of each file, and their length. Longer lines are left out: they are files without line feeds. */
const MOST_LINES = 60
const LINE_CHARS = 240

/** A finding is about an element that begins on its line. */
const SHOWN_LINES = 3

type BareRemark = Omit<FileRemark, 'excerpt'>

/** Adds to each finding the lines that it is about, read from the file again. */
export async function withExcerpts(remarks: readonly BareRemark[], files: readonly File[]): Promise<FileRemark[]> {
  const found = await Promise.all(
    files.map((file, index) => readLines(file, remarks.filter((one) => one.file === index).flatMap(remarkLines))),
  )
  return remarks.map((remark) => {
    const lines = remarkLines(remark).map((line) => found[remark.file]?.get(line) ?? '')
    return { ...remark, excerpt: lines[0] === '' ? [] : lines.filter((text) => text !== '') }
  })
}

function remarkLines({ line }: BareRemark): number[] {
  return line === null ? [] : Array.from({ length: SHOWN_LINES }, (_, index) => line + index)
}

async function readLines(file: File, wanted: readonly number[]): Promise<Map<number, string>> {
  const left = new Set([...new Set(wanted)].toSorted((one, other) => one - other).slice(0, MOST_LINES))
  const found = new Map<number, string>()
  if (left.size === 0) return found
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader()
  let [line, rest] = [1, '']
  while (left.size > 0) {
    const { done, value = '' } = await reader.read()
    const pieces = (rest + value).split('\n')
    rest = done ? '' : (pieces.pop() ?? '')
    for (const piece of pieces) {
      if (left.delete(line) && piece.length <= LINE_CHARS) found.set(line, printable(piece))
      line++
    }
    // The rest of a longer line is not collected; its end still counts as a line.
    if (rest.length > LINE_CHARS) rest = rest.slice(0, LINE_CHARS + 1)
    if (done) break
  }
  await reader.cancel()
  return found
}

/** Untrusted text without control characters, which could change its reading direction. */
function printable(line: string): string {
  return line.trim().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
}
