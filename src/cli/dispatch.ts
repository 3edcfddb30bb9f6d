import { VERSION } from '../assembly/version.ts'
import { readArguments, type Invocation } from './arguments.ts'
import { COMMANDS, findCommand, type CommandName } from './commands.ts'
import { CliError, EXIT_CODES, type Exit } from './exit-codes.ts'
import { remark, say } from './terminal.ts'

type Run = (invocation: Invocation) => Promise<Exit>

/** The work of each command, loaded only when it is called, so that a small command starts fast. */
const WORK: Record<CommandName, () => Promise<{ run: Run }>> = {
  serve: () => import('./serve.ts'),
  call: () => import('./call.ts'),
  tools: () => import('./tools.ts'),
  verify: () => import('./verify.ts'),
  replay: () => import('./replay.ts'),
  preflight: () => import('./preflight.ts'),
  reconcile: () => import('./reconcile.ts'),
  keys: () => import('./keys.ts'),
  ledger: () => import('./ledger.ts'),
  invoice: () => import('./invoice.ts'),
  insurers: () => import('./insurers.ts'),
  mcp: () => import('./mcp.ts'),
  'migrate-store': () => import('./migrate-store.ts'),
  doctor: () => import('./doctor.ts'),
  help: () => import('./help.ts'),
}

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
  const name = findCommand(word === '--help' || word === '-h' ? 'help' : word)
  const command = COMMANDS[name]
  const invocation = readArguments(rest, command.options, command.most_words)
  if (invocation.flag('help')) {
    const { commandHelp } = await import('./help.ts')
    say(commandHelp(command))
    return 'ok'
  }
  const { run } = await WORK[name]()
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
