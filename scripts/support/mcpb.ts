import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeZip } from './zip.ts'

/** Environment of npm, which decides about its registry and cache. */
type Environment = NodeJS.ProcessEnv

/**
 * Builds the extension for Claude Desktop (MCP bundle, manifest version 0.3): the packed npm package with the packages that it needs, without those
 * that only `serve` loads. It runs the tools on the user's machine, with the small list.
 */
export async function buildMcpb(tarball: string, folder: string, archive: string, env: Environment = process.env): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  const options = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-bin-links']
  await promisify(execFile)('npm', ['install', ...options, tarball], { cwd: folder, env })
  const read = await readFile(join(folder, 'node_modules/assay/package.json'), 'utf8')
  const { version, description, license } = JSON.parse(read) as Record<'version' | 'description' | 'license', string>
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest(version, description, license), null, 2)}\n`)
  await writeZip(folder, archive)
}

const ENTRY = 'node_modules/assay/assay.js'

function manifest(version: string, description: string, license: string) {
  return {
    manifest_version: '0.3',
    name: 'assay',
    display_name: 'assay',
    version,
    description,
    long_description:
      'Checks bank accounts, company and tax numbers, invoices, payment files and more before you rely on them. The tools run on this machine; ' +
      'tools that read a chain or prices query fixed samples. Every answer has a signed receipt.',
    author: { name: 'assay' },
    license,
    server: {
      type: 'node',
      entry_point: ENTRY,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${ENTRY}`, 'mcp', '--small'],
        env: { ASSAY_DATA_DIR: '${HOME}/.assay' },
      },
    },
    tools: [
      { name: 'find_tool', description: 'Finds tools for a task in words.' },
      { name: 'call_tool', description: 'Calls a tool that was found.' },
    ],
    tools_generated: true,
    keywords: ['iban', 'vat', 'lei', 'invoice', 'payments', 'receipts'],
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=22.15.0' } },
  }
}
