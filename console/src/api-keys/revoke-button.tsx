// Revokes a key after confirmation. Revoking the current key ends the session.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { get, send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { endSession } from '../session.ts';
import type { Key } from '../../../src/client/contract/access.ts';
import { toastSuccess } from '../toasts.ts';
import { isCurrent } from './columns.tsx';
import { keyPath } from './key-path.ts';

export function RevokeButton({
  apiKey,
  onChange,
}: {
  readonly apiKey: Key;
  readonly onChange: (changed: Key) => void;
}): JSX.Element {
  const isAsking = useSignal(false);
  const isCurrentKey = isCurrent(apiKey);
  const act = useAction(
    async () => {
      await send<void>('DELETE', keyPath(apiKey.id));
      isAsking.value = false;
      toastSuccess(isCurrentKey ? 'Key revoked. You are signed out.' : 'Key revoked.');
      if (isCurrentKey) endSession();
      else onChange(await get<Key>(keyPath(apiKey.id)));
    },
    { quiet: true },
  );
  return (
    <>
      <Button kind="danger" onClick={() => (isAsking.value = true)}>
        Revoke
      </Button>
      {isAsking.value ? (
        <ConfirmDialog
          title="Revoke this key?"
          confirm={isCurrentKey ? 'Revoke and sign out' : 'Revoke key'}
          isBusy={act.isBusy}
          onConfirm={act.run}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            Requests with the key “
            <UntrustedText text={apiKey.name} />” are refused immediately. This cannot be undone.
          </p>
          {isCurrentKey ? (
            <Notice tone="warn" title="You are signed in with this key">
              <p>Revoking it signs you out. You need another key to sign in again.</p>
            </Notice>
          ) : null}
          {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
