import { VERSION } from '../assembly/deployment.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { COMMANDS, type Command, COMMON_OPTIONS, type Invocation } from './commands.ts'
import { CliError, EXIT_CODES, type Exit, unknownName } from './errors.ts'
import { say } from './terminal.ts'

/** Completions of one command: what may follow it, and its options, each with its meaning. */
interface CommandWords {
  name: string
  summary: string
  /** Actions, or ids of tools. */
  words: readonly string[]
  options: readonly { name: string; meaning: string; has_value: boolean }[]
}

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** `assay completion bash | zsh | fish`: a script for the shell, made from the table of commands and the catalogue. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word] = invocation.words
  const shells = Object.keys(SHELLS) as (keyof typeof SHELLS)[]
  if (word === undefined) throw new CliError('usage', `Give a shell: ${shells.join(', ')}.`)
  const shell = shells.find((known) => known === word)
  if (shell === undefined) throw unknownName('shell', word, shells, `The shells are ${shells.join(', ')}.`)
  const { tools } = await loadCatalogue()
  say(SHELLS[shell](commandWords(tools.map(({ id }) => id))))
  return 'ok'
}

function commandWords(tools: readonly string[]): CommandWords[] {
  return Object.entries<Command>(COMMANDS).map(([name, command]) => ({
    name,
    summary: command.summary,
    words: name === 'help' ? [...Object.keys(COMMANDS), 'exit-codes'] : [...actionsOf(command), ...(takesTool(command) ? tools : [])],
    options: Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([option, { meaning, type }]) => ({
      name: `--${option}`,
      meaning,
      has_value: type === 'string',
    })),
  }))
}

/** Actions of a command, which its usage lines begin with: `assay keys rotate`. */
export function actionsOf({ usage }: Pick<Command, 'usage'>): string[] {
  return [...new Set(usage.map((line) => line.split(' ')[2] ?? '').filter((word) => /^[a-z][a-z-]*$/.test(word)))]
}

function takesTool({ usage }: Command): boolean {
  return usage.some((line) => line.split(' ')[2] === '<tool>')
}

function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.map(
    ({ name, words, options }) => `    ${name}) words='${words.join(' ')}'; options='${options.map((one) => one.name).join(' ')}' ;;`,
  )
  return [
    '# Completion of assay for bash. Load it with:  source <(assay completion bash)',
    '_assay() {',
    '  local words= options=',
    `  if (( COMP_CWORD == 1 )); then words='${commands.map(({ name }) => name).join(' ')}'`,
    '  else case ${COMP_WORDS[1]} in',
    ...cases,
    '  esac; fi',
    '  # Actions and tools come right after the command.',
    '  (( COMP_CWORD > 2 )) && words=',
    '  COMPREPLY=( $(compgen -W "$words $options" -- "${COMP_WORDS[COMP_CWORD]}") )',
    '}',
    '# Where no word fits, the shell offers files.',
    'complete -o default -F _assay assay',
  ].join('\n')
}

function zshScript(commands: readonly CommandWords[]): string {
  const described = (name: string, meaning: string) => quoted(`${name.replaceAll(':', '\\:')}:${meaning.replaceAll(':', '\\:')}`)
  const cases = commands.flatMap(({ name, words, options }) => [
    `    ${name})`,
    `      found=(${words.join(' ')})`,
    `      options=(${options.map((one) => described(one.name, one.meaning)).join(' ')}) ;;`,
  ])
  return [
    '#compdef assay',
    '# Completion of assay for zsh. Put it in a folder of $fpath as _assay, or load it with:  source <(assay completion zsh)',
    '_assay() {',
    '  local -a found options',
    '  if (( CURRENT == 2 )); then',
    `    found=(${commands.map(({ name, summary }) => described(name, summary)).join(' ')})`,
    "    _describe 'command' found",
    '    return',
    '  fi',
    '  case $words[2] in',
    ...cases,
    '  esac',
    "  if [[ $PREFIX == -* ]]; then _describe 'option' options; else (( CURRENT == 3 && $#found )) && compadd -a found; _files; fi",
    '}',
    'if [[ $funcstack[1] == _assay ]]; then _assay "$@"; else compdef _assay assay; fi',
  ].join('\n')
}

function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, summary, words, options }) => {
    const after = (more: string) => `complete -c assay -n '__assay_after ${name}${more}'`
    return [
      `complete -c assay -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...(words.length === 0 ? [] : [`${after(' 2')} -a '${words.join(' ')}'`]),
      ...options.map((one) => `${after('')} -l ${one.name.slice(2)}${one.has_value ? ' -r' : ''} -d ${quoted(one.meaning)}`),
    ]
  })
  return [
    '# Completion of assay for fish. Write it to ~/.config/fish/completions/assay.fish.',
    '# True after the command $argv[1]; with a second argument only if so many words precede the cursor.',
    'function __assay_after',
    '  set -l words (commandline -opc)',
    '  test "$words[2]" = "$argv[1]"; and begin; test (count $argv) -eq 1; or test (count $words) -eq $argv[2]; end',
    'end',
    ...lines,
  ].join('\n')
}

/** Single-quoted word of all three shells; an apostrophe becomes a typographic one. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}

/** The manual page of the command line (roff, man macros), made from the tables of commands and exit codes. */
export function manPage(): string {
  const commands = Object.entries<Command>(COMMANDS).flatMap(([name, command]) => commandLines(name, command))
  const codes = Object.values(EXIT_CODES).flatMap(({ code, meaning }) => ['.TP', `.B ${code}`, escaped(meaning)])
  return [
    `.TH ASSAY 1 "" "assay ${VERSION}" "User Commands"`,
    '.SH NAME',
    'assay \\- deterministic checks with signed receipts',
    '.SH SYNOPSIS',
    '.B assay',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    escaped('Answers go to standard output, messages to standard error. On a terminal the answer is text, in a pipe or a file it is JSON.'),
    '.SH COMMANDS',
    ...commands,
    '.SH "EXIT STATUS"',
    ...codes,
    '.SH ENVIRONMENT',
    escaped('Settings are environment variables whose names begin with ASSAY_; "assay doctor" lists them. NO_COLOR turns colours off.'),
    '',
  ].join('\n')
}

function commandLines(name: string, { summary, usage, options, notes }: Command): string[] {
  const described = Object.entries({ ...options, ...COMMON_OPTIONS }).flatMap(([option, { value, meaning }]) => [
    '.TP',
    `.B ${escaped(`--${option}`)}${value === undefined ? '' : ` \\fI${escaped(value)}\\fR`}`,
    escaped(meaning),
  ])
  return [
    `.SS ${name}`,
    escaped(summary),
    ...usage.flatMap((line) => ['.PP', '.RS 4', escaped(line), '.RE']),
    ...described,
    ...(notes.length === 0 ? [] : ['.PP', escaped(notes.join(' '))]),
  ]
}

const ROFF_LINE_CHARS = 79

/**
 * Text as roff shows it: backslashes, hyphens and characters outside ASCII are escaped, and no line is a request. Lines are broken at spaces, which
 * roff fills again.
 */
function escaped(text: string): string {
  const lines: string[] = []
  const whole = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e]/gu, (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
  for (const word of whole.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= ROFF_LINE_CHARS) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(/^[.']/.test(word) ? `\\&${word}` : word)
  }
  return lines.join('\n')
}
