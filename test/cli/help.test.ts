import { execFileSync, spawnSync } from 'node:child_process'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { after, before, test } from 'node:test'
import { commandHelp } from '../../src/cli/dispatch.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { EXIT_CODES } from '../../src/cli/errors.ts'
import { printable, table, wrap } from '../../src/cli/terminal.ts'
import { openDesk, parsed, terminal, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

test('the overview names every command, and each command explains itself', async () => {
  const [bare, asked, one] = await Promise.all([desk.run([]), desk.run(['--help']), desk.run(['verify', '--help'])])
  assert.deepEqual([bare.code, asked.code, one.code], [0, 0, 0])
  assert.equal(bare.stdout, asked.stdout)
  for (const name of Object.keys(COMMANDS)) assert.match(bare.stdout, new RegExp(`^ {2}${name} +[A-Z]`, 'm'))
  assert.ok(one.stdout.includes('--keys <file>'))
  for (const command of Object.values(COMMANDS)) {
    const text = commandHelp(command)
    for (const name of Object.keys(command.options)) assert.ok(text.includes(`--${name}`))
  }
})

test('exit codes, version, and a command that does not exist', async () => {
  const [codes, version, wrong] = await Promise.all([desk.run(['help', 'exit-codes']), desk.run(['--version']), desk.run(['verfy'])])
  const numbers = Object.values(EXIT_CODES).map(({ code }) => code)
  assert.equal(new Set(numbers).size, numbers.length)
  const page = readFileSync('docs/command-line.md', 'utf8').replace(/ +/g, ' ')
  for (const { code, meaning } of Object.values(EXIT_CODES))
    assert.ok(page.includes(`| ${code} | ${meaning} |`), `docs/command-line.md, code ${code}`)
  for (const code of numbers) assert.match(codes.stdout, new RegExp(`^ *${code} {2}`, 'm'))
  assert.equal(version.stdout.trim(), (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version)
  assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
  assert.match(wrong.stderr, /^assay: Unknown command "verfy"\. Did you mean "verify"\?$/m)
})

test('tools are listed, by family, and one by one', async () => {
  const ids = globSync('src/tools/*/*.ts').map((path) => basename(path, '.ts'))
  const [all, bank, one, wrong] = await Promise.all([
    desk.run(['tools']),
    desk.run(['tools', 'bank'], { imports: [terminal(60, 'stdout')], settings: { NO_COLOR: '1' } }),
    desk.run(['tools', 'iban_check', '--text']),
    desk.run(['tools', 'iban-chek']),
  ])
  const { count, tools } = parsed(all.stdout) as { count: number; tools: { id: string }[] }
  assert.equal(count, ids.length)
  assert.deepEqual(tools.map(({ id }) => id).toSorted(), ids.toSorted())
  assert.match(bank.stdout, /\niban-check +0\.005 to 0\.05 USDC +Check an IBAN\n/)
  assert.ok(!bank.stdout.includes('isbn-check'))
  assert.ok(
    bank.stdout.split('\n').every((line) => line.length <= 60),
    'the table fits the terminal',
  )
  for (const words of ['required', 'Not checked', "assay call iban-check '{"]) assert.ok(one.stdout.includes(words), words)
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /Unknown tool or family "iban-chek"\. Did you mean "iban-check"\?/)
})

test('tables wrap their last column under itself, and cut words that are longer than it', () => {
  assert.deepEqual(
    table(
      [
        ['a', 'one two three four five'],
        ['long', 'six'],
      ],
      26,
    ),
    ['a     one two three four', '      five', 'long  six'],
  )
  assert.deepEqual(wrap('abcdefgh ij', 3), ['abc', 'def', 'gh', 'ij'])
})

test('what could drive or deceive a terminal is shown as its number', () => {
  assert.equal(printable('a\u001b[2J\u009b\u202e\u200b\u2028\ud800é𝄞'), 'a\\u{1b}[2J\\u{9b}\\u{202e}\\u{200b}\\u{2028}\\u{d800}é𝄞')
})

/** Calls of the shells that print what they offer after the words of a line, of which the last is being typed. */
const SHELLS: Record<string, (file: string, words: readonly string[]) => string[]> = {
  bash: (file, words) => [
    '-c',
    `source ${file}; COMP_WORDS=(${words.map(inQuotes).join(' ')}); COMP_CWORD=${words.length - 1}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // The functions of zsh that take the words, as far as the script calls them: name:meaning pairs, or words; those that fit are printed.
  zsh: (file, words) => [
    '-fc',
    `compdef() { }; _files() { }
    offer() { for one in "$@"; do [[ $one == $PREFIX* ]] && print -r -- "\${one%%:*}"; done; true; }
    _describe() { offer "\${(@P)2}"; }; compadd() { offer "\${(@P)2}"; }
    source ${file}; words=(${words.map(inQuotes).join(' ')}); CURRENT=${words.length}; PREFIX=${inQuotes(words.at(-1) ?? '')}; _assay`,
  ],
  fish: (file, words) => ['--no-config', '-c', `source ${file}; complete -C ${inQuotes(words.join(' '))}`],
}

function inQuotes(word: string): string {
  return `'${word}'`
}

const OFFERS: [words: string[], offers: string[]][] = [
  [['assay', 'verif'], ['verify']],
  [
    ['assay', 'keys', 'r'],
    ['revoke', 'rotate'],
  ],
  [['assay', 'call', 'iban'], ['iban-check']],
  [
    ['assay', 'verify', '--log'],
    ['--log', '--log-key'],
  ],
  [['assay', 'help', 'exi'], ['exit-codes']],
  // An action or a tool is named once.
  [['assay', 'call', 'iban-check', 'iban'], []],
  [['assay', 'keys', 'rotate', 'rev'], []],
  [['assay', 'help', 'call', '--max'], []],
]

test('completion knows commands, actions, options and tools; the shells really complete with it', async (context) => {
  const [bash, zsh, fish] = await Promise.all(['bash', 'zsh', 'fish'].map(async (shell) => (await desk.run(['completion', shell])).stdout))
  for (const script of [bash, zsh, fish]) {
    for (const [name, { options }] of Object.entries<{ options: object }>(COMMANDS)) {
      assert.ok(script?.includes(name))
      for (const option of Object.keys(options)) assert.ok(script?.includes(option), `${name} --${option}`)
    }
    for (const word of ['rotate', 'iban-check', 'exit-codes']) assert.ok(script?.includes(word), word)
  }
  for (const [shell, script] of Object.entries({ bash, zsh, fish })) {
    const file = await desk.file(`completion.${shell}`, script)
    if (shell !== 'bash' && !hasProgram(shell)) {
      context.diagnostic(`${shell} is not on this machine: its completion was not run.`)
      continue
    }
    for (const [words, offers] of OFFERS) {
      // In a folder without files that fit.
      const printed = execFileSync(shell, SHELLS[shell]?.(file, words) ?? [], { encoding: 'utf8', cwd: dirname(file) })
      const offered = printed.split('\n').map((line) => line.split('\t')[0] ?? '')
      assert.deepEqual(offered.filter(Boolean).toSorted(), offers, `${shell}: ${words.join(' ')}`)
    }
  }
  assert.equal((await desk.run(['completion', 'fihs'])).code, 2)
})

function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0
}

test('the manual page describes every command, option and exit code, in requests that man knows', async () => {
  const { stdout } = await desk.run(['help', '--man'])
  for (const [name, { options }] of Object.entries<{ options: object }>(COMMANDS)) {
    assert.ok(stdout.includes(`\n.SS ${name}\n`), name)
    for (const option of Object.keys(options)) assert.ok(stdout.includes(`.B \\-\\-${option.replaceAll('-', '\\-')}`), option)
  }
  for (const { code } of Object.values(EXIT_CODES)) assert.ok(stdout.includes(`\n.B ${code}\n`))
  const requests = new Set(stdout.split('\n').flatMap((line) => /^[.'](\w*)/.exec(line)?.[1] ?? []))
  assert.deepEqual([...requests].toSorted(), ['B', 'I', 'PP', 'RE', 'RS', 'SH', 'SS', 'TH', 'TP'])
  assert.match(stdout, /^[\x20-\x7e\n]*$/)
  assert.ok(stdout.split('\n').every((line) => line.length <= 80))
})
