import { html } from '../html.ts'
import { code, items, paragraphs, sample, shownTool, table, type Topic } from './parts.ts'

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
        body: table(
          'Methods',
          ['method', 'what it does'],
          [
            [code('price(tool, input)'), 'what a call costs now'],
            [code('dryRun(tool, input)'), 'free, paid for how much, or refused and why; signs and runs nothing'],
            [code('allowance()'), 'free calls that are left today'],
            [code('spending()'), 'caps, what was signed and what is left'],
            [code('verify(answer, input)'), 'an answer that was kept, once more'],
            [code('resume(payment)'), 'the answer to a payment whose end was not known'],
            [code('chain'), 'the receipts of this client, in order'],
          ],
        ),
      },
    ]
  },
}
