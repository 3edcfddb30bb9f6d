import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import { html } from '../html.ts'
import { allowanceWords, byFamily, paymentWords } from '../../../service/catalogue/text.ts'
import { priceBounds, type PriceClass } from '../../../service/payments/price-book.ts'
import { limits } from '../../../service/limits.ts'
import { code, curl, items, paragraphs, sample, table, type Topic } from './parts.ts'

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
