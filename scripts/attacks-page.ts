import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { format } from 'oxfmt'
import { attackMarks, type Attack } from '../test/support/attack-marks.ts'

/** Writes docs/operating/attacks.md from the marks in the tests: `node scripts/attacks-page.ts`; with `--check` it only compares. */

const PAGE = 'docs/operating/attacks.md'

const INTRODUCTION = `# Attacks and tests

Attackers are a client that sends any bytes; a payer or buyer who wants more than was paid for; an author of documents, tokens or contracts that
others check with assay; a web page in a user's browser; a node, registry or facilitator that lies; a reader of a backup; and a compromised package. Each
attack names its defence and the tests that show it. Made by \`node scripts/attacks-page.ts\` from marks in the tests; the bounds are in
[limits](limits.md).
`

function entry({ attack, asset, attacker, defence, shown }: Attack): string {
  const tests = shown.map(({ file, title }) => (title === null ? `\`${file}\`` : `\`${file}\` "${title}"`)).join('; ')
  return `- **${attack}** (by: ${attacker}; on: ${asset}). ${defence}. Tests: ${tests}.`
}

async function attacksPage(): Promise<string> {
  const attacks = attackMarks(globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).toSorted())
  const sections = Object.groupBy(attacks, ({ section }) => section)
  const parts = Object.entries(sections).map(([name, all = []]) => `## ${name}\n\n${all.map(entry).join('\n')}\n`)
  const { code } = await format(PAGE, `${INTRODUCTION}\n${parts.join('\n')}`, { printWidth: 140 })
  return code
}

const page = await attacksPage()
if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} differs from the marks in the tests: run node scripts/attacks-page.ts`)
  process.exitCode = 1
}
