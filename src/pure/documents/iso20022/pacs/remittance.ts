/** Remittance of pacs.008: inline or elsewhere, and how much of it is structured. */
import type { RuleContext, Watcher } from '../rule-engine.ts'

const TX = 'CdtTrfTxInf'
const CHARACTERS_MOST = 9_000

/** Counts the values of structured remittance, not its tags. */
export function remittanceWatcher(context: RuleContext): Watcher {
  let inside = false
  let characters = 0
  return {
    open: {
      [`${TX}/RmtInf`]: () => void (characters = 0),
      [`${TX}/RmtInf/Strd`]: () => void (inside = true),
    },
    text: {
      '**': (text) => {
        if (inside) characters += charactersOf(text)
      },
    },
    close: {
      [`${TX}/RmtInf/Strd`]: () => void (inside = false),
      [`${TX}/RmtInf`]: () => {
        if (context.has('Strd') && context.has('Ustrd')) context.report('C_RMT_BOTH', { found: 'Ustrd and Strd' })
        if (characters > CHARACTERS_MOST) {
          context.report('C_STRD_9000', { found: `${characters} characters`, expected: `at most ${CHARACTERS_MOST}` })
        }
      },
      [TX]: () => {
        if (context.has('RltdRmtInf') && context.has('RmtInf')) context.report('C_RMT_RLTD', { found: 'RltdRmtInf and RmtInf' })
      },
    },
  }
}

/** The second half of a pair is no character of its own. */
function charactersOf(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--
  }
  return count
}
