/** Line index of a text: offset of each line, and line of each offset. Only line feeds end a line, as in the positions of the service. */
export class Lines {
  readonly text: string
  private readonly starts: number[] = [0]

  constructor(text: string) {
    this.text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1)
  }

  get count(): number {
    return this.starts.length
  }

  /** First character of a line, from 0, and the one behind its last; the line feed is not part of it. */
  range(line: number): { start: number; end: number } {
    const start = this.starts[line] ?? this.text.length
    return { start, end: (this.starts[line + 1] ?? this.text.length + 1) - 1 }
  }

  /** Returns the line number, from 0, of a character offset. */
  lineOf(position: number): number {
    let [low, high] = [0, this.starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.starts[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Line and column as people count them, from 1. */
  place(position: number): { line: number; column: number } {
    const line = this.lineOf(position)
    return { line: line + 1, column: position - this.range(line).start + 1 }
  }
}
