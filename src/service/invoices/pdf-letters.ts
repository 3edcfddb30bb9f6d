import { readFile } from 'node:fs/promises'
import fontkit from '@pdf-lib/fontkit'
import type { PDFDocument, PDFFont } from 'pdf-lib'
import { isPrinted, printedText } from '../../pure/invoices/printable.ts'

/** A text as its font prints it. */
export interface Lettered {
  text: string
  font: PDFFont
}

/**
 * Chooses the font of a text: `plain`, which every reader has, or, for letters outside Windows-1252, DejaVu Sans, of which the document then
 * carries the letters it uses. Throws for characters that are not printed: whoever asks for a document asks `unprintable` before.
 */
export function lettering(document: PDFDocument, plain: PDFFont): (text: string) => Promise<Lettered> {
  let wide: Promise<PDFFont> | undefined
  return async (given) => {
    const text = printedText(given)
    if (covers(plain, text)) return { text, font: plain }
    wide ??= embedded(document)
    const font = await wide
    return { text: printable(text, font), font }
  }
}

async function embedded(document: PDFDocument): Promise<PDFFont> {
  document.registerFontkit(fontkit)
  const file = await readFile(new URL(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')))
  return document.embedFont(file, { subset: true })
}

function covers(font: PDFFont, text: string): boolean {
  const known = new Set(font.getCharacterSet())
  return Array.from(text).every((character) => known.has(character.codePointAt(0) ?? 0) && isPrinted(character))
}

/** The text, when the font prints every character of it. */
export function printable(text: string, font: PDFFont): string {
  if (!covers(font, text)) throw new RangeError('a text has characters that the document does not print')
  return text
}
