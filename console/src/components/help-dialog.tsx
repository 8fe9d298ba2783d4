// The shortcuts that work right now, and the switch for them.
import type { JSX } from 'preact';
import { areKeysOn, shortcutSets, switchKeys } from '../keys.ts';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

const always = [
  { keys: 'Enter', does: 'Open what has the focus' },
  { keys: 'Esc', does: 'Close the dialog or drawer' },
];

export function HelpDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const all = [...shortcutSets.value.flatMap((set) => set.shortcuts), ...always];
  const shown = all.filter((one, at) => all.findIndex(({ keys }) => keys === one.keys) === at);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shown.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Shortcuts of a single key"
        hint="Switch them off if you speak to your computer, or press keys by accident."
        isChecked={areKeysOn.value}
        onChange={switchKeys}
      />
    </Dialog>
  );
}
