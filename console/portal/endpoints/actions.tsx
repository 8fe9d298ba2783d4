// Pauses, resumes and removes an endpoint.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { useAction, type Action } from '../../src/action.ts';
import { send } from '../../src/api.ts';
import { Button } from '../../src/components/button.tsx';
import { ConfirmDialog } from '../../src/components/dialog.tsx';
import { ProblemNotice } from '../../src/components/notice.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { toastSuccess } from '../../src/toasts.ts';
import { t } from '../language.ts';
import { go } from '../route.ts';
import { nameOf } from './endpoint-texts.ts';
import { endpointPath } from './read-endpoints.ts';

type Props = {
  readonly endpoint: Subscription;
  readonly onChange: (changed: Subscription) => void;
};

export function EndpointActions({ endpoint, onChange }: Props): JSX.Element {
  const { id, state } = endpoint;
  const pause = useAction(async () => {
    onChange(await send<Subscription>('PATCH', endpointPath(id), { body: { state: 'paused' } }));
    toastSuccess(t().endpoint.paused);
  });
  return (
    <>
      {state === 'active' ? (
        <Button icon="pause" isBusy={pause.isBusy} onClick={pause.run}>
          {t().endpoint.pause}
        </Button>
      ) : null}
      <RemoveButton endpoint={endpoint} />
    </>
  );
}

/** Of a paused or disabled endpoint. */
export function useActivate({ endpoint: { id }, onChange }: Props): Action {
  return useAction(async () => {
    onChange(await send<Subscription>('PATCH', endpointPath(id), { body: { state: 'active' } }));
    toastSuccess(t().endpoint.resumed);
  });
}

function RemoveButton({ endpoint }: { endpoint: Subscription }): JSX.Element {
  const isAsking = useSignal(false);
  const act = useAction(
    async () => {
      await send<void>('DELETE', endpointPath(endpoint.id));
      toastSuccess(t().endpoint.removed);
      go('endpoints');
    },
    { quiet: true },
  );
  const { remove, removeTitle, removeText, pauseHint } = t().endpoint;
  return (
    <>
      <Button kind="danger" onClick={() => (isAsking.value = true)}>
        {remove}
      </Button>
      {isAsking.value ? (
        <ConfirmDialog
          title={removeTitle}
          confirm={remove}
          isBusy={act.isBusy}
          onConfirm={act.run}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            <UntrustedText text={removeText(nameOf(endpoint))} />
          </p>
          {endpoint.state === 'active' ? <p>{pauseHint}</p> : null}
          {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
