import { copyOnClick } from './dom.ts'

/** The documentation: its samples can be copied. */

copyOnClick()
