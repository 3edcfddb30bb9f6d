/** How every command ends, once; the numbers above 63 are those of BSD sysexits(3). */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'The command did what it was asked. A verdict of "invalid" is a good answer and ends here too.' },
  negative: {
    code: 1,
    meaning:
      'A receipt was altered or its signer is not on the key list, a replay gives another result, a document fails the preflight, a check of doctor failed, or the ledger and the chain differ.',
  },
  usage: { code: 2, meaning: 'The command line is wrong: an unknown command, tool or option, or an argument too few or too many.' },
  undecided: {
    code: 3,
    meaning:
      'Undecided. verify: the signature is valid, but no key list was given with --keys, so the issuer is unknown. replay: the tool is not here, is here in another version, or reads data that changes, such as a chain; or the time of the call is missing. preflight: there are no rules for the type or version of the document.',
  },
  data: { code: 65, meaning: 'The input is not JSON, does not fit the schema, or is too large; with --jsonl, at least one line was such.' },
  no_input: { code: 66, meaning: 'A file that was named cannot be read.' },
  unavailable: { code: 69, meaning: 'A source or the store does not answer.' },
  internal: { code: 70, meaning: 'The program failed; the fault is ours.' },
  output: {
    code: 74,
    meaning: 'Standard output cannot be written, because the disk is full for one. A closed pipe ends the command with 0.',
  },
  config: { code: 78, meaning: 'A setting is missing, wrong or contradicts another, or a key file does not fit.' },
} as const

export type Exit = keyof typeof EXIT_CODES

/** Ends a command early: what to say on standard error, and how to exit. */
export class CliError extends Error {
  readonly exit: Exit
  /** Further lines below the message. */
  readonly details: readonly string[]

  constructor(exit: Exit, message: string, details: readonly string[] = []) {
    super(message)
    this.exit = exit
    this.details = details
  }
}
