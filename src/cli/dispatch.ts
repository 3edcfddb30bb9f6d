import { VERSION } from '../assembly/deployment.ts'
import { parseArguments, type Invocation, COMMANDS, COMMON_OPTIONS, type Command } from './commands.ts'
import { CliError, EXIT_CODES, type Exit, unknownName } from './errors.ts'
import { remark, say, paint, table, wrap, terminalWidth } from './terminal.ts'

type Run = (invocation: Invocation) => Promise<Exit>

type CommandName = keyof typeof COMMANDS

/** Commands are loaded on demand, so that small ones start fast. */
const WORK: Record<CommandName, () => Promise<{ run: Run }>> = {
  serve: () => import('./serve.ts'),
  call: () => import('./call.ts'),
  tools: () => import('./tools.ts'),
  verify: () => import('./verify.ts'),
  bundle: () => import('./bundle.ts'),
  sign: () => import('./sign.ts'),
  replay: () => import('./replay.ts'),
  preflight: () => import('./preflight.ts'),
  validate: () => import('./validate.ts'),
  reconcile: () => import('./reconcile.ts'),
  keys: () => import('./keys.ts'),
  ledger: () => import('./ledger.ts'),
  invoice: () => import('./invoice.ts'),
  log: () => import('./log.ts'),
  completion: () => import('./completion.ts'),
  insurers: () => import('./insurers.ts'),
  webhooks: () => import('./webhooks.ts'),
  mcp: () => import('./mcp.ts'),
  'migrate-store': () => import('./migrate-store.ts'),
  data: () => import('./data.ts'),
  doctor: () => import('./doctor.ts'),
  help: () => Promise.resolve({ run: showHelp }),
}

/** Runs a command line and returns the exit code. Errors are written to standard error. */
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
  const invocation = parseArguments(rest, command.options, command.most_words)
  if (invocation.flag('help')) {
    say(commandHelp(command))
    return 'ok'
  }
  const { run } = await WORK[name]()
  return run(invocation)
}

/** Finds a command by name; throws a CliError with the most similar name. */
function findCommand(name: string): CommandName {
  const names = Object.keys(COMMANDS) as CommandName[]
  const found = names.find((known) => known === name)
  if (found !== undefined) return found
  throw unknownName('command', name, names, 'Run "assay help" to list the commands.')
}

function explain(error: unknown): Exit {
  if (error instanceof CliError) {
    for (const line of [`assay: ${error.message}`, ...error.details]) remark(line)
    return error.exit
  }
  const missing = missingPackage(error)
  if (missing !== null) {
    remark(`assay: This command needs the package ${missing}, which is not installed. Install assay without --omit=optional.`)
    return 'config'
  }
  remark(`assay: internal error.\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return 'internal'
}

/** Name of a package that Node did not find; null for other errors. */
function missingPackage(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return null
  return /^Cannot find package '([^']+)'/.exec(error.message)?.[1] ?? null
}

async function showHelp(invocation: Invocation): Promise<Exit> {
  const [topic] = invocation.words
  if (invocation.flag('man')) {
    say((await import('./completion.ts')).manPage())
    return 'ok'
  }
  if (topic === undefined) say(overview())
  else if (topic === 'exit-codes') say(exitCodes())
  else say(commandHelp(COMMANDS[findCommand(topic)]))
  return 'ok'
}

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => [`  ${name}`, summary])
  return [
    'assay: deterministic checks with signed receipts.',
    '',
    paint('strong', 'Commands'),
    ...table(rows),
    '',
    '"assay help <command>" or "assay <command> --help" shows the options; "assay help exit-codes" lists the exit codes.',
    'Try:  assay call iban-check \'{"iban":"GB82 WEST 1234 5698 7654 32"}\'',
  ].join('\n')
}

export function commandHelp({ summary, usage, options, notes }: Command): string {
  const rows = Object.entries({ ...options, ...COMMON_OPTIONS }).map(([name, { value, meaning }]) => [
    `  --${name}${value === undefined ? '' : ` <${value}>`}`,
    meaning,
  ])
  const words = notes.length === 0 ? [] : ['', ...wrap(notes.join(' '), terminalWidth())]
  return [summary, '', ...usage.map((line) => `  ${line}`), '', paint('strong', 'Options'), ...table(rows), ...words].join('\n')
}

function exitCodes(): string {
  return table(Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code).padStart(3), meaning])).join('\n')
}
