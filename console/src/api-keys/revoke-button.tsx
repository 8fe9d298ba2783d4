// Revokes a key, after a question. One's own key takes the session with it.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { get, send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { endSession } from '../session.ts';
import type { Key } from '../../../src/client/contract/key.ts';
import { toastSuccess } from '../toasts.ts';
import { isOwn } from './columns.tsx';
import { keyPath } from './key-path.ts';

export function RevokeButton({
  apiKey,
  onChange,
}: {
  readonly apiKey: Key;
  readonly onChange: (changed: Key) => void;
}): JSX.Element {
  const isAsking = useSignal(false);
  const isMine = isOwn(apiKey);
  const act = useAction(
    async () => {
      await send<void>('DELETE', keyPath(apiKey.id));
      isAsking.value = false;
      toastSuccess(isMine ? 'The key is revoked, and you are signed out.' : 'The key is revoked.');
      if (isMine) endSession();
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
          confirm={isMine ? 'Revoke and sign out' : 'Revoke key'}
          isBusy={act.isBusy}
          onConfirm={act.run}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            Whoever uses “
            <UntrustedText text={apiKey.name} />” is refused from that moment. This cannot be
            undone.
          </p>
          {isMine ? (
            <Notice tone="warn" title="You are signed in with this key">
              <p>Revoking it signs you out. Have another key at hand to come back.</p>
            </Notice>
          ) : null}
          {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
