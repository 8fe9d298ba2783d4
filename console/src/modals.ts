// The open dialogs, topmost last. Content outside the topmost dialog is inert, so toasts appear
// inside it.
import { signal } from '@preact/signals';

export const openModals = signal<readonly string[]>([]);

export function enterModal(id: string): () => void {
  openModals.value = [...openModals.peek(), id];
  return () => {
    openModals.value = openModals.peek().filter((one) => one !== id);
  };
}
