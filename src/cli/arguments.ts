import { parseArgs } from 'node:util'
import { nearest } from '../service/nearest.ts'
import { CliError } from './exit-codes.ts'

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
    const near = nearest(name, Object.keys(options))
    throw new CliError('usage', `There is no such option here${near === null ? '' : `; did you mean --${near}`}.`)
  }
  if (known.type === 'string' && value === undefined) throw new CliError('usage', `${rawName} needs a value: ${known.meaning}`)
  if (known.type === 'boolean' && value !== undefined) throw new CliError('usage', `${rawName} takes no value.`)
}

function tooMany(most: number): string {
  const words = most === 0 ? 'no arguments' : `at most ${most} argument${most === 1 ? '' : 's'}`
  return `This command takes ${words}; put a text with spaces in quotation marks.`
}
