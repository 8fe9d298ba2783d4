// Adds an endpoint. Its page then shows the secret.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { SubscribeBody, Subscribed } from '../../../src/client/contract/subscription.ts';
import { useAction } from '../../src/action.ts';
import { newIdempotencyKey, send } from '../../src/api.ts';
import { PageHeader } from '../../src/components/page.tsx';
import { BackLink } from '../back-link.tsx';
import { t } from '../language.ts';
import { go, href } from '../route.ts';
import { created } from './created.ts';
import { EndpointForm } from './form.tsx';
import { eventsIn, type FormValues } from './form-values.ts';

const none: FormValues = {
  urls: [{ position: 0, label: '', url: '' }],
  description: '',
  events: { isAll: true, chosen: [] },
};

export function AddEndpointPage(): JSX.Element {
  const values = useSignal(none);
  // A lost response is repeated with the same key; a changed request gets a new one.
  const key = useRef(newIdempotencyKey());
  const act = useAction(
    async () => {
      const body = bodyOf(values.value);
      const { subscriberId: id, secret } = await send<Subscribed>('POST', '/subscribe', {
        body,
        idempotencyKey: key.current,
      });
      created.value = { id, secret };
      go(`endpoints/${id}`);
    },
    { quiet: true },
  );
  return (
    <>
      <BackLink to="endpoints" />
      <PageHeader title={t().form.addTitle} />
      <EndpointForm
        values={values.value}
        onChange={(changed) => {
          values.value = changed;
          key.current = newIdempotencyKey();
          act.forget();
        }}
        submit={t().form.add}
        act={act}
        backHref={href('endpoints')}
      />
    </>
  );
}

function bodyOf({ urls, description, events }: FormValues): SubscribeBody {
  const chosen = events === undefined || events.isAll ? {} : { events: eventsIn(events) };
  const text = description.trim();
  return {
    callbackUrl: urls[0]?.url.trim() ?? '',
    'x-ringback': { ...chosen, ...(text === '' ? {} : { description: text }) },
  };
}
