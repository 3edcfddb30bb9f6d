import { enableCompileCache, registerHooks, type ResolveHookContext } from 'node:module'

const ONE_FILE = /^\.\.?\/.*\.(ts|js)$/

/**
 * Makes hundreds of modules load faster; meant to be called before the first of them. What is compiled once need not be compiled at the
 * next start; and an import that names a file beside it needs no search, which Node makes all the same: is it there, is it a link, which
 * package.json holds here.
 */
export function loadFast(): void {
  enableCompileCache()
  registerHooks({
    resolve: (specifier, context, next) => (namesFile(specifier, context) ? found(specifier, context) : next(specifier, context)),
  })
}

function namesFile(specifier: string, { parentURL, conditions }: ResolveHookContext): boolean {
  return ONE_FILE.test(specifier) && parentURL?.startsWith('file:') === true && conditions.includes('import')
}

function found(specifier: string, { parentURL, importAttributes }: ResolveHookContext) {
  const { href } = new URL(specifier, parentURL)
  const format = href.endsWith('.ts') ? 'module-typescript' : undefined
  return { url: href, format, importAttributes, shortCircuit: true }
}
