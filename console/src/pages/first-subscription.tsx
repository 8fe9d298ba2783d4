// Subscribes one URL to every event by the built-in contract. For another contract it names the
// operation to call.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../action.ts';
import { newIdempotencyKey, send, type ApiProblem } from '../api.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import type { Contract } from '../../../src/client/contract/service.ts';
import type { Subscribed, Subscription } from '../../../src/client/contract/subscription.ts';

type FirstSubscriptionProps = {
  readonly subscription: Subscription | undefined;
  readonly contracts: readonly Contract[];
  readonly onDone: () => void;
};

export function FirstSubscription({
  subscription,
  contracts,
  onDone,
}: FirstSubscriptionProps): JSX.Element {
  const operations = contracts.flatMap((contract) => contract.operations);
  const isBuiltIn = operations.some((one) => one.operationId === 'subscribeOperation');
  if (subscription !== undefined) return <SubscribedTo subscription={subscription} />;
  if (isBuiltIn) return <UrlForm onDone={onDone} />;
  const subscribe = operations.find((one) => one.does === 'subscribe');
  return (
    <>
      <p class="soft">
        Subscribe by the operation of your contract
        {subscribe === undefined ? null : (
          <>
            : call{' '}
            <UntrustedText text={`${subscribe.method.toUpperCase()} ${subscribe.path}`} mono />
          </>
        )}
        .
      </p>
      <LinkButton href="/docs" isExternal>
        Open API reference
      </LinkButton>
    </>
  );
}

function UrlForm({ onDone }: { onDone: () => void }): JSX.Element {
  const url = useSignal('');
  const key = useRef(newIdempotencyKey());
  const subscribe = useAction(
    async () => {
      const body = { callbackUrl: url.value.trim() };
      await send<Subscribed>('POST', '/subscribe', { body, idempotencyKey: key.current });
      onDone();
    },
    { quiet: true },
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    if (url.value.trim() !== '') subscribe.run();
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label="Callback URL"
        value={url.value}
        isMono
        isRequired
        placeholder="https://receiver.example/hook"
        hint={
          <>
            No receiver yet? <code>ringback listen</code> starts one in your terminal.
          </>
        }
        error={subscribe.problem === undefined ? undefined : sentence(subscribe.problem)}
        onInput={(value) => {
          // Another URL is another request and must not reuse the idempotency key.
          url.value = value;
          key.current = newIdempotencyKey();
        }}
      />
      <Button kind="primary" type="submit" isBusy={subscribe.isBusy}>
        Subscribe
      </Button>
    </form>
  );
}

function SubscribedTo({ subscription }: { subscription: Subscription }): JSX.Element {
  const url = subscription.callbacks.find((one) => one.url !== undefined)?.url ?? '';
  return (
    <>
      <p class="soft">Events are sent to</p>
      <UntrustedText text={url} clip mono />
      <LinkButton size="small" href={`/console/subscriptions?subscription=${subscription.id}`}>
        View subscription
      </LinkButton>
    </>
  );
}

function sentence(problem: ApiProblem): string {
  return problem.of('body#/callbackUrl') ?? `${problem.title}. ${problem.detail}`;
}
