import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Platforms for which @foundry-rs/anvil carries a binary, as Node names them, and the package that holds it. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
}

/** The sandbox chain cannot run here, or did not start; the message says why and what helps. */
export class SandboxChainError extends Error {
  override name = 'SandboxChainError'
}

/** Path of the anvil binary for this machine. Throws a SandboxChainError when there is none. */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = PACKAGES[`${platform}-${arch}`]
  if (name === undefined) {
    const known = Object.keys(PACKAGES).join(', ')
    throw new SandboxChainError(`The sandbox chain runs on ${known}, not on ${platform}-${arch}; use ASSAY_MODE=live with an RPC URL.`)
  }
  const path = binaryIn(name, platform)
  if (path === null) {
    throw new SandboxChainError(`The sandbox chain needs the optional package ${name}, which is not installed; run "npm ci".`)
  }
  return path
}

function binaryIn(name: string, platform: string): string | null {
  // The package exports nothing, so its folder is found on the path that Node would search.
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  const file = platform === 'win32' ? 'anvil.exe' : 'anvil'
  return folders.map((folder) => `${folder}/${name}/bin/${file}`).find((path) => existsSync(path)) ?? null
}
