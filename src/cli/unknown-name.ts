import { cutText } from '../pure/cut-text.ts'
import { nearest } from '../service/nearest.ts'
import { CliError } from './exit-codes.ts'
import { printable } from './printable.ts'

/** A longer name is cut in messages. */
const SHOWN_CHARS = 64

/** Error for a name on the command line that is not known: repeats it, and says which one may be meant or else where they are listed. */
export function unknownName(kind: string, name: string, known: readonly string[], otherwise: string): CliError {
  const near = nearest(name, known)
  const shown = cutText(name, SHOWN_CHARS + 1)
  return new CliError('usage', `Unknown ${kind} "${printable(shown)}". ${near === null ? otherwise : `Did you mean "${near}"?`}`)
}
