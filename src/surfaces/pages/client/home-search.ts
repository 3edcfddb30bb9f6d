import { hydrate } from 'preact'
import { Catalogue, catalogueInPage } from '../components/catalogue.ts'
import { html } from '../html.ts'

/** The search of the first page, loaded when the search field is used. */

const root = document.getElementById('catalogue')
if (root !== null) hydrate(html`<${Catalogue} ...${catalogueInPage()} />`, root)
