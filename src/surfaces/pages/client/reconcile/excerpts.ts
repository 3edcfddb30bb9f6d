import type { Remark } from './messages.ts'

/** Lines that are shown of each file, and how much of a line. A longer one is a file without line feeds, of which a piece says nothing. */
const MOST_LINES = 60
const LINE_CHARS = 240

/** A remark is about an element that begins on its line. */
const SHOWN_LINES = 3

type Bare = Omit<Remark, 'excerpt'>

/** Adds to each remark the lines that it is about, read from the file once more. */
export async function withExcerpts(remarks: readonly Bare[], files: readonly File[]): Promise<Remark[]> {
  const found = await Promise.all(
    files.map((file, index) => linesOf(file, remarks.filter((one) => one.file === index).flatMap(linesOfRemark))),
  )
  return remarks.map((remark) => {
    const lines = linesOfRemark(remark).map((line) => found[remark.file]?.get(line) ?? '')
    return { ...remark, excerpt: lines[0] === '' ? [] : lines.filter((text) => text !== '') }
  })
}

function linesOfRemark({ line }: Bare): number[] {
  return line === null ? [] : Array.from({ length: SHOWN_LINES }, (_, index) => line + index)
}

async function linesOf(file: File, wanted: readonly number[]): Promise<Map<number, string>> {
  const left = new Set([...new Set(wanted)].toSorted((one, other) => one - other).slice(0, MOST_LINES))
  const found = new Map<number, string>()
  if (left.size === 0) return found
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader()
  let [line, held] = [1, '']
  while (left.size > 0) {
    const { done, value = '' } = await reader.read()
    const pieces = (held + value).split('\n')
    held = done ? '' : (pieces.pop() ?? '')
    for (const piece of pieces) {
      if (left.delete(line) && piece.length <= LINE_CHARS) found.set(line, shown(piece))
      line++
    }
    // What is longer than is shown is not gathered; its end still counts as a line.
    if (held.length > LINE_CHARS) held = held.slice(0, LINE_CHARS + 1)
    if (done) break
  }
  await reader.cancel()
  return found
}

/** Text of a stranger without what could turn the order of reading. */
function shown(line: string): string {
  return line.trim().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
}
