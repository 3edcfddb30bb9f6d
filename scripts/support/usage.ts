/**
 * Answers `--help` of a script with the comment at its head, and stops a script that is used wrongly with the same text. Imported for its
 * effect, before anything is read or written.
 */
import { readFileSync } from 'node:fs'

/** The first doc comment of the script that runs, without its signs. */
function usage(): string {
  const text = readFileSync(process.argv[1] ?? '', 'utf8')
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? ''
  return comment
    .split('\n')
    .map((line) => line.replace(/^ ?\* ?/, ''))
    .join('\n')
    .trim()
}

/** Ends the script with the fault and how it is used, and no stack trace. */
export function stop(fault: string): never {
  console.error(`${fault}\n\n${usage()}`)
  process.exit(2)
}

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  console.log(usage())
  process.exit(0)
}
