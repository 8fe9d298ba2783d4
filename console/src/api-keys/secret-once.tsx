// Shows the secret of a key once. It is not stored anywhere and is gone when the dialog closes.
import type { ComponentChildren, JSX } from 'preact';
import { Button } from '../components/button.tsx';
import { Code } from '../components/code.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Notice } from '../components/notice.tsx';

export function SecretOnce({
  title,
  secret,
  children,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <CopyButton text={secret} what="key" />
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <Notice tone="warn" title="Copy it now">
        <p>It is shown only once. The service stores only a hash of it.</p>
      </Notice>
      <Code text={secret} label="key" />
      {children}
    </Dialog>
  );
}
