import { parseArgs } from 'node:util'
import { CliError } from './exit-codes.ts'
import { unknownName } from './unknown-name.ts'

interface Option {
  type: 'boolean' | 'string'
  meaning: string
  /** What stands for the value in the help. */
  value?: string
}

export type Options = Readonly<Record<string, Option>>

/** A command line behind its command word, as the command said it may be. */
export interface Invocation {
  readonly words: readonly string[]
  flag(name: string): boolean
  text(name: string): string | null
}

export const COMMON_OPTIONS: Options = { help: { type: 'boolean', meaning: 'Show how the command is used.' } }

/** Reads what stands behind the command word. Throws a CliError that names what is wrong and what may be meant. */
export function readArguments(args: readonly string[], given: Options, most_words: number): Invocation {
  const options = { ...COMMON_OPTIONS, ...given }
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [name, { type, ...(name === 'help' ? { short: 'h' } : {}) }]),
  )
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) if (token.kind === 'option') checkOption(token, options)
  if (positionals.length > most_words) throw new CliError('usage', tooMany(most_words))
  return {
    words: positionals,
    flag: (name) => values[name] === true,
    text: (name) => (typeof values[name] === 'string' ? values[name] : null),
  }
}

function checkOption({ name, rawName, value }: { name: string; rawName: string; value?: string | undefined }, options: Options): void {
  const known = Object.hasOwn(options, name) ? options[name] : undefined
  if (known === undefined) {
    const names = Object.keys(options).map((one) => `--${one}`)
    throw unknownName('option', rawName, names, `Options of this command: ${names.join(', ')}.`)
  }
  if (known.type === 'string' && value === undefined) throw new CliError('usage', `The option ${rawName} needs a value: ${known.meaning}`)
  if (known.type === 'boolean' && value !== undefined) throw new CliError('usage', `The option ${rawName} takes no value.`)
}

function tooMany(most: number): string {
  const words = most === 0 ? 'no arguments' : `at most ${most} argument${most === 1 ? '' : 's'}`
  return `This command takes ${words}; put a value with spaces in quotation marks.`
}
