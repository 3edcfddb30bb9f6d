import { startAsk } from './ask.ts'
import { startSearch } from './search.ts'

/** The first page: one form to try, and the search in the catalogue. */

startAsk(null)
startSearch()
