import { readFileSync, writeFileSync } from 'node:fs'
import { format } from 'oxfmt'
import { SCARCE_RESOURCES } from '../src/service/scarce/register.ts'
import { boundTexts, type ScarceResource } from '../src/service/scarce/resource.ts'

/** Writes docs/operating/limits.md from the register of scarce resources: `node scripts/limits-page.ts`; with `--check` it only compares. */

const PAGE = 'docs/operating/limits.md'

const INTRODUCTION = `# Limits

A scarce resource is one that the requests of clients can use up. Each has bounds for one party and for all, so that no client uses up what others need. A client is
an IPv4 address or an IPv6 /64, a network an IPv4 /24 or an IPv6 /48, a wide network an IPv4 /16 or an IPv6 /32, an owner a merchant, payer or
account by its address. Bounds of a process apply to each instance; bounds of the deployment are counted in the store. Settings that change some of them are in
[settings](../settings.md). Made by \`node scripts/limits-page.ts\` from \`src/service/scarce/\`.
`

function section({ name, scope, per, bounds, kept, gives_way, ends, shown_by, code }: ScarceResource): string {
  const lines = [
    `bounds of ${scope === 'process' ? 'each process' : 'the deployment'}, ${per === 'held' ? 'in use' : `per ${per}`}: ${boundTexts(bounds).join(', ')}`,
    ...(kept === null ? [] : [`kept: ${kept}`]),
    `gives way: ${gives_way}`,
    `ends: ${ends}`,
    `shown by: ${shown_by}`,
    ...(code === null ? [] : [`refusal: \`${code}\``]),
  ]
  return `## ${name.slice(0, 1).toUpperCase()}${name.slice(1)}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`
}

async function limitsPage(): Promise<string> {
  const { code } = await format(PAGE, `${INTRODUCTION}\n${SCARCE_RESOURCES.map(section).join('\n')}`, { printWidth: 140 })
  return code
}

const page = await limitsPage()
if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} differs from src/service/scarce/: run node scripts/limits-page.ts`)
  process.exitCode = 1
}
