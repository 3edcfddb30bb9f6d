import type { PreflightDeskProps } from '../components/preflight-desk.ts'
import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page of the preflight: its form is loaded when it is used; what was chosen before is kept. */

const load = hydrateOnUse('desk', async () => {
  const [{ hydrateIsland }, { PreflightDesk }] = await Promise.all([import('../html.ts'), import('../components/preflight-desk.ts')])
  const form = document.getElementById('preflight')
  const data = new FormData(form instanceof HTMLFormElement ? form : undefined)
  const chosen = Object.fromEntries(
    ['protocol', 'document_type', 'version'].flatMap((name) => {
      const value = data.get(name)
      return typeof value === 'string' ? [[name, value] as const] : []
    }),
  ) as NonNullable<PreflightDeskProps['chosen']>
  hydrateIsland<PreflightDeskProps>('desk', PreflightDesk, { chosen })
})
// The browser may have restored what was typed before a reload.
const field = document.getElementById('document')
if (field instanceof HTMLTextAreaElement && field.value !== '') load()
