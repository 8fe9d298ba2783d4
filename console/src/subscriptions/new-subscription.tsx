// Creates a subscription by the built-in contract. Other contracts have their own subscribe
// operations, with parameters that only their callers know: for those it lists the operations to
// call.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Code } from '../components/code.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { useLoad } from '../load.ts';
import type { Contract } from '../../../src/client/contract/service.ts';
import type { Subscribed } from '../../../src/client/contract/subscription.ts';
import { SubscribeForm } from './subscribe-form.tsx';

export function NewSubscription({
  onDone,
  onClose,
}: {
  readonly onDone: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const made = useSignal<Subscribed | undefined>(undefined);
  const load = useLoad('contracts', (signal) =>
    get<{ items: readonly Contract[] }>('/contracts', { signal }),
  );
  const { state } = load;
  if (made.value !== undefined)
    return <SubscribedDialog subscribed={made.value} onClose={onClose} />;
  return (
    <Dialog title="New subscription" onClose={onClose}>
      {state.kind === 'loading' ? <Skeleton /> : null}
      {state.kind === 'failed' ? <Failed problem={state.problem} onRetry={load.reload} /> : null}
      {state.kind === 'ready' ? (
        <SubscribeOptions
          contracts={state.value.items}
          onClose={onClose}
          onMade={(subscribed) => {
            made.value = subscribed;
            onDone();
          }}
        />
      ) : null}
    </Dialog>
  );
}

function SubscribeOptions({
  contracts,
  onMade,
  onClose,
}: {
  readonly contracts: readonly Contract[];
  readonly onMade: (subscribed: Subscribed) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const own = contracts.filter(isBuiltIn);
  const others = contracts.filter((contract) => !isBuiltIn(contract));
  return (
    <>
      {own.length === 0 ? null : <SubscribeForm onMade={onMade} onClose={onClose} />}
      {others.map((contract) => (
        <OtherContract key={contract.title} contract={contract} />
      ))}
      {contracts.length === 0 ? (
        <p>No contract is loaded, so there is no operation to subscribe with.</p>
      ) : null}
    </>
  );
}

function isBuiltIn({ operations }: Contract): boolean {
  return operations.some(
    ({ operationId, path }) => operationId === 'subscribeOperation' && path === '/subscribe',
  );
}

function OtherContract({ contract }: { contract: Contract }): JSX.Element {
  const operations = contract.operations.filter(({ does }) => does === 'subscribe');
  return (
    <DrawerSection title={`Contract “${contract.title}”`}>
      {operations.length === 0 ? (
        <p>This contract has no subscribe operation.</p>
      ) : (
        <>
          <p>This contract has its own subscribe operations. Call one of them with your key:</p>
          <ul class="operations">
            {operations.map(({ operationId, method, path }) => (
              <li key={`${method} ${path}`}>
                <UntrustedText text={`${method.toUpperCase()} ${path}`} mono />
                <span class="soft">
                  <UntrustedText text={operationId} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <LinkButton href="/docs" icon="contract" isExternal>
          Open API reference
        </LinkButton>
      </p>
    </DrawerSection>
  );
}

function SubscribedDialog({
  subscribed,
  onClose,
}: {
  readonly subscribed: Subscribed;
  readonly onClose: () => void;
}): JSX.Element {
  const { subscriberId, secret } = subscribed;
  const actions = (
    <>
      <Button onClick={onClose}>Done</Button>
      <LinkButton
        kind="primary"
        href={withQuery('/console/subscriptions', { subscription: subscriberId })}
      >
        Open subscription
      </LinkButton>
    </>
  );
  return (
    <Dialog title="Subscription created" onClose={onClose} actions={actions}>
      <Notice tone="good">
        <p>The subscription is active. Open it and send a ping to test the receiver.</p>
      </Notice>
      <DrawerSection title="Subscriber ID">
        <Code text={subscriberId} label="subscriber ID" />
        <p class="soft">You need this ID to unsubscribe.</p>
      </DrawerSection>
      <DrawerSection title="Signing secret">
        <Code text={secret} label="signing secret" />
        <p class="soft">
          Configure the receiver with this secret, so that it can verify signatures. You can show it
          again later on the subscription.
        </p>
      </DrawerSection>
    </Dialog>
  );
}
