// A moment between the address (UTC) and a field of the browser (the reader's own time). Pure but for the
// reader's time zone.
/** `2026-11-02T10:30`, as a field of type datetime-local wants it; empty for no or a wrong time. */
export function toField(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function fromField(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
