// The accent colour of the brand, in both themes: exact where it fills a button, whose text is black or white; as text
// and lines, lighter or darker until its contrast suffices.

/** Red, green, blue, from 0 to 255. */
type Colour = readonly [number, number, number];

/** At least this against every background, for text of any size (WCAG 2.2, 1.4.3), with a margin for rounding. */
const contrastMin = 4.6;

/** Below the contrast of all backgrounds in tokens.css on which links and icons are drawn, also tints. */
const backgrounds = { light: [0xe8, 0xee, 0xec], dark: [0x1c, 0x33, 0x2d] } as const;
const black: Colour = [0, 0, 0];
const white: Colour = [255, 255, 255];

export type Accent = {
  /** The colour itself. */
  readonly fill: string;
  readonly fillInk: string;
  readonly fillHover: string;
  /** As text. */
  readonly light: string;
  readonly dark: string;
};

export function applyAccent(hex: string | undefined): void {
  const accent = hex === undefined ? undefined : accentOf(hex);
  if (accent === undefined) return;
  const { style } = document.documentElement;
  const both = `light-dark(${accent.light}, ${accent.dark})`;
  style.setProperty('--accent', both);
  style.setProperty('--accent-hover', `color-mix(in srgb, ${both} 82%, var(--ink))`);
  style.setProperty('--tint', `color-mix(in srgb, ${both} 10%, var(--raised))`);
  style.setProperty('--fill', accent.fill);
  style.setProperty('--fill-ink', accent.fillInk);
  style.setProperty('--fill-hover', accent.fillHover);
}

/** Undefined if it is not `#rrggbb`. */
export function accentOf(hex: string): Accent | undefined {
  if (!/^#[0-9a-f]{6}$/iu.test(hex)) return undefined;
  const colour = colourOf(hex);
  const isDarkInk = contrast(colour, black) >= contrast(colour, white);
  return {
    fill: hexOf(colour),
    fillInk: hexOf(isDarkInk ? black : white),
    // Away from the text, so that the contrast only rises.
    fillHover: hexOf(mix(colour, isDarkInk ? white : black, 0.15)),
    light: hexOf(readable(colour, backgrounds.light, black)),
    dark: hexOf(readable(colour, backgrounds.dark, white)),
  };
}

/** The colour, mixed with the other one until it has enough contrast to the background. */
function readable(colour: Colour, background: Colour, towards: Colour): Colour {
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mix(colour, towards, share);
    if (contrast(mixed, background) >= contrastMin) return mixed;
  }
  return towards;
}

/** From 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix([r, g, b]: Colour, [red, green, blue]: Colour, share: number): Colour {
  const part = (one: number, other: number): number => Math.round(one + (other - one) * share);
  return [part(r, red), part(g, green), part(b, blue)];
}

export function colourOf(hex: string): Colour {
  const at = (from: number): number => Number.parseInt(hex.slice(from, from + 2), 16);
  return [at(1), at(3), at(5)];
}

function hexOf(colour: Colour): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
