// Opens any item by its ID, whose prefix determines the page, or everything with a subject or of a customer.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { pathOfSearch } from '../path-of-id.ts';
import { useShortcuts } from '../shortcuts.ts';
import { navigate } from '../router.ts';
import { Icon } from './icon.tsx';

export function IdSearch(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal('');
  const isWrong = useSignal(false);
  useShortcuts([
    { keys: '/', does: 'Find an ID, a subject or a customer', run: () => input.current?.select() },
  ]);
  const find = (event: Event): void => {
    event.preventDefault();
    const href = pathOfSearch(text.value);
    isWrong.value = href === undefined && text.value.trim() !== '';
    if (href === undefined) return;
    text.value = '';
    input.current?.blur();
    navigate(href);
  };
  return (
    <form class="id-search" role="search" onSubmit={find}>
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label="Find an ID, a subject or a customer"
        placeholder="ID, subject or customer"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        aria-invalid={isWrong.value}
        aria-describedby={isWrong.value ? 'id-search-error' : undefined}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          isWrong.value = false;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <kbd>/</kbd>
      {isWrong.value ? (
        <p id="id-search-error" class="id-search-error" role="alert">
          Expected an ID, which starts with dlv_, evt_, sub_, att_, rpl_ or rbk_, or a subject or
          customer.
        </p>
      ) : null}
    </form>
  );
}
