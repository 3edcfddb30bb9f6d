import { COMMON_OPTIONS, type Invocation } from './arguments.ts'
import { COMMANDS, findCommand, type Command } from './commands.ts'
import { EXIT_CODES, type Exit } from './exit-codes.ts'
import { paint, say, table, wrap, terminalWidth } from './terminal.ts'

/** `assay help [command | exit-codes]`. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [topic] = invocation.words
  if (topic === undefined) say(overview())
  else if (topic === 'exit-codes') say(exitCodes())
  else say(commandHelp(COMMANDS[findCommand(topic)]))
  return 'ok'
}

export function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => [`  ${name}`, summary])
  return [
    'assay: deterministic checks with signed receipts.',
    '',
    paint('strong', 'Commands'),
    ...table(rows),
    '',
    '"assay help <command>" or "assay <command> --help" says more; "assay help exit-codes" lists how commands end.',
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
