import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page of one tool: its form is loaded when it is used. */

hydrateOnUse('desk', async () => {
  const [{ hydrateIsland }, { ToolDesk }, { documentFindings }, { Samples }] = await Promise.all([
    import('../html.ts'),
    import('../components/tool-desk.ts'),
    import('../components/document-findings.ts'),
    import('../components/samples.ts'),
  ])
  hydrateIsland('desk', ToolDesk, { documents: documentFindings, samples: Samples })
})
