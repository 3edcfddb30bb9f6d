/** Numbers of the dark squares of a code, row by row, read from its SVG: strokes of one unit, with four blank squares around. */
export function darkSquares(svg: string): number[] {
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]) - 8
  const path = /<path stroke="#000" d="([^"]*)"/.exec(svg)?.[1] ?? ''
  const squares: number[] = []
  let [x, y] = [0, 0]
  for (const [, command, first, second] of path.matchAll(/([Mmh])([\d.]+)(?: ([\d.]+))?/g)) {
    if (command === 'M') [x, y] = [Number(first) - 4, Number(second) - 4.5]
    else if (command === 'm') x += Number(first)
    else for (const end = x + Number(first); x < end; x++) squares.push(y * size + x)
  }
  return squares
}
