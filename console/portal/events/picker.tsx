// Picks events from the catalogue: single ones, or all of a group by a pattern. What is chosen but not in the
// catalogue stays chosen.
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Badge } from '../../src/components/badge.tsx';
import { Button } from '../../src/components/button.tsx';
import { Checkbox, TextField } from '../../src/components/field.tsx';
import { Loaded } from '../../src/components/loaded.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { visible } from '../../src/hidden-characters.ts';
import { t } from '../language.ts';
import { Prose } from '../prose.tsx';
import { groupsOf, isIncluded, useEventTypes, type EventType, type Group } from './read-types.ts';
import { TypeDetails } from './type-details.tsx';

type Props = {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly error: string | undefined;
};

/** Fewer events are in sight at once. */
const searchFrom = 8;

export function EventPicker(props: Props): JSX.Element {
  const load = useEventTypes();
  return (
    <div class="picker">
      <Loaded load={load}>
        {(types) =>
          types.length === 0 ? <Names {...props} /> : <Catalog types={types} {...props} />
        }
      </Loaded>
    </div>
  );
}

/** Without a catalogue. */
function Names({ chosen, onChange, error }: Props): JSX.Element {
  return (
    <TextField
      label={t().picker.names}
      hint={<Prose text={t().picker.namesHint} />}
      placeholder="order.paid order.*"
      value={chosen.join(' ')}
      isMono
      error={error}
      onChange={(text) => onChange([...new Set(text.split(/[\s,]+/u).filter((one) => one !== ''))])}
    />
  );
}

function Catalog({
  types,
  chosen,
  onChange,
  error,
}: Props & { types: readonly EventType[] }): JSX.Element {
  const text = useSignal('');
  const sought = text.value.trim().toLowerCase();
  const found = types.filter(({ event, description = '' }) =>
    `${event} ${description}`.toLowerCase().includes(sought),
  );
  const groups = groupsOf(types);
  const known = [...types.map(({ event }) => event), ...groups.map(patternOf)];
  const others = chosen.filter((one) => !known.includes(one));
  const toggle = (name: string, isChosen: boolean): void => {
    const rest = chosen.filter((one) => one !== name);
    onChange(isChosen ? [...rest, name] : rest);
  };
  return (
    <>
      <Head types={types} text={text} chosen={chosen} onClear={() => onChange([])} />
      {error === undefined ? null : (
        <p class="field-error picker-error" role="alert" tabIndex={-1}>
          {error}
        </p>
      )}
      {found.length === 0 ? <p class="soft">{t().picker.noMatch}</p> : null}
      {groupsOf(found).map((group) => (
        <GroupField
          key={group.prefix}
          group={group}
          // A single event has no group in the catalogue, even if the search finds only one.
          hasPattern={(groups.find(({ prefix }) => prefix === group.prefix)?.types.length ?? 0) > 1}
          chosen={chosen}
          onToggle={toggle}
        />
      ))}
      {others.length === 0 ? null : (
        <fieldset class="picker-group">
          <legend>{t().picker.others}</legend>
          {others.map((one) => (
            <Checkbox
              key={one}
              label={visible(one)}
              isChecked
              onChange={() => toggle(one, false)}
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

function Head({
  types,
  text,
  chosen,
  onClear,
}: {
  types: readonly EventType[];
  text: Signal<string>;
  chosen: readonly string[];
  onClear: () => void;
}): JSX.Element {
  const { search, chosen: chosenText, clear } = t().picker;
  return (
    <div class="picker-head">
      {types.length < searchFrom ? null : (
        <TextField
          label={search}
          isLabelHidden
          placeholder={search}
          value={text.value}
          onInput={(value) => (text.value = value)}
        />
      )}
      <span class="soft" role="status">
        {chosenText(chosen.length)}
      </span>
      {chosen.length === 0 ? null : (
        <Button size="small" onClick={onClear}>
          {clear}
        </Button>
      )}
    </div>
  );
}

function patternOf({ prefix }: Group): string {
  return `${prefix}.*`;
}

function GroupField({
  group,
  hasPattern,
  chosen,
  onToggle,
}: {
  group: Group;
  hasPattern: boolean;
  chosen: readonly string[];
  onToggle: (name: string, isChosen: boolean) => void;
}): JSX.Element {
  const { prefix, types } = group;
  const pattern = patternOf(group);
  const isWhole = chosen.includes(pattern);
  return (
    <fieldset class="picker-group">
      <legend>{prefix === '' ? t().picker.others : <UntrustedText text={prefix} />}</legend>
      {prefix === '' || !(hasPattern || isWhole) ? null : (
        <div class="picker-whole">
          <Checkbox
            label={t().picker.wholeGroup(visible(pattern))}
            hint={t().picker.groupHint}
            isChecked={isWhole}
            onChange={(isChosen) => onToggle(pattern, isChosen)}
          />
        </div>
      )}
      {types.map((type) => (
        <div key={type.event} class="picker-type">
          <Checkbox
            label={visible(type.event)}
            hint={<TypeHint type={type} />}
            isChecked={isIncluded(type.event, chosen)}
            isDisabled={isWhole}
            onChange={(isChosen) => onToggle(type.event, isChosen)}
          />
          <TypeDetails type={type} />
        </div>
      ))}
    </fieldset>
  );
}

function TypeHint({ type: { description, state } }: { type: EventType }): JSX.Element {
  return (
    <>
      {state === 'deprecated' ? <Badge tone="warn" text={t().picker.deprecated} /> : null}{' '}
      {description === undefined ? null : <UntrustedText text={description} />}
    </>
  );
}
