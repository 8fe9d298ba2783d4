// Keyboard shortcuts: single keys and "g, then a letter". Inactive in text fields and under an open
// dialog. The user can turn them off, because speech input types single letters.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { limits } from './limits.ts';
import { readStored, writeStored } from './local-storage.ts';

export type Shortcut = { readonly keys: string; readonly does: string; readonly run: () => void };

type ShortcutSet = { readonly shortcuts: readonly Shortcut[]; readonly isInDialog: boolean };

/** The active shortcuts for the help dialog, newest set first. */
export const shortcutSets = signal<readonly ShortcutSet[]>([]);

export const areKeysOn = signal(readStored('keys') !== 'off');

export function switchKeys(isOn: boolean): void {
  areKeysOn.value = isOn;
  writeStored('keys', isOn ? 'on' : 'off');
}

/**
 * Registers the shortcuts of a mounted component: `{ keys: 'j', … }` or `{ keys: 'g d', … }`. While
 * a dialog or drawer is open, only sets with `isInDialog` are active.
 */
export function useShortcuts(
  shortcuts: readonly Shortcut[],
  { isInDialog = false }: { isInDialog?: boolean } = {},
): void {
  const newest = useRef(shortcuts);
  newest.current = shortcuts;
  const listed = shortcuts.map((one) => one.keys + one.does).join();
  useEffect(() => {
    const set = {
      isInDialog,
      shortcuts: newest.current.map(({ keys, does }, at) => ({
        keys,
        does,
        run: () => newest.current[at]?.run(),
      })),
    };
    shortcutSets.value = [set, ...shortcutSets.peek()];
    return () => {
      shortcutSets.value = shortcutSets.peek().filter((one) => one !== set);
    };
  }, [listed]);
}

let chord = '';
let chordTimer: ReturnType<typeof setTimeout> | undefined;

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (!isShortcutEvent(event)) return;
    const pressed = chord === '' ? event.key : `${chord} ${event.key}`;
    const all = usable();
    const found = all.find((one) => one.keys === pressed);
    const begins = found === undefined && all.some((one) => one.keys.startsWith(`${pressed} `));
    setChord(begins ? pressed : '');
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

function usable(): readonly Shortcut[] {
  const isOver = document.querySelector('dialog[open]') !== null;
  const sets = shortcutSets.peek().filter((set) => !isOver || set.isInDialog);
  return sets.flatMap((set) => set.shortcuts);
}

function setChord(keys: string): void {
  clearTimeout(chordTimer);
  chord = keys;
  if (keys !== '') chordTimer = setTimeout(setChord, limits.chordMs, '');
}

function isShortcutEvent(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (!areKeysOn.peek() || event.isComposing) return false;
  const at = event.target;
  if (!(at instanceof Element)) return false;
  return at.closest('input, textarea, select, [contenteditable]') === null;
}
