/** Lines of a text: where each begins, and on which one a character stands. Lines end at line feeds, as the service counts them. */
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

  /** The line that a character stands on, from 0. */
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
