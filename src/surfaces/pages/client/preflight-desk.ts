import { hydrateIsland } from '../html.ts'
import { PreflightDesk, type Choices, type PreflightDeskProps } from '../components/preflight-desk.ts'

/** The form of the preflight, loaded when it is used; keeps what was chosen before. */

const form = document.getElementById('preflight')
const data = new FormData(form instanceof HTMLFormElement ? form : undefined)
const chosen = Object.fromEntries(
  ['protocol', 'document_type', 'version'].flatMap((name) => {
    const value = data.get(name)
    return typeof value === 'string' ? [[name, value] as const] : []
  }),
) as Partial<Choices>
hydrateIsland<PreflightDeskProps>('desk', PreflightDesk, { chosen })
