// Which dialogs are open, the topmost last. What is not inside of the topmost one can be neither reached nor
// heard, so toasts appear in it.
import { signal } from '@preact/signals';

export const openModals = signal<readonly string[]>([]);

export function enterModal(id: string): () => void {
  openModals.value = [...openModals.peek(), id];
  return () => {
    openModals.value = openModals.peek().filter((one) => one !== id);
  };
}
