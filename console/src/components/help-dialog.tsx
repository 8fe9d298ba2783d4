// Lists the active shortcuts, with the setting that turns them off.
import type { JSX } from 'preact';
import { areKeysOn, shortcutSets, switchKeys } from '../shortcuts.ts';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

const always = [
  { keys: 'Enter', does: 'Open the focused item' },
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
        label="Single-key shortcuts"
        hint="Turn them off if you use speech input or press keys by accident."
        isChecked={areKeysOn.value}
        onChange={switchKeys}
      />
    </Dialog>
  );
}
