import QRCode from 'qrcode'

/** The squares of a QR code (ISO/IEC 18004), error level M, which EPC069-12 asks for. */
export interface QrSquares {
  size: number
  isDark(row: number, column: number): boolean
}

/** Throws for a text beyond what a code holds; ours are far shorter. */
export function qrSquares(text: string): QrSquares {
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' })
  return { size: modules.size, isDark: (row, column) => modules.get(row, column) !== 0 }
}

/** Blank squares around a code. */
const QUIET = 4

/** SVG with one stroke for each row of dark squares on white; it does not contain the text itself. */
export function qrSvg(text: string): string {
  const { size, isDark } = qrSquares(text)
  const whole = size + 2 * QUIET
  let path = ''
  for (let row = 0; row < size; row++) {
    let end = -1
    for (let column = 0; column < size; column++) {
      const start = column
      while (column < size && isDark(row, column)) column++
      if (column === start) continue
      path += end < 0 ? `M${start + QUIET} ${row + QUIET}.5` : `m${start - end} 0`
      path += `h${column - start}`
      end = column
    }
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole} ${whole}" shape-rendering="crispEdges" role="img">`
  return `${head}<title>Payment code</title><path fill="#fff" d="M0 0h${whole}v${whole}H0z"/><path stroke="#000" d="${path}"/></svg>`
}
