// Sends a test event to an endpoint and shows how the endpoint responded.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Delivery, GetDeliveryAnswer } from '../../../src/client/contract/delivery.ts';
import type { Accepted } from '../../../src/client/contract/event.ts';
import { useAction } from '../../src/action.ts';
import { get, send } from '../../src/api.ts';
import { Button } from '../../src/components/button.tsx';
import { Notice } from '../../src/components/notice.tsx';
import { duration } from '../../src/format.ts';
import type { Page } from '../../src/list.ts';
import { FailureAdvice } from '../deliveries/failure-advice.tsx';
import { explain, resultOf } from '../failure.ts';
import { t } from '../language.ts';
import { Prose } from '../prose.tsx';
import { href } from '../route.ts';
import { endpointPath } from './read-endpoints.ts';

/** An attempt takes at most a minute; no one waits that long. */
const triesMax = 40;
const everyMs = 500;

export function TestEvent({
  id,
  onResult,
}: {
  readonly id: string;
  readonly onResult: () => void;
}): JSX.Element {
  const result = useSignal<GetDeliveryAnswer | 'slow' | undefined>(undefined);
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  const act = useAction(async () => {
    result.value = undefined;
    const { eventId } = await send<Accepted>('POST', `${endpointPath(id)}/ping`);
    for (let tries = 0; tries < triesMax && isShown.current; tries += 1) {
      const found = await tried(eventId);
      if (found !== undefined) {
        result.value = found;
        onResult();
        return;
      }
      await new Promise((done) => setTimeout(done, everyMs));
    }
    result.value = 'slow';
  });
  return (
    <div class="test-event">
      <p class="cluster">
        <Button icon="delivery" isBusy={act.isBusy} onClick={act.run}>
          {t().test.button}
        </Button>
        <span class="soft">
          <Prose text={t().test.hint} />
        </span>
      </p>
      <div role="status">
        {act.isBusy ? <p class="soft">{t().test.sending}</p> : null}
        {result.value === undefined ? null : <Result result={result.value} />}
      </div>
    </div>
  );
}

function Result({ result }: { result: GetDeliveryAnswer | 'slow' }): JSX.Element {
  if (result === 'slow') {
    return (
      <Notice tone="warn" title={t().test.title}>
        <p>{t().test.slow}</p>
      </Notice>
    );
  }
  const last = result.attempts.at(-1);
  const details = <a href={href(`deliveries/${result.id}`)}>{t().test.details}</a>;
  if (last?.error === undefined) {
    return (
      <Notice tone="good">
        <p>
          {t().test.delivered(resultOf(last ?? result), duration(last?.tookMs ?? 0))} {details}
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title={t().test.failed}>
      <FailureAdvice failure={explain(last)} attempt={last} isTitled />
      <p>{details}</p>
    </Notice>
  );
}

/** The delivery of the test event, once it was tried. */
async function tried(eventId: string): Promise<GetDeliveryAnswer | undefined> {
  const { items } = await get<Page<Delivery>>('/deliveries', { query: { eventId } });
  const found = items.find(({ state, attemptCount }) => state !== 'running' && attemptCount > 0);
  return found === undefined ? undefined : get(`/deliveries/${found.id}`);
}
