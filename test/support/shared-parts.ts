/** The browser and the PostgreSQL that all files of a run share: each file has a context or databases of its own. */
import { launchBrowserServer, SHARED_BROWSER } from './browser.ts'
import { SHARED_POSTGRES, startPostgres } from './postgres.ts'

const stops: (() => Promise<void>)[] = []

export async function globalSetup(): Promise<void> {
  const [browser, postgres] = await Promise.all([launchBrowserServer(), startPostgres({ waits_for_disk: false })])
  stops.push(() => browser.close(), postgres.stop)
  process.env[SHARED_BROWSER] = browser.wsEndpoint()
  process.env[SHARED_POSTGRES] = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await Promise.all(stops.map((stop) => stop()))
}
