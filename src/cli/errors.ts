import { cutText } from '../pure/cut-text.ts'
import { nearestName } from '../service/catalogue/search.ts'

/** Exit codes of all commands; those above 63 follow BSD sysexits(3). */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Success. A verdict of "invalid" is a successful answer too.' },
  negative: {
    code: 1,
    meaning:
      'A receipt was altered or its signer is not on the key list, a service sent an answer or payment terms that did not verify, a replay gave another result, a document failed the preflight, a message or file is invalid (validate), a doctor check failed, or the ledger and the chain differ.',
  },
  usage: { code: 2, meaning: 'Invalid command line: an unknown command, tool or option, or too few or too many arguments.' },
  undecided: {
    code: 3,
    meaning:
      'Undecided. verify: the signature is valid, but no key list was given with --keys, so the issuer is unknown. replay: the tool does not exist here, has another version, or reads data that changes, such as a chain; or the time of the call is missing. preflight and validate: there are no rules for the type, version or format of the document.',
  },
  data: {
    code: 65,
    meaning: 'The input is not JSON, does not fit the schema, or is too large; with --jsonl, this applies to at least one line.',
  },
  no_input: { code: 66, meaning: 'A given file cannot be read.' },
  unavailable: { code: 69, meaning: 'A source or the store does not answer.' },
  internal: { code: 70, meaning: 'Internal error.' },
  output: {
    code: 74,
    meaning: 'Standard output cannot be written, for example because the disk is full. A closed pipe gives exit code 0.',
  },
  config: { code: 78, meaning: 'A setting is missing or invalid or contradicts another, or a key file cannot be used.' },
} as const

export type Exit = keyof typeof EXIT_CODES

/** Ends a command with a message on standard error and an exit code. */
export class CliError extends Error {
  readonly exit: Exit
  /** Lines after the message. */
  readonly details: readonly string[]

  constructor(exit: Exit, message: string, details: readonly string[] = []) {
    super(message)
    this.exit = exit
    this.details = details
  }
}

/**
 * Replaces control characters, which could control the terminal, and characters that reorder text (Unicode UAX #9) by their code points.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

/** Longer names are shortened in messages. */
const SHOWN_CHARS = 64

/** Error for an unknown name, with the most similar known name or else with `otherwise`. */
export function unknownName(kind: string, name: string, known: readonly string[], otherwise: string): CliError {
  const near = nearestName(name, known)
  const shown = cutText(name, SHOWN_CHARS + 1)
  return new CliError('usage', `Unknown ${kind} "${printable(shown)}". ${near === null ? otherwise : `Did you mean "${near}"?`}`)
}
