import { html } from '../html.ts'
import type { Tool } from '../../../service/catalogue/define.ts'
import { shellWord } from '../../../service/catalogue/text.ts'
import { code, curl, items, paragraphs, sample, shownTool, table, type Topic, steps } from './parts.ts'

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

export const CLIENT: Topic = {
  id: 'client',
  title: 'Client library',
  words: 'JavaScript and TypeScript: typed calls, payment within a cap, every receipt verified.',
  chapters(deps) {
    const tool = shownTool(deps)
    const url = JSON.stringify(deps.origins.api_url)
    const input = JSON.stringify(tool.example)
    return [
      {
        id: 'free',
        title: 'Free calls',
        body: html`${sample(
          'free',
          'javascript',
          'Node 20, Bun or a browser',
          [
            `import { createClient } from 'assay/client'`,
            '',
            `const client = createClient({ url: ${url} })`,
            `const { result } = await client.call('${tool.id}', ${input})`,
            'console.log(result)',
          ].join('\n'),
        )}
        ${paragraphs(
          html`${code('call')} resolves only with an answer whose receipt was verified: signature, published key, hashes of input and
          result, and the link to the receipt before. Inputs and results are typed by the tool.`,
        )}`,
      },
      {
        id: 'paid',
        title: 'Paid calls',
        body: html`${sample(
          'paid',
          'javascript',
          'A signer and a cap come together',
          [
            `import { createClient } from 'assay/client'`,
            `import { privateKeyToAccount } from 'viem/accounts'`,
            ``,
            `const client = createClient({`,
            `  url: ${url},`,
            '  signer: privateKeyToAccount(process.env.PAYER_KEY),',
            `  spend_cap: { per_call_usdc: '0.05', session_usdc: '1' },`,
            `})`,
            `const answer = await client.call('${tool.id}', ${input})`,
          ].join('\n'),
        )}
        ${items(
          'The free call is used while there is one. Then the terms are checked, the price is compared with both caps, and one transfer is signed.',
          'A lost answer never leads to a second signature: the same payment is sent again until its end is known.',
          html`An error is one class, ${code('AssayError')}, with ${code('code')}, ${code('detail')}, ${code('retryable')},
          ${code('charged')} and, where one was signed, ${code('payment')}, which ${code('resume')} takes.`,
        )}`,
      },
      {
        id: 'methods',
        title: 'What else it does',
        body: table('Methods', ['method', 'what it does'], METHODS),
      },
    ]
  },
}

const METHODS = [
  [code('price(tool, input)'), 'what a call costs now'],
  [code('dryRun(tool, input)'), 'free, paid for how much, or refused and why; signs and runs nothing'],
  [code('allowance()'), 'free calls that are left today'],
  [code('spending()'), 'caps, what was signed and what is left'],
  [code('verify(answer, input)'), 'an answer that was kept, once more'],
  [code('resume(payment)'), 'the answer to a payment whose end was not known'],
  [code("call(tool, input, { detail: 'brief' })"), 'decision, key facts and hashes; also a setting of the client, not verified by itself'],
  [code('whole(brief)'), 'the whole of a brief answer, verified, with the hashes that the brief one named'],
  [code('chain'), 'the receipts of this client, in order'],
]

/** The short form of docs/going-live.md, which has every detail. */
export const GOING_LIVE: Topic = {
  id: 'going-live',
  title: 'Going live',
  words: 'What it takes to be paid in real USDC with a deployment of your own.',
  chapters(deps) {
    return [
      {
        id: 'settings',
        title: 'What live mode needs',
        body: html`${paragraphs(html`The whole of it, with keys, gas, backups, refunds and rotation, is ${code('docs/going-live.md')} in the source. This page is the way through it.`)}
        ${table(
          'Settings',
          ['name', 'what it is'],
          [
            [code('ASSAY_MODE=live'), 'without it the four below stop the start, so that no sandbox touches money'],
            [code('ASSAY_RPC_URLS'), 'endpoints of the chain, two of different providers'],
            [code('ASSAY_PAY_TO'), 'the address that is paid; its key stays away from the service'],
            [
              html`${code('ASSAY_GAS_KEY_FILE')} or ${code('ASSAY_FACILITATOR_URLS')}`,
              'settle yourself with a gas wallet, or let others settle: one of the two',
            ],
            [code('ASSAY_CHAIN_ID'), '8453 is Base; 84532 is Base Sepolia, marked TESTNET everywhere'],
            [html`${code('ASSAY_RECEIPT_KEY_FILE')}, ${code('ASSAY_SECRET_FILE')}`, 'required with PostgreSQL, where instances share them'],
            [code('ASSAY_API_URL'), 'the public origin; terms name the resource by it'],
          ],
        )}`,
      },
      {
        id: 'order',
        title: 'In this order',
        body: steps(
          1,
          html`Run on Base Sepolia with its own store, let a client pay once, and run ${code('assay ledger prove')}: it must end with
          0.`,
          html`Begin on Base with a new store and a new receipt key; run ${code('assay doctor')} until every check holds.`,
          html`Watch ${code('/health')} and ${code('/metrics')} on the operator port (${code('ASSAY_ADMIN_PORT')}); run
          ${code('assay ledger prove')} and ${code('assay doctor')} once a day.`,
        ),
      },
      {
        id: 'watch',
        title: 'What to watch',
        body: html`${table(
          'Alarms',
          ['watch', 'alarm when', 'it means'],
          [
            [html`status of ${code('/health')}`, 'not 200', 'the store does not answer'],
            [code('payments.ready'), 'false for a minute', 'calls cannot be paid: gas, caps, facilitator or chain'],
            [code('payments.chain_ok'), 'false for a minute', 'no endpoint answers with a fresh head'],
            [code('payments.overdue'), 'above 0', 'payments are open for more than ten minutes'],
            [
              html`${code('assay_calls_total')} with ${code('INTERNAL_ERROR')}`,
              'grows',
              'a fault of the service; the log has the request id',
            ],
          ],
        )}
        ${sample('health', 'shell', 'What a monitor asks', curl(`${deps.origins.api_url}/health`))}
        ${items(html`<a href="/status">Status</a> charts the counts of this process.`)}`,
      },
    ]
  },
}
