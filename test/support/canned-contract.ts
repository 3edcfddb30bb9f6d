/** What a contract returns to calls of one function, or reverts with, by the first four bytes of the call. */
export type CannedAnswers = Readonly<Record<string, { returns: string } | { reverts: string }>>

const DISPATCH_BYTES = 11
const BODY_BYTES = 14
const HEAD_BYTES = 5
const END_BYTES = 3

/**
 * Runtime code of a contract that answers from a list, assembled by hand: it compares the selector with each of the list, jumps to its body,
 * copies the answer out of its own code and returns or reverts with it. Any other call reverts.
 */
export function cannedContract(answers: CannedAnswers): string {
  const list = Object.entries(answers).map(([selector, answer]) => {
    const data = 'returns' in answer ? answer.returns : answer.reverts
    return { selector: selector.slice(2), data: data.slice(2), end: 'returns' in answer ? 'f3' : 'fd' }
  })
  const bodies_at = HEAD_BYTES + DISPATCH_BYTES * list.length + END_BYTES
  let data_at = bodies_at + BODY_BYTES * list.length
  // PUSH0 CALLDATALOAD PUSH1 0xe0 SHR
  const parts = ['5f3560e01c']
  // DUP1 PUSH4 selector EQ PUSH2 body JUMPI
  list.forEach(({ selector }, index) => parts.push(`8063${selector}1461${word16(bodies_at + BODY_BYTES * index)}57`))
  // PUSH0 PUSH0 REVERT
  parts.push('5f5ffd')
  for (const { data, end } of list) {
    const length = word16(data.length / 2)
    // JUMPDEST PUSH2 length PUSH2 place PUSH0 CODECOPY PUSH2 length PUSH0 RETURN or REVERT
    parts.push(`5b61${length}61${word16(data_at)}5f3961${length}5f${end}`)
    data_at += data.length / 2
  }
  return `0x${[...parts, ...list.map(({ data }) => data)].join('')}`
}

function word16(value: number): string {
  return value.toString(16).padStart(4, '0')
}
