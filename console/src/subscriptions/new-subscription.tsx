// Makes a subscription by the built-in contract. Another contract has operations of its own, with
// parameters that only its callers know: then this says which to call.
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
      {contracts.length === 0 ? <p>No contract is loaded, so there is nothing to call.</p> : null}
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
    <DrawerSection title={`By the contract “${contract.title}”`}>
      {operations.length === 0 ? (
        <p>It has no operation that subscribes.</p>
      ) : (
        <>
          <p>Subscribing is an operation of this contract. Call one of these with your key:</p>
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
          Open the reference
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
        Open it
      </LinkButton>
    </>
  );
  return (
    <Dialog title="Subscribed" onClose={onClose} actions={actions}>
      <Notice tone="good">
        <p>It hears events from now on. Open it and send a ping to see one arrive.</p>
      </Notice>
      <DrawerSection title="Subscriber id">
        <Code text={subscriberId} label="subscriber id" />
        <p class="soft">Unsubscribing takes this id.</p>
      </DrawerSection>
      <DrawerSection title="Signing secret">
        <Code text={secret} label="signing secret" />
        <p class="soft">
          Give it to the receiver, which verifies callbacks with it. It is hidden again when you
          leave.
        </p>
      </DrawerSection>
    </Dialog>
  );
}
