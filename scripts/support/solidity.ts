/** Compiles the contracts of this project with solc from npm, and writes down what came out in the project's own compact form. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

interface AbiParameter {
  name: string
  type: string
  indexed?: boolean
  components?: AbiParameter[]
}

interface AbiEntry {
  type: 'function' | 'event' | 'error' | 'constructor' | 'fallback' | 'receive'
  name?: string
  stateMutability?: string
  inputs?: AbiParameter[]
  outputs?: AbiParameter[]
}

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: AbiEntry[]; evm: { bytecode: { object: string } } }>>
}

interface Compiler {
  version(): string
  compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string
}

interface Artifact {
  source: string
  contract: string
  file: string
}

/** Target of each contract's artifact. `test-` marks those that only tests deploy. */
const ARTIFACTS: readonly Artifact[] = [
  { source: 'contracts/TestUsdc.sol', contract: 'TestUsdc', file: 'data/contracts/test-usdc.json' },
  { source: 'contracts/BatchSettler.sol', contract: 'BatchSettler', file: 'data/contracts/batch-settler.json' },
  { source: 'contracts/DepositFactory.sol', contract: 'DepositFactory', file: 'data/contracts/deposit-factory.json' },
  { source: 'contracts/ChannelSettlement.sol', contract: 'ChannelSettlement', file: 'data/contracts/channel-settlement.json' },
  { source: 'contracts/ChannelSettlement.sol', contract: 'AuthorizationCollector', file: 'data/contracts/authorization-collector.json' },
  { source: 'contracts/SignatureProbe.sol', contract: 'SignatureProbe', file: 'data/contracts/signature-probe.json' },
  { source: 'contracts/TestWallets.sol', contract: 'TestWallet', file: 'data/contracts/test-wallet.json' },
  { source: 'contracts/TestWallets.sol', contract: 'TestWalletFactory', file: 'data/contracts/test-wallet-factory.json' },
]

/** Contracts that only the tests of token contracts deploy. */
export const TOKEN_SAMPLES: readonly Artifact[] = [
  'PlainToken',
  'Bytes32Token',
  'RevertingToken',
  'HostileToken',
  'OperatorToken',
  'UupsToken',
  'ZeppelinosProxy',
  'Diamond',
].map((contract) => ({ source: 'contracts/TokenSamples.sol', contract, file: `test/chain/samples/${kebab(contract)}.json` }))

/** Tokens and merchants that only the tests of deposit addresses deploy. */
export const DEPOSIT_SAMPLES: readonly Artifact[] = ['NoReturnToken', 'FalseToken', 'FeeToken', 'ReentrantToken', 'ReentrantMerchant'].map(
  (contract) => ({ source: 'contracts/DepositSamples.sol', contract, file: `test/contracts-solidity/samples/${kebab(contract)}.json` }),
)

/** No metadata in the code: it then depends on nothing but what it does. */
const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: true,
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
} as const

const ROOT = new URL('../../', import.meta.url)
const require = createRequire(import.meta.url)
/** The one package that the contracts import. */
const OPENZEPPELIN = '@openzeppelin/contracts'
const PACKAGE = pathToFileURL(require.resolve('@openzeppelin/contracts/package.json'))
const LINE_CHARS = 140

function kebab(contract: string): string {
  return contract.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()
}

/** Compiles these contracts; the text of each artifact by its path. Throws with the compiler's words when it has any. */
export function compileArtifacts(artifacts: readonly Artifact[] = ARTIFACTS): Map<string, string> {
  const compiler = require('solc') as Compiler
  const read = new Map<string, string>()
  const contents = (path: string) => {
    const packaged = path.startsWith(`${OPENZEPPELIN}/`)
    const place = packaged ? new URL(`.${path.slice(OPENZEPPELIN.length)}`, PACKAGE) : new URL(path, ROOT)
    const text = readFileSync(place, 'utf8')
    read.set(path, text)
    return { contents: text }
  }
  const sources = Object.fromEntries(artifacts.map(({ source }) => [source, { content: contents(source).contents }]))
  const outputSelection = { '*': { '*': ['abi', 'evm.bytecode.object'] } }
  const input = { language: 'Solidity', sources, settings: { ...SETTINGS, outputSelection } }
  const output = JSON.parse(compiler.compile(JSON.stringify(input), { import: contents })) as CompilerOutput
  if (output.errors !== undefined && output.errors.length > 0) {
    throw new Error(output.errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  }
  const head = { compiler: `solc ${compiler.version()}`, settings: SETTINGS, sources_sha256: digestOf(read) }
  return new Map(artifacts.map((one) => [one.file, artifactText(one, head, output)]))
}

/** One hash over every file that was read, each with its name. */
function digestOf(read: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256')
  for (const [path, text] of [...read].toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${path}\0${text}\0`)
  return hash.digest('hex')
}

function artifactText(one: Artifact, head: object, output: CompilerOutput): string {
  const compiled = output.contracts[one.source]?.[one.contract]
  if (compiled === undefined) throw new Error(`${one.contract} was not compiled`)
  const fields = { schema: 'contract/1', contract: one.contract, source: one.source, ...head }
  const abi = compiled.abi.map(signature)
  return `${jsonText({ ...fields, abi, creation_code: `0x${compiled.evm.bytecode.object}` }, '')}\n`
}

/** An entry of the interface in Solidity's own words, as viem's parseAbi reads them. */
function signature(entry: AbiEntry): string {
  if (entry.type === 'receive') return 'receive() external payable'
  const head = entry.type === 'constructor' ? 'constructor' : `${entry.type} ${entry.name ?? ''}`
  const mutability = [undefined, 'nonpayable'].includes(entry.stateMutability) ? '' : ` ${entry.stateMutability}`
  const outputs = entry.outputs === undefined || entry.outputs.length === 0 ? '' : ` returns (${list(entry.outputs)})`
  return `${head}(${list(entry.inputs ?? [])})${mutability}${outputs}`
}

function list(parameters: readonly AbiParameter[]): string {
  return parameters
    .map(({ name, type, indexed, components }) => {
      const full = components === undefined ? type : type.replace('tuple', `(${list(components)})`)
      return [full, indexed === true ? 'indexed' : '', name].filter((word) => word !== '').join(' ')
    })
    .join(', ')
}

/** JSON in the style of the formatter: objects on separate lines, lists on one line if they fit. */
function jsonText(value: unknown, indent: string): string {
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    if (line.length < LINE_CHARS - 20) return line
    return `[\n${value.map((item) => inner + JSON.stringify(item)).join(',\n')}\n${indent}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => `${inner}${JSON.stringify(name)}: ${jsonText(field, inner)}`)
  return `{\n${fields.join(',\n')}\n${indent}}`
}
