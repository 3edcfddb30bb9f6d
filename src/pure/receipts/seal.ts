/**
 * The seal of a receipt: a guilloche drawn from its digest alone, so that two people can compare two receipts at a glance. It is a visual
 * fingerprint and no proof.
 *
 * Every coordinate is a whole number found with + - * / and Math.round, which all engines compute alike; Math.sin is left alone because
 * engines may round it differently. The rim holds the whole digest, one tick for each of its 64 hex digits, clockwise from the top; the
 * three bands take lobes, strands, swing and turn from bytes 0 to 11.
 */

/** Side of the square view box. */
export const SEAL_UNITS = 1_000

export interface SealPath {
  /** SVG path data. */
  d: string
  /** In units of the view box. */
  stroke_width: number
}

/** A seal is broken when the receipt is: a wedge is missing and a crack runs through it. */
export interface SealForm {
  broken?: boolean
}

/** The seal as bare paths, for badges and PDF. A digest that is no 32 bytes of 0x-prefixed hex draws an empty, broken seal. */
export function sealPaths(digest: string, form: SealForm = {}): SealPath[] {
  const bytes = /^0x[0-9a-f]{64}$/.test(digest) ? digest.slice(2) : null
  if (bytes === null) return [crack(0)]
  const wedge = form.broken === true ? Math.round((byteAt(bytes, 31) * 360) / 256) : null
  const bands = BANDS.map((place, index) => ({ d: band(bytes, index, place, wedge), stroke_width: 4 }))
  const rim = { d: ticks(bytes, wedge), stroke_width: 7 }
  return wedge === null ? [rim, ...bands] : [rim, ...bands, crack(wedge + WEDGE_DEGREES / 2)]
}

/** The seal as SVG markup in a square of `SEAL_UNITS`, to be placed in a larger drawing; it takes the colour of the text around it. */
export function sealShape(digest: string, form: SealForm = {}): string {
  const paths = sealPaths(digest, form).map(({ d, stroke_width }) => `<path stroke-width="${stroke_width}" d="${d}"/>`)
  return `<g fill="none" stroke="currentColor">${paths.join('')}</g>`
}

/** The seal as an SVG document. */
export function sealSvg(digest: string, form: SealForm = {}): string {
  const title =
    form.broken === true ? 'Broken seal: this receipt does not verify.' : 'Seal of this receipt: a visual fingerprint, not proof.'
  const frame = `xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SEAL_UNITS} ${SEAL_UNITS}" role="img"`
  return `<svg ${frame}><title>${title}</title>${sealShape(digest, form)}</svg>`
}

const CENTRE = SEAL_UNITS / 2
/** As exact as a drawing needs, and the same literal everywhere. */
const PI = 3.14159
const WEDGE_DEGREES = 50
/** Middle radius and room to swing of the three bands, from the outside in. */
const BANDS = [
  { radius: 345, room: 75 },
  { radius: 225, room: 85 },
  { radius: 110, room: 70 },
]

function byteAt(hex: string, index: number): number {
  return parseInt(hex.slice(2 * index, 2 * index + 2), 16)
}

/**
 * sin of any angle in degrees by Bhaskara's rational formula (7th century), within 0.0017 of the true value; exact arithmetic apart from
 * one division, which IEEE 754 rounds alike everywhere.
 */
function sine(degrees: number): number {
  const turn = ((degrees % 360) + 360) % 360
  const half = turn < 180 ? turn : turn - 180
  const product = half * (180 - half)
  return ((turn < 180 ? 4 : -4) * product) / (40_500 - product)
}

function point(radius: number, degrees: number): [x: number, y: number] {
  return [Math.round(CENTRE + radius * sine(degrees)), Math.round(CENTRE - radius * sine(degrees + 90))]
}

function missing(degrees: number, wedge: number | null): boolean {
  return wedge !== null && (((degrees - wedge) % 360) + 360) % 360 < WEDGE_DEGREES
}

/** One band: a wave around a circle, drawn as two or three strands that are shifted against each other. */
function band(bytes: string, index: number, place: { radius: number; room: number }, wedge: number | null): string {
  const at = 4 * index
  const lobes = 5 + (byteAt(bytes, at) % 10) - index
  const count = 2 + (byteAt(bytes, at + 1) % 2)
  const height = Math.round((place.room * (128 + (byteAt(bytes, at + 2) >> 1))) / 255)
  const phase = (byteAt(bytes, at + 3) * 360) / 256
  const shift = 360 / lobes / count
  return Array.from({ length: count }, (_, strand) => wave(place.radius, height, lobes, phase + strand * shift, wedge)).join('')
}

/**
 * A closed wave of `lobes` crests. Each half lobe is one cubic curve between a crest and a trough, both flat along the circle; the handle
 * is 0.38 of the half lobe's angle, close to the cosine it stands for.
 */
function wave(radius: number, height: number, lobes: number, phase: number, wedge: number | null): string {
  const step = 180 / lobes
  const handle = (step * 0.38 * PI) / 180
  let text = ''
  let drawing = false
  for (let half = 0; half < 2 * lobes; half++) {
    const [from, to] = [phase + half * step, phase + (half + 1) * step]
    if (missing(from + step / 2, wedge)) {
      drawing = false
      continue
    }
    const [near, far] = half % 2 === 0 ? [radius + height, radius - height] : [radius - height, radius + height]
    const [start, end] = [point(near, from), point(far, to)]
    if (!drawing) text += `M${start[0]} ${start[1]}`
    text += `c${relative(start, [along(near, from, near * handle), along(far, to, -far * handle), end])}`
    drawing = true
  }
  return text
}

/** The point `distance` further clockwise along the tangent at a point of a circle. */
function along(radius: number, degrees: number, distance: number): [x: number, y: number] {
  const [x, y] = point(radius, degrees)
  return [Math.round(x + distance * sine(degrees + 90)), Math.round(y + distance * sine(degrees))]
}

/** Coordinates as seen from `origin`, without the spaces that a minus sign makes needless. */
function relative(origin: readonly [number, number], points: readonly (readonly [number, number])[]): string {
  return points
    .flatMap(([x, y]) => [x - origin[0], y - origin[1]])
    .join(' ')
    .replaceAll(' -', '-')
}

/** The rim: tick n is as long as hex digit n is large. */
function ticks(bytes: string, wedge: number | null): string {
  let text = ''
  for (let index = 0; index < 64; index++) {
    const degrees = (index * 360) / 64
    if (missing(degrees, wedge)) continue
    const start = point(490, degrees)
    const end = point(482 - 3 * parseInt(bytes.charAt(index), 16), degrees)
    text += `M${start[0]} ${start[1]}l${relative(start, [end])}`
  }
  return text
}

/** A jagged line from the rim through the middle. */
function crack(degrees: number): SealPath {
  const corners = [490, 380, 290, 170, 90, 0].map((radius, index) => point(radius, degrees + (index % 2 === 0 ? -7 : 9)))
  return { d: `M${corners.map(([x, y]) => `${x} ${y}`).join('L')}`, stroke_width: 9 }
}
