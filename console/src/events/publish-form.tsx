// The publish form, with the schema of the contract next to the payload.
import type { JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Select, SuggestField, TextField } from '../components/field.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { limits } from '../limits.ts';
import { AboutEventType, WholeSchema } from './about-event-type.tsx';
import type { EventType } from './event-types.ts';
import type { FieldError } from '../field-error.ts';
import { messageFor } from '../subscriptions/problem-message.ts';
import { contractsOf, namesOf, schemasOf } from './event-types.ts';
import { PayloadField } from './payload-field.tsx';
import { usePublishing, type Publishing, type Sent } from './publishing.ts';
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
  const { draft, set, act, fitting, payload, isValid } = usePublishing(types, onSent);
  const { event, contract } = draft;
  const submit = (submitted: Event): void => {
    submitted.preventDefault();
    if (isValid) act.run();
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
        maxLength={256}
        placeholder="order.created"
        hint="The name of an event type, or any name that matches a pattern of the contract."
        error={fieldError(act.problem, 'body#/event', eventSentence)}
        onInput={(value) => set({ event: value })}
      />
      <AudienceFields draft={draft} set={set} problem={act.problem} />
      {contracts.length < 2 ? null : (
        <Select
          label="Contract"
          value={contract}
          options={[
            { value: '', text: 'Select a contract' },
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
      <Schemas types={schemasOf(fitting)} fitting={fitting} name={event} />
      <Rest problem={act.problem} />
      <div class="form-actions">
        <Button kind="primary" type="submit" icon="event" isBusy={act.isBusy} isDisabled={!isValid}>
          {isAgain ? 'Publish another' : 'Publish'}
        </Button>
      </div>
    </form>
  );
}

/** Who receives the event, of those that match its name. */
function AudienceFields({
  draft: { to, subject, customer },
  set,
  problem,
}: Pick<Publishing, 'draft' | 'set'> & { readonly problem: ApiProblem | undefined }): JSX.Element {
  return (
    <>
      <TextField
        label="Only for subscription"
        value={to}
        isMono
        maxLength={64}
        placeholder="sub_… (optional)"
        error={fieldError(problem, 'body#/subscriberId', messageFor)}
        onInput={(value) => set({ to: value })}
      />
      <TextField
        label="Subject"
        value={subject}
        isMono
        maxLength={256}
        placeholder="job_17 (optional)"
        error={fieldError(problem, 'body#/subject', messageFor)}
        onInput={(value) => set({ subject: value })}
      />
      <TextField
        label="Only for customer"
        value={customer}
        isMono
        maxLength={128}
        placeholder="cus_1 (optional)"
        error={fieldError(problem, 'body#/customer', messageFor)}
        onInput={(value) => set({ customer: value })}
      />
    </>
  );
}

function Schemas({
  types,
  fitting,
  name,
}: {
  readonly types: readonly EventType[];
  readonly fitting: readonly EventType[];
  readonly name: string;
}): JSX.Element {
  return (
    <DrawerSection title="Payload schema">
      {fitting
        .filter(({ source }) => source !== 'callback')
        .map((type) => (
          <AboutEventType key={type.event} type={type} />
        ))}
      {types.length === 0 ? (
        <p class="soft">
          {name === '' ? 'Enter an event name to see its schema.' : 'This event has no schema.'}
        </p>
      ) : null}
      {types.map((type) => (
        <div key={`${type.contract} ${type.callback}`} class="schema-of">
          {type.source === 'callback' ? (
            <p class="soft">
              Schema of callback <UntrustedText text={type.callback} mono /> in{' '}
              <UntrustedText text={type.contract} />
            </p>
          ) : null}
          {type.schema === undefined ? null : (
            <SchemaView schema={type.schema} whereAll={<WholeSchema type={type} />} />
          )}
        </div>
      ))}
    </DrawerSection>
  );
}

const payloadField = 'body#/payload';

/** Problems that belong to no field of the form. */
function Rest({ problem }: { problem: ApiProblem | undefined }): JSX.Element | null {
  if (problem === undefined) return null;
  const fields = ['event', 'subject', 'customer', 'subscriberId'];
  const placed = fields.some((name) => problem.of(`body#/${name}`));
  if (placed || payloadErrors(problem).length > 0) return null;
  return <ProblemNotice problem={problem} />;
}

/** `body#/payload/a/b` is `/a/b` of the payload. */
function payloadErrors(problem: ApiProblem | undefined): readonly FieldError[] {
  return (problem?.errors ?? [])
    .filter(({ field }) => field === payloadField || field.startsWith(`${payloadField}/`))
    .slice(0, limits.payloadErrorsMax)
    .map(({ field, message }) => ({ field: field.slice(payloadField.length), message }));
}

function fieldError(
  problem: ApiProblem | undefined,
  field: string,
  words: (problem: ApiProblem, field: string) => string,
): string | undefined {
  return problem?.of(field) === undefined ? undefined : words(problem, field);
}

function eventSentence({ code, detail }: ApiProblem): string {
  if (code === 'event_misspelled') return detail;
  return 'Use letters, digits, _ and -, with dots between parts, for example order.created.';
}
