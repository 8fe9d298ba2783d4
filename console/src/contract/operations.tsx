// The subscribe and unsubscribe operations of a contract: their inputs, and the callbacks they
// register.
import type { JSX } from 'preact';
import type { ContractReport, VariantReport } from '../../../src/client/contract/service.ts';
import { Badge } from '../components/badge.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Section } from '../components/page.tsx';
import { Fact, Facts } from '../components/drawer-section.tsx';
import { templateParts, waysOf } from './template-parts.ts';

type SubscribeReport = ContractReport['subscribes'][number];
type UnsubscribeReport = ContractReport['unsubscribes'][number];
type CallbackReport = VariantReport['callbacks'][number];

export function SubscribeSection({ operation }: { operation: SubscribeReport }): JSX.Element {
  const { variants } = operation;
  return (
    <Section title="Subscribe" actions={<Call {...operation} />}>
      <div class="stack">
        <OperationFacts {...operation} />
        <p class="soft">
          Highlighted expressions are read from the subscribe request. A receiver that responds with
          410 ends the subscription, unless another status is given.
        </p>
        {variants.map((variant) => (
          <Variant key={variant.name} variant={variant} />
        ))}
      </div>
    </Section>
  );
}

export function UnsubscribeSection({ operation }: { operation: UnsubscribeReport }): JSX.Element {
  const { takes, status } = operation;
  return (
    <Section title="Unsubscribe" actions={<Call {...operation} />}>
      <div class="stack">
        <OperationFacts {...operation} />
        <Facts>
          <Fact name="Input">
            subscriber ID in <UntrustedText text={takes} />
          </Fact>
          <Fact name="Response">{status ?? 'that of the API'}</Fact>
        </Facts>
      </div>
    </Section>
  );
}

type Called = Pick<SubscribeReport, 'method' | 'path' | 'operationId' | 'security' | 'scope'>;

function Call({ method, path }: Called): JSX.Element {
  return (
    <code class="contract-call">
      <b>{method.toUpperCase()}</b> <UntrustedText text={path} />
    </code>
  );
}

function OperationFacts({ operationId, security, scope }: Called): JSX.Element {
  const ways = waysOf(security);
  return (
    <Facts>
      <Fact name="Operation">
        <UntrustedText text={operationId} mono />
      </Fact>
      <Fact name="Authentication">
        <ul class="contract-ways">
          {ways.map((way) => (
            <li key={way}>
              <UntrustedText text={way} />
            </li>
          ))}
        </ul>
      </Fact>
      {scope === undefined ? null : (
        <Fact name="Scope">
          <UntrustedText text={scope} mono />
        </Fact>
      )}
    </Facts>
  );
}

function Variant({ variant }: { variant: VariantReport }): JSX.Element {
  const { name, needs, needsAny, status, callbacks } = variant;
  return (
    <div class="variant">
      <h3>
        {name === '' ? (
          'Callbacks'
        ) : (
          <>
            Variant <UntrustedText text={name} mono />
          </>
        )}
      </h3>
      <p class="soft">
        {needs.length === 0 ? null : (
          <>
            Requires <UntrustedText text={needs.join(' and ')} />.{' '}
          </>
        )}
        {needsAny.length === 0 ? null : (
          <>
            Requires at least one of <UntrustedText text={needsAny.join(', ')} />.{' '}
          </>
        )}
        {status === undefined ? 'The API responds.' : `Responds with ${status}.`}
      </p>
      <ul class="contract-callbacks">
        {callbacks.map((callback, at) => (
          <li key={at}>
            <Callback callback={callback} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Callback({ callback }: { callback: CallbackReport }): JSX.Element {
  const { label, method, matches, does, inactive, repairs, unsubscribeStatus, reads } = callback;
  return (
    <>
      <p class="cluster">
        <b>
          <UntrustedText text={label} />
        </b>
        {inactive === undefined ? null : <Badge tone="warn" icon="pause" text="Inactive" />}
        {repairs.length === 0 ? null : <Badge tone="info" icon="check" text="Repaired" />}
      </p>
      {callback.key === undefined ? null : (
        <p class="template mono" dir="ltr">
          <span class="template-method">{method.toUpperCase()}</span>{' '}
          <Template template={callback.key} reads={reads} />
        </p>
      )}
      <p>
        On <UntrustedText text={matches} />: <UntrustedText text={does} />.
      </p>
      {unsubscribeStatus === 410 ? null : (
        <p class="soft">A receiver that responds with {unsubscribeStatus} ends the subscription.</p>
      )}
      {inactive === undefined ? null : (
        <Notice tone="warn">
          <p>
            <UntrustedText text={inactive} />
          </p>
        </Notice>
      )}
    </>
  );
}

function Template({
  template,
  reads,
}: {
  template: string;
  reads: CallbackReport['reads'];
}): JSX.Element {
  return (
    <>
      {templateParts(template, reads).map((part, at) =>
        part.kind === 'text' ? (
          <UntrustedText key={at} text={part.text} />
        ) : (
          <mark key={at} class="expression" title={part.place}>
            <UntrustedText text={part.text} />
          </mark>
        ),
      )}
    </>
  );
}
