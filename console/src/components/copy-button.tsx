// Copies a text to the clipboard and confirms it.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { copyText } from '../clipboard.ts';
import { toastSuccess } from '../toasts.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';

export function CopyButton({
  text,
  what,
  note = '',
  isBare = false,
  isBusy = false,
}: {
  /** A function is called only when the button is pressed. */
  readonly text: string | (() => string);
  /** What is copied, for the label of the button: `ID`, `as curl`. */
  readonly what: string;
  /** A note about the copy, shown with the confirmation. */
  readonly note?: string;
  readonly isBare?: boolean;
  /** While the text is not available yet. */
  readonly isBusy?: boolean;
}): JSX.Element {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    isCopied.value = await copyText(typeof text === 'string' ? text : text());
    toastSuccess(isCopied.value ? `${words().copied(what)} ${note}`.trim() : words().notCopied);
    setTimeout(() => {
      isCopied.value = false;
    }, 2_000);
  };
  const icon = isCopied.value ? 'check' : 'copy';
  const onClick = (): void => void copy();
  return isBare ? (
    <Button
      kind="quiet"
      size="small"
      icon={icon}
      label={words().copy(what)}
      isBusy={isBusy}
      onClick={onClick}
    />
  ) : (
    <Button size="small" icon={icon} isBusy={isBusy} onClick={onClick}>
      {words().copy(what)}
    </Button>
  );
}
