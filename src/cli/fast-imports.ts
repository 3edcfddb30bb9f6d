import { enableCompileCache, registerHooks, type ResolveHookContext } from 'node:module'

const ONE_FILE = /^\.\.?\/.*\.(ts|js)$/

/**
 * Makes hundreds of modules load faster; called before they are imported. Compiled code is cached for the next start, and relative
 * imports with a file extension skip Node's search for symbolic links and package.json.
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
