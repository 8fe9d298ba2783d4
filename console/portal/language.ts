// The language of the portal: that of the session, otherwise the first known one of the browser, otherwise English.
// Only the strings of one language are loaded.
import { setWords } from '../src/words.ts';
import type { PortalLanguage } from '../../src/client/contract/access.ts';
import type { Strings } from './strings/en.ts';

const load = {
  en: async () => (await import('./strings/en.ts')).en,
  de: async () => (await import('./strings/de.ts')).de,
} as const satisfies Record<PortalLanguage, () => Promise<Strings>>;

const languages: readonly PortalLanguage[] = ['en', 'de'];

let current: Strings | undefined;
let shown: PortalLanguage | undefined;

/** The strings of the language. They are loaded before the first render. */
export function t(): Strings {
  if (current === undefined) throw new Error('The strings are not loaded');
  return current;
}

let loading = Promise.resolve();

/** Called again once the session is known. */
export async function loadStrings(
  wanted: PortalLanguage = preferred(navigator.languages),
): Promise<void> {
  if (wanted !== shown) {
    shown = wanted;
    loading = load[wanted]().then((strings) => {
      if (shown !== wanted) return; // Another language was chosen meanwhile.
      current = strings;
      setWords(strings.components);
      document.documentElement.lang = wanted;
    });
  }
  await loading;
}

/** Loads the strings, unless some are loaded already; returns whether they are. */
export async function loadedStrings(): Promise<boolean> {
  const wereLoaded = current !== undefined;
  if (!wereLoaded) await loadStrings();
  return wereLoaded;
}

/** `de-AT` is German. */
export function preferred(wanted: readonly string[]): PortalLanguage {
  const known = wanted.map((tag) => languages.find((one) => one === tag.slice(0, 2).toLowerCase()));
  return known.find((one) => one !== undefined) ?? 'en';
}
