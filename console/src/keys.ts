// The keyboard: single keys and "g then a letter". Never while somebody types, never over an open dialog,
// and the reader can switch it off (speech input types single letters).
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { limits } from './limits.ts';
import { readStored, writeStored } from './local-storage.ts';

export type Shortcut = { readonly keys: string; readonly does: string; readonly run: () => void };

type ShortcutSet = { readonly shortcuts: readonly Shortcut[]; readonly isInDialog: boolean };

/** What works right now, for the help dialog: the newest set first. */
export const shortcutSets = signal<readonly ShortcutSet[]>([]);

export const areKeysOn = signal(readStored('keys') !== 'off');

export function switchKeys(isOn: boolean): void {
  areKeysOn.value = isOn;
  writeStored('keys', isOn ? 'on' : 'off');
}

/** Shortcuts of a component while it is there: `{ keys: 'j', … }` or `{ keys: 'g d', … }`. Over an open
 * dialog or drawer only those work that say `isInDialog`. */
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
    if (!isForUs(event)) return;
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

function isForUs(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (!areKeysOn.peek() || event.isComposing) return false;
  const at = event.target;
  if (!(at instanceof Element)) return false;
  return at.closest('input, textarea, select, [contenteditable]') === null;
}
