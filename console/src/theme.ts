// Light or dark: as the system says, unless the reader chose.
import { effect, signal } from '@preact/signals';
import { readStored, writeStored } from './local-storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = signal<Theme>(themes.find((one) => one === readStored('theme')) ?? 'system');

/** Before the first drawing, so that nothing flashes. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
  });
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  writeStored('theme', chosen);
}
