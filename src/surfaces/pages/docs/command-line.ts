import { html } from '../html.ts'
import type { Tool } from '../../../service/catalogue/define.ts'
import { shellWord } from '../../../service/catalogue/text.ts'
import { code, curl, items, paragraphs, sample, shownTool, table, type Topic } from './parts.ts'

/** The call of a tool with its example. */
export function assayCall(tool: Tool): string {
  return `assay call ${tool.id} ${shellWord(JSON.stringify(tool.example))}`
}

export const COMMAND_LINE: Topic = {
  id: 'cli',
  title: 'Command line',
  words: 'Tools, receipts and files without a server.',
  chapters(deps) {
    const tool = shownTool(deps)
    const keys = `${deps.origins.api_url}/.well-known/xdr-1.json`
    return [
      {
        id: 'run',
        title: 'Run a tool',
        body: html`${paragraphs(
          html`${code('assay')} is part of this service; in a checkout it is ${code('npx node src/cli.ts')}. It runs the same tools on your
          machine, draws on no allowance and signs with a key that it makes on first use.`,
        )}
        ${sample('call', 'assay', 'One call', assayCall(tool))}
        ${sample('stream', 'text', 'One input a line, one answer a line', `assay call ${tool.id} --jsonl < inputs.jsonl > answers.jsonl`)}
        ${paragraphs(html`On a terminal the answer is for people, in a pipe it is JSON; ${code('--json')} and ${code('--text')} choose.`)}`,
      },
      {
        id: 'verify',
        title: 'Verify and replay',
        body: html`${sample('keys', 'shell', 'Keep the key list of this service', curl(keys))}
        ${sample('verify', 'text', 'Receipts against it, offline', 'assay verify answer.json --keys xdr-1.json')}
        ${sample('replay', 'text', 'Run the tool again and compare', 'assay replay answer.json input.json')}
        ${items(
          'verify takes a receipt, a whole answer, an array of them, or one a line; links among them are checked.',
          'verify ends with 0 when a key of the list signed the receipt; with 1 when something was altered or the signer is not on the list; with 3 without --keys, because a valid signature alone does not say who the issuer is.',
          'replay needs the input and the same version of the tool; tools that read the world cannot be replayed.',
        )}`,
      },
      {
        id: 'more',
        title: 'More commands',
        body: html`${table(
          'What else there is',
          ['command', 'what it does'],
          [
            [code('assay tools'), 'lists the tools, or shows one with its schemas'],
            [code('assay mcp'), html`MCP over standard input and output (<a href="/docs/mcp">MCP</a>)`],
            [code('assay preflight'), 'holds a document of another protocol against its rules'],
            [code('assay reconcile'), 'compares payment files with statements, of any size'],
            [code('assay ledger'), 'adds up the payments of a deployment, and proves them by the chain'],
            [code('assay keys'), 'shows, rotates and revokes receipt keys'],
            [code('assay doctor'), 'shows the settings and checks what they name'],
          ],
        )}
        ${paragraphs(html`${code('assay help')} lists them all; each ends with an exit code that a script can rely on.`)}`,
      },
    ]
  },
}
