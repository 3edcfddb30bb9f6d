import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'

/** A source file as the walls and the tidy test see it. */
export interface SourceFile {
  /** Path from the root of the project, with slashes. */
  path: string
  text: string
  /** Module specifiers, types included, and dynamic imports of a literal. */
  imports: string[]
  functions: { name: string; line: number; lines: number }[]
}

/** Parses all TypeScript files under these globs. */
export function readSources(...globs: string[]): SourceFile[] {
  return globSync(globs, { exclude: ['**/node_modules/**'] })
    .toSorted()
    .map((path) => readSource(path.replaceAll('\\', '/')))
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const { program, module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse`)
  const statics = [...module.staticImports.map((one) => one.moduleRequest.value), ...reExports(module.staticExports)]
  const dynamics = module.dynamicImports.map((one) => literal(text.slice(one.moduleRequest.start, one.moduleRequest.end)))
  return { path, text, imports: [...statics, ...dynamics.filter((one) => one !== null)], functions: functionsOf(program, text) }
}

type StaticExports = ReturnType<typeof parseSync>['module']['staticExports']

function reExports(exports: StaticExports): string[] {
  return exports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value)).filter((one) => one !== undefined)
}

function literal(text: string): string | null {
  return /^['"]([^'"]+)['"]$/.exec(text)?.[1] ?? null
}

function functionsOf(program: Parameters<Visitor['visit']>[0], text: string): SourceFile['functions'] {
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  const found: SourceFile['functions'] = []
  const note = (name: string, node: { start: number; end: number }) => {
    const line = lineOf(node.start)
    found.push({ name, line, lines: lineOf(node.end) - line + 1 })
  }
  new Visitor({
    FunctionDeclaration: (node) => note(node.id?.name ?? 'default', node),
    FunctionExpression: (node) => note('function', node),
    ArrowFunctionExpression: (node) => note('arrow', node),
  }).visit(program)
  return found
}
