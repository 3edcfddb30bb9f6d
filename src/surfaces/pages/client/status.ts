import { hydrateIsland } from '../html.ts'
import { StatusCharts } from '../components/status-charts.ts'

/** Script of the status page. */

hydrateIsland('charts', StatusCharts)
