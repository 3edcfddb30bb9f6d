import { execFileSync } from 'node:child_process'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
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

test('completion knows commands, actions, options and tools; bash really completes with it', async () => {
  const [bash, zsh, fish] = await Promise.all(['bash', 'zsh', 'fish'].map(async (shell) => (await desk.run(['completion', shell])).stdout))
  for (const script of [bash, zsh, fish]) {
    for (const [name, { options }] of Object.entries<{ options: object }>(COMMANDS)) {
      assert.ok(script?.includes(name))
      for (const option of Object.keys(options)) assert.ok(script?.includes(option), `${name} --${option}`)
    }
    for (const word of ['rotate', 'iban-check', 'exit-codes']) assert.ok(script?.includes(word), word)
  }
  const file = await desk.file('completion.bash', bash)
  const completed = (words: readonly string[]) => {
    const line = `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _assay; echo "\${COMPREPLY[*]}"`
    return execFileSync('bash', ['-c', line], { encoding: 'utf8' }).trim()
  }
  assert.equal(completed(['assay', 'verif']), 'verify')
  assert.equal(completed(['assay', 'keys', 'r']), 'rotate revoke')
  assert.equal(completed(['assay', 'call', 'iban']), 'iban-check')
  assert.equal(completed(['assay', 'verify', '--log']), '--log --log-key')
  assert.equal((await desk.run(['completion', 'fihs'])).code, 2)
})

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
})
