/** Checks of texts for language models. The patterns find common forms only; no match proves nothing. */

/** Control and format characters but tab and line ends (Unicode Cc and Cf: zero-width, direction, tags): models read them, people do not. */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cf}]/u

export function hasHiddenCharacters(text: string): boolean {
  return HIDDEN.test(text)
}

const INSTRUCTIONS = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|system)\b.{0,40}\b(?:instructions?|prompts?|rules?|messages?)\b/is,
  /\b(?:system|developer) (?:prompt|message)\b/i,
  /<\/?(?:system|assistant|user|instructions?|important)>/i,
  /\bdo not (?:tell|inform|mention|reveal|show)\b.{0,30}\b(?:the )?user\b/is,
  /\byou (?:must|should) (?:now |always |immediately )?(?:call|send|transfer|pay|buy|purchase|forward|act as)\b/i,
  /\b(?:send|transfer|forward|exfiltrate)\b.{0,40}\b(?:api key|password|private key|seed phrase|credentials|funds)\b/is,
]

/** Checked part of a text, in UTF-16 units. */
const LOOKED_AT_CHARS = 8_192

/** Returns whether a text looks like an instruction to the model that reads it. */
export function looksLikeInstruction(text: string): boolean {
  const head = text.slice(0, LOOKED_AT_CHARS)
  return INSTRUCTIONS.some((pattern) => pattern.test(head))
}

const EMAIL = /(?:^|[^\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])/i
const PHONE = /(?:^|[^\w.,+-])(?:\+[1-9][0-9]{0,2}[ ./-]?)(?:\(?[0-9]{2,4}\)?[ ./-]?){2,5}[0-9]{2,4}(?![\w])/

/** Returns whether a text contains an e-mail address or an international telephone number; national numbers are too ambiguous. */
export function containsContactData(text: string): boolean {
  const head = text.slice(0, LOOKED_AT_CHARS)
  return EMAIL.test(head) || PHONE.test(head)
}
