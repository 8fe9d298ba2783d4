// Changes the URL, the events and the description of an endpoint.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { useAction } from '../../src/action.ts';
import { send } from '../../src/api.ts';
import { Loaded } from '../../src/components/loaded.tsx';
import { PageHeader } from '../../src/components/page.tsx';
import { toastSuccess } from '../../src/toasts.ts';
import { BackLink } from '../back-link.tsx';
import { t } from '../language.ts';
import { go, href } from '../route.ts';
import { changesOf, valuesOf } from './form-values.ts';
import { EndpointForm } from './form.tsx';
import { endpointPath, useEndpoint } from './read-endpoints.ts';

export function EditEndpointPage({ id }: { readonly id: string }): JSX.Element {
  const load = useEndpoint(id);
  return (
    <>
      <BackLink to="endpoints" />
      <PageHeader title={t().form.editTitle} />
      <Loaded load={load}>{(endpoint) => <EditForm endpoint={endpoint} />}</Loaded>
    </>
  );
}

function EditForm({ endpoint }: { endpoint: Subscription }): JSX.Element {
  const { id } = endpoint;
  const values = useSignal(valuesOf(endpoint));
  const act = useAction(
    async () => {
      const body = changesOf(values.value, endpoint);
      if (Object.keys(body).length > 0) {
        await send<Subscription>('PATCH', endpointPath(id), { body });
        toastSuccess(t().endpoint.saved);
      }
      go(`endpoints/${id}`);
    },
    { quiet: true },
  );
  return (
    <EndpointForm
      values={values.value}
      onChange={(changed) => {
        values.value = changed;
        act.forget();
      }}
      submit={t().save}
      act={act}
      backHref={href(`endpoints/${id}`)}
    />
  );
}
