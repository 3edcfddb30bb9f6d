/**
 * A package of the older kind as a browser module, so that what needs it runs in browsers from the same file. Knows what compilers write:
 * names required by literal texts, and `exports.name = …` at the start of a line. Nothing of the package itself is changed.
 */
export function asModule(text: string): string {
  const required = [...new Set([...text.matchAll(/\brequire\("([\w./@-]+)"\)/g)].map(([, name = '']) => name))]
  const exported = [...new Set([...text.matchAll(/^exports\.(\w+) = /gm)].map(([, name = '']) => name))]
  const imports = required.map((name, index) => `import required_${index} from '${name}'`)
  const known = required.map((name, index) => `${JSON.stringify(name)}: required_${index}`)
  const given = exported.map((name) => `const export_${name} = exports.${name}\nexport { export_${name} as ${name} }`)
  return [
    ...imports,
    'const exports = {}',
    `const required = {${known.join(', ')}}`,
    ';(function (exports, require) {',
    text,
    '})(exports, (name) => required[name])',
    ...given,
    'export default exports',
    '',
  ].join('\n')
}

/** Checks if a file of a package is CommonJS as compilers write it, and not an ES module. */
export function isCommonJs(text: string): boolean {
  return /^exports\.\w+ = /m.test(text) && !/^(?:import|export)\s/m.test(text)
}
