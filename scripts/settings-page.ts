import { readFileSync, writeFileSync } from 'node:fs'
import { format } from 'oxfmt'
import { isObject } from '../src/pure/is-object.ts'
import { SETTINGS } from '../src/service/config.ts'

/** Writes docs/settings.md from the settings in `src/service/config.ts`: `node scripts/settings-page.ts`; with `--check` it only compares. */

const PAGE = 'docs/settings.md'

const INTRODUCTION = `# Settings

All settings are environment variables, and all are optional in the sandbox. \`assay doctor\` shows the settings in effect and checks everything
that the service depends on. [Going live](going-live.md) explains what live mode requires. Made by \`node scripts/settings-page.ts\` from
\`src/service/config.ts\`.
`

function fallbackText(fallback: unknown): string {
  if (Array.isArray(fallback)) return fallback.length === 0 ? '' : `\`${fallback.join(',')}\``
  if (isObject(fallback)) return fallbackText(Object.entries(fallback).map(([name, value]) => `${name}=${String(value)}`))
  const isScalar = typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'bigint'
  return isScalar && fallback !== '' && fallback !== 0 ? `\`${fallback}\`` : ''
}

async function settingsPage(): Promise<string> {
  const rows = Object.entries(SETTINGS).map(
    ([name, { meaning, fallback }]) => `| \`${name}\` | ${fallbackText(fallback)} | ${meaning.replaceAll('|', '\\|')} |`,
  )
  const table = ['| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')
  const { code } = await format(PAGE, `${INTRODUCTION}\n${table}\n`, { printWidth: 140 })
  return code
}

const page = await settingsPage()
if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} differs from src/service/config.ts: run node scripts/settings-page.ts`)
  process.exitCode = 1
}
