// Light or dark theme: the system setting, unless the user chose one.
import { effect, signal } from '@preact/signals';
import { readStored, writeStored } from './local-storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = signal<Theme>(themes.find((one) => one === readStored('theme')) ?? 'system');

/** Call before the first render, to avoid a flash of the wrong theme. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
  });
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  writeStored('theme', chosen);
}
