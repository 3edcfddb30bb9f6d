import { hydrateIsland } from '../html.ts'
import { documentFindings } from '../components/document-findings.ts'
import { Samples } from '../components/samples.ts'
import { ToolDesk } from '../components/tool-desk.ts'

/** The form of a tool page, loaded when it is used. */

hydrateIsland('desk', ToolDesk, { documents: documentFindings, samples: Samples })
