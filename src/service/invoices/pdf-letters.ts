import { readFile } from 'node:fs/promises'
import fontkit from '@pdf-lib/fontkit'
import type { PDFDocument, PDFFont } from 'pdf-lib'

/** A text as its font can show it. */
export interface Lettered {
  text: string
  font: PDFFont
}

/** Scripts that are written one letter after the other from left to right, so that no shaping is needed. */
const PLAIN_SCRIPTS = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}]$/u

/**
 * Chooses the font of a text: `plain`, which every reader has, or, for letters outside Windows-1252, DejaVu Sans, of which the document then
 * carries the letters it uses. What neither shows (Arabic, Hebrew, Indic and East Asian scripts) becomes a question mark.
 */
export function lettering(document: PDFDocument, plain: PDFFont): (text: string) => Promise<Lettered> {
  let wide: Promise<PDFFont> | undefined
  return async (given) => {
    const text = given.normalize('NFC').replace(/\s+/gu, ' ')
    if (shown(text, plain) === text) return { text, font: plain }
    wide ??= embedded(document)
    const font = await wide
    return { text: shown(text, font), font }
  }
}

async function embedded(document: PDFDocument): Promise<PDFFont> {
  document.registerFontkit(fontkit)
  const file = await readFile(new URL(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')))
  return document.embedFont(file, { subset: true })
}

/** The text with question marks for what the font has not. */
export function shown(text: string, font: PDFFont): string {
  const known = new Set(font.getCharacterSet())
  const isShown = (character: string) => known.has(character.codePointAt(0) ?? 0) && PLAIN_SCRIPTS.test(character)
  return Array.from(text, (character) => (isShown(character) ? character : '?')).join('')
}
