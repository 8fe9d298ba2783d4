// The endpoint that was just added, with its secret, until its page is left.
import { signal } from '@preact/signals';

export const created = signal<{ readonly id: string; readonly secret: string } | undefined>(
  undefined,
);
