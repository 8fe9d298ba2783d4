// The form that publishes, with the contract's schema beside the payload.
import type { JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Select, SuggestField, TextField } from '../components/field.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { limits } from '../limits.ts';
import type { EventType } from './event-types.ts';
import type { FieldError } from '../field-error.ts';
import { messageFor } from '../subscriptions/problem-message.ts';
import { contractsOf, namesOf, schemasOf } from './event-types.ts';
import { PayloadField } from './payload-field.tsx';
import { usePublishing, type Sent } from './publishing.ts';
import { SchemaView } from './schema-view.tsx';

export function PublishForm({
  types,
  isAgain,
  onSent,
}: {
  readonly types: readonly EventType[];
  readonly isAgain: boolean;
  readonly onSent: (sent: Sent) => void;
}): JSX.Element {
  const { draft, set, act, fitting, payload, isRight } = usePublishing(types, onSent);
  const { event, to, contract } = draft;
  const submit = (submitted: Event): void => {
    submitted.preventDefault();
    if (isRight) act.run();
  };
  const contracts = contractsOf(fitting);
  return (
    <form class="publish" onSubmit={submit}>
      <SuggestField
        label="Event"
        value={event}
        options={namesOf(types)}
        isMono
        isRequired
        isFocused
        maxLength={128}
        placeholder="order.created"
        hint="A name of the contract, or any other that its patterns hear."
        error={fieldError(act.problem, 'body#/event', eventSentence)}
        onInput={(value) => set({ event: value })}
      />
      <TextField
        label="Only to this subscription"
        value={to}
        isMono
        maxLength={64}
        placeholder="sub_… (optional)"
        error={fieldError(act.problem, 'body#/subscriberId', messageFor)}
        onInput={(value) => set({ to: value })}
      />
      {contracts.length < 2 ? null : (
        <Select
          label="Contract"
          value={contract}
          options={[
            { value: '', text: 'Choose: several could hear it' },
            ...contracts.map((title) => ({ value: title, text: title })),
          ]}
          onChange={(value) => set({ contract: value })}
        />
      )}
      <PayloadField
        text={payload}
        errors={payloadErrors(act.problem)}
        onInput={(value) => set({ payload: value })}
      />
      <Schemas types={schemasOf(fitting)} name={event} />
      <Rest problem={act.problem} />
      <div class="form-actions">
        <Button kind="primary" type="submit" icon="event" isBusy={act.isBusy} isDisabled={!isRight}>
          {isAgain ? 'Publish another' : 'Publish'}
        </Button>
      </div>
    </form>
  );
}

function Schemas({ types, name }: { types: readonly EventType[]; name: string }): JSX.Element {
  return (
    <DrawerSection title="What the payload must be">
      {types.length === 0 ? (
        <p class="soft">
          {name === ''
            ? 'Choose an event to see its schema.'
            : 'The contract asks for nothing here.'}
        </p>
      ) : null}
      {types.map(({ callback, contract, schema }) => (
        <div key={`${contract} ${callback}`} class="schema-of">
          <p class="soft">
            Asked for by <UntrustedText text={callback} mono /> of <UntrustedText text={contract} />
          </p>
          {schema === undefined ? null : <SchemaView schema={schema} />}
        </div>
      ))}
    </DrawerSection>
  );
}

const payloadField = 'body#/payload';

/** What belongs to no field of the form. */
function Rest({ problem }: { problem: ApiProblem | undefined }): JSX.Element | null {
  if (problem === undefined) return null;
  const placed = ['body#/event', 'body#/subscriberId'].some((name) => problem.of(name));
  if (placed || payloadErrors(problem).length > 0) return null;
  return <ProblemNotice problem={problem} />;
}

/** `body#/payload/a/b` is `/a/b` of the payload. */
function payloadErrors(problem: ApiProblem | undefined): readonly FieldError[] {
  return (problem?.errors ?? [])
    .filter(({ field }) => field === payloadField || field.startsWith(`${payloadField}/`))
    .slice(0, limits.flawsMax)
    .map(({ field, message }) => ({ field: field.slice(payloadField.length), message }));
}

function fieldError(
  problem: ApiProblem | undefined,
  field: string,
  words: (problem: ApiProblem, field: string) => string,
): string | undefined {
  return problem?.of(field) === undefined ? undefined : words(problem, field);
}

function eventSentence(): string {
  return 'A name is letters, digits, _ and -, in parts joined by dots: order.created.';
}
