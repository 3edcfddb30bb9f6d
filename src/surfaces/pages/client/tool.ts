import { documentViews } from './answer/documents.ts'
import { startAsk } from './ask.ts'
import { takeFiles } from './ask/files.ts'
import { addTemplates } from './ask/templates.ts'

/** The page of one tool. */

takeFiles()
addTemplates()
startAsk(documentViews)
