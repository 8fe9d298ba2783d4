// The attempts of a delivery: what was sent, and what the endpoint responded.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Attempt, GetDeliveryAnswer } from '../../../src/client/contract/delivery.ts';
import { getText } from '../../src/api.ts';
import { Code } from '../../src/components/code.tsx';
import { Select } from '../../src/components/field.tsx';
import { Loaded } from '../../src/components/loaded.tsx';
import { Section } from '../../src/components/page.tsx';
import { Tabs } from '../../src/components/tabs.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { HeadersTable } from '../../src/deliveries/headers-table.tsx';
import { dateTime, duration } from '../../src/format.ts';
import { memberText } from '../../src/json-text.ts';
import { useLoad } from '../../src/load.ts';
import { resultOf } from '../failure.ts';
import { t } from '../language.ts';
import { Prose } from '../prose.tsx';

export function Attempts({ delivery }: { readonly delivery: GetDeliveryAnswer }): JSX.Element {
  const { attempts } = delivery;
  const say = t().delivery;
  /** Undefined: the last one, also after another attempt. */
  const chosen = useSignal<number | undefined>(undefined);
  const tab = useSignal('response');
  const at = chosen.value ?? attempts.length - 1;
  const attempt = attempts[at];
  return (
    <Section title={say.attempts}>
      <div class="stack">
        {attempt === undefined || attempts.length < 2 ? null : (
          <Select
            label={say.attempt}
            isLong
            value={String(at)}
            options={attempts.map((one, index) => ({
              value: String(index),
              text: say.attemptText(index + 1, resultOf(one), dateTime(Date.parse(one.startedAt))),
            }))}
            onChange={(index) => (chosen.value = Number(index))}
          />
        )}
        <Tabs
          label={say.attempts}
          tabs={[
            { name: 'response', title: say.response },
            { name: 'request', title: say.request },
          ]}
          chosen={tab.value}
          onChoose={(name) => (tab.value = name)}
        >
          {tab.value === 'request' ? (
            <Request delivery={delivery} attempt={attempt} />
          ) : (
            <Response attempt={attempt} />
          )}
        </Tabs>
      </div>
    </Section>
  );
}

type Props = { readonly delivery: GetDeliveryAnswer; readonly attempt: Attempt | undefined };

function Request({ delivery, attempt }: Props): JSX.Element {
  const say = t().delivery;
  const { method, url } = attempt?.request ?? delivery.callback;
  // As text: a number of 30 digits must stay as it was published.
  const payload = useLoad(delivery.eventId, async (signal) => {
    const text = await getText(`/events/${delivery.eventId}`, signal);
    return memberText(text, 'payload') ?? '';
  });
  return (
    <>
      <p class="request-line">
        <span class="mono">{method}</span> <UntrustedText text={url} mono />
      </p>
      <h3>{say.headers}</h3>
      {attempt === undefined ? (
        <p class="soft">{say.noAttempt}</p>
      ) : (
        <Headers label={say.requestHeaders} headers={attempt.request.headers} />
      )}
      <p class="soft">
        <Prose text={say.signatureNote} />
      </p>
      <h3>{say.body}</h3>
      <Loaded load={payload}>{(text) => <Code text={text} label={say.requestBody} />}</Loaded>
    </>
  );
}

function Response({ attempt }: { attempt: Attempt | undefined }): JSX.Element {
  const say = t().delivery;
  if (attempt === undefined) return <p class="soft">{say.noAttempt}</p>;
  const { response, message } = attempt;
  return (
    <>
      <p class="request-line">
        <strong>{resultOf(attempt)}</strong>{' '}
        <span class="soft">{say.after(duration(attempt.tookMs))}</span>
      </p>
      {response === undefined ? (
        <p>
          {say.noResponse} <UntrustedText text={message ?? ''} />
        </p>
      ) : (
        <>
          <h3>{say.headers}</h3>
          <Headers label={say.responseHeaders} headers={response.headers} />
          <h3>{say.body}</h3>
          {response.body === '' ? (
            <p class="soft">{response.isCut ? say.cut : say.noBody}</p>
          ) : (
            <Code text={response.body} label={say.responseBody} isCut={response.isCut} />
          )}
        </>
      )}
    </>
  );
}

function Headers({
  label,
  headers,
}: {
  label: string;
  headers: Readonly<Record<string, string>>;
}): JSX.Element {
  const rows = Object.entries(headers);
  if (rows.length === 0) return <p class="soft">{t().delivery.noHeaders}</p>;
  return <HeadersTable label={label} headers={rows} />;
}
