// Copying text. The modern way exists on https and localhost only; elsewhere the old way still works.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'off-screen';
  // Inside an open dialog everything outside of it cannot be selected; the newest is the last one.
  const home = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  const focused = document.activeElement;
  home.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
