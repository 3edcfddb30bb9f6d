import { html } from '../html.ts'
import { TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { callUrl, paymentWords, allowanceWords, byFamily } from '../../../service/catalogue/text.ts'
import { limits } from '../../../service/limits.ts'
import { priceBounds, type PriceClass } from '../../../service/payments/price-book.ts'
import { mcpResource, v1PaymentRequired, v2PaymentRequired } from '../../../service/payments/terms.ts'
import type { AppDeps } from '../../deps.ts'
import { code, curl, items, json, paragraphs, sample, shownTool, steps, table, type Chapter, type Topic } from './parts.ts'
import { usdcDecimal } from '../../../pure/payments/usdc.ts'

export const PAYMENT: Topic = {
  id: 'payment',
  title: 'Payment',
  words: 'x402 in both versions, over REST, MCP and A2A; states, and what to do when an answer is lost.',
  chapters(deps) {
    if (!deps.takes_payments) return [{ id: 'none', title: 'Not here', body: paragraphs(paymentWords(deps)) }]
    return [how(deps), terms(deps), overMcp(deps), CREDIT, STATES, resends(deps)]
  },
}

function how(deps: AppDeps): Chapter {
  const url = callUrl(deps, shownTool(deps))
  const body = JSON.stringify(JSON.stringify({ input: shownTool(deps).example }))
  return {
    id: 'how',
    title: 'How a call is paid',
    body: html`${paragraphs(paymentWords(deps))}
    ${steps(
      1,
      html`Call without a payment. When no free call is left the answer is 402 with terms: version 2 of x402 in the header
      ${code('PAYMENT-REQUIRED')}, version 1 in the body. Both ask for the same.`,
      html`Sign one EIP-3009 ${code('TransferWithAuthorization')} of USDC: to ${code('payTo')}, for exactly ${code('amount')}, valid for at
      least ${limits.payment_least_left_s} seconds and at most ${limits.payment_longest_s}. It costs you no gas.`,
      html`Send the same request with the payment as Base64 of its JSON, in ${code('PAYMENT-SIGNATURE')} (version 2) or ${code('X-PAYMENT')}
      (version 1).`,
      html`The tool runs, answer and receipt are stored, then the transfer is sent. The answer leaves once the chain shows it, with
      ${code('PAYMENT-RESPONSE')} and ${code('settlement')}.`,
    )}
    ${sample(
      'official',
      'javascript',
      'With the official client of x402',
      [
        `import { wrapFetchWithPayment, x402Client } from '@x402/fetch'`,
        `import { ExactEvmScheme } from '@x402/evm/exact/client'`,
        `import { privateKeyToAccount } from 'viem/accounts'`,
        ``,
        'const signer = privateKeyToAccount(process.env.PAYER_KEY)',
        `const client = new x402Client().register('eip155:${deps.chain_id}', new ExactEvmScheme(signer))`,
        `const pay = wrapFetchWithPayment(fetch, client)`,
        `const answer = await pay('${url}', { method: 'POST', body: ${body} })`,
        'console.log(await answer.json())',
      ].join('\n'),
    )}
    ${paragraphs(
      html`The <a href="/docs/client">client library</a> does the same within a cap, and verifies the receipt.`,
      deps.sandbox === null
        ? 'Real money moves here. Begin on a sandbox or on Base Sepolia.'
        : html`This is a sandbox: its chain and its tokens are worthless. ${code('npm run demo')} in a checkout pays with the sandbox’s own
          payer.`,
    )}`,
  }
}

/** Terms as a 402 asks for them, with the floor of the class for an amount. */
function terms(deps: AppDeps): Chapter {
  const tool = shownTool(deps)
  const offer = { resource: callUrl(deps, tool), description: tool.description, amount_minor: priceBounds(tool.price).floor_minor }
  return {
    id: 'terms',
    title: 'The terms',
    body: html`${json('v2', 'PAYMENT-REQUIRED, decoded from Base64', v2PaymentRequired({ ...deps.terms, ...offer }, 'payment required'))}
    ${json('v1', 'The members of version 1 in the body', v1PaymentRequired({ ...deps.terms, ...offer }, 'payment required'))}
    ${paragraphs(html`The terms of a real 402 also have extensions, which official clients send back: ${code('payment-identifier')}, an id of your
    choice; ${code('bazaar')}, an example of the call; ${code('offer-receipt')}, the offer signed by the receipt key. The settlement metadata of a
    paid call has a receipt signed by the same key, which <a href="/.well-known/did.json">did.json</a> links to this domain.`)}
    ${paragraphs('Amounts are minor units of USDC, six decimals. The amount of your 402 is the one to pay; that of this page is the lowest.')}`,
  }
}

function overMcp(deps: AppDeps): Chapter {
  const tool = shownTool(deps)
  const required = v2PaymentRequired(
    { ...deps.terms, resource: mcpResource(tool.id), description: tool.description, amount_minor: priceBounds(tool.price).floor_minor },
    'payment required',
  )
  return {
    id: 'mcp',
    title: 'Over MCP and A2A',
    body: html`${paragraphs(
      html`An unpaid call over MCP is a result with ${code('isError')}, whose text contains the problem and the terms of version 2;
      ${code('_meta["x402/error"]')} has those of version 1. Send the call again with the payment as ${code('_meta["x402/payment"]')}, an
      object and no Base64; the answer has ${code('_meta["x402/payment-response"]')}.`,
    )}
    ${json('mcp-terms', 'The members of the text that ask for payment', required)}
    ${paragraphs(html`Over <a href="/docs/a2a#payment">A2A</a> the task waits for the payment. The gate is the same: price, binding and answer do not depend on the way in.`)}`,
  }
}

const CREDIT: Chapter = {
  id: 'credit',
  title: 'With a prepaid credit',
  body: paragraphs(
    html`A <a href="/credits">credit</a> pays instead of a transfer: send its code as ${code('X-CREDIT')} and a new
      ${code('Idempotency-Key')} with each call. The same key with the same request brings the same answer and is debited once. Anyone
      who has the code can spend it.`,
  ),
}

const STATES: Chapter = {
  id: 'states',
  title: 'States',
  body: table(
    'What can become of a payment',
    ['you see', 'what it means', 'money'],
    [
      [code('unpaid'), 'this service has never seen the payment, or let it go before anything was sent', 'none moved'],
      [
        code('pending'),
        'the transfer is on its way, or failed while its authorization may still be executed by others',
        'may move until valid_before',
      ],
      [code('settled'), html`the exact transfer is in a block; ${code('final')} when no reorganisation can take it away`, 'moved, once'],
      [code('released'), 'it was given up, or refused and can no longer be executed', 'none moved'],
    ],
  ),
}

function resends(deps: AppDeps): Chapter {
  const { payer, nonce } = TEST_VECTOR.receipt
  return {
    id: 'resends',
    title: 'When an answer is lost',
    body: html`${items(
      html`<b>Send the same payment again</b> with the same request. It brings the stored answer byte for byte, and never pays twice. The
        answer is kept for ${limits.answer_kept_ms / 3_600_000} hours.`,
      html`A settled payment can be read from the chain. So its resend is answered from the network that sent it first (/24 or /48), and
      from anywhere with a secret that never was on chain: the answer token in ${code('X-ANSWER-TOKEN')}, the ${code('payment-identifier')}
      id of the first request, or a ${code('SIGN-IN-WITH-X')} proof of the payer. Any other resend is refused, even with the same input
      (409 ${code('PAYMENT_ALREADY_USED')}).`,
      html`202 ${code('PAYMENT_PENDING')} is not a refusal: do not sign again. ${code('Location')} says where the answer will be.`,
      html`A payment is bound to one tool and one input; with another request it is refused (409 ${code('NONCE_BOUND')}).`,
      'A call that fails by our fault is not charged.',
    )}
    ${sample('status', 'shell', 'State of a payment, by payer and nonce', curl(`${deps.origins.api_url}/v1/payments/${payer}/${nonce}`))}`,
  }
}

/** Description of each price class. */
const CLASSES: Record<PriceClass, string> = {
  free: 'free without limit',
  check: 'one check of one value',
  chain: 'facts read from the chain or from a market',
  contract: 'the facts of a token contract',
  document: 'a whole document or file',
  batch: 'many checks in one call',
}

export const PRICES: Topic = {
  id: 'prices',
  title: 'Prices and free calls',
  words: 'Free calls of a day, what a call costs then, and how prices move.',
  chapters(deps) {
    const { tools } = deps.call.catalogue
    const { api_url } = deps.origins
    const classes = (Object.keys(CLASSES) as PriceClass[]).map((name) => {
      const { floor_minor, cap_minor, formula } = priceBounds(name)
      const members = tools.filter(({ price }) => price === name).length
      return [code(name), CLASSES[name], usdcDecimal(floor_minor), usdcDecimal(cap_minor), formula ?? '', String(members)]
    })
    return [
      {
        id: 'free',
        title: 'Free calls',
        body: html`${paragraphs(allowanceWords(deps.free, tools), 'A client is the network it calls from: an IPv4 address, or the /64 of an IPv6 one. Only a keyed hash of it is stored, and it changes daily.')}
        ${sample('left', 'shell', 'What is left today; asking costs nothing', curl(`${api_url}/v1/allowance`))}`,
      },
      {
        id: 'classes',
        title: 'What a call costs',
        body: html`${paragraphs(paymentWords(deps))}
        ${table('Classes of tools, in USDC', ['class', 'what it is', 'at least', 'at most', 'formula', 'tools'], classes)}
        ${sample('now', 'shell', 'The prices now', curl(`${api_url}/health`))}`,
      },
      {
        id: 'moving',
        title: 'How prices move',
        body: items(
          'Each class has one price between its floor and its cap. It follows the number of recent payers, counted in intervals of ten seconds.',
          `A price that was quoted stays payable for ${limits.max_timeout_s} seconds, even if the price moves.`,
          html`<a href="/status">Status</a> draws them over time.`,
        ),
      },
      {
        id: 'tools',
        title: 'Every tool',
        body: html`${byFamily(tools).map(({ title, tools: members }) =>
          table(
            title,
            ['tool', 'class', 'free calls'],
            members.map(({ id, price }) => [
              html`<a href="/tools/${id}"><code>${id}</code></a>`,
              price,
              price === 'free'
                ? 'without limit'
                : String(Object.hasOwn(deps.free.overrides, id) ? deps.free.overrides[id] : deps.free.free_daily),
            ]),
          ),
        )}`,
      },
    ]
  },
}
