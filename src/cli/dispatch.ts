import { VERSION } from '../version.ts'
import { readArguments } from './arguments.ts'
import { findCommand } from './commands.ts'
import { CliError, EXIT_CODES, type Exit } from './exit-codes.ts'
import { remark, say } from './terminal.ts'

/** Runs one command line and returns the number with which the process ends. Whatever goes wrong is said on standard error. */
export async function dispatch(args: readonly string[]): Promise<number> {
  try {
    return EXIT_CODES[await runCommand(args)].code
  } catch (error) {
    return EXIT_CODES[explain(error)].code
  }
}

async function runCommand([word = 'help', ...rest]: readonly string[]): Promise<Exit> {
  if (word === '--version' || word === '-v') {
    say(VERSION)
    return 'ok'
  }
  const name = word === '--help' || word === '-h' ? 'help' : word
  const command = findCommand(name)
  const invocation = readArguments(rest, command.options, command.most_words)
  if (invocation.flag('help')) {
    const { commandHelp } = await import('./help.ts')
    say(commandHelp(command))
    return 'ok'
  }
  const { run } = await command.load()
  return run(invocation)
}

function explain(error: unknown): Exit {
  if (error instanceof CliError) {
    for (const line of [`assay: ${error.message}`, ...error.details]) remark(line)
    return error.exit
  }
  remark(`assay: the program failed; the fault is ours.\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return 'internal'
}
