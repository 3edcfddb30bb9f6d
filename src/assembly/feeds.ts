import { createFeedReader } from '../adapters/feeds/reader.ts'
import { guardedOpen, systemResolve } from '../adapters/public-https/guarded-request.ts'
import type { FeedReader } from '../ports/datasets.ts'
import type { Settings } from '../service/config.ts'
import { datasetLimits } from '../service/limits.ts'

/** Reader of the feeds as the settings say. A mirror is named by the operator, so its own address may be private. */
export function feedReader({ ASSAY_DATA_MIRROR }: Pick<Settings, 'ASSAY_DATA_MIRROR'>): { reader: FeedReader; every_ms: number } {
  const mirror = URL.parse(ASSAY_DATA_MIRROR)
  const is_server = ASSAY_DATA_MIRROR === '' || /^https?:$/.test(mirror?.protocol ?? '')
  const reader = createFeedReader({
    mirror: ASSAY_DATA_MIRROR,
    open: async (url, signal, headers) => {
      const exempt = new Set(is_server && mirror !== null ? await addressesOf(mirror) : [])
      return guardedOpen(url, { resolve: systemResolve, exempt }, signal, datasetLimits, headers)
    },
  })
  return { reader, every_ms: is_server ? datasetLimits.server_every_ms : datasetLimits.folder_every_ms }
}

async function addressesOf(url: URL): Promise<string[]> {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const addresses = await systemResolve(url.hostname.replace(/^\[|\]$/g, ''))
  return addresses.map(({ address }) => `${address}:${port}`)
}
