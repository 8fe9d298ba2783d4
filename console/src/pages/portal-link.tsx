// Creates a link to the portal of a customer, and shows it once.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { CreatePortalLinkAnswer } from '../../../src/client/contract/access.ts';
import { useAction } from '../action.ts';
import { send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Code } from '../components/code.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';

export function PortalLink({ customer }: { readonly customer: string }): JSX.Element {
  const link = useSignal<string | undefined>(undefined);
  const create = useAction(async () => {
    const body = { customer };
    link.value = (await send<CreatePortalLinkAnswer>('POST', '/portal-links', { body })).url;
  });
  const close = (): void => {
    link.value = undefined;
  };
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        isBusy={create.isBusy}
        onClick={create.run}
        label={`Portal link for ${customer}`}
      >
        Portal link
      </Button>
      {link.value === undefined ? null : (
        <Dialog
          title="Portal link"
          onClose={close}
          actions={
            <>
              <CopyButton text={link.value} what="link" />
              <Button kind="primary" onClick={close}>
                Done
              </Button>
            </>
          }
        >
          <Notice tone="warn" title="It opens once, within an hour">
            <p>
              The first person who opens it acts as <UntrustedText text={customer} />, for 8 hours.
            </p>
          </Notice>
          <Code text={link.value} label="link" />
        </Dialog>
      )}
    </>
  );
}
